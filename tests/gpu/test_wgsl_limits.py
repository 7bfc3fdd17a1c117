"""WGSL of the caller's that a compiler does not survive: refused in time, at the caller's line; legal programs pass."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import expandlab as xl
from expandlab import wgsl, wgsl_limits
from expandlab.wgsl_limits.tokens import Text
from expandlab.wgsl_limits.values import Values

WORKGROUP = 16384
MAIN = "@compute @workgroup_size(1) fn main() {{ {0} }}".format
HEAD = "// mine\n"


def check(text):
    wgsl_limits.check(wgsl.from_text(text, "mine"), WORKGROUP)


def chain(count, form, first):
    """`count` declarations, each of which needs the one before."""
    return first + "".join(form.format(number + 1, number) for number in range(count - 1))


def calls(count, inside):
    return f"fn f() {{ {inside} }}\n" + MAIN("f();" * count)


# What is refused, what is just within the limit, and what the error says. {0} is one more than the limit or the limit.
LIMITS = {
    "a function's variables": (
        lambda n: MAIN(f"var a: array<vec3<f32>, 256>; {{ var b: array<u32, {n}>; b[0] = 1u; }}"),
        1024, r"8,196 bytes so far; WGSL promises 8,192",
    ),
    "a variable's type that only its value tells": (
        lambda n: f"struct S {{ @align(16) a: f32, b: array<u32, {n}> }}\nvar<workgroup> s: array<S, 2>;\n"
        + MAIN("var x = s[1].b; var y = (&x)[3]; var z = s[0];"),
        1023, "8,212 bytes so far",
    ),
    "a variable's value that is written out": (
        lambda n: MAIN(f"var a = array({', '.join(['vec4f(1.0)'] * 500)}); var b: array<u32, {n}>;"),
        48, "8,196 bytes so far",
    ),
    "private variables of all functions together": (
        lambda n: f"const N = 1u << 3u;\nalias A = array<mat3x3f, N * {n} / 8>;\nvar<private> a: A;\n"
        "var<private> b: array<u32, 20>;\nvar<private> unused: array<u32, 2000>;\n"
        "fn f() { a[0][0][0] = 1.0; }\n" + MAIN("f(); b[0] = 1u;"),
        169, "private variables that main uses take 8,240 bytes",
    ),
    "workgroup variables": (
        lambda n: f"override N: u32 = {n};\nvar<workgroup> w: array<atomic<u32>, N>;\n" + MAIN("atomicAdd(&w[0], 1u);"),
        4096, "workgroup variables that main uses take 16,388 bytes; the device has 16,384",
    ),
    "elements of an array": (
        lambda n: f"const t = array<u32, {n}>();\n" + MAIN("let x = t[3];"), 2047, "2,048 elements of an array value",
    ),
    "elements of an array that are written out": (
        lambda n: MAIN(f"let x = array({', '.join(['1u'] * n)})[2];"), 2047, "2,048 elements of an array value",
    ),
    "bytes of a value": (
        lambda n: f"const t = array<array<vec4f, {n}>, 89>();\n" + MAIN(""), 92, "a value of 132,432 bytes",
    ),
    "bytes that are read as one value": (
        lambda n: f"@group(0) @binding(0) var<storage, read> big: array<array<u32, {n}>, 9>;\n"
        "fn f(a: u32) {}\n" + MAIN("let p = &big; let q = (*p)[1][2]; let x = big[1];"),
        32752, "a value of 131,012 bytes",
    ),
    "composite types": (
        lambda n: MAIN(f"var a: {'array<' * n}u32{', 1>' * n};"), 15, "16 arrays, structs and vectors",
    ),
    "structs": (
        lambda n: chain(n, "struct S{0} {{ s: S{1} }}\n", "struct S0 { a: u32 }\n") + MAIN(f"var a: S{n - 1};"),
        15, "16 arrays, structs and vectors",
    ),
    "members": (
        lambda n: f"struct S {{ {', '.join(f'@size(4) m{i}: u32' for i in range(n))} }}\n" + MAIN(""), 1023,
        "1,024 members",
    ),
    "parameters": (
        lambda n: f"fn f({', '.join(f'a{i}: vec2<f32>' for i in range(n))}) {{}}\n" + MAIN(""), 255, "256 parameters",
    ),
    "values of a switch": (
        lambda n: MAIN("switch 1 { " + "".join(f"case {i}, {i + 1}: {{ switch 1 {{ default {{}} }} }}"
                                               for i in range(0, n - 1, 2)) + "default {} }"),
        1023, "1,025 values of a switch",
    ),
    "brackets": (lambda n: MAIN(f"let x = {'(' * n}1u{')' * n};"), 99, "more than 400 levels"),
    "arguments": (lambda n: MAIN(f"let x = {'max(1u, ' * n}1u{')' * n};"), 99, "more than 400 levels"),
    "signs": (lambda n: MAIN(f"let x = {'- ' * n}1i;"), 399, "more than 400 levels"),
    "operators": (lambda n: MAIN(f"var a = 1u; let x = a{' + a' * n};"), 399, "more than 400 levels"),
    "operators before a bracket": (
        lambda n: MAIN(f"var a = 1; let x = {'(' * 50}a{' * a' * (n - 200)}{')' * 50};"), 399, "more than 400 levels",
    ),
    "else": (
        lambda n: MAIN("var a = 1; if a == 0 {} " + "else if a == 1 {} " * n), 199, "more than 400 levels",
    ),
    "declarations": (
        lambda n: chain(n, "const A{0} = A{1};\n", "const A0 = 1;\n") + MAIN(""), 512, "A512 is the last of 513",
    ),
    "words": (lambda n: MAIN(";" * (n - 4)), 65536, "main (has|comes to) 65,537"),
    "words with calls": (lambda n: calls(n, "_ = 1u;" * 14), 1057, "main comes to 65,..."),
    "words with whole arrays": (
        lambda n: MAIN("var a: array<u32, 512>; var b = a;" + "b = a;" * n), 962, "main comes to 65,597",
    ),
    "variables with calls": (
        lambda n: calls(n, "var a: array<u32, 2048>; a[0] = 1u;"), 16,
        "main and of all functions .* take 139,264 bytes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LIMITS)
def test_a_text_just_within_a_limit_passes_and_one_beyond_is_refused_at_its_line(what):
    make, most, told = LIMITS[what]
    check(make(most))
    more = make(most + 2 if "switch" in what else most + 1)
    with pytest.raises(xl.ShaderError, match=rf"^mine:\d+:\d+: .*(?:{told})") as caught:
        check(HEAD + more)
    error = caught.value
    assert error.file == "mine" and error.line >= 2
    _, row, caret = str(error).splitlines()
    assert len(row) < 220 and caret.index("^") < len(row)


@pytest.mark.gpu
@pytest.mark.parametrize("what", [what for what in LIMITS if "words" not in what])
def test_what_is_just_within_a_limit_is_wgsl(what, lavapipe):
    make, most, _ = LIMITS[what]
    lavapipe.module(wgsl.from_text(make(most)))


def test_a_size_that_cannot_be_worked_out_is_refused_where_it_matters():
    size = "const N = u32(sqrt(16.0));\n"
    check(f"{size}@group(0) @binding(0) var<uniform> a: array<vec4f, N>;\n" + MAIN("let x = a[1];"))
    for text in (f"{size}var<private> a: array<u32, N>;\n" + MAIN("a[0] = 1u;"), size + MAIN("var a: array<u32, N>;")):
        with pytest.raises(
            xl.ShaderError, match=r"^mine:2:\d+: the size of .*a cannot be worked out; write the number"
        ):
            check(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("const N = 9000; { const N = 1; } var a: array<u32, N>;", "36,000 bytes so far"),
        ("const N = 9000; for (const N = 1; N > 2;) { const N = 2; } var a: array<u32, N>;", "36,000 bytes so far"),
        ("const N = 2; if N > 1 { const N = 9000; loop { _ = array<u32, N>()[1]; break; } }", "9,000 elements"),
        (
            "{ let a = 1; } const N = 2; { var N = array<u32, 2000>(); } var b: array<u32, N + 2047>;",
            "16,196 bytes so far",
        ),
        ("var a: array<u32, ~0u / 256u>;", "67,108,860 bytes so far"),
        ("const N = ~0u >> 14u; var a: array<u32, N>;", "1,048,572 bytes so far"),
        ("const N = u32(-1i) >> 14; var a: array<u32, N>;", "1,048,572 bytes so far"),
        ("var a: array<u32, 1u - 2u>;", "17,179,869,180 bytes so far"),
        ("var a: array<u32, 04>;", "cannot be worked out"),
    ],
)
def test_a_number_is_that_of_its_block_and_of_its_type(text, told):
    with pytest.raises(xl.ShaderError, match=rf"^mine:1:\d+: .*{told}"):
        check(MAIN(text))


def test_a_name_is_what_it_was_behind_a_block_that_hides_it():
    for text in (
        "const N = 2; { const N = 9000; } var a: array<u32, N>;",
        "const N = 9000; { const N = 2; var a: array<u32, N>; let b = array<u32, N>(); }",
        "const N = 9000; for (var i = 0; i < 2; i++) { const N: u32 = 2; var a: array<u32, N>; }",
    ):
        check(MAIN(text))
    check("alias U = u32; alias V = U; const N: V = 4; const M = N * 2;\n" + MAIN("var a: array<U, M>;"))


# An expression of whole numbers: nothing here says what it comes to, the compiler does.
SIGNS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]
whole = st.recursive(
    st.one_of(
        st.sampled_from(["0", "1u", "2i", "7", "0xffffffffu", "0x7fffffff", "31", "31u", "3000000000", "65536u"]),
        st.integers(0, 40).map(str),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(SIGNS), inner).map(lambda x: f"({x[0]} {x[1]} {x[2]})"),
        inner.map(lambda x: f"-{x}"), inner.map(lambda x: f"~{x}"), inner.map(lambda x: f"u32({x})"),
        inner.map(lambda x: f"i32({x})"), inner.map(lambda x: f"abs({x})"),
        st.tuples(inner, inner).map(lambda x: f"min({x[0]}, {x[1]})"),
        st.tuples(inner, inner, inner).map(lambda x: f"clamp({x[0]}, {x[1]}, {x[2]})"),
    ),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.gpu
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=whole)
def test_a_number_is_the_compilers(text, lavapipe):
    words = Text(wgsl.from_text(text))
    ours = Values(words).number(0, words.count)
    body = f"fn work(src: u32, local: u32, dst: u32) {{ const N = {text}; a[0] = u32(N); }}"
    try:
        found = xl.expand([1], "flat", body=body, buffers={"a": np.zeros(1, np.uint32)}, device=lavapipe)
    except xl.ShaderError:
        return
    assert ours is None or ours % 2**32 == found.buffers["a"][0]


POINTERS = """struct S { m: i32, a: array<array<i32, 2>, 3> }
fn f(p: ptr<function, i32>) { *p += 1; }
fn two(a: i32, p: ptr<function, array<i32, 2>>) { p[0] += a; }
fn at(p: ptr<private, i32>) { *p += 1; }
var<private> mine: S;
var<private> whole: i32;
var<workgroup> ours: array<atomic<u32>, 3>;
fn inner(p: ptr<function, array<i32, 2>>, i: i32) { %s }
""" + MAIN("var s: S; var v = 1; var pair = array(1, 2); let r = &s; let q = &(*r).a[1]; inner(&pair, 1); %s")


@pytest.mark.parametrize(
    ("inside", "main"),
    [("f(&p[i]);", ""), ("f(&(*p)[1]);", ""), ("f(&((*p)[1]));", ""), ("", "f(&s.m);"), ("", "two(1, &s.a[1]);"),
     ("", "two(1, q);"), ("", "two(s.m, &(*q));"), ("", "let p = &r.m; f(p);"), ("", "f(&q[0]);"), ("", "at(&mine.m);"),
     ("", "at(&mine.a[v][v]);"), ("", "let p = &mine; at(&p.m);")],
)  # fmt: skip
def test_a_pointer_to_a_part_of_a_variable_is_not_given_to_naga(inside, main):
    with pytest.raises(xl.ShaderError, match=r"^mine:[89]:\d+: (f|two|at) is given a pointer to a part of a variable"):
        check(POINTERS % (inside, main))
    wgsl_limits.check(wgsl.from_text(POINTERS % (inside, main), "mine"), WORKGROUP, by_naga=False)


@pytest.mark.gpu
def test_other_pointers_are(lavapipe):
    inside = "two(i, p); two((*p)[1], p); two(p[0], &(*p));"
    main = "f(&v); let p = &v; f(p); f(&(*p)); at(&whole); mine.m = 1; *q = pair; (*q)[1] = v;"
    main += "s.m = (&pair)[0]; atomicAdd(&ours[1], 1u);"
    lavapipe.pipeline(wgsl.from_text(POINTERS % (inside, main)), "main")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("// \ud800", "mine:1: half a character"),
        ("\n\udfff", "mine:2: half a character"),
        ("\n\n\0", "mine:3: a NUL"),
        ("\n" * (2**18 + 1), "mine: the text has 262,145 characters; at most 262,144"),
    ],
)
def test_what_is_no_text_for_a_compiler_is_refused(text, told):
    with pytest.raises(xl.ShaderError, match=told):
        wgsl.from_text(text, "mine")
    with pytest.raises(xl.ShaderError):
        xl.Kernel(text, "main", [], (1, 1, 1))


# The definition of a type's bytes, alignment and depth, from WGSL's "Alignment and Size".
scalar = st.sampled_from([("u32", 4, 4, 0), ("i32", 4, 4, 0), ("f32", 4, 4, 0)])
vector = st.sampled_from([("vec2<u32>", 8, 8, 1), ("vec3f", 12, 16, 1), ("vec4i", 16, 16, 1),
                          ("mat2x3<f32>", 32, 16, 2), ("mat4x2f", 32, 8, 2), ("mat3x3f", 48, 16, 2)])  # fmt: skip


def up(size, step):
    return (size + step - 1) // step * step


@st.composite
def programs(draw):
    """Declarations, and the types with their sizes that a function may use."""
    lines, types, numbers = [], [draw(scalar), draw(vector)], {}

    def number(least, most):
        value = draw(st.integers(least, most))
        if numbers and draw(st.booleans()):
            name = draw(st.sampled_from(sorted(numbers)))
            return f"({value} + {name} - {name} % {10**6} / 1)", value + numbers[name] - numbers[name] % 10**6
        forms = ["{0}", "{0}u", "(({0}))", "0x{0:x}", "{0} << 0u", "u32({0})", "max({0}, -7 + 2 * 3)"]
        text = draw(st.sampled_from([*forms, "clamp({0}, -(1), 0x7fff)"]))
        return text.format(value), value

    for index in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["const", "alias", "struct", "array"]))
        if kind == "const":
            text, value = number(1, 9)
            lines.append(f"const N{index} = {text};")
            # Whether a literal has a suffix decides what it goes with.
            if "u" not in text:
                numbers[f"N{index}"] = value
            continue
        if kind == "struct":
            members = draw(st.lists(st.sampled_from(types), min_size=1, max_size=4))
            size = align = depth = 0
            for _, bytes_, step, inner in members:
                size, align, depth = up(size, step) + bytes_, max(align, step), max(depth, inner)
            lines.append(f"struct T{index} {{ {', '.join(f'm{i}: {m[0]}' for i, m in enumerate(members))}, }}")
            found = (f"T{index}", up(size, align), align, depth + 1)
        else:
            name, bytes_, step, inner = draw(st.sampled_from(types))
            text, count = number(1, 5)
            found = (f"array<{name}, {text}>", up(bytes_, step) * count, step, inner + 1)
            if kind == "alias":
                lines.append(f"alias T{index} = {found[0]};")
                found = (f"T{index}", *found[1:])
        if found[3] < 15 and found[1] <= 4096:
            types.append(found)
    return lines, types


few = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@few
@given(st.data())
def test_legal_programs_pass_to_the_last_byte_and_no_further(data):
    lines, types = data.draw(programs())
    used, total = [], 0
    for _ in range(data.draw(st.integers(0, 6))):
        name, size, _, _ = data.draw(st.sampled_from(types))
        if total + size <= 8192:
            used.append(data.draw(st.sampled_from([f": {name}", f": {name} = {name}()", f" = {name}()"])))
            total += size
    body = " ".join(f"var v{number}{text};" for number, text in enumerate(used))
    rest = (8192 - total) // 4
    for space in (f"{body} var rest: array<u32, {{0}}>;", f"{body} if true {{{{ var rest: array<u32, {{0}}>; }}}}"):
        check("\n".join(lines) + MAIN(space.format(rest)) if rest else "\n".join(lines) + MAIN(body))
        with pytest.raises(xl.ShaderError, match="bytes so far"):
            check("\n".join(lines) + MAIN(space.format(rest + 1)))


@pytest.mark.gpu
@settings(few, max_examples=10)
@given(program=programs())
def test_the_programs_of_these_tests_are_wgsl(program, lavapipe):
    lines, types = program
    text = " ".join(f"var v{number}: {item[0]};" for number, item in enumerate(types))
    lavapipe.module(wgsl.from_text("\n".join(lines) + MAIN(text)))


WORDS = ("fn", "struct", "alias", "const", "var", "let", "switch", "case", "array", "ptr", "vec3", "mat2x2", "u32", "a",
         "b", "if", "else", "(", ")", "[", "]", "{", "}", "<", ">", ",", ";", ":", "=", "->", "@", "&", "*", "-", ".",
         "1", "4294967295u", "<<", "@size(", "@compute", "private", "main", "/*", "*/", "//", "\n",
         "\u2028")  # fmt: skip


@settings(few, max_examples=150)
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_what_is_no_wgsl_at_all_is_left_to_the_compiler_or_refused(words):
    try:
        check(" ".join(words))
    except xl.ShaderError as error:
        assert error.file == "mine"


def test_the_packages_own_shaders_keep_the_limits():
    counts, seen = [3, 1, 4], set()
    for name, strategy in xl.strategies().items():
        if strategy.modelled:
            continue
        for item in xl.expand(counts, name, device="reference").graph.passes.values():
            source = item.kernel.source
            assert source.packaged
            wgsl_limits.check(dataclasses.replace(source, packaged=False), WORKGROUP)
            seen.add(source.name)
    assert len(seen) > 20


FATAL = """
import sys, threading
import numpy as np
import expandlab as xl

