"""Runs the loadout graph frame by frame over all partial loadouts, on one device or several, and keeps the k best."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab.errors import CapacityError, DeviceError
from expandlab.expansion.strategy import FAILED_CAPACITY
from expandlab.gpu import Device
from expandlab.graph import FrameGraph
from expandlab.graph.plan import Plan
from expandlab.results import Result, to_plain
from expandlab.searching.graph import HEAD, LoadoutGraph, loadout_graph, partial_bound
from expandlab.searching.leaders import Leaders
from expandlab.searching.pool import Pool
from expandlab.searching.report import SearchProgress
from expandlab.searching.run import check_calls, opened
from expandlab.searching.space import digits_of
from expandlab.searching.token import checked_leaders, digest_of
from expandlab.topk.arguments import whole
from expandlab.topk.keys import keys_of

_FORMAT = "expandlab-loadouts-1"


@dataclass(frozen=True)
class LoadoutReport(Result):
    """What the frames cost. Nothing here is a claim about other machines.

    scored: loadouts in this run. possible: of the pool before anything is culled. frames: runs of the graph.
    words_back_per_frame: 32-bit words that came back. shares: loadouts scored by each device. cancelled: the token goes
    on.
    """

    scored: int
    possible: int
    frames: int
    wall_ms: float
    words_back_per_frame: int
    devices: tuple[str, ...]
    shares: tuple[int, ...]
    kept: tuple[int, ...]
    software: bool
    cancelled: bool

    @property
    def loadouts_per_second(self) -> float:
        """Loadouts scored in a second of the wall clock."""
        return self.scored / (self.wall_ms * 1e-3) if self.wall_ms else 0.0


@dataclass(frozen=True, eq=False)
class Loadouts(Result):
    """The k best loadouts, best first; of equal scores the lower number.

    picks: uint32 (k, slots), the items of each slot; values: float32; numbers: of the loadouts among all of the pool,
    Python integers; report; token: to go on after a cancel, JSON-ready; graph: the frame graph that ran.
    """

    picks: np.ndarray
    values: np.ndarray
    numbers: list[int]
    report: LoadoutReport
    token: dict[str, Any] = field(repr=False)
    graph: FrameGraph | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph as plain Python."""
        return {name: to_plain(getattr(self, name)) for name in ("picks", "values", "numbers", "report", "token")}

    def __repr__(self) -> str:
        return f"<Loadouts: {len(self.values):,} best of {self.report.scored:,} scored>"


def search_loadouts(
    pool: Pool,
    k: int,
    *,
    devices: Sequence[Device | str | int] | Device | str | int | None = None,
    strategy: str = "prefix_search",
    method: str = "radix_select",
    capacity: int = 2**18,
    on_progress: Callable[[SearchProgress], None] | None = None,
    cancel: threading.Event | None = None,
    resume: Mapping[str, Any] | None = None,
) -> Loadouts:
    """The k best of the loadouts that the pool allows, each frame as one frame graph. Exact.

    devices: one device or several, which share every frame in proportion to how fast they were in the last ones.
    strategy, method: the work expansion and the selection in the graph. capacity: loadouts of a frame on each device.
    on_progress: called with a `SearchProgress` in partial loadouts after every frame. cancel: ends with the best so
    far. resume: the `.token` of a cancelled search for the same.

    Raises ValueError and TypeError naming the argument, CapacityError where one partial loadout spawns more than
    `capacity`, what `loadout_graph` raises, ShaderError at the score's line, DeviceError.
    """
    k, capacity = whole("k", k), whole("capacity", capacity, 1)
    check_calls(on_progress, cancel)
    most = math.prod(pool.sizes[pool.leading :])
    if most > capacity:
        raise CapacityError(
            f"capacity={capacity:,}: one partial loadout may spawn {most:,}; give capacity={most} or more, or more "
            "leading slots",
            required=most, capacity=capacity,
        )  # fmt: skip
    return _Search(pool, k, opened(devices), strategy, method, capacity).run(on_progress, cancel, resume)


