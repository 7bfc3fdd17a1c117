"""The measuring protocol: checked first, interleaved, cancellable, and labelled. No time is asserted."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import expandlab as xl
from expandlab import timing

NAMES = list(xl.strategies())
COUNTS = xl.counts.make("geometric", 300, mean=5.0)


@pytest.mark.gpu
def test_every_pass_of_every_strategy_is_timed(any_device):
    names = timing.runnable(COUNTS, any_device)
    done = timing.time_strategies(COUNTS, names, device=any_device, repeats=3, warm_up_s=0.0)
    assert [row.strategy for row in done.totals] == names
    assert all(row.samples == 3 and row.q1_ms <= row.median_ms <= row.q3_ms for row in (*done.rows, *done.totals))
    assert done.timer == ("wall clock" if any_device.is_reference else "timestamp-query")
    assert done.software == any_device.info.is_software and done.device == any_device.info.label and not done.cancelled
    assert len(set(done.shader_sha256.values())) == len(names)
    assert len(done.frame()) == len(done.rows) + len(done.totals)
    if not any_device.is_reference:
        passes = list(xl.expand(COUNTS, "append", device=any_device).graph.passes)
        assert [row.pass_name for row in done.rows if row.strategy == "append"] == passes


def test_progress_counts_up_and_strategies_take_turns():
    told = []
    timing.time_strategies(COUNTS, NAMES, device="reference", repeats=2, warm_up_s=0.0, on_progress=told.append)
    assert [item.done for item in told] == list(range(3 * len(NAMES))) and told[0].total == 3 * len(NAMES)
    order = [item.text.split(",")[0] for item in told[len(NAMES) :]]
    assert order == NAMES * 2


@pytest.mark.parametrize("after", [0, 2, 6, 9])
def test_a_cancelled_run_keeps_what_it_measured(after):
    cancel = threading.Event()

    def stop(progress):
        if progress.done == after:
            cancel.set()

    done = timing.time_strategies(
        COUNTS, NAMES, device="reference", repeats=5, warm_up_s=0.0, on_progress=stop, cancel=cancel
    )
    assert done.cancelled
    assert sum(row.samples for row in done.totals) == max(0, after + 1 - len(NAMES))


def test_a_strategy_with_a_wrong_output_is_not_timed(monkeypatch):
    from expandlab.expansion import endings

    def wrong(b, src, local, dst):
        b.out_src[dst] = src
        b.out_local[dst] = np.where(np.arange(len(local)) == 7, 0, local)

    monkeypatch.setattr(endings, "_store", wrong)
    with pytest.raises(xl.DeviceError, match="wrong"):
        timing.time_strategies(COUNTS, ["append"], device="reference", repeats=1, warm_up_s=0.0)


def test_strategies_that_refuse_the_counts_are_left_out():
    left = timing.runnable([2, 70_000], "reference")
    assert left == [name for name in NAMES if name not in ("append", "append_aggregated")]
    with pytest.raises(xl.UnsupportedError, match="append"):
        timing.time_strategies([70_000], ["append"], device="reference")
