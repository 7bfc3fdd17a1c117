"""Times of whole passes, taken so that they can be compared: warm, interleaved, checked first."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import DeviceError
from expandlab.expansion import strategies
from expandlab.expansion.arguments import pick_strategy, power_of_two, runs
from expandlab.expansion.endings import store
from expandlab.expansion.passes import build, check_state, check_total, refuse_oversize
from expandlab.expansion.strategy import Passes, Sizes, params_words
from expandlab.gpu import Device, resolve
from expandlab.results import Result

if TYPE_CHECKING:
    import pandas as pd

# An idle GPU runs at a fraction of its clock; 300 ms of work bring it up.
WARM_UP_S = 0.3
# What one row is called where only the whole can be timed.
WHOLE = "all passes"


@dataclass(frozen=True)
class PassTime(Result):
    """Median and quartiles of a pass's time, in ms, over `samples` runs."""

    strategy: str
    pass_name: str
    median_ms: float
    q1_ms: float
    q3_ms: float
    samples: int


@dataclass(frozen=True)
class Progress:
    """How far a measurement is: `done` of `total` runs, what is measured now, and the time left in seconds."""

    done: int
    total: int
    text: str
    seconds_left: float


@dataclass(frozen=True)
class Timings(Result):
    """Measured times of strategies on one device, with what is needed to believe them.

    rows: one for each strategy and pass. totals: one for each strategy, of the sum of its passes.
    timer: `timestamp-query`, or `wall clock` (host's time around submit and wait; one row, "all passes").
    cancelled: True where fewer repeats than asked for were taken.
    """

    rows: tuple[PassTime, ...]
    totals: tuple[PassTime, ...]
    device: str
    driver: str
    timer: str
    software: bool
    cancelled: bool
    src_count: int
    total: int
    counts_sha256: str
    workgroup_size: int
    repeats: int
    shader_sha256: dict[str, str]
    settings: dict[str, Any] = field(default_factory=dict)

    def frame(self) -> pd.DataFrame:
        """The rows as a pandas table, the totals last."""
        import pandas as pd

        frame = pd.DataFrame([row.to_dict() for row in (*self.rows, *self.totals)])
        frame.attrs["device"] = self.device
        return frame

    def __repr__(self) -> str:
        return f"<Timings of {len(self.totals)} strategies on {self.device}, {self.timer}>"


