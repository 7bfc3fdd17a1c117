"""Sources: includes, line origins, reflection, and compile errors that point at the user's line."""

from __future__ import annotations

import numpy as np
import pytest

import expandlab as xl
from expandlab import wgsl
from expandlab.gpu import device
from expandlab.graph import fold

FILES = sorted(str(path.relative_to(wgsl.folder())) for path in wgsl.folder().rglob("*.wgsl"))


def test_every_line_of_a_source_knows_its_file():
    slots = {"emit": "lib/emit_store.wgsl", "base": "expansion/flat/base.wgsl"}
    source = wgsl.load("expansion/flat/spread.wgsl", constants={"WG": 64}, slots=slots)
    rows = source.text.splitlines()
    assert rows[0] == "const WG: u32 = 64u;" and source.locate(1).file == "<constants>"
    for number, text in enumerate(rows[1:], 2):
        place = source.locate(number)
        assert wgsl.read(place.file).splitlines()[place.line - 1] == text


def test_a_snippet_is_included_once():
    source = wgsl.load("expansion/scan/spine.wgsl", constants={"WG": 64})
    assert source.text.count("fn fold(") == 1


def test_bindings_are_read_however_they_are_written():
    text = """@group(0) @binding(1) var<storage, read_write> a: array<u32>;
@binding(2)@group(0)var<uniform>b: vec4f; @ group ( 1 ) @ /* 7 */ binding(0u,) var < storage , read , > c : u32;
@group(1i)
@binding(3i) // @group(2) @binding(4) var<uniform> none: u32;
var<storage> d: array<u32>;"""
    told = [(b.group, b.binding, b.name, b.address, b.writes) for b in wgsl.reflect(text)]
    assert told == [(0, 1, "a", "storage", True), (0, 2, "b", "uniform", False), (1, 0, "c", "storage", False),
                    (1, 3, "d", "storage", False)]  # fmt: skip


def test_bindings_are_read_off_the_text():
    bindings = wgsl.load("expansion/append/append.wgsl", constants={"WG": 64}).bindings
    assert [(b.binding, b.name, b.writes) for b in bindings] == [
        (0, "params", False), (1, "counts", False), (2, "infos", True), (6, "state", True),
    ]  # fmt: skip


def test_a_missing_file_slot_or_anchor_is_an_error():
    with pytest.raises(xl.ShaderError, match="no shader"):
        wgsl.load("nowhere.wgsl")
    with pytest.raises(xl.ShaderError, match="<emit>"):
        wgsl.load("expansion/flat/spread.wgsl")
    with pytest.raises(xl.ShaderError, match="nothing-there"):
        wgsl.anchor("expansion/flat/spread.wgsl", "nothing-there")


@pytest.mark.parametrize("file", FILES)
def test_shaders_leave_enable_directives_to_the_backend(file):
    assert "enable " not in wgsl.read(file)


@pytest.mark.gpu
def test_a_compile_error_names_file_line_and_column_and_draws_a_caret(gpu):
    text = (
        "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
        "@compute @workgroup_size(1)\nfn main() { a[0] = b; }\n"
    )
    with pytest.raises(xl.ShaderError) as caught:
        gpu.pipeline(wgsl.from_text(text, "mine.wgsl"), "main")
    error = caught.value
    assert (error.file, error.line, error.column) == ("mine.wgsl", 3, 20)
    message, line, caret = str(error).splitlines()
    assert message.startswith("mine.wgsl:3:20: ")
    assert line.strip() == "fn main() { a[0] = b; }" and line[caret.index("^")] == "b"


@pytest.mark.gpu
def test_a_type_error_is_placed_too(gpu):
    text = "@compute @workgroup_size(1)\nfn main() { let a: u32 = 1.5; }\n"
    with pytest.raises(xl.ShaderError, match=r"mine.wgsl:2:") as caught:
        gpu.pipeline(wgsl.from_text(text, "mine.wgsl"), "main")
    assert caught.value.line == 2


@pytest.mark.gpu
def test_a_device_stays_usable_after_a_compile_error(gpu):
    with pytest.raises(xl.ShaderError):
        gpu.pipeline(wgsl.from_text("nonsense"), "main")
    assert xl.expand([3, 1, 2], "append", device=gpu).total == 6


@pytest.mark.gpu
def test_pipelines_are_compiled_once(gpu):
    source = wgsl.load("expansion/reset.wgsl", constants={"WG": 64})
    assert gpu.pipeline(source, "reset") is gpu.pipeline(source, "reset")


@pytest.mark.gpu
def test_the_shader_that_was_not_used_for_longest_is_forgotten_first(lavapipe, monkeypatch):
    monkeypatch.setattr(device, "_MOST_SHADERS", 2)
    copy = xl.adopt(lavapipe.gpu)
    first, second, third = (wgsl.load("expansion/reset.wgsl", constants={"WG": size}) for size in (32, 64, 128))
    kept = copy.pipeline(first, "reset")
    copy.pipeline(second, "reset")
    assert copy.pipeline(first, "reset") is kept
    copy.pipeline(third, "reset")
    assert len(copy._pipelines) == len(copy._modules) == 2 and copy.pipeline(first, "reset") is kept
    # What is still in use elsewhere is not ended by that.
    with xl.Expander("append", max_src=9, max_dst=99, device=copy) as prepared:
        for size in (32, 64, 128):
            copy.pipeline(wgsl.load("expansion/reset.wgsl", constants={"WG": size}), "reset")
        assert prepared.run([3, 1]).total == 4


EDGES = [
    0,
    1,
    65534,
    65535,
    65536,
    65537,
    131070,
    131071,
    4096**2 - 1,
    4096**2,
    4096**2 + 1,
    2**26,
    65535**2,
    65535 * 65534,
]


@pytest.mark.parametrize("groups", EDGES)
def test_a_fold_covers_every_group_within_the_limit(groups):
    x, y, z = fold.fold(groups)
    assert x * y * z >= groups and x <= 65535 and y <= 65535 and z == 1
    assert y == 1 if groups <= 65535 else (y - 1) * 65535 < groups
    assert groups == 0 or x * y - groups < y


FOLD_PROBE = """//#include lib/fold.wgsl
@group(0) @binding(0) var<storage, read> groups: array<u32>;
@group(0) @binding(1) var<storage, read_write> folded: array<vec4<u32>>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { folded[id.x] = vec4<u32>(fold(groups[id.x]), 0u); }
"""


@pytest.mark.gpu
def test_the_shader_folds_as_the_host_does(gpu):
    text = wgsl.read("lib/fold.wgsl") + FOLD_PROBE.split("\n", 1)[1]
    sizes = np.array(EDGES, np.uint32)
    graph = xl.FrameGraph()
    graph.buffer("groups", sizes.nbytes, imported=True)
    graph.buffer("folded", 16 * len(sizes))
    graph.add_pass(
        "fold",
        [("groups", "read"), ("folded", "write")],
        kernel=xl.Kernel(text, "main", ["groups", "folded"], (len(sizes), 1, 1)),
    )
    graph.output("folded")
    out = graph.compile().run(gpu, {"groups": sizes})["folded"].reshape(-1, 4)[:, :3]
    assert [tuple(row) for row in out.tolist()] == [fold.fold(int(n)) for n in sizes]
