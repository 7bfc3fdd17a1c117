"""The cost model counts what the thread maps count, finds costs again that it was given, and says how sure it is."""

from __future__ import annotations

import dataclasses
import json
import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import expandlab as xl
from expandlab import advice
from expandlab.advice import clock, fit, learning, model, term
from expandlab.advice.account import ACCOUNTS, terms, utilisation
from expandlab.advice.statistics import Statistics
from expandlab.measuring import MeasurementsError
from expandlab.measuring.packed import load_shipped

COUNTS = [
    xl.counts.make(kind, items, mean=mean)
    for kind, mean, items in (
        ("zipf", 8, 700), ("one_giant", 100, 300), ("sparse", 8, 900), ("constant", 3, 257), ("zeros", 0, 50),
        ("lognormal", 300, 60), ("constant", 1, 1), ("zeros", 0, 0),
    )
]  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPANDLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "advice"


def test_every_strategy_has_an_account():
    assert set(ACCOUNTS) == {name for name, item in xl.strategies().items() if not item.modelled}


@pytest.mark.parametrize("name", ACCOUNTS)
@pytest.mark.parametrize(("size", "lanes"), [(64, 32), (256, 8)])
def test_utilisation_is_that_of_the_thread_map(name, size, lanes):
    for counts in COUNTS:
        try:
            whole = xl.thread_map(counts, name, workgroup_size=size, subgroup_size=lanes)
        except xl.UnsupportedError:
            continue
        assert utilisation(name, Statistics(counts, lanes, size)) == pytest.approx(whole.utilisation, abs=1e-12)


def test_rounds_are_the_loops_of_the_thread_map():
    counts = COUNTS[0]
    steps = xl.thread_map(counts, "append", workgroup_size=64, subgroup_size=32).steps
    loops = sum(
        np.count_nonzero(step.active) * step.repeats for step in steps if step.label == "write one info"
    )  # fmt: skip
    assert {term.name: term.events for term in terms("append", Statistics(counts, 32, 64))}["rounds"] == loops
    lost = [row for row in (counts[at : at + 32] for at in range(0, len(counts), 32)) if not row.all()]
    assert Statistics(counts, 32, 64).torn_src == sum(np.count_nonzero(row) for row in lost)
    assert Statistics(np.array([2] * 32 + [1, 0, 3], np.uint32), 32, 64).torn_src == 2
    some = counts[:50][counts[:50] > 0]
    assert Statistics(counts[:50], 32, 64).walk == sum(int(n) * (at + 1) for at, n in enumerate(some))


def test_tiles_mark_as_many_rounds_as_their_src_take():
    counts, size = np.array([3, 0, 0, 5000, *[1] * 3000, 0, 9000, 2], np.uint32), 64
    src = np.repeat(np.arange(len(counts)), counts)
    firsts = src[:: 16 * size]
    spans = np.append(firsts[1:], len(counts) - 1) - firsts
    s = Statistics(counts, 32, size)
    assert s.tile_rounds == [math.ceil(span / size) for span in spans] and max(s.tile_rounds) == 16
    # A tile of more src than it marks is left out here and searched there.
    far = Statistics(np.array([1, *[0] * 2000, 1], np.uint32), 32, size)
    assert far.tile_rounds == [] and far.searched_items == 2


def test_statistics_do_not_take_as_long_as_the_items_are_many():
    s = Statistics(np.array([4_000_000_000, 3, 0, 5], np.uint32), 32, 256)
    for name in ACCOUNTS:
        assert all(term.events >= 0 for term in terms(name, s)) and 0 < utilisation(name, s) <= 1.0


def test_a_fit_finds_costs_again_and_none_is_negative():
    rng = np.random.Generator(np.random.PCG64(5))
    events = np.concatenate([np.ones((40, 1)), 10.0 ** rng.uniform(1, 6, (40, 3))], axis=1)
    costs = np.array([0.02, 3e-6, 0.0, 5e-7])
    exact, _ = fit.fit("abcd", events, events @ costs)
    assert exact.ms == pytest.approx(costs, rel=1e-3, abs=1e-10) and exact.spread == fit.LEAST_SPREAD
    noisy = events @ costs * np.exp(rng.normal(0, 0.1, 40))
    noisy[3] *= 6  # one sample that something disturbed
    found, _ = fit.fit("abcd", events, noisy)
    assert np.array(found.ms)[[0, 1, 3]] == pytest.approx(costs[[0, 1, 3]], rel=0.2)
    assert 0.06 < found.spread < 0.3 and min(found.ms) >= 0
    # Far from the samples it is less sure.
    assert found.deviation([1, 1e9, 1e9, 1]) > found.deviation(events[0])


