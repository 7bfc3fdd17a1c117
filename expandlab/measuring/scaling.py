"""How much several devices gain over one: the search, the expansion, and how far a simulated timeline is off.

One device and all of them are measured in turns, so that a clock that drifts meets both. The first device is the one.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab import counts as _counts
from expandlab import relics
from expandlab.expansion.run import expand
from expandlab.gpu import Device
from expandlab.graph import FrameGraph
from expandlab.graph.device_examples import DEVICE_EXAMPLES
from expandlab.graph.timing import TimedPlan, inputs_of, runnable, time_plan
from expandlab.relics.goal import DAMAGE_WEIGHTS, Goal
from expandlab.results import Result

_GOAL = Goal(DAMAGE_WEIGHTS)
_K = 1024


@dataclass(frozen=True)
class Gain(Result):
    """What several devices gain: work a second on one and on all (medians of `rounds`), and whether results agree."""

    what: str
    unit: str
    work: int
    one_per_second: float
    all_per_second: float
    rounds: int
    equal: bool

    @property
    def speed_up(self) -> float:
        """All devices against one."""
        return self.all_per_second / self.one_per_second

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, the speed-up with it."""
        return super().to_dict() | {"speed_up": self.speed_up}


@dataclass(frozen=True)
class Scaling(Result):
    """The gains, and the timelines of the plans that were run. devices: labels; software: whether one is a CPU."""

    devices: tuple[str, ...]
    software: bool
    gains: tuple[Gain, ...]
    plans: dict[str, TimedPlan]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python."""
        plans = {
            name: {"simulated_us": plan.simulated.makespan_us, "measured_us": list(plan.measured_us),
                   "difference": plan.difference, "costs_us": plan.costs_us, "machine": plan.machine.to_dict()}
            for name, plan in self.plans.items()
        }  # fmt: skip
        return {"devices": list(self.devices), "software": self.software, "gains": [g.to_dict() for g in self.gains],
                "plans": plans}  # fmt: skip


def scaling(
    devices: Sequence[Device], *, seconds: float = 5.0, rounds: int = 3, plan_ms: float = 10.0,
    plans: Sequence[str] = ("readers", "ping_pong"), items: int = 2**24,
) -> Scaling:  # fmt: skip
    """Measure two devices or more.

    seconds: about how long the first device searches. rounds: of each measurement. plan_ms: how long a pass that
    declares 100 us lasts. plans: names of DEVICE_EXAMPLES. items: of the expansion.
    Raises ValueError for one device alone, DeviceError.
    """
    if len(devices) < 2:
        raise ValueError("devices: give two or more; the first one is compared with all of them")
    found = {}
    for name in plans:
        graph = FrameGraph.from_json(DEVICE_EXAMPLES[name].document(65536))
        pairs = {place: devices[number % len(devices)] for number, place in enumerate(graph.devices)}
        plan = runnable(graph, pairs, 10 * plan_ms).compile()
        found[name] = time_plan(plan, pairs, inputs_of(graph))
    gains = (_searches(devices, seconds, rounds), _expansions(devices, items, rounds))
    labels = tuple(device.info.label for device in devices)
    return Scaling(labels, any(device.info.is_software for device in devices), gains, found)


def _searches(devices: Sequence[Device], seconds: float, rounds: int) -> Gain:
    rate = _rate(devices[0])
    per_slot = max(3, round((rate * seconds) ** (1 / 6)))
    pool = relics.make(per_slot, seed=0)
    every: list[list[Any]] = [[], []]
    for number in range(rounds + 1):
        for runs, chosen in zip(every, (devices[:1], devices), strict=True):
            done = relics.best_builds(pool, _GOAL, _K, devices=list(chosen))
            # The first round compiles and warms up.
            if number:
                runs.append(done.found)
    one, many = every
    equal = all(np.array_equal(one[0].indices, run.indices) for run in (*one, *many))
    return Gain("search", "loadouts", per_slot**6, *(_median(run.report.picks_per_second for run in runs)
                                                     for runs in every), rounds, equal)  # fmt: skip


def _rate(device: Device) -> float:
    """Loadouts that a device scores in a second, once its passes have grown."""
    cancel, seen = threading.Event(), []

    def news(progress: Any) -> None:
        seen.append((time.perf_counter(), progress.done))
        if seen[-1][0] - seen[0][0] > 1.0:
            cancel.set()

    relics.best_builds(relics.make(60, seed=0), _GOAL, _K, devices=device, on_progress=news, cancel=cancel)
    half = seen[len(seen) // 2]
    spent = max(seen[-1][0] - half[0], 1e-3)
    return max(1.0, (seen[-1][1] - half[1]) / spent)


def _expansions(devices: Sequence[Device], items: int, rounds: int) -> Gain:
    counts = _counts.make("uniform", max(1, items // 24), mean=24.0, seed=0)
    total = int(counts.sum())
    every: list[list[float]] = [[], []]
    results = []
    for number in range(rounds + 1):
        for rates, chosen in zip(every, (devices[:1], devices), strict=True):
            start = time.perf_counter()
            done = expand(counts, "prefix_search", devices=list(chosen))
            spent = time.perf_counter() - start
            if number:
                rates.append(total / spent)
            else:
                results.append(done)
    one, many = results
    equal = np.array_equal(one.src, many.src) and np.array_equal(one.local, many.local)
    return Gain("expansion with its results on the host", "items", total, *map(_median, every), rounds, equal)


def _median(values: Any) -> float:
    return float(statistics.median(values))
