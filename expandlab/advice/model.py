"""A device's cost model: the fits of all strategies, predictions from them, and where it is kept."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from expandlab.advice.account import borrows, terms
from expandlab.advice.clock import full_fill, trust
from expandlab.advice.fit import MOST_THREADS, Fit, Residuals, calibrate, fit, probability_of_first
from expandlab.advice.statistics import Statistics
from expandlab.gpu import Device
from expandlab.measuring import Measurements
from expandlab.measuring.measurements import MeasurementsError, check_format, read_json, write_json
from expandlab.measuring.workloads import from_recipe
from expandlab.results import Result, to_plain

FORMAT, VERSION = "expandlab-cost-model", 3
# Fewer samples than this say nothing about the spread.
FEWEST_SAMPLES = 4
# How much a thread counts beside a launch follows from what a launch costs, which is fitted with it.
_BORROWING_ROUNDS = 12
_SAME_WORK = ("flat", "po2_buckets", "po2_buckets_stored")
# What slowed a whole case down follows from the fits, and they from it.
_LOAD_ROUNDS = 2


class Case(NamedTuple):
    """One measured input: its statistics, the ms of each strategy, and how many times longer the fill beside them took
    than at the device's full clock."""

    statistics: Statistics
    ms: dict[str, float]
    clock: float = 1.0


class Prediction(NamedTuple):
    """ms of a strategy, the parts of it by term, and the standard deviation of log(measured / predicted)."""

    ms: float
    parts: dict[str, float]
    says: dict[str, str]
    deviation: float


class Ranking(NamedTuple):
    """Predictions by strategy, the fastest first, and the probability that the first is the fastest."""

    found: dict[str, Prediction]
    sure: float


