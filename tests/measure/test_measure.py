"""The measuring protocol: checked first, interleaved, beside limits, cancellable, and labelled. No time is asserted."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
from measured import contender, measurements

import expandlab as xl
from expandlab import measuring
from expandlab.measuring import protocol

NAMES = list(xl.strategies())
COUNTS = xl.counts.make("geometric", 300, mean=5.0)
QUICK = {"warm_up_s": 0.0, "batch_ms": 0.0}
REFERENCES = ["fill", "clear_buffer", "read"]


def measure(what, counts=COUNTS, **options):
    return xl.measure(what, counts, **{"device": "reference", **QUICK, **options})


@pytest.mark.gpu
def test_every_pass_of_every_strategy_is_timed_beside_the_limits(every_device):
    names = measuring.runnable(COUNTS, every_device)
    done = measure("all", device=every_device, repeats=2)
    assert [row.name for row in done.totals] == names
    assert [item.name for item in done.contenders] == names + REFERENCES
    assert all(row.samples == 2 and row.q1_ms <= row.median_ms <= row.q3_ms for row in (*done.rows, *done.totals))
    # Drawing spoils the timestamps of a software driver.
    timed = every_device.timestamp_period_ns is not None and "draw_indirect_count" not in names
    assert done.timer == ("timestamp-query" if timed else "wall clock")
    assert done.software == every_device.info.is_software and done.device == every_device.info.label
    assert not done.cancelled and len({done[name].shader_sha256 for name in names}) == len(names)
    assert all(item.verified == "host" for item in done.of_role("contender"))
    assert done.input_bytes == 4 * len(COUNTS) and done.output_bytes == 8 * int(COUNTS.sum())
    if timed:
        passes = list(xl.expand(COUNTS, "append", device=every_device).graph.passes)
        assert [row.pass_name for row in done.rows if row.name == "append"] == passes


@pytest.mark.gpu
def test_batches_repeat_whole_runs_and_expansions_run_side_by_side(any_device):
    names = ["append", "po2_merged unchecked"]
    one = measure(names, device=any_device, repeats=2, batch_ms=3.0)
    four = measure(names, device=any_device, repeats=2, at_once=4)
    for name in names:
        assert one[name].runs >= 1 and four[name].runs == 1
        assert four[name].dispatches == 4 * one[name].dispatches and four[name].threads == 4 * one[name].threads
        assert four[name].scratch_bytes == 4 * one[name].scratch_bytes
    assert four.output_bytes == 4 * one.output_bytes and four.at_once == 4
    report = xl.expand(COUNTS, "append", device=any_device).report
    assert one["append"].threads == sum(item.threads_launched for item in report.passes)
    assert one["append"].scratch_bytes == report.scratch_bytes


@pytest.mark.gpu
def test_timestamps_that_do_not_hold_are_not_used():
    """Mesa's llvmpipe, once something was drawn on the device: a device of its own, for others share theirs."""
    from drivers import driver

    if not any("multi-draw-indirect-count" in item.features for item in xl.devices() if "llvmpipe" in item.name):
        pytest.skip("nothing can be drawn here")
    driver("lavapipe")
    own = xl.device("lavapipe")
    assert measure(["append"], device=own, repeats=1).timer == "timestamp-query"
    drawn = measure(["draw_indirect_count"], device=own, repeats=1)
    assert drawn.timer == "wall clock" and drawn["fill"].pass_ms == {}
    assert measure(["append"], device=own, repeats=1).timer == "wall clock"


@pytest.mark.gpu
def test_a_batch_is_as_long_as_asked_for_unless_that_takes_too_many_passes(gpu):
    done = measure(["append"], device=gpu, repeats=1, batch_ms=1e9)
    assert done["append"].runs == 1024 // done["append"].dispatches and done["fill"].runs == 1024


def test_progress_counts_up_and_contenders_take_turns():
    told = []
    names = ["append", "flat", "tile_search"]
    measure(names, repeats=2, on_progress=told.append)
    everyone = names + REFERENCES
    assert [item.done for item in told] == list(range(3 * len(everyone))) and told[0].total == 3 * len(everyone)
    assert [item.text.split(",")[0] for item in told[len(everyone) :]] == everyone * 2
    assert all(item.seconds_left >= 0 for item in told)


@pytest.mark.parametrize("after", [0, 1, 5, 8, 13])
def test_a_cancelled_run_keeps_what_it_measured(after):
    cancel = threading.Event()

    def stop(progress):
        if progress.done == after:
            cancel.set()

    done = measure(["append", "flat"], repeats=5, on_progress=stop, cancel=cancel)
    assert done.cancelled
    assert sum(len(item.gpu_ms) for item in done.contenders) == max(0, after + 1 - 5)
    assert len(done.frame()) == 2 * len(done.of_role(*measuring.measurements.ROLES))


