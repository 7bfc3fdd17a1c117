"""Keys: their order is the definition's, for every format and direction, also as the shader computes them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topk_definition import order_of

import expandlab as xl
from expandlab import wgsl
from expandlab.topk.keys import FORMATS, keys_of, scores_of, words_of

SPECIAL = {
    "float32": [0, 0x80000000, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF,
                0x7FFFFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000],
    "int32": [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF],
    "uint32": [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF],
}  # fmt: skip


def special(name):
    """Every kind of number of a format; all of them for float16."""
    if name == "float16":
        return np.arange(2**16, dtype=np.uint16).view(np.float16)
    random = np.random.default_rng(5).integers(0, 2**32, 500, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([np.array(SPECIAL[name], np.uint32), random]).view(name)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("name", FORMATS)
def test_keys_sort_as_the_definition(name, largest):
    values = special(name)
    keys = keys_of(values, largest)
    assert keys.dtype == np.uint32
    assert np.array_equal(np.lexsort((np.arange(len(keys)), keys)), order_of(values, largest))
    if values.dtype.kind == "f":
        nan = np.isnan(values)
        assert len(set(keys[nan].tolist())) == 1 and keys[nan].min() > keys[~nan].max()
        assert len(set(keys[values == 0].tolist())) == 1


@given(bits=st.lists(st.integers(0, 2**32 - 1), max_size=40), largest=st.booleans())
def test_any_bits_sort_as_the_definition(bits, largest):
    for name in ("float32", "int32", "uint32"):
        values = np.array(bits, np.uint32).view(name)
        assert np.array_equal(np.argsort(keys_of(values, largest), kind="stable"), order_of(values, largest))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_words_hold_the_scores_in_order(count):
    for name, form in FORMATS.items():
        values = np.arange(count).astype(name)
        words = words_of(values)
        assert words.dtype == np.uint32 and len(words) == form.words(count)
        assert np.array_equal(scores_of(words, form, count), values)


PROBE = """
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> keys: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&keys)) {
        keys[id.x] = key_of(bits_of(words[id.x / PER_WORD], id.x % PER_WORD));
    }
}
"""


@pytest.mark.gpu
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("name", FORMATS)
def test_the_shader_computes_the_same_keys(name, largest, gpu):
    values, form = special(name), FORMATS[name]
    constants = f"const FORMAT = {form.code}u; const PER_WORD = {form.per_word}u; const LARGEST = {int(largest)}u;\n"
    graph = xl.FrameGraph()
    words = words_of(values)
    graph.buffer("words", words.nbytes, imported=True)
    graph.buffer("keys", 4 * len(values))
    graph.add_pass(
        "keys", [("words", "read"), ("keys", "write")],
        kernel=xl.Kernel(constants + wgsl.read("lib/keys.wgsl") + PROBE, "main", ["words", "keys"],
                         (-(-len(values) // 64), 1, 1)),
    )  # fmt: skip
    graph.output("keys")
    keys = graph.compile().run(gpu, {"words": words})["keys"]
    assert np.array_equal(keys, keys_of(values, largest))