def run():
    device = xl.device(sys.argv[1])
    for body in (
        "var<private> big: array<u32, 100000000>;\\nfn work(s: u32, l: u32, d: u32) { big[d] = s; out[d] = big[s]; }",
        "fn work(s: u32, l: u32, d: u32) { out[d] = " + "(" * 10000 + "1u" + ")" * 10000 + "; }",
        "fn f(p: ptr<function, u32>) { *p = 1u; }\\nfn work(s: u32, l: u32, d: u32) { out[d] = s; }\\n"
        "fn g(i: u32) { var a = array(i, i); f(&a[1]); }",
    ):
        try:
            xl.expand([3, 2], "flat", body=body, buffers={"out": np.zeros(5, np.uint32)}, device=device)
        except xl.ShaderError as error:
            print(error.file, error.line)
    print(xl.expand([3, 2], "flat", device=device).total)

threading.stack_size(2**19)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.gpu
def test_bodies_that_ended_the_process_are_refused_and_the_device_goes_on(gpu):
    name = "swiftshader" if "SwiftShader" in gpu.info.name else gpu.info.name
    done = subprocess.run([sys.executable, "-c", FATAL, name], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split("\n")) == (0, ["body 1", "body 1", "body 3", "5", ""]), done.stderr


@pytest.mark.gpu
def test_a_score_and_a_pass_of_a_graph_are_held_to_them_too(lavapipe):
    score = "fn score(pick: array<u32, 2>) -> f32 { var a: array<f32, 3000>; return a[pick[0]]; }"
    with pytest.raises(xl.ShaderError, match=r"^score:1:\d+: the variables of this function take 12,000 bytes"):
        xl.search((3, 4), score, 1, devices=[lavapipe])
    text = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;\nvar<workgroup> big: array<u32, 5000>;\n"
    graph = xl.FrameGraph()
    graph.buffer("words", 16)
    kernel = xl.Kernel(text + MAIN("big[0] = 1u; words[0] = big[1];"), "main", ["words"], (1, 1, 1))
    graph.add_pass("p", [("words", "write")], kernel=kernel)
    graph.output("words")
    with pytest.raises(
        xl.ShaderError, match=r"^<wgsl>:2:\d+: the workgroup variables that main uses take 20,000 bytes"
    ):
        graph.compile().run(devices=lavapipe)
    assert xl.expand([3, 2], device=lavapipe).total == 5


@pytest.mark.gpu
def test_the_deepest_text_that_passes_compiles_on_a_small_stack(lavapipe):
    texts = [make(most) for what, (make, most, _) in LIMITS.items()
             if what in ("brackets", "arguments", "signs", "operators", "else", "declarations")]  # fmt: skip
    failed = []

    def compile_all():
        try:
            for text in texts:
                lavapipe.pipeline(wgsl.from_text(HEAD + HEAD + text), "main")
        except BaseException as error:
            failed.append(error)

    before = threading.stack_size(2**19)
    try:
        thread = threading.Thread(target=compile_all)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert not failed and np.array_equal(xl.expand([1], device=lavapipe).src, [0])
