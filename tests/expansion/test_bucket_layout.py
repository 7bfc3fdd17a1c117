"""Bucket layouts against the definition: the bits of N, and borders counted by hand."""

import numpy as np
import pytest

from expandlab.expansion.bucket_layout import bucket_layout, memory_bytes

COUNTS = np.array([11, 0, 4, 1, 22, 255, 256], np.uint32)


def bits(n):
    return [bit for bit in range(32) if n >> bit & 1]


@pytest.mark.parametrize("strategy", ["po2_buckets", "po2_merged"])
def test_every_set_bit_is_a_piece_that_begins_where_the_lower_bits_end(strategy):
    layout = bucket_layout(COUNTS, strategy)
    for src, n in enumerate(COUNTS.tolist()):
        pieces = layout.pieces(src)
        assert [piece.bucket for piece in pieces] == bits(n)
        assert [piece.first_local for piece in pieces] == [n & (2**bit - 1) for bit in bits(n)]
        assert [piece.items for piece in pieces] == [2**bit for bit in bits(n)]


def test_a_range_is_one_piece_in_the_bucket_of_the_highest_bit():
    layout = bucket_layout(COUNTS, "po2_range")
    for src, n in enumerate(COUNTS.tolist()):
        assert [(p.bucket, p.first_local, p.items) for p in layout.pieces(src)] == ([(max(bits(n)), 0, n)] if n else [])


@pytest.mark.parametrize("room", [1, 3])
def test_a_bucket_has_room_for_its_worst_case(room):
    layout = bucket_layout(COUNTS, "po2_merged", room=room)
    src, items = room * len(COUNTS), room * int(COUNTS.sum())
    assert [b.capacity for b in layout.buckets] == [min(src, items >> bit) for bit in range(32)]
    assert memory_bytes(COUNTS, "po2_merged", room=room) == 4 * sum(min(src, items >> bit) for bit in range(32))
    assert memory_bytes(COUNTS, "prefix_search", room=room) == 4 * src


def test_rounding_keeps_every_subgroup_in_one_bucket_and_without_it_some_straddle():
    counts = np.array([11, 4, 1], np.uint32)
    rounded = bucket_layout(counts, "po2_merged", subgroup_size=8)
    assert rounded.straddling == 0
    assert [(b.first_thread, b.items, b.threads) for b in rounded.buckets[:4]] == [(0, 2, 8), (8, 2, 8), (16, 4, 8), (24, 8, 8)]  # fmt: skip  # noqa: E501
    # End to end: 2 + 2 + 4 | 8 items. Only the first subgroup has more than one bucket.
    loose = bucket_layout(counts, "po2_merged", subgroup_size=8, rounded=False)
    assert loose.straddling == 1
    assert [(b.first_thread, b.items, b.threads) for b in loose.buckets[:4]] == [(0, 2, 2), (2, 2, 2), (4, 4, 4), (8, 8, 8)]  # fmt: skip  # noqa: E501
    assert loose.map.subgroup_size == 8 and loose.map.lane.max() == 7


def test_no_src_is_no_layout():
    layout = bucket_layout(np.zeros(0, np.uint32), "po2_merged")
    assert layout.straddling == 0 and sum(b.items for b in layout.buckets) == 0 and layout.pieces(0) == ()
