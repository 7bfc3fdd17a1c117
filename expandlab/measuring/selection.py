"""Times of the methods of top-k on one row of scores that lies on the device: to the k best, back on the host."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.errors import DeviceError, ExpandlabError
from expandlab.gpu import Device, resolve
from expandlab.measuring.progress import Clock, Progress
from expandlab.measuring.protocol import step_text
from expandlab.results import Result
from expandlab.topk.arguments import check_k, check_largest, check_scores, pick_method
from expandlab.topk.inputs import defined
from expandlab.topk.keys import words_of
from expandlab.topk.method import Sizes
from expandlab.topk.prepared import Found, Prepared, fitting

# Rounds, and seconds for the samples of one method: one that is slow takes part in the first rounds only, three at
# least.
REPEATS, FEWEST, BUDGET_S = 9, 3, 2.0


@dataclass(frozen=True)
class SelectionTime(Result):
    """Time of one run of a method, in ms: from the scores on the device to the k best on the host.

    median_ms, q1_ms, q3_ms: on the host's clock, over `samples` runs, what comes back included. gpu_ms: median of the
    sums of the passes on the device's clock, None without a timer. words_back: 32-bit words that came back.
    """

    method: str
    median_ms: float
    q1_ms: float
    q3_ms: float
    gpu_ms: float | None
    samples: int
    words_back: int


@dataclass(frozen=True)
class SelectionTimes(Result):
    """Times of several methods on one device. left_out: method -> why it has no time. cancelled: runs are missing."""

    rows: tuple[SelectionTime, ...]
    device: str
    driver: str
    timer: str
    software: bool
    cancelled: bool
    left_out: dict[str, str]


class _Entrant:
    """A method with the scores on the device, and its samples."""

    def __init__(self, name: str, prepared: Prepared, words: np.ndarray, n: int):
        self.name = name
        self._prepared, self._words, self._n = prepared, words, n
        self.last_round = REPEATS
        self.walls: list[float] = []
        self.gpus: list[float | None] = []
        self.words_back = 0

    def run(self) -> tuple[Found, float]:
        """(result, ms on the host's clock) of one run."""
        start = time.perf_counter()
        found = self._prepared.rerun(self._words, self._n)
        return found, (time.perf_counter() - start) * 1e3

    def sample(self) -> None:
        """Run once and keep the times."""
        found, wall = self.run()
        self.walls.append(wall)
        gpu = found.report.gpu_ms
        # A timer that stands still says nothing.
        self.gpus.append(gpu if gpu else None)
        self.words_back = found.report.words_back

    def row(self) -> SelectionTime:
        """The samples as a result."""
        q1, median, q3 = (float(v) for v in np.percentile(self.walls, (25, 50, 75)))
        gpu = None if None in self.gpus else float(np.median(self.gpus))
        return SelectionTime(self.name, median, q1, q3, gpu, len(self.walls), self.words_back)


def measure_methods(
    names: Sequence[str],
    values: Any,
    k: int,
    *,
    largest: bool = True,
    device: Device | str | int | None = None,
    repeats: int = REPEATS,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> SelectionTimes:
    """Times of the methods on the same scores, in turns.

    names: of `top_k_methods()`. values, k, largest, device: as of `top_k`. repeats, on_progress, cancel: as of
    `measure`. Every result is compared with the definition in NumPy before anything is timed. A method that cannot run
    with so many scores, or not on the device, is left out with the reason.

    Raises DeviceError where a result is wrong.
    """
    scores, form = check_scores(values)
    k, dev = check_k(k, len(scores)), resolve(device)
    cancel = cancel or threading.Event()
    clock = Clock(1 + len(names) * (1 + repeats), on_progress)
    clock.tick("finding the right result with NumPy")
    right = defined(scores, k, check_largest(largest))
    sizes = Sizes(len(scores), k, form, largest, dev.info.is_software)
    left_out: dict[str, str] = {}
    entrants: list[_Entrant] = []
    with ExitStack() as stack:
        for name in names:
            if cancel.is_set():
                break
            clock.tick(f"checking {name} on {dev.info.name}")
            try:
                method = pick_method(name, len(scores), k, dev)
                built = fitting(method, sizes, dev)
            except ExpandlabError as error:
                left_out[name] = str(error)
                continue
            if built.sizes.max_n < len(scores):
                left_out[name] = f"{dev.info.name} takes it in chunks, which are not timed here; lower n"
                continue
            prepared = stack.enter_context(Prepared(method, built, dev))
            words = words_of(scores)
            prepared.program.upload({"values": words})
            entrant = _Entrant(name, prepared, words, len(scores))
            found, _ = entrant.run()
            if not np.array_equal(found.indices, right):
                wrong = int((found.indices != right).sum()) if len(found.indices) == k else k
                raise DeviceError(
                    f"{dev.info.name}: {name} gave a wrong selection, {wrong:,} of {k:,} indices differ, so nothing is "
                    "timed"
                )
            _, once = entrant.run()
            entrant.last_round = max(FEWEST, min(repeats, int(BUDGET_S * 1e3 / max(once, 1e-3))))
            entrants.append(entrant)
        for round_ in range(repeats):
            for entrant in entrants:
                if cancel.is_set():
                    break
                clock.tick(f"timing {entrant.name} on {dev.info.name}, round {round_ + 1} of {repeats}")
                if round_ < entrant.last_round:
                    entrant.sample()
    rows = tuple(entrant.row() for entrant in entrants if entrant.walls)
    timed = any(row.gpu_ms is not None for row in rows)
    return SelectionTimes(
        rows=rows,
        device=dev.info.label,
        driver=dev.info.driver,
        timer="wall clock" + (f" and timestamp-query{step_text(dev)}" if timed else ""),
        software=dev.info.is_software,
        cancelled=cancel.is_set(),
        left_out=left_out,
    )
