"""`search`: every pick of a space scored on one or several devices, the k best kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np

from expandlab.errors import DeviceError, ShaderError
from expandlab.gpu import Device, resolve
from expandlab.searching.leaders import Leaders
from expandlab.searching.report import SearchProgress, SearchReport, SearchResult, SearchShare
from expandlab.searching.scorer import Scorer
from expandlab.searching.space import check_space, digits_of, parts_of, product_of
from expandlab.searching.token import digest_of, read_token, token_of
from expandlab.topk.arguments import check_k
from expandlab.user_wgsl import naming_buffers


def search(
    space: Sequence[int],
    score: str,
    k: int,
    *,
    buffers: Mapping[str, Any] | None = None,
    devices: Sequence[Device | str | int] | Device | str | int | None = None,
    cluster: Any = None,
    on_progress: Callable[[SearchProgress], None] | None = None,
    cancel: threading.Event | None = None,
    resume: Mapping[str, Any] | str | None = None,
) -> SearchResult:
    """Score every pick of a mixed-radix product and keep the k best. Exact and deterministic, however large it is.

    space: the number of choices of each slot; the last slot varies fastest, as in itertools.product.
    score: WGSL that defines `fn score(pick: array<u32, D>) -> f32`, D the number of slots. The largest are kept; NaN
        is last, of equal scores the lower index comes first.
    k: how many, at most the product of the sizes.
    buffers: {name: array} for the score, at most three, read-only, T by dtype (u32, i32, f32).
    devices: one device or several, as of `expand`; several take parts of the space as each gets done with its last.
        What a device that fails had taken is searched by the others; `.report.shares` says who did what. If all fail,
        the DeviceError has a `.token` to go on with.
    cluster: a Dask scheduler's address or Client; its workers search with their own devices, or those named.
    on_progress: called with a `SearchProgress` after every pass. cancel: ends the search with the best so far.
    resume: the `.token` of a cancelled search with the same space, score, k and buffers.

    Scoring and selecting are one pass: a score that is not before the k-th best so far is never written to memory.
    Raises ValueError and TypeError naming the argument, ShaderError at the caller's line, DeviceError.
    """
    sizes = check_space(space)
    total = product_of(sizes)
    k = check_k(k, total, "the space has", "picks")
    check_calls(on_progress, cancel)
    digest = digest_of(_text(score), buffers)
    done, items = read_token(resume, sizes, k, digest, total) if resume is not None else ([], [])
    work = Work(total, done, Leaders(k, items), on_progress, cancel)
    start = time.perf_counter()
    if cluster is not None:
        from expandlab.searching.cluster import on_cluster

        cost = on_cluster(cluster, sizes, score, k, buffers, devices, work)
    else:
        try:
            cost = _on_devices(sizes, score, k, buffers, devices, work)
        except DeviceError as error:
            error.token = token_of(sizes, k, digest, work.done, work.leaders)
            raise
    numbers = work.leaders.numbers()
    picks = np.array([digits_of(int(number), sizes) for number in numbers], np.uint32).reshape(len(numbers), len(sizes))
    report = SearchReport(
        picks=work.searched,
        total=total,
        wall_ms=(time.perf_counter() - start) * 1e3,
        cancelled=bool(parts_of(total, work.done)) and k > 0,
        shares=cost.get("shares", ()),
        **{name: cost[name] for name in ("passes", "gpu_ms", "words_back_per_pass", "devices", "software")},
    )
    token = token_of(sizes, k, digest, work.done, work.leaders)
    return SearchResult(numbers, work.leaders.scores(), picks, report, token, cost["graph"])


class Work:
    """What is left of a search, shared by those who do it."""

    def __init__(
        self,
        total: int,
        done: Sequence[tuple[int, int]],
        leaders: Leaders,
        on_progress: Callable[[SearchProgress], None] | None = None,
        cancel: threading.Event | None = None,
    ):
        self.total = total
        self.leaders = leaders
        self.done = list(done)
        self.searched = 0
        self._cancel = cancel or threading.Event()
        # Apart from the caller's event, which the next search may use again.
        self._stopped = threading.Event()
        self._parts = parts_of(total, done) if leaders.k else []
        self._left = sum(end - begin for begin, end in self._parts)
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._start = time.perf_counter()

    def take(self, size: int) -> tuple[int, int] | None:
        """The next range of at most `size` picks, or None where nothing is left or the search was cancelled."""
        with self._lock:
            if self._ended or not self._parts:
                return None
            begin, end = self._parts[0]
            stop = min(end, begin + size)
            if stop == end:
                self._parts.pop(0)
            else:
                self._parts[0] = (stop, end)
            return begin, stop

    def give_back(self, part: tuple[int, int]) -> None:
        """Put a range back that was taken and not searched."""
        with self._lock:
            self._parts.insert(0, part)

    @property
    def is_left(self) -> bool:
        """Whether there is something to take."""
        with self._lock:
            return bool(self._parts) and not self._ended

    @property
    def _ended(self) -> bool:
        return self._cancel.is_set() or self._stopped.is_set()

    def stop(self) -> None:
        """Give nothing out any more: something went wrong that no device mends."""
        self._stopped.set()

    def finished(self, part: tuple[int, int]) -> None:
        """Note that a range was searched, and say how far the search is."""
        with self._lock:
            self.done.append(part)
            self.searched += part[1] - part[0]
            spent = time.perf_counter() - self._start
            left = spent / self.searched * (self._left - self.searched) if self.searched else 0.0
            done = self.total - self._left + self.searched
        if self._on_progress is not None:
            scores = self.leaders.scores()
            self._on_progress(SearchProgress(done, self.total, left, float(scores[0]) if len(scores) else None))


def _on_devices(
    sizes: tuple[int, ...], score: str, k: int, buffers: Mapping[str, Any] | None, devices: Any, work: Work
) -> dict[str, Any]:
    with ExitStack() as stack:
        scorers = []
        for device in opened(devices):
            with naming_buffers():
                scorers.append(Scorer(sizes, score, k, buffers, device))
            stack.callback(scorers[-1].close)
        failures = work_on_all(scorers, work)
        times = [scorer.gpu_ms for scorer in scorers]
        return {
            "passes": sum(scorer.passes for scorer in scorers),
            "gpu_ms": None if None in times else float(sum(times)),
            "words_back_per_pass": max(scorer.words_back for scorer in scorers),
            "devices": tuple(scorer.device.info.label for scorer in scorers),
            "software": any(scorer.device.info.is_software for scorer in scorers),
            "graph": scorers[0].graph,
            "shares": tuple(
                SearchShare(
                    scorer.device.info.label, scorer.picks, scorer.passes, scorer.gpu_ms,
                    str(failures[number]) if number in failures else None,
                )
                for number, scorer in enumerate(scorers)
            ),
        }  # fmt: skip


def work_on_all(scorers: Sequence[Scorer], work: Work) -> dict[int, DeviceError]:
    """Do the work on all devices at once, each on a thread of its own; returns what went wrong with which.

    What a device that fails had taken is left, and the others take it. Raises its error where none is left.
    """
    failures: dict[int, DeviceError] = {}

    def run(number: int) -> None:
        try:
            _work_on(scorers[number], work)
        except ShaderError:
            work.stop()
            raise
        except DeviceError as error:
            failures[number] = error
        except BaseException:
            work.stop()
            raise

    alive = list(range(len(scorers)))
    with ThreadPoolExecutor(len(scorers), "expandlab search") as pool:
        while alive:
            for future in [pool.submit(run, number) for number in alive]:
                future.result()
            alive = [number for number in alive if number not in failures]
            if not work.is_left:
                return failures
    raise next(iter(failures.values()))


def _work_on(scorer: Scorer, work: Work) -> None:
    """Take ranges and search them until nothing is left."""
    while (part := work.take(scorer.size)) is not None:
        try:
            scorer.search(*part, work.leaders)
        except BaseException:
            # The token knows that this range is not searched.
            work.give_back(part)
            raise
        work.finished(part)


def check_calls(on_progress: Any, cancel: Any) -> None:
    """Raise TypeError naming one of the two that cannot be used."""
    if on_progress is not None and not callable(on_progress):
        raise TypeError(f"on_progress={on_progress!r}: give a function that takes a SearchProgress, or None")
    if cancel is not None and not hasattr(cancel, "is_set"):
        raise TypeError(f"cancel={cancel!r}: give a threading.Event, or None")


def opened(devices: Any) -> list[Device]:
    """The devices that `devices` names. Raises ValueError for an empty list."""
    if isinstance(devices, (list, tuple)):
        if not devices:
            raise ValueError("devices=[]: name one device or more, or leave it out")
        return [resolve(device) for device in devices]
    return [resolve(devices)]


def _text(score: Any) -> str:
    if not isinstance(score, str):
        raise TypeError(f"score={score!r}: give WGSL text that defines fn score(pick: array<u32, D>) -> f32")
    return score
