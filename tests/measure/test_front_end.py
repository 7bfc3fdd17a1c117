"""Series over growing numbers of src: their sizes, their slope, and what is left out."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from expandlab.measuring.front_end import measure_series, per_src, sizes_of


def test_sizes_grow_from_one_to_all():
    assert sizes_of(0) == [] and sizes_of(1) == [1] and sizes_of(3) == [1, 2, 3]
    assert sizes_of(10_000) == [1, 10, 100, 1000, 10_000]


def rows(fixed_ms, us, sizes=(1, 10, 100, 1000)):
    return [SimpleNamespace(src=src, median_ms=fixed_ms + us * src / 1000) for src in sizes]


@pytest.mark.parametrize(("fixed", "us"), [(0.5, 30.0), (2.0, 0.0), (0.0, 4.0)])
def test_the_slope_of_a_line_is_found(fixed, us):
    assert per_src(rows(fixed, us)) == pytest.approx((fixed, us), abs=1e-9)


def test_a_slope_is_never_negative_and_needs_three_sizes():
    falling = [SimpleNamespace(src=src, median_ms=ms) for src, ms in ((1, 3.0), (10, 2.0), (100, 1.0))]
    fixed, us = per_src(falling)
    assert us == 0 and 1 <= fixed <= 3
    assert per_src(rows(1, 1, sizes=(1, 10))) is None


def test_every_strategy_has_a_time_for_every_size():
    counts = np.full(20, 3, np.uint32)
    told = []
    found = measure_series(["dispatch_each", "prefix_search"], counts, device="reference", on_progress=told.append)
    times = {(row.strategy, row.src): row for row in found.rows}
    assert set(times) == {(name, size) for name in ("dispatch_each", "prefix_search") for size in sizes_of(20)}
    assert all(0 < row.q1_ms <= row.median_ms <= row.q3_ms and row.samples > 0 for row in found.rows)
    assert told and all(0 <= news.done <= news.total for news in told)
    assert not found.cancelled and found.device.startswith("reference")


def test_what_is_too_much_for_a_strategy_is_left_out_with_the_reason():
    names = ["dispatch_each", "prefix_search"]
    found = measure_series(names, np.ones(10_001, np.uint32), device="reference", repeats=1)
    assert "10,000" in found.left_out["dispatch_each"]
    assert {row.src for row in found.rows if row.strategy == "prefix_search"} == set(sizes_of(10_001))


def test_a_cancelled_series_says_so():
    cancel = threading.Event()
    cancel.set()
    assert measure_series(["prefix_search"], np.ones(4, np.uint32), device="reference", cancel=cancel).cancelled