class _Search:
    """One search while its frames run."""

    def __init__(self, pool: Pool, k: int, devices: list[Device], strategy: str, method: str, capacity: int):
        self.pool, self.k, self.devices, self.capacity = pool, k, devices, capacity
        widths = [device.subgroup_size for device in devices]
        self.made: LoadoutGraph = loadout_graph(
            pool, k, devices=len(devices), strategy=strategy, method=method,
            max_src=max(1, min(partial_bound(pool), capacity)), max_dst=capacity,
            subgroup_size=widths[0] if len(set(widths)) == 1 else None,
            software=any(device.info.is_software for device in devices),
        )  # fmt: skip
        self.digest = _digest(pool)
        self.leaders = Leaders(k)
        self.partials: int | None = None
        # Partial loadouts of the next frame on each device, in all, and how they are shared.
        self.step = max(1, capacity // max(1, math.prod(pool.sizes[pool.leading :])))
        self.weights = [1.0] * len(devices)
        self.frames = self.words = 0
        self.shares = [0] * len(devices)
        self.kept: tuple[int, ...] = ()

    def run(self, on_progress: Any, cancel: threading.Event | None, resume: Mapping[str, Any] | None) -> Loadouts:
        """All frames, or those up to the cancel."""
        start = time.perf_counter()
        begin = self._read(resume) if resume is not None else 0
        first = begin
        plan = self.made.graph.compile("dag")
        with ExitStack() as stack:
            runner = stack.enter_context(_Runner(plan, self.devices, self.made.output))
            while self.k and (self.partials is None or begin < self.partials):
                if cancel is not None and cancel.is_set():
                    break
                begin = self._frame(runner, begin)
                if on_progress is not None:
                    spent, total = time.perf_counter() - start, self.partials or 0
                    left = spent / max(1, begin - first) * max(0, total - begin)
                    best = self.leaders.scores()
                    on_progress(SearchProgress(min(begin, total), total, left, float(best[0]) if len(best) else None))
        items = self.leaders.items
        numbers = [number for _, number, _ in items]
        picks = np.array([digits_of(number, self.pool.sizes) for number in numbers], np.uint32)
        cancelled = bool(self.k) and (self.partials is None or begin < self.partials)
        report = LoadoutReport(
            scored=sum(self.shares), possible=math.prod(self.pool.sizes), frames=self.frames,
            wall_ms=(time.perf_counter() - start) * 1e3, words_back_per_frame=self.words,
            devices=tuple(device.info.label for device in self.devices), shares=tuple(self.shares), kept=self.kept,
            software=any(device.info.is_software for device in self.devices), cancelled=cancelled,
        )  # fmt: skip
        token = {"format": _FORMAT, "pool_sha256": self.digest, "k": self.k, "done": begin,
                 "leaders": [list(item) for item in items]}  # fmt: skip
        return Loadouts(picks.reshape(len(numbers), len(self.pool.sizes)), self.leaders.scores(), numbers, report,
                        token, self.made.graph)  # fmt: skip

    def _frame(self, runner: _Runner, begin: int) -> int:
        """Run one frame from partial loadout `begin` on; returns where the next one begins."""
        ranges = self._ranges(begin)
        words, times = runner.run(self.made.frame(ranges))
        self.frames += 1
        self.words = max(self.words, len(words))
        count = len(self.devices)
        heads = words[: count * HEAD].reshape(count, HEAD)
        self.kept = tuple(int(n) for n in heads[0, 4 : 4 + len(self.pool.sizes)])
        self.partials = math.prod(self.kept[: self.pool.leading])
        if heads[:, 1].any():
            if np.any(heads[:, 1] & ~np.uint32(FAILED_CAPACITY)) or self.step == 1:
                raise DeviceError(f"the expansion of a frame ended with failure words {heads[:, 1].tolist()}")
            # Too many loadouts for the buffers: nothing was expanded there. Half of it fits, or a half of that.
            self.step = max(1, self.step // 2)
            return begin
        self._take(words, count * HEAD, int(heads[:, 0].sum(dtype=np.int64)))
        for number in range(count):
            self.shares[number] += int(heads[number, 0])
        if times is not None and all(time > 0 for time in times):
            speeds = [max(1, high - low) / time for (low, high), time in zip(ranges, times, strict=True)]
            self.weights = [
                0.5 * old / sum(self.weights) + 0.5 * new / sum(speeds)
                for old, new in zip(self.weights, speeds, strict=True)
            ]
        if int(heads[:, 0].max()) < self.capacity // 4:
            self.step = min(2 * self.step, self.made.max_src)
        return ranges[-1][1]

    def _ranges(self, begin: int) -> list[tuple[int, int]]:
        """The parts of a frame, one after the other; none is longer than `step`."""
        largest = max(self.weights)
        ranges = []
        for weight in self.weights:
            end = begin + max(1, round(self.step * weight / largest))
            bound = partial_bound(self.pool) if self.partials is None else self.partials
            ranges.append((min(begin, bound), min(end, bound)))
            begin = end
        return ranges

    def _take(self, words: np.ndarray, at: int, total: int) -> None:
        rows = words[at:].reshape(-1, 1 + len(self.pool.sizes))[: min(self.made.k, total)]
        bits = np.ascontiguousarray(rows[:, 0])
        keys = keys_of(bits.view(np.float32), True)
        self.leaders.merge(
            (int(key), self.pool.number(row[1:]), int(row[0])) for key, row in zip(keys, rows, strict=True)
        )

    def _read(self, resume: Mapping[str, Any]) -> int:
        mine = {"format": _FORMAT, "pool_sha256": self.digest, "k": self.k}
        for name, value in mine.items():
            if not isinstance(resume, Mapping) or resume.get(name) != value:
                raise ValueError(f"resume: its {name} is not that of this search; give the .token of a cancelled one")
        done = resume.get("done")
        if type(done) is not int or not 0 <= done <= partial_bound(self.pool):
            raise ValueError("resume: what it has done is no part of this search")
        self.leaders.merge(checked_leaders(resume.get("leaders"), self.k, math.prod(self.pool.sizes)))
        return done


class _Runner:
    """The plan on its devices; a run gives the output and the time of each device, None where there is one alone."""

    def __init__(self, plan: Plan, devices: Sequence[Device], output: str):
        self.output = output
        self.several = len(devices) > 1
        self.names = list(plan.graph.devices)
        pairs = dict(zip(self.names, devices, strict=True))
        self._programs = plan.programs(pairs) if self.several else plan.program(devices[0])

    def __enter__(self) -> _Runner:
        return self

    def __exit__(self, *_: Any) -> None:
        self._programs.close()

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[np.ndarray, list[float] | None]:
        """One frame."""
        if not self.several:
            return self._programs.run(inputs).arrays[self.output], None
        ran = self._programs.run(inputs, timed=True)
        # What each does for its own part: the passes that all have.
        times = [
            sum(span.end_us - span.begin_us for span in ran.spans
                if span.kind == "pass" and span.device == name and span.name.endswith(f"_{number}"))
            for number, name in enumerate(self.names)
        ]  # fmt: skip
        return ran.arrays[self.output], times


def _digest(pool: Pool) -> str:
    digest = hashlib.sha256(digest_of(pool.score, pool.buffers).encode())
    digest.update(repr((pool.sizes, pool.leading, sorted(pool.matches.items()))).encode())
    for array in (pool.worth, pool.sets, pool.least):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
