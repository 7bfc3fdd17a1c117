"""Statistics of counts against values worked out by hand and against the thread map."""

import numpy as np
import pytest

import expandlab as xl
from expandlab.counts.statistics import lorenz


def test_a_small_example_worked_out_by_hand():
    s = xl.counts.statistics([0, 4, 4, 8])
    assert (s.src, s.items, s.mean, s.median, s.largest, s.zeros) == (4, 16, 4.0, 4.0, 8, 0.25)
    assert s.deviation == pytest.approx(np.sqrt(8))
    # Sum of |a - b| over all ordered pairs, 2 (4 + 4 + 8 + 0 + 4 + 4) = 48, over 2 * 4 * 16.
    assert s.gini == pytest.approx(48 / (2 * 4 * 16))
    assert s.top == 0.5 and s.flat == 0.5 and s.append == 16 / (32 * 8)
    assert s.bits == pytest.approx(3 / 4)


def test_equal_counts_have_no_gini_and_one_giant_nearly_all_of_it():
    assert xl.counts.statistics([7] * 100).gini == pytest.approx(0)
    assert xl.counts.statistics([0] * 99 + [5]).gini == pytest.approx(0.99)


@pytest.mark.parametrize("kind", xl.counts.kinds())
def test_shares_agree_with_the_thread_maps(kind):
    counts = xl.counts.make(kind, 320, mean=5, seed=3)
    s = xl.counts.statistics(counts)
    if s.items:
        work = [step for step in xl.thread_map(counts, "append").steps if step.label == "write one info"]
        busy = sum(step.repeats * np.count_nonzero(step.active) * 32 for step in work)
        assert s.append == pytest.approx(s.items / busy)
        assert s.flat == pytest.approx(s.items / (len(counts) * s.largest))
    rows = xl.thread_map(counts, "po2_merged").memory[0].rows
    assert s.bits == pytest.approx(sum(row.used for row in rows) / len(counts))


def test_the_lorenz_curve_runs_from_nothing_to_all_below_the_diagonal():
    across, up = lorenz(xl.counts.make("zipf", 500, mean=4))
    assert (across[0], up[0], across[-1], up[-1]) == (0, 0, 1, 1)
    assert np.all(np.diff(up) >= 0) and np.all(up <= across + 1e-12)
    gini = xl.counts.statistics(xl.counts.make("zipf", 500, mean=4)).gini
    assert 1 - 2 * np.trapezoid(up, across) == pytest.approx(gini)


@pytest.mark.parametrize("counts", [[], [0, 0, 0]])
def test_nothing_has_statistics_too(counts):
    s = xl.counts.statistics(counts)
    assert (s.src, s.items, s.gini, s.top, s.flat, s.append) == (len(counts), 0, 0, 0, 1, 1)


def test_what_is_no_count_is_named():
    with pytest.raises(xl.CountsError, match="row 1"):
        xl.counts.statistics([3, -1])