@pytest.mark.gpu
@pytest.mark.parametrize("verify", ["host", "device"])
def test_a_strategy_with_a_wrong_output_is_not_timed(any_device, verify, monkeypatch):
    """One local of one item is wrong; and an output that is not written at all is not taken for another's."""
    from expandlab.measuring.contender import GraphRuns

    whole = GraphRuns.sample

    def spoilt(self, runs):
        found = whole(self, runs)
        if self.name == "flat":
            for program in self.programs:
                if any_device.is_reference:
                    program.words("out_local")[7] += 1
                else:
                    any_device.gpu.queue.write_buffer(program.buffer("out_local"), 28, np.array([999], np.uint32))
        return found

    monkeypatch.setattr(GraphRuns, "sample", spoilt)
    with pytest.raises(xl.DeviceError, match=r"flat gave a wrong expansion, [12] of"):
        measure(["append", "flat"], device=any_device, repeats=1, verify=verify)
    monkeypatch.setattr(GraphRuns, "sample", lambda self, runs: None if self.name == "flat" else whole(self, runs))
    with pytest.raises(xl.DeviceError):
        measure(["append", "flat"], device=any_device, repeats=1, verify=verify)


@pytest.mark.gpu
def test_a_check_on_the_device_that_finds_nothing_is_not_believed(gpu, monkeypatch):
    from expandlab.measuring import verify

    monkeypatch.setattr(verify.DeviceCheck, "wrong", lambda self, src, local: 0)
    with pytest.raises(xl.DeviceError, match="misses an error that was planted"):
        measure(["append"], device=gpu, repeats=1, verify="device")


def pairs(counts):
    src = np.repeat(np.arange(len(counts)), counts).astype(np.uint32)
    return src, np.concatenate([np.arange(n) for n in [*counts, 0]]).astype(np.uint32)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda src, local: (src, local), 0),
        (lambda src, local: (src[::-1], local[::-1]), 0),
        (lambda src, local: (np.roll(src, 1), np.roll(local, 1)), 0),
        (lambda src, local: (src[1:], local[1:]), 2),
        (lambda src, local: (np.where(np.arange(len(src)) == 2, 9, src), local), 1),
        (lambda src, local: (src, np.where(np.arange(len(src)) == 2, 4_000_000_000, local)), 1),
        (lambda src, local: (src, local * 0), 5),
        (lambda src, local: (src * 0, local * 0), 7),
    ],
)
def test_wrong_items_are_counted_whatever_their_order(change, wrong):
    """Of [3, 0, 4, 1]: an item out of range is wrong, and so is each that has a place that another has."""
    from expandlab.measuring.verify import wrong_items

    counts = np.array([3, 0, 4, 1], np.uint32)
    src, local = change(*pairs(counts))
    assert wrong_items(counts, src.astype(np.uint32), local.astype(np.uint32)) == wrong


def test_counts_without_items_have_nothing_wrong():
    from expandlab.measuring.verify import wrong_items

    none = np.zeros(0, np.uint32)
    assert wrong_items(none, none, none) == wrong_items(np.zeros(5, np.uint32), none, none) == 0


@pytest.mark.gpu
@pytest.mark.parametrize("counts", [[], [0, 0, 0], [1], [5]])
def test_next_to_nothing_can_be_measured(any_device, counts):
    done = measure("all", counts, device=any_device, repeats=1)
    assert done.total == sum(counts) and len(done.of_role("contender")) == len(measuring.runnable(counts, any_device))


def test_strategies_that_refuse_the_counts_are_left_out_unless_they_are_named():
    left = measuring.runnable([2, 70_000], "reference")
    assert left == [name for name in NAMES if name in left and name not in ("append", "append_aggregated")]
    with pytest.raises(xl.UnsupportedError, match="append"):
        measure(["append"], [70_000])