@dataclass(frozen=True)
class CostModel(Result):
    """What an event costs on one device, strategy by strategy.

    fits: by strategy. calibration: factor on the fits' spreads that makes stated probabilities come true. lanes,
    workgroup_size: that the terms were counted with. device, driver, timer, shader_sha256, commit, command: where it
    comes from; the command is None for a model that was learned on first use.
    """

    device: str
    driver: str
    timer: str
    software: bool
    lanes: int
    workgroup_size: int
    fits: dict[str, Fit]
    calibration: float
    cases: int
    shader_sha256: dict[str, str]
    commit: str | None
    command: str | None = None

    def __repr__(self) -> str:
        return f"<CostModel of {self.device}: {len(self.fits)} strategies from {self.cases} inputs>"

    def statistics(self, counts: np.ndarray) -> Statistics:
        """The counts as the model looks at them."""
        return Statistics(counts, self.lanes, self.workgroup_size)

    def predict(self, name: str, s: Statistics, clock: float = 1.0) -> Prediction:
        """The time of a strategy. Raises KeyError for one that was never measured.

        clock: how many times longer a fill takes than at the full clock, for comparing with what was measured then.
        """
        found, known = self.fits[name], {term.name: term for term in terms(name, s)}
        events = [known[term].at(clock, found.per_launch) if term in known else 0.0 for term in found.names]
        parts = dict(zip(found.names, found.parts(events).tolist(), strict=True))
        says = {term.name: term.says for term in known.values()}
        return Prediction(sum(parts.values()), parts, says, found.deviation(events) * self.calibration)

    def rank(self, names: Iterable[str], s: Statistics, clock: float = 1.0) -> Ranking:
        """Those of `names` that the model has fits of, for these counts; clock as of `predict`. One at least."""
        found = {name: self.predict(name, s, clock) for name in names if name in self.fits}
        found = dict(sorted(found.items(), key=lambda item: item[1].ms))
        logs = np.log([max(each.ms, 1e-9) for each in found.values()])
        return Ranking(found, probability_of_first(logs, np.array([each.deviation for each in found.values()])))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON to `path`; returns it."""
        return write_json(Path(path), to_plain(self) | {"format": FORMAT, "version": VERSION})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CostModel:
        """Read what `save` wrote: data only. Raises MeasurementsError for anything else."""
        data = read_json(Path(path))
        check_format(data, FORMAT, VERSION, Path(path).name)
        try:
            fits = {
                name: Fit(tuple(item["names"]), tuple(map(float, item["ms"])), float(item["spread"]),
                          tuple(tuple(map(float, row)) for row in item["inverse"]), int(item["samples"]),
                          float(item["per_launch"]))
                for name, item in data["fits"].items()
            }  # fmt: skip
            return cls(**{f.name: data[f.name] for f in dataclasses.fields(cls)} | {"fits": fits})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise MeasurementsError(f"{Path(path).name}: is damaged ({error}); take another copy") from None


def cases_of(
    measured: Iterable[Measurements], lanes: int, workgroup_size: int, fills: Iterable[Measurements] = ()
) -> list[Case]:
    """Measurements of one device as cases: those of checked strategies, one expansion at a time. Their counts are made
    again. fills: more measurements on it, for what a fill takes at its full clock.
    """
    measured = list(measured)
    full = full_fill([*measured, *fills])
    found: dict[tuple[str, float], Case] = {}
    for item in measured:
        if item.at_once != 1 or item.workgroup_size != workgroup_size or "kind" not in item.input:
            continue
        names = ("kind", "mean", "max_n", "seed", "shape")
        recipe = {name: item.input[name] for name in names if name in item.input}
        values, _ = from_recipe(recipe | {"items": item.src_count} if recipe["kind"] != "standard_library" else recipe)
        ms = {one.name: one.gpu.median for one in item.of_role("contender") if one.checked and one.gpu.median > 0}
        # The same input may have been measured in parts.
        clock = full.slowdown(item)
        known = found.setdefault(
            (item.counts_sha256, clock), Case(Statistics(values, lanes, workgroup_size), {}, clock)
        )
        known.ms.update(ms)
    return list(found.values())


def fitted(cases: Sequence[Case], **about: Any) -> CostModel:
    """The model of some cases. about: the other fields of `CostModel`."""
    fits, left_out = _fits(cases)
    model = CostModel(fits=fits, calibration=1.0, cases=len(cases), **about)
    # On a software adapter whatever else the processor does slows all strategies of an input alike.
    for _ in range(_LOAD_ROUNDS if model.software else 0):
        calm = [_without_load(case, factor) for case, factor in zip(cases, _loads(model, cases), strict=True)]
        fits, left_out = _fits(calm)
        model = dataclasses.replace(model, fits=fits)
    return dataclasses.replace(model, calibration=calibrate(_held_out(model, cases, left_out)))


def _loads(model: CostModel, cases: Sequence[Case]) -> np.ndarray:
    """How many times longer than usual everything took in each case: the median over its strategies; 1.0 on average."""
    logs = [
        [math.log(ms / model.predict(name, case.statistics, case.clock).ms) for name, ms in case.ms.items()
         if name in model.fits and ms > 0]
        for case in cases
    ]  # fmt: skip
    found = np.array([float(np.median(some)) if len(some) >= FEWEST_SAMPLES else 0.0 for some in logs])
    return np.exp(found - found.mean()) if len(found) else found


def _without_load(case: Case, factor: float) -> Case:
    return case._replace(ms={name: ms / factor for name, ms in case.ms.items()})


def _fits(cases: Sequence[Case]) -> tuple[dict[str, Fit], dict[str, dict[int, float]]]:
    """Fits by strategy, and their leave-one-out residuals by case."""
    fits: dict[str, Fit] = {}
    left_out: dict[str, dict[int, float]] = {}
    names = dict.fromkeys(name for case in cases for name in case.ms)
    # What a thread costs is known from others first.
    for name in sorted(names, key=borrows):
        mine = [number for number, case in enumerate(cases) if name in case.ms]
        if len(mine) < FEWEST_SAMPLES:
            continue
        some = [cases[number] for number in mine]
        fits[name], residuals = _fitted(name, some)
        thread_ms = _thread_ms(fits)
        for _ in range(_BORROWING_ROUNDS if borrows(name) and thread_ms else 0):
            launch_ms = dict(zip(fits[name].names, fits[name].ms, strict=True))["launches"]
            if launch_ms:
                fits[name], residuals = _fitted(name, some, launch_ms / thread_ms)
        left_out[name] = dict(zip(mine, residuals.values.tolist(), strict=True))
    return fits, left_out


def _fitted(name: str, cases: Sequence[Case], per_launch: float = MOST_THREADS) -> tuple[Fit, Residuals]:
    """The costs of one strategy from cases that all have it."""
    counted = [terms(name, case.statistics) for case in cases]
    events = [[term.at(case.clock, per_launch) for term in row] for row, case in zip(counted, cases, strict=True)]
    measured = np.array([case.ms[name] for case in cases])
    found, residuals = fit(
        [term.name for term in counted[0]], np.array(events, float), measured, trust([case.clock for case in cases])
    )
    return dataclasses.replace(found, per_launch=per_launch), residuals


def _thread_ms(fits: Mapping[str, Fit]) -> float:
    """What a thread costs at most that compares its number with N and writes an item: the least of what it does in
    strategies where it does that and some more. Few launches have threads enough to show it."""
    costs = [dict(zip(fits[name].names, fits[name].ms, strict=True)) for name in _SAME_WORK if name in fits]
    return min((ms for item in costs if (ms := item["items"] + item.get("threads", 0.0)) > 0), default=0.0)


def _held_out(
    model: CostModel, cases: Sequence[Case], left_out: Mapping[str, Mapping[int, float]]
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Every case as it would have been predicted without it."""
    found = []
    for number, case in enumerate(cases):
        names = [name for name in case.ms if number in left_out.get(name, ())]
        if len(names) < 2:
            continue
        measured = np.log([case.ms[name] for name in names])
        logs = measured - np.array([left_out[name][number] for name in names])
        spreads = np.array([model.predict(name, case.statistics, case.clock).deviation for name in names])
        found.append((logs, spreads, measured))
    return found


