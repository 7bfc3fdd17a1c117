"""`size_classes`: which class a src is in, and giants cut in pieces."""

from __future__ import annotations

import numpy as np
import pytest
from definition import assert_expands, pairs
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl
from expandlab.expansion.strategies.size_classes import CLASSES, GROUP, LARGE_N, MEDIUM_N, piece_items

PIECE = 2**14
EDGES = [0, 1, MEDIUM_N - 1, MEDIUM_N, MEDIUM_N + 1, LARGE_N - 1, LARGE_N, LARGE_N + 1, PIECE - 1, PIECE, PIECE + 1]


def entries(counts):
    return {row.label: row.src.tolist() for row in xl.thread_map(counts, "size_classes").memory[0].rows}


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (0, (0, 0, 0)),
        (1, (1, 0, 0)),
        (MEDIUM_N - 1, (1, 0, 0)),
        (MEDIUM_N, (0, 1, 0)),
        (LARGE_N - 1, (0, 1, 0)),
        (LARGE_N, (0, 0, 1)),
        (PIECE, (0, 0, 1)),
        (PIECE + 1, (0, 0, 2)),
        (5 * PIECE + 1, (0, 0, 6)),
    ],
)
def test_a_src_is_in_one_class(n, expected):
    assert tuple(len(entries([n])[name]) for name in CLASSES) == expected


@given(counts=st.lists(st.one_of(st.integers(0, 40), st.integers(0, 40_000)), max_size=30))
def test_the_lists_hold_every_src_in_order(counts):
    found = entries(counts)
    assert sorted({*found["small"], *found["medium"], *found["large"]}) == [s for s, n in enumerate(counts) if n]
    assert all(src == sorted(src) for src in found.values())


def test_no_thread_writes_more_pieces_than_a_driver_lets_it_loop():
    n = np.array([2**28 - 1, 2**28, 2**32 - 1])
    assert (-(-n // piece_items(n)) <= 2**15).all()
    # A workgroup of 32 threads strides a piece, and a thread its share of it.
    assert piece_items(n).max() // 32 < 65535


def test_threads_of_a_group_take_as_many_steps_as_the_longest():
    m = xl.thread_map([*[1] * 31, 20, 3], "size_classes", workgroup_size=64)
    assert len(m) == GROUP * 20 + GROUP * 3
    assert m.utilisation == (31 + 20 + 3) / len(m)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "counts", [EDGES, EDGES[::-1] * 3, [3 * PIECE + 7, 1, 0, 200_001]], ids=["edges", "three", "giants"]
)
@pytest.mark.parametrize("size", [32, 256])
def test_the_edges_expand_in_the_order_of_the_src(counts, size, any_device):
    result = xl.expand(counts, "size_classes", device=any_device, workgroup_size=size)
    assert_expands(counts, result.src, result.local)
    assert np.array_equal(np.stack([result.src, result.local], axis=1), pairs(counts))


@pytest.mark.gpu
@pytest.mark.parametrize("size", [32, 256])
def test_the_device_records_the_edges_as_the_model_says(size, gpu):
    model = xl.thread_map(EDGES, "size_classes", workgroup_size=size, subgroup_size=gpu.subgroup_size)
    recorded = xl.record_map(EDGES, "size_classes", device=gpu, workgroup_size=size)
    for name in ("dispatch", "workgroup", "lane", "src", "local", "dst", "entry", "bucket"):
        assert np.array_equal(getattr(model, name), getattr(recorded, name)), name
