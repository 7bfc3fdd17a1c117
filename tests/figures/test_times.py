"""The picture of measured times shows every pass, the quartiles, and what kind of clock and device it was."""

from __future__ import annotations

import numpy as np
import pytest
from measured import contender, measurements

from expandlab.figures import times

PASSES = {"flat": ("count", "spread"), "prefix_search": ("reduce", "spine", "apply", "search")}
# Samples with quartiles at 0.9 and 1.2 of the median.
SPREAD = (0.8, 0.9, 1.0, 1.2, 1.3)


def timings(**changes):
    found = []
    for number, (name, passes) in enumerate(PASSES.items(), 1):
        one = [0.1 * number * factor for factor in SPREAD]
        found.append(contender(name, [len(passes) * ms for ms in one], pass_ms=dict.fromkeys(passes, one)))
    return measurements(*changes.pop("contenders", found), **changes)


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_segments_are_as_long_as_the_medians():
    found = timings()
    bars = [a for a in times.times(found).axes[0].get_children() if a.get_gid() == "pass-time"]
    wide = np.array([np.ptp(bar.get_paths()[0].vertices[:, 0]) for bar in bars])
    medians = np.array([row.median_ms for row in found.rows])
    assert np.allclose(wide / wide[0], medians / medians[0])


def test_the_whisker_spans_the_quartiles_of_the_sum():
    found = timings()
    children = times.times(found).axes[0].get_children()
    unit = np.ptp(next(a for a in children if a.get_gid() == "pass-time").get_paths()[0].vertices[:, 0]) / 0.1
    spans = [np.ptp(a.get_segments()[0][:, 0]) for a in children if a.get_gid() == "quartiles"]
    assert np.allclose(spans, [unit * (row.q3_ms - row.q1_ms) for row in found.totals])


def test_every_pass_is_named_with_its_strategy_device_driver_and_timer():
    said = " | ".join(words(times.times(timings())))
    for word in ("count", "spread", "search", "Flat expansion", "llvmpipe", "Mesa 22.3.6", "timestamp-query"):
        assert word in said


@pytest.mark.parametrize("marked", [True, False])
def test_software_adapters_and_cancelled_runs_are_marked(marked):
    found = timings(software=marked, cancelled=marked)
    said = words(times.times(found))
    assert ("software adapter: the CPU is measured" in said) == marked
    assert ("cancelled: partial results" in said) == marked
    assert ("CPU is measured" in times.alt(found)) == ("cancelled" in times.alt(found)) == marked


def test_nothing_measured_is_a_picture_too():
    said = words(times.times(timings(contenders=(), cancelled=True)))
    assert any("nothing was measured" in text for text in said)


def test_times_of_zero_and_hostile_names_are_drawn():
    zero = [contender("a<b>$x$", [0.0], pass_ms={"p": [0.0], "q": [0.0]}), contender("fill", [0.0], role="limit")]
    assert times.picture(timings(contenders=zero, device="$\\frac{1}{$ <script>"), "svg")


def test_the_limit_and_the_ratios_to_it_are_said():
    found = timings(contenders=[contender("flat", [3.0, 3.0]), contender("fill", [2.0, 2.0], role="limit")])
    said = " | ".join(words(times.times(found)))
    assert "1.5 x limit" in said and "limit: fill" in said and "clock" not in said
    moved = timings(contenders=[contender("flat", [3.0, 3.0]), contender("fill", [2.0, 3.0], role="limit")])
    assert "the clock moved: compare ratios" in words(times.times(moved))


@pytest.mark.parametrize("longest", [0.0, 1e-6, 0.3, 7.0, 99.0, 12345.0])
def test_ticks_are_round_and_reach_the_longest(longest):
    marks = times.ticks(longest)
    assert marks[0] == 0 and marks[-1] >= longest and 2 <= len(marks) <= 10


def test_the_picture_is_the_same_bytes_each_time():
    assert times.picture(timings()) == times.picture(timings())
