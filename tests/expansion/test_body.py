"""The caller's own pass 2: results by the definition, names that clash, errors at the caller's line."""

from __future__ import annotations

import re

import numpy as np
import pytest
from definition import pairs

import expandlab as xl
from expandlab.expansion.body import body_ending
from expandlab.expansion.passes import build
from expandlab.expansion.strategy import Sizes
from expandlab.wgsl_names import names_of

RUNS = [name for name, strategy in xl.strategies().items() if not strategy.modelled]
COUNTS = xl.counts.make("geometric", 400, mean=6.0, seed=9)
pytestmark = pytest.mark.gpu


def run(strategy, device, body, counts=COUNTS, **buffers):
    return xl.expand(counts, strategy, body=body, buffers=buffers, device=device)


@pytest.mark.parametrize("strategy", RUNS)
def test_work_is_called_once_for_every_item(strategy, gpu):
    try:
        done = run(
            strategy, gpu,
            "fn work(src: u32, local: u32, dst: u32) { atomicAdd(&calls[src], 1u); atomicAdd(&sums[src], local); }",
            calls=xl.atomic(np.zeros(400, np.uint32)), sums=xl.atomic(np.zeros(400, np.uint32)),
        )  # fmt: skip
    except xl.UnsupportedError:
        pytest.skip("the device lacks a feature")
    n = COUNTS.astype(np.int64)
    assert done.src is None and done.local is None and done.total == n.sum()
    assert np.array_equal(done.buffers["calls"], n)
    assert np.array_equal(done.buffers["sums"], n * (n - 1) // 2)


@pytest.mark.parametrize("strategy", RUNS)
def test_dst_numbers_the_items(strategy, gpu):
    total = int(COUNTS.sum())
    try:
        done = run(
            strategy, gpu,
            "fn work(src: u32, local: u32, dst: u32) { owner[dst] = src; place[dst] = i32(local); seen[dst] += 1u; }",
            owner=np.full(total, 7, np.uint32), place=np.full(total, -1, np.int32), seen=np.zeros(total, np.uint32),
        )  # fmt: skip
    except xl.UnsupportedError:
        pytest.skip("the device lacks a feature")
    assert (done.buffers["seen"] == 1).all()
    starts = np.cumsum(COUNTS, dtype=np.int64) - COUNTS
    assert len(np.unique(starts[done.buffers["owner"]] + done.buffers["place"])) == total


@pytest.mark.parametrize("strategy", ["flat", "dispatch_each"])
@pytest.mark.parametrize("size", [32, 256])
def test_bases_are_taken_only_where_dst_is_used(strategy, size, every_device):
    if every_device.is_reference:
        pytest.skip("NumPy runs no WGSL")
    counts = np.concatenate([COUNTS, np.zeros(70, np.uint32), COUNTS[:33]])
    sums = xl.atomic(np.zeros(3, np.uint32))
    add = "fn work(a: u32, b: u32, c: u32) { atomicAdd(&sums[0], 1u); atomicAdd(&sums[1], a); atomicAdd(&sums[2], b);"
    src, local = pairs(counts).T
    for body, based in ((add + " } // not c", False), (add + " _ = c; }", True)):
        done = xl.expand(
            counts, strategy, body=body, buffers={"sums": sums}, device=every_device, workgroup_size=size
        )  # fmt: skip
        assert done.buffers["sums"].tolist() == [len(src), src.sum(), local.sum()]
        assert ("base" in done.graph.resources) == based


@pytest.mark.parametrize("strategy", ["flat", "dispatch_each"])
@pytest.mark.parametrize(
    ("counts", "total", "failure", "required"),
    [
        ([5] * 300, 1500, 0, 1500),
        ([5] * 300 + [501], 0, 1, 2001),
        ([2**32 - 1, 1], 0, 2, None),
        ([0] * 255 + [2**31, 1, 2**31 - 1], 0, 2, None),
        ([2**31, 2**31], 0, 2, None),
    ],
)
def test_without_bases_the_failure_word_is_the_same(strategy, counts, total, failure, required, gpu):
    with xl.Expander(
        strategy, max_src=400, max_dst=2000, device=gpu, body="fn work(s: u32, l: u32, d: u32) {}"
    ) as prepared:
        buffer = gpu.gpu.create_buffer_with_data(data=np.array(counts, np.uint32), usage="STORAGE")
        encoder = gpu.gpu.create_command_encoder()
        prepared.record(encoder, buffer, len(counts))
        gpu.gpu.queue.submit([encoder.finish()])
        found = np.frombuffer(gpu.gpu.queue.read_buffer(prepared.total_buffer), np.uint32)[:3].tolist()
    assert found[0] == total and found[1] & failure == failure and bool(found[1]) == bool(failure)
    assert required is None or found[2] == required


def test_buffers_keep_dtype_shape_and_what_the_body_leaves(gpu):
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    weights = np.array([2, 3, 5], np.int32)
    done = run(
        "append", gpu, "fn work(src: u32, local: u32, dst: u32) { table[src * 4u + local] *= f32(weights[src]); }",
        counts=[1, 0, 2], table=table, weights=xl.read_only(weights),
    )  # fmt: skip
    expected = table.copy()
    expected[0, 0] *= 2
    expected[2, :2] *= 5
    assert done.buffers["table"].dtype == np.float32 and np.array_equal(done.buffers["table"], expected)
    assert np.array_equal(table, np.arange(12).reshape(3, 4)), "the input is not changed"
    assert np.array_equal(done.buffers["weights"], weights)


def test_the_length_of_a_buffer_is_that_of_its_array(gpu):
    done = run(
        "flat", gpu, "fn work(src: u32, local: u32, dst: u32) { out[0] = arrayLength(&out); }",
        counts=[1], out=np.zeros(5, np.uint32),
    )  # fmt: skip
    assert done.buffers["out"][0] == 5


@pytest.mark.parametrize("strategy", RUNS)
def test_names_that_the_shaders_use_are_free_for_the_caller(strategy, gpu):
    body = """
const BLOCK: u32 = 3u;
struct Row { emit: u32, rows: u32 }
fn fold(counts: u32) -> u32 { return counts * BLOCK; }
fn work(src: u32, local: u32, dst: u32) { let row = Row(fold(src), 1u); state[dst] = row.emit + row.rows; }
"""
    try:
        done = run(strategy, gpu, body, counts=[2, 1], state=np.zeros(3, np.uint32))
    except xl.UnsupportedError:
        pytest.skip("the device lacks a feature")
    assert sorted(done.buffers["state"].tolist()) == [1, 1, 4]


# Functions of WGSL's that one of ours could hide.
CALLS = [
    "abs(x)", "acos(x)", "asin(x)", "atan(x)", "atan2(x, x)", "ceil(x)", "clamp(x, x, x)", "cos(x)", "degrees(x)",
    "determinant(mat2x2f())", "distance(x, x)", "dot(v, v)", "exp(x)", "exp2(x)", "f32(countLeadingZeros(d))",
    "f32(countOneBits(d))", "f32(countTrailingZeros(d))", "f32(extractBits(d, 0, 1))", "f32(firstLeadingBit(d))",
    "f32(firstTrailingBit(d))", "f32(insertBits(d, d, 0, 1))", "f32(reverseBits(d))", "floor(x)", "fma(x, x, x)",
    "fract(x)", "frexp(x).fract", "inverseSqrt(x)", "ldexp(x, 1)", "length(v)", "log(x)", "log2(x)", "max(x, x)",
    "min(x, x)", "mix(x, x, x)", "modf(x).whole", "pow(x, x)", "radians(x)", "round(x)", "saturate(x)",
    "select(x, x, true)", "sign(x)", "sin(x)", "smoothstep(x, x, x)", "sqrt(x)", "step(x, x)", "tan(x)", "trunc(x)",
    "normalize(v).x", "cross(v, v).x", "reflect(v, v).x", "refract(v, v, x).x", "transpose(mat2x2f())[0].x",
    "bitcast<f32>(d)", "f32(any(v == v))", "f32(all(v == v))", "unpack4x8unorm(pack4x8unorm(vec4f(x))).x",
]  # fmt: skip


@pytest.mark.parametrize("strategy", RUNS)
def test_every_function_of_the_language_can_be_called_in_a_body(strategy, gpu):
    body = f"""fn work(s: u32, l: u32, d: u32) {{
    let x = f32(s) + 0.5; let v = vec3f(x); a[0] = {" + ".join(CALLS)};
}}"""
    try:
        run(strategy, gpu, body, counts=[1], a=np.zeros(1, np.float32))
    except xl.UnsupportedError:
        pytest.skip("the device lacks a feature")


@pytest.mark.parametrize("name", ["WG", "params", "touch()", "begin(Invocation(), 0u)", "STORED", "entries[0]"])
def test_nothing_of_ours_is_found_by_a_body(name, lavapipe):
    with pytest.raises(xl.ShaderError, match=r"body:1:\d+: no definition in scope for identifier: `\w+`"):
        run("po2_merged", lavapipe, f"fn work(s: u32, l: u32, d: u32) {{ _ = {name}; }}", counts=[1])


def test_an_argument_may_be_called_by_any_letters_and_its_type_have_a_name(gpu):
    body = "alias U = u32;\n@must_use fn one() -> U { return 1; }\n"
    body += "fn work(e\u0301: U, किताब: u32, a\u00b7b: U,) { out[a\u00b7b] = e\u0301 * 8 + किताब + one(); }"
    done = run("po2_merged", gpu, body, counts=[2, 1], out=np.zeros(3, np.uint32))
    assert sorted(done.buffers["out"].tolist()) == [1, 2, 9]


def test_several_declarations_in_a_line_may_be_called_as_ours_are(gpu):
    body = "fn begin(a: u32) -> u32 { return a; } fn emit(a: u32) -> u32 { return begin(a); } /* /* fn fold( */ */\n"
    body += "/* @group(1) @binding(0) var<storage, read> none: array<u32>; { */ // } /*\n"
    done = run(
        "po2_merged", gpu, body + "fn work(s: u32, l: u32, d: u32) { state[s] = emit(s + 5u); }",
        counts=[1, 1], state=np.zeros(2, np.uint32),
    )  # fmt: skip
    assert done.buffers["state"].tolist() == [5, 6]


def test_an_error_shows_the_callers_names(gpu):
    body = "fn work(s: u32, l: u32, d: u32) {\n    state[0] = state[1] + nothing;\n}"
    with pytest.raises(xl.ShaderError) as caught:
        run("po2_merged", gpu, body, counts=[1], state=np.zeros(2, np.uint32))
    assert (caught.value.line, caught.value.column) == (2, 27)
    assert "\n        state[0] = state[1] + nothing;\n" in str(caught.value)


def test_a_fault_in_a_shader_of_ours_shows_where_the_caller_is_used(gpu):
    body = "// fn work(s: u32) {}\nstruct u32 { a: f32 }\nfn work(s: u32, l: u32, d: u32) {}"
    with pytest.raises(xl.ShaderError, match=r"body:3:1: [\s\S]*where it is used, lib/emit"):
        run("po2_merged", gpu, body, counts=[1])


@pytest.mark.parametrize("array", [np.array([3, 70000], ">u4"), np.array([-2, 5], ">i4"), np.array(7, np.uint32)])
def test_a_buffer_comes_back_in_the_byte_order_and_shape_that_it_had(array, gpu):
    done = run(
        "flat", gpu, "fn work(s: u32, l: u32, d: u32) { for (var i = 0u; i < arrayLength(&a); i++) { a[i] += 1; } }",
        counts=[1], a=array,
    )  # fmt: skip
    assert done.buffers["a"].dtype == array.dtype and done.buffers["a"].shape == array.shape
    assert np.array_equal(done.buffers["a"], array + 1)


def test_a_buffer_is_wrapped_once():
    with pytest.raises(TypeError, match="atomic or read-only"):
        xl.atomic(xl.read_only(np.zeros(1, np.uint32)))


def test_a_compile_error_points_at_the_callers_line(gpu):
    body = "// mine\nfn work(src: u32, local: u32, dst: u32) {\n    out[dst] = nothing;\n}\n"
    with pytest.raises(xl.ShaderError) as caught:
        run("po2_merged", gpu, body, counts=[1], out=np.zeros(1, np.uint32))
    assert (caught.value.file, caught.value.line) == ("body", 3)
    assert "nothing" in str(caught.value) and "^" in str(caught.value)
    assert run("po2_merged", gpu, "fn work(src: u32, local: u32, dst: u32) {}", counts=[1]).total == 1


@pytest.mark.parametrize(
    ("body", "buffers", "error", "text"),
    [
        ("fn other() {}", {}, xl.ShaderError, "fn work"),
        ("// fn work(", {}, xl.ShaderError, "fn work"),
        ("// one\nfn work(a: i32, b: u32, c: u32) {}", {}, xl.ShaderError, r"body:2:9: work must be .*`a : i32`"),
        ("fn work(a: u32) {}", {}, xl.ShaderError, r"body:1:4: work must be .*has 1 arguments"),
        ("fn work(s: u32, l: u32, d: u32) -> u32 { return s; }", {}, xl.ShaderError, "no result"),
        (
            "\n@group(0) @binding(9) var<uniform> u: u32;\nfn work(s: u32, l: u32, d: u32) {}",
            {},
            xl.ShaderError,
            "body:2: a",
        ),
        ("fn work(s: u32, l: u32, d: u32) { work(s, l, d); }", {}, xl.ShaderError, "recursive"),
        (
            "// fn a\nfn a() { b(); } fn b() { a(); }\nfn work(s: u32, l: u32, d: u32) { a(); }",
            {},
            xl.ShaderError,
            "body:2:4",
        ),
        ("// discard\nfn work(s: u32, l: u32, d: u32) {\n discard; }", {}, xl.ShaderError, "body:3:2: discard belongs"),
        ("fn work(s: u32, l: u32, d: u32) {\n let a = fwidthFine(1.0); }", {}, xl.ShaderError, "body:2:10: fwidthFine"),
        (
            "/* override A */ override AB = 2u;\noverride A: u32;\nfn work(s: u32, l: u32, d: u32) { let c = A + AB; }",
            {},
            xl.ShaderError,
            "body:2:10: override A has no value",
        ),
        (
            "@id(31) override B = 2u;\n@id(3) override entry: u32;\nfn work(s: u32, l: u32, d: u32) { _ = entry + B; }",
            {},
            xl.ShaderError,
            "body:2:17: override entry has no value",
        ),
        ("// one\nfn work(s: u32, l: u32, d: u32) {\n if (s > 1u) {\n}", {}, xl.ShaderError, "body:2: .*never closed"),
        ("fn work(s: u32, l: u32, d: u32) {}\n/* { /* nested */", {}, xl.ShaderError, "body:2: .*never ends"),
        ("fn work(s: u32, l: u32, d: u32) {\n\0 }", {}, xl.ShaderError, "body:2: a NUL"),
        ("fn work(s: u32, l: u32, d: u32) {}", {"work": np.zeros(1, np.uint32)}, ValueError, r"buffers\['work'\]"),
        ("fn work(s: u32, l: u32, d: u32) {}", {"fn": np.zeros(1, np.uint32)}, ValueError, "buffers: a name"),
        *(
            (
                f"// one\n{directive};\nfn work(s: u32, l: u32, d: u32) {{}}",
                {},
                xl.ShaderError,
                "body:2: .*leave it out",
            )
            for directive in ("enable f16", "requires pointer_composite_access", "diagnostic(off, subgroup_uniformity)")
        ),
        ("fn work(s: u32, l: u32, d: u32) {\n let a = f16(1); }", {}, xl.ShaderError, "body:2:10: .*so do without"),
        ("fn work(s: u32, l: u32, d: u32) {\n let a = f64(1); }", {}, xl.ShaderError, "body:2:10: .*use f32"),
        ("fn work(s: u32, l: u32, d: u32) {\n let a = 1.5lf; }", {}, xl.ShaderError, "body:2:10: .*use f32"),
        (
            "@compute\n@workgroup_size(0)\nfn other() {}\nfn work(s: u32, l: u32, d: u32) {}",
            {},
            xl.ShaderError,
            "body:2:17: a workgroup has one thread at least",
        ),
        (
            "@compute\n@workgroup_size(99999)\nfn other() {}\nfn work(s: u32, l: u32, d: u32) {}",
            {},
            xl.ShaderError,
            "body:3:4: Entry point other",
        ),
        (
            "override n = 0u;\noverride m = 1u / n;\nfn work(s: u32, l: u32, d: u32) { _ = m; }",
            {},
            xl.ShaderError,
            "body:1:10: Division by zero",
        ),
        (
            "fn dpdx_mine() {}\nfn work(s: u32, l: u32, d: u32) { dpdx_mine(); _ = dpdx(1.0); }",
            {},
            xl.ShaderError,
            "body:2:52: dpdx belongs",
        ),
        (
            "fn work(s: u32, l: u32, d: u32) {}\nfn out() {}",
            {"out": np.zeros(1, np.uint32)},
            ValueError,
            r"buffers\['out'\]: the text declares",
        ),
        ("fn work(s: u32, l: u32, d: u32) { a_of_body(); }", {}, xl.ShaderError, "`a_of_body`"),
        (
            "var<private> a: binding_array<u32>;\nfn work(s: u32, l: u32, d: u32) {}",
            {},
            xl.ShaderError,
            "body:1:17: .*use an array",
        ),
        (
            "@ group(1) @/**/binding(0) var<storage> x: u32;\nfn work(s: u32, l: u32, d: u32) {}",
            {},
            xl.ShaderError,
            "body:1: a body declares no bindings",
        ),
        (
            "fn work(s: u32, l: u32, d: u32) {}\nfn work(s: u32, l: u32, d: u32) {}",
            {},
            xl.ShaderError,
            "redefinition of `work`",
        ),
        (
            "fn work(s: u32, l: u32, d: u32) -> u32 { return 1; }",
            {},
            xl.ShaderError,
            "body:1:33: .*has `->` behind its arguments",
        ),
        ("const N = 04;\nfn work(s: u32, l: u32, d: u32) {}", {}, xl.ShaderError, "body:1:11: .*`04`"),
        # What a comment hides by other breaks than \\n is checked like the rest.
        (
            "// a\u2028@group(0) @binding(9) var<uniform> u: u32;\nfn work(s: u32, l: u32, d: u32) {}",
            {},
            xl.ShaderError,
            "body:1: a body declares no bindings",
        ),
        (5, {}, TypeError, "body=5"),
        (None, {"a": np.zeros(1, np.uint32)}, ValueError, "body="),
        ("fn work(s: u32, l: u32, d: u32) {}", {"a": np.zeros(1)}, TypeError, r"buffers\['a'\].*float64"),
        ("fn work(s: u32, l: u32, d: u32) {}", {"a": np.zeros(0, np.uint32)}, ValueError, "empty"),
        ("fn work(s: u32, l: u32, d: u32) {}", {"1a": np.zeros(1, np.uint32)}, ValueError, "identifier"),
        ("fn work(s: u32, l: u32, d: u32) {}", {"a": xl.atomic(np.zeros(1, np.float32))}, TypeError, "atomic"),
        ("fn work(s: u32, l: u32, d: u32) {}", {c: np.zeros(1, np.uint32) for c in "abcd"}, ValueError, "at most 3"),
        ("fn work(s: u32, l: u32, d: u32) {}", [1], TypeError, "buffers="),
    ],
)
def test_a_bad_body_or_buffer_is_named(body, buffers, error, text, lavapipe):
    with pytest.raises(error, match=text):
        xl.expand([1], "append", body=body, buffers=buffers, device=lavapipe)


def test_a_buffer_that_the_body_leaves_alone_comes_back_as_it_was(gpu):
    unused, whole = np.arange(4, dtype=np.uint32), np.ones(2, np.int32)
    done = run(
        "po2_merged", gpu, "fn work(src: u32, local: u32, dst: u32) {}", counts=[2],
        unused=unused, read=xl.read_only(whole), count=xl.atomic(unused),
    )  # fmt: skip
    assert np.array_equal(done.buffers["unused"], unused) and np.array_equal(done.buffers["read"], whole)


def test_writing_a_read_only_buffer_says_why_it_does_not_compile(gpu):
    with pytest.raises(xl.ShaderError) as caught:
        run("flat", gpu, "fn work(s: u32, l: u32, d: u32) { a[0] = 1u; }", a=xl.read_only(np.zeros(1, np.uint32)))
    assert caught.value.file == "body" and "work" in str(caught.value)


def test_the_reference_cannot_run_wgsl():
    with pytest.raises(xl.UnsupportedError, match="software Vulkan adapter"):
        run("append", "reference", "fn work(src: u32, local: u32, dst: u32) {}")


@pytest.mark.parametrize("line_break", ["\n", "\v", "\f", "\r", "\x85", "\u2028", "\u2029"])
def test_a_comment_ends_at_every_line_break_of_the_standard(lavapipe, line_break):
    body = f"// mine{line_break}fn work(s: u32, l: u32, d: u32) {{ // here{line_break} seen[d] += s + 1u; }}"
    found = xl.expand([1, 2], "prefix_search", body=body, buffers={"seen": np.zeros(3, np.uint32)}, device=lavapipe)
    assert found.buffers["seen"].tolist() == [1, 2, 2]


def test_members_and_locals_may_be_called_as_ours_are(lavapipe):
    body = """
struct Row { size: u32, @align(8) counts: u32, sum: u32, }
fn size(row: Row) -> u32 { return row.size; }
fn sum_of_body() -> u32 { return 3u; }
fn sum() -> u32 { return 4u; }
fn min(a: u32, b: u32) -> u32 { return a + b; }
fn work(src: u32, local: u32, dst: u32) {
    var sum_now = sum() + sum_of_body();
    var length = length(vec2f(3.0, 4.0));
    let entries = Row(size(Row(2u, 1u, 1u)), src, 1u);
    state[dst] = entries . size + entries.counts + min(sum_now, entries.sum) + u32(length);
}
"""
    found = xl.expand([1, 2], "po2_merged", body=body, buffers={"state": np.zeros(3, np.uint32)}, device=lavapipe)
    # size 2, counts = src, min is the caller's sum of 7 and 1, the length 5.
    assert np.array_equal(found.buffers["state"], 15 + pairs(np.array([1, 2]))[:, 0])


@pytest.mark.parametrize("strategy", RUNS)
def test_every_name_in_front_of_a_shader_is_one_that_a_body_may_have(strategy):
    names = names_of(("lib", "expansion"))
    ending = body_ending("fn work(s: u32, l: u32, d: u32) {}", {"a": np.zeros(1, np.uint32)})
    for lanes in (None, 8):
        built = build(xl.strategies()[strategy], Sizes(300, 2000, 64, lanes), ending)
        for one in built.graph.passes.values():
            told = re.findall(r"^(?:const|override)\s+(\w+)|^fn (touch)\b", one.kernel.source.text, re.M)
            assert {first or second for first, second in told} <= names


@pytest.mark.parametrize("called", ["array", "vec2", "vec3", "vec4", "atomic", "bool", "f32", "uniform", "storage",
                                    "workgroup", "bitcast", "u64", "position", "src_count"])  # fmt: skip
@pytest.mark.parametrize("strategy", ["append", "tile_search", "size_classes"])
def test_a_constant_or_a_buffer_may_be_called_as_what_the_language_brings(lavapipe, strategy, called):
    zeros = np.zeros(5, np.uint32)
    work = "fn work(src: u32, local: u32, dst: u32)"
    body = f"const {called} = 3;\n{work} {{ out[dst] = {called}; }}"
    found = xl.expand([3, 0, 2], strategy, body=body, buffers={"out": zeros}, device=lavapipe)
    assert found.buffers["out"].tolist() == [3] * 5
    body = f"{work} {{ {called}[dst] = dst; }}"
    found = xl.expand([3, 0, 2], strategy, body=body, buffers={called: zeros}, device=lavapipe)
    assert found.buffers[called].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("var<workgroup> a: array<u32, 64>;\nfn f() {{ a[0] = 1u; }}\n{} {{ f(); }}", (1, 16), "only compute shaders"),
        ("{} {{\n workgroupBarrier(); }}", (2, 2), "a vertex shader, .* has no workgroupBarrier"),
        ("{} {{\n _ = subgroupAdd(1u); }}", (2, 6), "a vertex shader, .* has no subgroupAdd"),
        ("{} {{\n discard; }}", (2, 2), "a vertex shader, .* has no discard"),
    ],
)
def test_what_a_vertex_shader_cannot_is_refused_and_the_device_goes_on(lavapipe, text, place, told):
    body = text.format("fn work(src: u32, local: u32, dst: u32)")
    with pytest.raises(xl.ShaderError, match=told) as caught:
        xl.expand([2, 0, 3], "draw_indirect_count", body=body, device=lavapipe)
    assert (caught.value.line, caught.value.column) == place and caught.value.file == "body"
    assert xl.expand([2, 0, 3], "draw_indirect_count", device=lavapipe).total == 5