def time_strategies(
    counts: Any,
    names: Sequence[str],
    *,
    device: Device | str | int | None = None,
    workgroup_size: int = 256,
    repeats: int = 20,
    warm_up_s: float = WARM_UP_S,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> Timings:
    """Time every pass of some strategies on the same counts and device, results materialised but not read back.

    Each strategy's output is checked first; the device is kept busy for `warm_up_s`; then the strategies take turns,
    so that a drift of the clock meets them all. `cancel` ends the run early and keeps what was measured.

    Raises what `expand` raises, and DeviceError where a strategy's output is wrong.
    """
    values = _counts.check(counts)
    power_of_two("workgroup_size", workgroup_size, 32, 256)
    total = check_total(values)
    dev = resolve(device)
    cancel = cancel or threading.Event()
    sizes = Sizes(len(values), total, workgroup_size, dev.subgroup_size)
    chosen = [pick_strategy(name, values, dev) for name in dict.fromkeys(names)]
    builds = {strategy.name: build(strategy, sizes, store(total)) for strategy in chosen}
    clock = _Clock(len(builds) * (repeats + 1), on_progress)
    samples: dict[str, list[list[float]]] = {name: [] for name in builds}
    with ExitStack() as stack:
        programs = {}
        for name, built in builds.items():
            if cancel.is_set():
                break
            clock.tick(f"checking {name} on {dev.info.name}")
            refuse_oversize(built, dev, total)
            program = stack.enter_context(built.graph.compile().program(dev))
            _verify(program, built, values, total, dev)
            programs[name] = program
        _warm_up(programs.values(), warm_up_s, cancel)
        for repeat in range(repeats):
            for name, program in programs.items():
                if cancel.is_set():
                    break
                clock.tick(f"{name}, run {repeat + 1} of {repeats} on {dev.info.name}")
                times, wall_ms = program.sample()
                samples[name].append([wall_ms] if None in times else times)
    rows, totals = _summaries(builds, samples)
    return Timings(
        rows=rows,
        totals=totals,
        device=dev.info.label,
        driver=dev.info.driver,
        timer="wall clock" if dev.timestamp_period_ns is None else "timestamp-query",
        software=dev.info.is_software,
        cancelled=cancel.is_set(),
        src_count=len(values),
        total=total,
        counts_sha256=hashlib.sha256(values.tobytes()).hexdigest(),
        workgroup_size=workgroup_size,
        repeats=repeats,
        shader_sha256={name: shader_digest(built) for name, built in builds.items()},
    )


def runnable(counts: Any, device: Device | str | int | None = None) -> list[str]:
    """Names of the strategies that take these counts on the device."""
    values, dev = _counts.check(counts), resolve(device)
    return [name for name in strategies() if runs(name, values, dev)]


def shader_digest(built: Passes) -> str:
    """One SHA-256 over the shaders of every pass, in order."""
    digest = hashlib.sha256()
    for item in built.graph.passes.values():
        digest.update(item.kernel.source.text.encode())
    return digest.hexdigest()


class _Clock:
    """Counts the runs and guesses the time left from those that are done."""

    def __init__(self, total: int, on_progress: Callable[[Progress], None] | None):
        self._total = total
        self._on_progress = on_progress
        self._done = 0
        self._start = time.perf_counter()

    def tick(self, text: str) -> None:
        if self._on_progress is not None:
            spent = time.perf_counter() - self._start
            left = spent / self._done * (self._total - self._done) if self._done else 0.0
            self._on_progress(Progress(self._done, self._total, text, left))
        self._done += 1


def _verify(program: Any, built: Passes, values: np.ndarray, total: int, dev: Device) -> None:
    inputs = {"counts": values, "params": params_words(len(values), built.sizes.max_dst, built.sizes)}
    ran = program.run({**inputs, **built.imported})
    check_state(ran.arrays["state"], built.sizes.max_dst, built, dev)
    src, local = ran.arrays["out_src"][:total], ran.arrays["out_local"][:total]
    # Every item is the start of its src plus its local index: a permutation of 0 .. P2-1, or something is wrong.
    starts = np.cumsum(values, dtype=np.int64) - values
    good = bool(np.all(src < len(values))) and bool(np.all(local < values[np.minimum(src, max(len(values) - 1, 0))]))
    if not good or len(np.unique(starts[src] + local)) != total:
        raise DeviceError(f"{dev.info.name}: {list(built.graph.passes)} gave a wrong expansion, so it is not timed")


def _warm_up(programs: Iterable[Any], seconds: float, cancel: threading.Event) -> None:
    programs = list(programs)
    end = time.perf_counter() + seconds
    while programs and time.perf_counter() < end and not cancel.is_set():
        for program in programs:
            program.sample()


def _summaries(
    builds: dict[str, Passes], samples: dict[str, list[list[float]]]
) -> tuple[tuple[PassTime, ...], tuple[PassTime, ...]]:
    rows, totals = [], []
    for name, taken in samples.items():
        if not taken:
            continue
        table = np.array(taken)
        passes = list(builds[name].graph.passes) if table.shape[1] > 1 else [WHOLE]
        rows += [_summary(name, label, table[:, index]) for index, label in enumerate(passes)]
        totals.append(_summary(name, "total", table.sum(axis=1)))
    return tuple(rows), tuple(totals)


def _summary(strategy: str, label: str, times: np.ndarray) -> PassTime:
    q1, median, q3 = (float(value) for value in np.percentile(times, [25, 50, 75]))
    return PassTime(strategy, label, median, q1, q3, len(times))