@dataclass(frozen=True)
class Score(Result):
    """How well a model chose on measured cases.

    right: share whose first choice was within 10 % of the measured best. sure, sure_right: how many it called at least
    80 % sure, and the share of those that were right. error: median of |log(predicted / measured)| over all strategies,
    at the clock of each case; errors: by strategy. Choices are made for the full clock, as `advise` makes them.
    """

    cases: int
    right: float
    sure: int
    sure_right: float
    error: float
    errors: dict[str, float]


def score(model: CostModel, cases: Sequence[Case], within: float = 1.1) -> Score:
    """Compare a model with cases that it was not fitted to."""
    right, sure = [], []
    errors: dict[str, list[float]] = {}
    for case in cases:
        names = [name for name in case.ms if name in model.fits]
        if len(names) < 2:
            continue
        found = [model.predict(name, case.statistics) for name in names]
        measured = np.array([case.ms[name] for name in names])
        logs = np.log([item.ms for item in found])
        first = int(np.argmin(logs))
        right.append(bool(measured[first] <= within * measured.min()))
        sure.append(probability_of_first(logs, np.array([item.deviation for item in found]), within) >= 0.8)
        for name, ms in zip(names, measured, strict=True):
            errors.setdefault(name, []).append(abs(math.log(model.predict(name, case.statistics, case.clock).ms / ms)))
    confident = [good for good, certain in zip(right, sure, strict=True) if certain]
    return Score(
        len(right), float(np.mean(right)) if right else 1.0, len(confident),
        float(np.mean(confident)) if confident else 1.0,
        float(np.median([error for some in errors.values() for error in some])) if errors else 0.0,
        {name: float(np.median(some)) for name, some in errors.items()},
    )  # fmt: skip


def cache_folder() -> Path:
    """Where fitted models are kept: EXPANDLAB_CACHE, or the user's cache folder of the system."""
    if named := os.environ.get("EXPANDLAB_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "expandlab"


def cache_path(device: Device, workgroup_size: int) -> Path:
    """The file of a device's model."""
    text = "|".join((device.info.label, device.info.driver, str(device.subgroup_size), str(workgroup_size)))
    return cache_folder() / "advice" / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def fitted_for(measured: Iterable[Measurements]) -> list[dict[str, Any]]:
    """Measured and predicted ms, row by row, by a model fitted to the other inputs: `name`, `ms`, `predicted_ms`,
    `total`, `device`. Every tenth input is left out of its model in turn, so no prediction has seen its own input.
    """
    rows: list[dict[str, Any]] = []
    groups: dict[tuple[str, int], list[Measurements]] = {}
    for item in measured:
        groups.setdefault((item.device, item.workgroup_size), []).append(item)
    for (device, size), items in groups.items():
        cases = cases_of(items, min(32, size), size)
        parts = min(10, len(cases))
        for part in range(parts):
            rest = [case for number, case in enumerate(cases) if number % parts != part]
            about = {"device": device, "driver": "", "timer": "", "software": False, "lanes": 32,
                     "workgroup_size": size, "shader_sha256": {}, "commit": None}  # fmt: skip
            model = fitted(rest, **about)
            for case in cases[part::parts]:
                for name, ms in case.ms.items():
                    if name in model.fits:
                        found = model.predict(name, case.statistics, case.clock)
                        rows.append({"name": name, "ms": ms, "predicted_ms": max(found.ms, 1e-9),
                                     "total": case.statistics.items, "device": device})  # fmt: skip
    return rows
