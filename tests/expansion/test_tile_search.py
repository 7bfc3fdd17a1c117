"""`tile_search` and `serial_merge`, which cut the output: tiles of many empty src, and src of many tiles."""

from __future__ import annotations

import numpy as np
import pytest
from definition import assert_expands
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl
from expandlab.expansion.tiles import ITEMS, LONGEST_ROUNDS, MOST_BLOCKS, row_of, share_of_thread

TILE = 32 * ITEMS
SPAN = 32 * LONGEST_ROUNDS


def zeros(count):
    return [0] * count


# The last src of a tile begins before its end, so the tile's span ends with the empty src before it.
EDGES = {
    "longest counted span": [1, *zeros(SPAN - 1), 9],
    "one more, searched": [1, *zeros(SPAN), 9],
    "empty src at a tile's first item": [TILE, *zeros(3000), 5],
    "empty src at a tile's last item": [TILE - 1, *zeros(3000), 5],
    "empty src first and last": [*zeros(3000), TILE + 1, *zeros(3000)],
    "every other tile": [*([TILE + 3, *zeros(600)] * 9), 1],
    "giants with many tiles": [20_000, 1, 40_000, 0, 17_000, *zeros(300), 33 * TILE, 32 * TILE, 1],
    "a giant behind a desert": [*zeros(100_000), 50_000, *zeros(100_000), 1],
}


CUTS = pytest.mark.parametrize("strategy", ["tile_search", "serial_merge"])


def searches(m):
    return sum(int(step.active.sum()) * step.repeats for step in m.steps if step.label.startswith("search"))


@pytest.mark.gpu
@CUTS
@pytest.mark.parametrize("counts", EDGES.values(), ids=EDGES.keys())
def test_long_runs_of_empty_src_expand_by_the_definition(counts, strategy, any_device):
    result = xl.expand(counts, strategy, device=any_device, workgroup_size=32)
    assert_expands(counts, result.src, result.local)
    assert (np.diff(result.src.astype(np.int64)) >= 0).all()


@pytest.mark.gpu
@CUTS
@pytest.mark.parametrize("counts", EDGES.values(), ids=EDGES.keys())
def test_the_device_records_them_as_the_model_says(counts, strategy, gpu):
    model = xl.thread_map(counts, strategy, workgroup_size=32, subgroup_size=gpu.subgroup_size)
    recorded = xl.record_map(counts, strategy, device=gpu, workgroup_size=32)
    for name in ("workgroup", "lane", "src", "local", "dst", "entry"):
        assert np.array_equal(getattr(model, name), getattr(recorded, name)), name
    assert np.array_equal(model.memory[1].rows[0].src, recorded.memory[1].rows[0].src)


@pytest.mark.gpu
@CUTS
def test_rows_grow_with_the_number_of_src(lavapipe, strategy):
    src = MOST_BLOCKS * 8 * 32 + 1000
    assert row_of(src, 32) == 16 and row_of(src - 1000, 32) == 8
    counts = xl.counts.make("geometric", src, mean=0.5, seed=3)
    for device in (lavapipe, "reference"):
        result = xl.expand(counts, strategy, device=device, workgroup_size=32)
        assert_expands(counts, result.src, result.local)


@pytest.mark.gpu
@CUTS
def test_a_block_may_have_more_giants_than_its_list_holds(lavapipe, strategy):
    # The last one has more tiles than rounds that llvmpipe gives one thread.
    for counts in ([34 * TILE] * 34, [0, *[34 * ITEMS] * 300, 70_000 * ITEMS, 3]):
        result = xl.expand(counts, strategy, device=lavapipe, workgroup_size=32)
        assert_expands(counts, result.src, result.local)


def test_a_giant_has_few_tiles_whatever_its_size():
    for size in (32, 256):
        shares = {items: share_of_thread(items, size) for items in (0, 1, size << 19, (size << 19) + 1, 2**32 - 1)}
        assert shares[0] == shares[size << 19] == ITEMS and shares[(size << 19) + 1] == 2 * ITEMS
        assert all(-(-items // share) <= size << 15 for items, share in shares.items())


def test_a_tile_counts_heads_up_to_its_longest_span_and_searches_beyond():
    of = {name: xl.thread_map(counts, "tile_search", workgroup_size=32) for name, counts in EDGES.items()}
    assert searches(of["longest counted span"]) == 0
    # The first src is found by the tile's own bounds in ten probes for each of ten items, at most.
    assert 0 < searches(of["one more, searched"]) <= 10 * 11


@given(counts=st.lists(st.one_of(st.just(0), st.integers(0, 700)), max_size=80))
def test_every_thread_takes_at_most_sixteen_items(counts):
    m = xl.thread_map(counts, "tile_search", workgroup_size=32)
    assert np.bincount(m.workgroup, minlength=1).max() <= TILE


@given(counts=st.lists(st.one_of(st.just(0), st.integers(0, 700)), max_size=80))
def test_a_thread_of_a_serial_merge_walks_sixteen_neighbours(counts):
    m = xl.thread_map(counts, "serial_merge", workgroup_size=32)
    work = m.active
    thread = (m.workgroup * 32 + m.subgroup * m.subgroup_size + m.lane)[work]
    assert np.array_equal(thread, m.dst[work] // ITEMS)