def test_marks_and_letters_of_other_scripts_are_read_as_the_language_has_them(lavapipe):
    body = "fn min·x(a: u32) -> u32 { return a; } fn min(a: u32) -> u32 { return a + 1u; }\n"
    body += "fn\u200ework(src: u32, local: u32, dst: u32) { out[dst] = min·x(3u) + min(2u); }"
    found = xl.expand([1, 2], "po2_merged", body=body, buffers={"out": np.zeros(3, np.uint32)}, device=lavapipe)
    assert found.buffers["out"].tolist() == [6, 6, 6]


@pytest.mark.parametrize("called", ["TILE", "LANES", "ROW", "BUCKET", "WG"])
@pytest.mark.parametrize("strategy", ["serial_merge", "tile_search", "prefix_search", "draw_indirect_count"])
def test_a_body_may_declare_what_a_strategy_calls_its_constants(lavapipe, strategy, called):
    body = f"const {called} = 3u;\nfn work(src: u32, local: u32, dst: u32) {{ atomicAdd(&sum_of[0], {called}); }}"
    buffers = {"sum_of": xl.atomic(np.zeros(1, np.uint32))}
    found = xl.expand([3, 0, 2], strategy, body=body, buffers=buffers, device=lavapipe)
    assert found.buffers["sum_of"].tolist() == [15]