def test_names_may_say_how_they_run_and_none_runs_twice():
    done = measure(["append", "append unchecked", "flat", "append"], checked="both", repeats=1)
    assert [row.name for row in done.totals] == ["append", "append unchecked", "flat", "flat unchecked"]
    assert [item.checked for item in done.of_role("contender")] == [True, False, True, False]
    assert [row.name for row in measure("flat", checked=False, repeats=1).totals] == ["flat unchecked"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"what": "best"}, "strategy='best'"),
        ({"what": []}, "what="),
        ({"what": 3}, "what="),
        ({"repeats": 0}, "repeats=0"),
        ({"checked": "no"}, "checked='no'"),
        ({"workgroup_size": 48}, "workgroup_size=48"),
        ({"at_once": 0}, "at_once=0"),
        ({"verify": "never"}, "verify='never'"),
        ({"peers": ["thrust"]}, "thrust"),
        ({"counts": {"kind": "zipf", "rows": 3}}, "kind"),
        ({"counts": {"items": 3}}, "kind"),
        ({"counts": [-1]}, "row 0"),
    ],
)
def test_bad_arguments_are_named(options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        measure(**{"what": "append", **options})


def test_a_recipe_is_kept_beside_the_times():
    recipe = {"kind": "zipf", "items": 200, "mean": 3.0, "max_n": 50, "seed": 4, "shape": {"exponent": 2.5}}
    done = measure(["append"], recipe, repeats=1, about={"scene": "street"})
    values = xl.counts.make("zipf", 200, mean=3.0, max_n=50, seed=4, exponent=2.5)
    same = measure(["append"], values, repeats=1)
    assert done.counts_sha256 == same.counts_sha256 and done.input["scene"] == "street"
    assert {name: done.input[name] for name in recipe if name != "items"} == {
        name: value for name, value in recipe.items() if name != "items"
    }
    row = done.frame().iloc[0]
    assert (row["counts_kind"], row["mean"], row["seed"], row["shape"]) == ("zipf", 3.0, 4, "exponent=2.5")
    assert done.commit and done.versions["expandlab"] and done.frame().attrs["shader_sha256"] == done.shader_sha256


def test_a_slow_contender_takes_part_in_the_first_rounds_only(monkeypatch):
    from expandlab.measuring.contender import GraphRuns, Sample

    whole = GraphRuns.sample
    monkeypatch.setattr(
        GraphRuns, "sample",
        lambda self, runs: whole(self, runs) and Sample(None, 400.0 if self.name == "flat" else 1.0, ()),
    )  # fmt: skip
    done = measure(["append", "flat"], repeats=12, budget_s=2.0)
    assert done["flat"].rounds == tuple(range(5)) and done["append"].rounds == tuple(range(12))
    assert len(measure(["flat"], repeats=12, budget_s=0.001)["flat"].gpu_ms) == protocol.FEWEST


def test_ratios_are_taken_round_by_round_to_the_fastest_limit():
    found = measurements(
        contender("flat", [4.0, 9.0], rounds=(0, 2)),
        contender("fill", [2.0, 2.0, 3.0], role="limit"),
        contender("clear_buffer", [5.0, 5.0, 5.0], role="limit"),
        contender("read", [0.1, 0.1, 0.1], role="read"),
    )
    assert found.limit.name == "fill"
    ratio = found.x_limit("flat")
    assert (ratio.q1, ratio.median, ratio.q3) == (2.25, 2.5, 2.75)
    assert measurements(contender("flat", [1.0])).x_limit("flat") is None
    with pytest.raises(KeyError, match="append"):
        found["append"]


@pytest.mark.parametrize(("fill", "moved"), [([1.0, 1.05, 1.09], False), ([1.0, 1.1, 1.3], True)])
def test_a_fill_that_moved_more_than_a_tenth_flags_the_clock(fill, moved):
    found = measurements(contender("flat", [1.0] * 3), contender("fill", fill, role="limit"))
    assert found.clock_moved == moved == bool(found.frame()["clock_moved"].all()) == found.to_dict()["clock_moved"]


def test_saved_measurements_are_the_same_when_loaded(tmp_path):
    done = measure(["append", "flat unchecked"], repeats=3, settings={"panel": "expansion"})
    path = done.save(tmp_path / "deep" / "times.json")
    again = xl.Measurements.load(path)
    assert again == done and again.to_dict() == done.to_dict()
    assert again.frame().equals(done.frame())
    assert [item.name for item in path.parent.iterdir()] == ["times.json"]


def broken(change):
    def write(data, path):
        change(data)
        path.write_text(json.dumps(data))

    return write


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (lambda data, path: path.write_text(json.dumps(data)[:500]), "damaged"),
        (lambda data, path: path.write_bytes(b"\xff\xfe\x00"), "damaged"),
        (lambda data, path: path.write_text("[1, 2]"), "no expandlab-measurements"),
        (lambda data, path: None, "cannot be read"),
        (broken(lambda data: data.pop("device")), "'device' is missing"),
        (broken(lambda data: data.update(version=99)), "version 99"),
        (broken(lambda data: data["contenders"][0].pop("gpu_ms")), "gpu_ms"),
        (broken(lambda data: data["contenders"][0].update(gpu_ms=["x"])), "contender is damaged"),
        (broken(lambda data: data["contenders"][0].update(rounds=[])), "as many samples"),
        (broken(lambda data: data.update(input=[])), "'input'"),
    ],
)
def test_a_damaged_file_is_told_of_clearly(write, text, tmp_path):
    path = tmp_path / "times.json"
    write(measure(["append"], repeats=1).to_dict(), path)
    with pytest.raises(measuring.MeasurementsError, match=text):
        xl.Measurements.load(path)


def test_a_place_that_cannot_be_written_is_told_of(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(measuring.MeasurementsError, match="cannot be written"):
        measure(["append"], repeats=1).save(tmp_path / "file" / "times.json")
