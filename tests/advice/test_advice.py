"""The cost model counts what the thread maps count, finds costs again that it was given, and says how sure it is."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import expandlab as xl
from expandlab import advice
from expandlab.advice import fit, learning, model
from expandlab.advice.account import ACCOUNTS, terms, utilisation
from expandlab.advice.statistics import Statistics
from expandlab.measuring import MeasurementsError

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
    some = counts[:50][counts[:50] > 0]
    assert Statistics(counts[:50], 32, 64).walk == sum(int(n) * (at + 1) for at, n in enumerate(some))


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
        patch.setattr(learning, "_largest", lambda device: 2**13)
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
    monkeypatch.setattr(learning, "_largest", lambda device: 2**12)
    monkeypatch.setattr(learning, "INPUTS", learning.INPUTS[:5])
    found = learning.learn(own, repeats=1)
    assert found.lanes == own.subgroup_size and found.device == own.info.label
    assert len(found.fits) >= len([name for name in ACCOUNTS if name != "dispatch_each"]) - 4
    quick = {"repeats": 1, "warm_up_s": 0.0, "batch_ms": 0.0}
    assert (
        own.timestamp_period_ns is None or xl.measure(["append"], [3] * 99, device=own, **quick).timer != "wall clock"
    )
