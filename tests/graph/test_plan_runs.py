"""Plans run with real kernels: chain, graph and several devices give the same bytes."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import missing
from drivers import HINTS, open_driver

import expandlab as xl

WORDS = 64
HEAD = "@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {"
FILL = f"""
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
{HEAD} if (id.x >= FROM && id.x < TO) {{ x[id.x] = id.x * 2654435761u; }} }}
"""
COUNT = f"""
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
{HEAD} if (id.x >= FROM && id.x < TO) {{ atomicAdd(&bins[x[id.x] >> 29u], 1u); }} }}
"""
CLEAR = f"""
@group(0) @binding(0) var<storage, read_write> bins: array<u32>;
{HEAD} if (id.x < 8u) {{ bins[id.x] = 0u; }} }}
"""
MIX = f"""
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> bins: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
{HEAD} if (id.x < {WORDS}u) {{ out[id.x] = x[id.x] ^ (bins[id.x % 8u] + base[id.x]); }} }}
@group(0) @binding(3) var<storage, read> base: array<u32>;
"""


def part(text, low, high):
    return text.replace("FROM", f"{low}u").replace("TO", f"{high}u")


def histogram_graph(places=("d0",) * 6):
    """Two passes fill halves, two count with atomics, one mixes; places: the device of each pass."""
    graph = xl.FrameGraph({name: ["compute"] for name in sorted(set(places))})
    for name, size, imported in (("x", 4 * WORDS, False), ("bins", 32, False), ("out", 4 * WORDS, False),
                                 ("base", 4 * WORDS, True)):  # fmt: skip
        graph.buffer(name, size, imported=imported)

    def fill(low, high):
        def twin(b):
            b.x[low:high] = np.arange(low, high, dtype=np.uint32) * np.uint32(2654435761)

        return twin

    def count(low, high):
        def twin(b):
            np.add.at(b.bins, b.x[low:high] >> 29, 1)

        return twin

    def clear(b):
        b.bins[:8] = 0

    def mix(b):
        b.out[:] = b.x ^ (b.bins[np.arange(WORDS) % 8] + b.base)

    place = iter(places)
    graph.add_pass("clear", [("bins", "write")], device=next(place),
                   kernel=xl.Kernel(CLEAR, "main", ["bins"], (1, 1, 1), twin=clear))  # fmt: skip
    for low in (0, 32):
        graph.add_pass(f"fill{low}", [("x", "write", (4 * low, 4 * low + 128))], device=next(place),
                       kernel=xl.Kernel(part(FILL, low, low + 32), "main", ["x"], (2, 1, 1),
                                        twin=fill(low, low + 32)))  # fmt: skip
    for low in (0, 32):
        accesses = [("x", "read", (4 * low, 4 * low + 128)),
                    {"resource": "bins", "mode": "read_write", "independent": "count"}]  # fmt: skip
        graph.add_pass(f"count{low}", accesses, device=next(place),
                       kernel=xl.Kernel(part(COUNT, low, low + 32), "main", ["x", "bins"], (2, 1, 1),
                                        twin=count(low, low + 32)))  # fmt: skip
    bound = {name: name for name in ("x", "bins", "out", "base")}
    graph.add_pass("mix", [("x", "read"), ("bins", "read"), ("out", "write"), ("base", "read")], device=next(place),
                   kernel=xl.Kernel(MIX, "main", bound, (2, 1, 1), twin=mix))  # fmt: skip
    graph.output("out")
    graph.output("bins")
    return graph


BASE = np.arange(WORDS, dtype=np.uint32) * 7


def expected():
    x = np.arange(WORDS, dtype=np.uint32) * np.uint32(2654435761)
    bins = np.bincount(x >> 29, minlength=8).astype(np.uint32)
    return {"out": x ^ (bins[np.arange(WORDS) % 8] + BASE), "bins": bins}


def assert_equal(found, wanted):
    assert sorted(found) == sorted(wanted)
    for name, array in wanted.items():
        assert np.array_equal(found[name], array), name


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", ["depth", "list", "heft", "optimal"])
@pytest.mark.parametrize("mode", ["dag", "chain"])
def test_every_way_to_plan_gives_the_same_bytes(any_device, mode, schedule):
    plan = histogram_graph().compile(mode, schedule=schedule)
    assert_equal(plan.run(any_device, {"base": BASE}), expected())


@pytest.mark.gpu
def test_ignoring_the_tags_changes_the_plan_and_not_the_bytes(any_device):
    graph = histogram_graph()
    assert len(graph.compile(tags=False).edges) != len(graph.compile().edges)
    assert_equal(graph.compile(tags=False).run(any_device, {"base": BASE}), expected())


def two_devices():
    """A software driver and the reference: nothing that one writes is visible to the other without a copy."""
    found = open_driver("lavapipe")
    if isinstance(found, xl.DeviceError):
        missing("gpu", HINTS["lavapipe"])
    return {"d0": found, "d1": xl.device("reference")}


PLACES = [
    ("d0", "d0", "d1", "d0", "d0", "d1"),
    ("d1", "d0", "d1", "d1", "d1", "d0"),
    ("d1", "d1", "d1", "d0", "d0", "d1"),
]


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["dag", "chain"])
@pytest.mark.parametrize("places", PLACES)
def test_passes_spread_over_devices_give_the_same_bytes(places, mode):
    plan = histogram_graph(places).compile(mode)
    assert plan.copies
    assert_equal(plan.run(two_devices(), {"base": BASE}), expected())


@pytest.mark.gpu
def test_no_copy_is_there_for_nothing(monkeypatch):
    """With any one copy left out, the devices disagree with the definition."""
    plan = histogram_graph(PLACES[0]).compile()
    whole, moves, devices = plan.copies, plan._moves, two_devices()
    for at in range(len(whole)):
        monkeypatch.setitem(vars(plan), "copies", whole[:at] + whole[at + 1 :])
        monkeypatch.setitem(vars(plan), "_moves", moves[:at] + moves[at + 1 :])
        found = plan.run(devices, {"base": BASE})
        assert not all(np.array_equal(found[name], array) for name, array in expected().items()), whole[at]


@pytest.mark.gpu
def test_a_culled_pass_and_an_unused_image_are_left_out(any_device):
    graph = histogram_graph()
    graph.buffer("idle", 4 * WORDS)
    graph.add_pass("idle", [("idle", "write")])
    graph.image("unused")
    plan = graph.compile()
    assert plan.culled == ["idle"]
    assert_equal(plan.run(any_device, {"base": BASE}), expected())


def test_a_plan_that_uses_an_image_says_that_it_does_not_run():
    graph = histogram_graph()
    graph.image("i")
    kernel = graph.passes["clear"].kernel
    graph.add_pass("draw", [("i", "write"), ("bins", "read_write")], kernel=kernel)
    with pytest.raises(xl.GraphError, match="image 'i'"):
        graph.compile().run("reference", {"base": BASE})