def test_draws_take_the_longer_of_two_times_and_dispatches_their_sum():
    s = Statistics(np.array([0, 1, 256, 257, 100_000, 0], np.uint32), 32, 256)
    (found,) = ACCOUNTS["dispatch_each"].terms(s)
    assert found.at(1.0) == found.events == 6  # threads that cost nothing
    # 256, 256, 512 and 100,096 threads, 1,000 of them as dear as a launch.
    assert found.at(1.0, 1000.0) == pytest.approx(6 + 101.12)
    # Below the full clock work slows down more than the front end.
    assert found.at(3.0, 1000.0) == pytest.approx(6 * 3**term.LAUNCH_POWER + 101.12 * 3**term.WORK_POWER)
    draws = next(item for item in ACCOUNTS["draw_indirect_count"].terms(s) if item.name == "draws")
    assert draws.at(1.0) == pytest.approx(1 + (256 + 257 + 100_000) / 16)


def test_what_threads_cost_beside_launches_is_taken_from_other_strategies():
    thread, launch, fixed = 4e-6, 0.02, 0.1  # so 5,000 threads are as dear as a launch
    cases = []
    for mean in (8, 256, 4096, 8192, 65_536):
        for items in (7, 20, 64):
            s = Statistics(np.full(items, mean, np.uint32), 32, 256)
            each = fixed + items * (launch + -(-mean // 256) * 256 * thread)
            cases.append(model.Case(s, {"flat": 0.01 + items * mean * thread, "dispatch_each": each}))
    about = dict.fromkeys(("device", "driver", "timer", "commit"), "")
    found = model.fitted(cases, **about, software=False, lanes=32, workgroup_size=256, shader_sha256={})
    assert found.fits["dispatch_each"].per_launch == pytest.approx(5000, rel=0.02)
    for case in cases:
        assert found.predict("dispatch_each", case.statistics).ms == pytest.approx(case.ms["dispatch_each"], rel=0.02)
    # Without those nothing says what a thread costs.
    alone = [case._replace(ms={"dispatch_each": case.ms["dispatch_each"]}) for case in cases[:6]]
    found = model.fitted(alone, **about, software=False, lanes=32, workgroup_size=256, shader_sha256={})
    assert found.fits["dispatch_each"].per_launch == fit.MOST_THREADS


def measured(items: int, fill_ms: float, ms: float = 1.0, software: bool = False) -> xl.Measurements:
    """An expansion and a fill of its output that took so long."""
    base = xl.measure(["append"], {"kind": "constant", "items": items, "mean": 1}, device="reference", repeats=1,
                      warm_up_s=0.0, batch_ms=0.0)  # fmt: skip
    own = dataclasses.replace(base["append"], gpu_ms=(ms,))
    fill = dataclasses.replace(own, name="fill", role="limit", gpu_ms=(fill_ms,))
    return dataclasses.replace(base, contenders=(own, fill), software=software)


def test_a_fill_tells_how_far_below_its_full_clock_a_device_was():
    # 2 us and 1 ns for each item of 8 bytes; some samples at a third of the clock, others with 4 % of noise.
    slow = [(100, 3.0), (3000, 2.5), (20_000, 3.0)]
    full = [(200, 1.0), (5000, 1.04), (30_000, 1.0), (60_000, 1.02)]
    taken = [measured(items, factor * (2e-3 + 1e-6 * items)) for items, factor in (*slow, *full)]
    found = clock.full_fill(taken)
    assert found.fixed_ms == pytest.approx(2e-3, rel=0.06) and found.byte_ms == pytest.approx(1.25e-7, rel=0.06)
    for item, (_, factor) in zip(taken, (*slow, *full), strict=True):
        assert found.slowdown(item) == pytest.approx(factor, rel=0.06)
    assert [found.slowdown(item) for item in taken[3:]] == [1.0] * 4  # within what a clock may move
    # A software adapter's fill says what else the processor did, and no fill says nothing.
    for nothing in ([dataclasses.replace(item, software=True) for item in taken], []):
        assert clock.full_fill(nothing).slowdown(taken[0]) == 1.0
    assert clock.trust([1.0, 3.0])[0] == 1.0 > clock.trust([1.0, 3.0])[1] > 0.3


def test_samples_below_the_full_clock_do_not_pass_for_it():
    full = measured(60_000, 62e-3)
    cases = model.cases_of([measured(500, 3 * 2.5e-3, ms=0.3), full], 32, 256, fills=[measured(700, 2.7e-3)])
    assert [case.clock for case in cases] == [pytest.approx(3.0, rel=0.02), 1.0]
    items = (300, 900, 4000, 9000, 20_000, 50_000)
    slowed = [model.Case(Statistics(np.ones(n, np.uint32), 32, 256), {}, 1.0 + n % 3) for n in items]
    for case in slowed:
        case.ms["append"] = sum(term.at(case.clock) * cost for term, cost in zip(
            terms("append", case.statistics), (0.01, 2e-7, 1e-7, 0.0, 0.0, 0.0), strict=True))  # fmt: skip
    about = dict.fromkeys(("device", "driver", "timer", "commit"), "")
    found = model.fitted(slowed, **about, software=False, lanes=32, workgroup_size=256, shader_sha256={})
    for case in slowed:
        assert found.predict("append", case.statistics, case.clock).ms == pytest.approx(case.ms["append"], rel=1e-3)
        assert found.predict("append", case.statistics).ms <= case.ms["append"] * 1.001


def test_the_probability_of_the_first_is_that_of_drawing_it():
    logs, spreads = np.log([1.0, 1.15, 1.3, 4.0]), np.array([0.1, 0.2, 0.05, 0.5])
    rng = np.random.Generator(np.random.PCG64(1))
    draws = logs + rng.normal(size=(200_000, 4)) * spreads
    drawn = np.mean(draws[:, 0] <= draws.min(axis=1) + math.log(1.1))
    assert fit.probability_of_first(logs, spreads) == pytest.approx(drawn, abs=0.005)
    assert fit.probability_of_first(np.zeros(1), np.ones(1)) == 1.0
    assert fit.probability_of_first(np.log([1.0, 50.0]), np.array([0.1, 0.1])) > 0.999


@pytest.mark.parametrize("true", [0.1, 0.4])
def test_calibration_widens_spreads_that_are_too_narrow(true):
    rng = np.random.Generator(np.random.PCG64(2))
    cases = []
    for _ in range(150):
        logs = rng.normal(0, 0.3, 5)
        cases.append((logs, np.full(5, 0.1), logs + rng.normal(0, true, 5)))
    assert fit.calibrate(cases) == pytest.approx(true / 0.1, rel=0.35)


@pytest.fixture(scope="module")
def reference_model():
    with pytest.MonkeyPatch.context() as patch:
        none = xl.measure(["append"], [3], device="reference", repeats=1, warm_up_s=0.0, batch_ms=0.0)
        patch.setattr(learning, "_largest", lambda device: (2**13, none))
        return learning.learn(xl.device("reference"))


def test_a_model_is_learned_kept_and_loaded_again(reference_model, cache, monkeypatch, tmp_path):
    assert set(reference_model.fits) == set(ACCOUNTS)
    path = reference_model.save(tmp_path / "m.json")
    assert model.CostModel.load(path) == reference_model
    taught = []
    monkeypatch.setattr(learning, "learn", lambda device: taught.append(device) or reference_model)
    first, again = xl.advise(COUNTS[0], device="reference"), xl.advise(COUNTS[0], device="reference")
    assert first == again and len(taught) == 1 and len(list(cache.iterdir())) == 1
    xl.advise(COUNTS[0], device="reference", refit=True)
    assert len(taught) == 2
    # A damaged file, or one of other shaders, is measured anew.
    (kept,) = cache.iterdir()
    kept.write_text("{")
    xl.advise(COUNTS[0], device="reference")
    data = json.loads(kept.read_text())
    data["shader_sha256"]["flat"] = "00"
    kept.write_text(json.dumps(data))
    xl.advise(COUNTS[0], device="reference")
    assert len(taught) == 4


@pytest.mark.parametrize("change", [{"fits": 3}, {"version": 9}, {"format": "x"}, {"fits": {"flat": {}}}])
def test_a_damaged_model_is_told_of(reference_model, change, tmp_path):
    path = reference_model.save(tmp_path / "m.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(MeasurementsError):
        model.CostModel.load(path)


def test_advice_ranks_what_runs_and_says_why(reference_model, monkeypatch):
    monkeypatch.setattr(learning, "learn", lambda device: reference_model)
    counts = xl.counts.make("one_giant", 5000, mean=50)
    found = xl.advise(counts, device="reference")
    names = [item.strategy for item in found.choices]
    assert set(names) | set(found.refused) == set(xl.strategies()) and "append" in found.refused
    times = [item.predicted_ms for item in found.choices]
    assert times == sorted(times) and found.first is found.choices[0] and 0 < found.probability <= 1
    for item in found.choices:
        assert item.low_ms < item.predicted_ms < item.high_ms and 0 < item.utilisation <= 1
        assert item.predicted_ms == pytest.approx(sum(item.parts.values()))
        assert item.reason.endswith(".") and "% of its time goes into" in item.reason
    report = xl.expand(counts, "po2_merged", device="reference").report
    assert found["po2_merged"].scratch_bytes == report.scratch_bytes
    assert len(found.frame()) == len(names) and found.first.strategy in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["probability"] == found.probability
    for nothing in ([], [0, 0]):
        assert xl.advise(nothing, device="reference").choices
    with pytest.raises(xl.CountsError):
        xl.advise([-1], device="reference")


def test_a_model_is_scored_on_cases_that_it_was_not_fitted_to(reference_model):
    s = reference_model.statistics(COUNTS[0])
    exact = {name: reference_model.predict(name, s).ms for name in ("append", "flat", "prefix_search")}
    good = model.score(reference_model, [model.Case(s, exact)])
    assert (good.cases, good.right, good.error) == (1, 1.0, 0.0)
    best = min(exact, key=exact.get)
    bad = model.score(reference_model, [model.Case(s, exact | {best: exact[best] * 99})])
    assert bad.right == 0.0


def test_cases_come_from_measurements_with_a_recipe():
    options = {"device": "reference", "repeats": 1, "warm_up_s": 0.0, "batch_ms": 0.0}
    with_recipe = xl.measure(["append", "flat"], {"kind": "zipf", "items": 60, "mean": 4.0}, checked="both", **options)
    more = xl.measure(["po2_merged"], {"kind": "zipf", "items": 60, "mean": 4.0}, **options)
    without = xl.measure(["append"], [1, 2, 3], **options)
    (case,) = advice.cases_of([with_recipe, more, without], 32, 256)
    assert set(case.ms) == {"append", "flat", "po2_merged"} and case.statistics.items == with_recipe.total
    assert advice.cases_of([with_recipe], 32, 64) == []


@pytest.mark.gpu
def test_learning_on_a_software_adapter_leaves_its_timestamps_alone(lavapipe, monkeypatch):
    own = xl.device(lavapipe.info.index)
    sizes = learning._largest(own)
    assert sizes[0] >= learning.SMALLEST and "fill" in {item.name for item in sizes[1].contenders}
    monkeypatch.setattr(learning, "_largest", lambda device: (2**12, sizes[1]))
    monkeypatch.setattr(learning, "INPUTS", learning.INPUTS[:5])
    found = learning.learn(own, repeats=1)
    assert found.lanes == own.subgroup_size and found.device == own.info.label
    assert len(found.fits) >= len([name for name in ACCOUNTS if name != "dispatch_each"]) - 4
    quick = {"repeats": 1, "warm_up_s": 0.0, "batch_ms": 0.0}
    assert (
        own.timestamp_period_ns is None or xl.measure(["append"], [3] * 99, device=own, **quick).timer != "wall clock"
    )


@pytest.fixture(scope="module")
def h200():
    (path,) = (path for path in learning.DEFAULTS.glob("*.json") if path.stem == "nvidia_h200")
    return model.CostModel.load(path)


def test_a_model_that_comes_with_the_package_is_taken_on_such_a_device(h200, cache, monkeypatch):
    info = SimpleNamespace(label=h200.device, driver=h200.driver)
    device = SimpleNamespace(info=info, subgroup_size=h200.lanes)
    monkeypatch.setattr(learning, "shaders", lambda subgroup_size: h200.shader_sha256)
    monkeypatch.setattr(learning, "learn", lambda device: h200)
    assert learning.model_of(device) == h200 and not cache.exists()  # nothing had to be learned and kept
    for other in ({"driver": "1.0"}, {"label": "another"}):
        learning.model_of(SimpleNamespace(info=SimpleNamespace(**vars(info) | other), subgroup_size=32))
    monkeypatch.setattr(learning, "shaders", lambda subgroup_size: {"flat": "changed"})
    learning.model_of(device)
    assert len(list(cache.iterdir())) == 3


def test_a_model_that_comes_with_the_package_says_where_it_is_from(h200):
    assert h200.device == "NVIDIA H200 (Vulkan)" and h200.driver and h200.commit and not h200.software
    assert h200.command.startswith("python ") and set(h200.fits) == set(ACCOUNTS) and h200.cases > 60


@pytest.mark.parametrize("kind", ["uniform", "lognormal", "sparse", "constant"])
def test_more_of_the_same_src_are_expected_to_take_longer(h200, kind):
    counts = xl.counts.make(kind, 2**10, mean=16)
    sizes = [h200.statistics(np.tile(counts, 4**power)) for power in range(6)]
    for name in h200.fits:
        times = [h200.predict(name, s).ms for s in sizes]
        assert all(less < more for less, more in pairwise(times)), name
        # From 16 thousand to 16 million items; those with 32 dispatches, one for each bucket, have a test of their own.
        assert name.startswith("po2_buckets") or times[-1] > 2 * times[0], name


@pytest.mark.parametrize("name", ["po2_buckets", "po2_buckets_stored"])
@pytest.mark.parametrize("mean", [8, 64])
def test_what_has_32_dispatches_grows_as_little_as_was_measured(h200, name, mean):
    ms = {}
    for item in load_shipped("h200"):
        if item.input["mean"] == mean and item.total.bit_length() - 1 in (16, 24):
            size = ms.setdefault(item.input["kind"], {})
            found = item.input["predicted_ms"][name], item[name].gpu.median
            size[item.total > 2**20] = found
    grown = [(size[True][0] / size[False][0], size[True][1] / size[False][1]) for size in ms.values() if len(size) == 2]
    assert len(grown) >= 8 and all(1.05 < true < 1.25 for _, true in grown)
    assert max(abs(said / true - 1) for said, true in grown) < 0.06


def test_flat_wins_small_even_counts_and_the_search_for_tiles_large_ones(h200):
    """As measured on that card; neither is what the fixed costs alone would say."""

    def first(items: int) -> str:
        s = h200.statistics(xl.counts.make("uniform", items, mean=16))
        return min(h200.fits, key=lambda name: h200.predict(name, s).ms)

    assert first(1000) == "flat" and first(400_000) == "tile_search"


def test_what_slows_everything_on_a_software_adapter_is_no_strategys_cost():
    rng = np.random.Generator(np.random.PCG64(8))
    costs = {"append": (0.1, 2e-5), "prefix_search": (0.3, 1e-5), "po2_merged": (0.2, 3e-5), "head_scan": (0.5, 4e-5)}
    truth, disturbed = [], []
    for number in range(30):
        s = Statistics(np.full(int(10 ** rng.uniform(2, 4)), 1 + number % 7, np.uint32), 8, 256)
        ms = {name: fixed + item * s.items for name, (fixed, item) in costs.items()}
        truth.append(model.Case(s, ms))
        disturbed.append(model.Case(s, {name: value * math.exp(number % 5 * 0.3 - 0.6) for name, value in ms.items()}))
    about = dict.fromkeys(("device", "driver", "timer", "commit"), "") | {"lanes": 8, "workgroup_size": 256}
    found = model.fitted(disturbed, **about, software=True, shader_sha256={})
    loaded = model.fitted(disturbed, **about, software=False, shader_sha256={})
    for name in costs:
        assert found.fits[name].spread < 0.06 < 0.2 < loaded.fits[name].spread
    assert model.score(found, truth).right == 1.0 and model.score(found, truth).error < 0.1


def test_the_smallest_input_is_long_enough_to_say_something():
    widest = max(share for *_, share in learning.INPUTS)
    for largest in (learning.SMALLEST, learning.LARGEST_SOFTWARE, learning.LARGEST):
        smallest = largest / widest ** learning._narrowed(largest)
        assert smallest == pytest.approx(max(learning.SHORTEST, largest / widest))
