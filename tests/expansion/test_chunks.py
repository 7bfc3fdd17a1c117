"""Expansions that do not fit a binding at once: cut in chunks, and the same result as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from definition import assert_expands
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl
from expandlab.expansion.chunks import cut

RUNS = [name for name, strategy in xl.strategies().items() if not strategy.modelled]


@pytest.fixture
def small(gpu):
    """The device with bindings of 4 KiB: its own limits stay, ours are lowered."""
    lowered = xl.adopt(gpu.gpu)
    lowered.limits["max_storage_buffer_binding_size"] = 4096
    return lowered


@given(
    counts=st.lists(st.integers(0, 40), max_size=30), max_src=st.integers(1, 7), max_dst=st.integers(1, 50)
)  # fmt: skip
def test_chunks_cover_every_item_once_and_fit(counts, max_src, max_dst):
    counts = np.array(counts, np.uint32)
    chunks = list(cut(counts, max_src, max_dst))
    rebuilt = np.zeros(len(counts), np.int64)
    dst = 0
    for chunk in chunks:
        assert len(chunk.counts) <= max_src and chunk.counts.sum() <= max_dst
        assert chunk.dst_base == dst
        if chunk.local_base:
            assert chunk.local_base == rebuilt[chunk.src_base]
        rebuilt[chunk.src_base : chunk.src_base + len(chunk.counts)] += chunk.counts
        dst += int(chunk.counts.sum())
    assert np.array_equal(rebuilt, counts)
    assert len(chunks) >= 1


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", RUNS)
@pytest.mark.parametrize("kind", ["geometric", "one_giant", "sparse", "ramp"])
def test_chunks_give_the_same_as_a_whole(strategy, kind, small):
    counts = xl.counts.make(kind, 900, mean=4.0, seed=6)
    try:
        result = xl.expand(counts, strategy, device=small, capacity=10_000, workgroup_size=64)
    except xl.UnsupportedError:
        pytest.skip("the strategy refuses these counts")
    assert result.report.chunks > 1
    assert_expands(counts, result.src, result.local)


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", RUNS)
def test_a_body_sees_the_indices_of_the_whole(strategy, small):
    counts = xl.counts.make("one_giant", 300, mean=8.0, seed=2)
    body = "fn work(src: u32, local: u32, dst: u32) { atomicAdd(&seen[dst], src * 10000u + local); }"
    # The body's own buffer of 300 * 8 words has to fit.
    small.limits["max_storage_buffer_binding_size"] = 9600
    total = int(counts.sum())
    try:
        result = xl.expand(
            counts, strategy, body=body, buffers={"seen": xl.atomic(np.zeros(total, np.uint32))}, device=small,
            capacity=total, workgroup_size=64,
        )  # fmt: skip
    except xl.UnsupportedError:
        pytest.skip("the strategy refuses these counts")
    seen = result.buffers["seen"]
    assert_expands(counts, seen // 10000, seen % 10000)


@pytest.mark.gpu
def test_capacity_is_still_what_it_was(small):
    with pytest.raises(xl.CapacityError) as caught:
        xl.expand([2000], "prefix_search", device=small)
    assert (caught.value.required, caught.value.capacity) == (2000, 1024)
    assert xl.expand([2000], "prefix_search", device=small, capacity=2000).total == 2000


@pytest.mark.gpu
def test_what_fits_in_no_chunk_says_which_limit_is_too_small(small):
    small.limits["max_storage_buffer_binding_size"] = 32
    with pytest.raises(xl.DeviceLimitError) as caught:
        xl.expand([2000], "prefix_search", device=small, capacity=2000)
    error = caught.value
    assert (error.required, error.limit) == (2000, "max_storage_buffer_binding_size")
    assert error.required_bytes > error.available_bytes == 32


@pytest.mark.gpu
def test_append_expands_all_that_one_binding_of_output_holds(small):
    # Its infos need twice the bytes of an output: two chunks.
    counts = np.full(128, 8, np.uint32)
    result = xl.expand(counts, "append", device=small)
    assert result.report.chunks >= 2
    assert_expands(counts, result.src, result.local)
