"""A sweep on a Dask cluster: every worker measures on its own GPU, one cell at a time.

Needs `dask[distributed]`, the extra `expandlab[dask]`, here and expandlab on the workers. Cells are handed out one by
one, so a worker that is lost costs the cell that it had, which another one takes.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from expandlab.errors import DeviceError, UnsupportedError
from expandlab.measuring.sweep import Done

if TYPE_CHECKING:
    from expandlab.measuring.sweep import Job

# Between looks at who has finished, who is lost and who is new.
_LOOK_S = 0.5
# How long to wait for a scheduler.
CONNECT_S = 20
# A cell that brings so many workers down is not given to another.
LOSSES = 3
# How long to wait for workers when there are none: one that died is often started again.
PATIENCE_S = 20


class Lanes:
    """The workers of a cluster, each with at most one cell.

    devices: names that the workers' machines know; None = each worker its own.
    """

    def __init__(self, cluster: Any, devices: list[str] | None, limits: str):
        try:
            from distributed import Client
        except ImportError:
            raise UnsupportedError("cluster=: needs Dask; pip install 'expandlab[dask]'") from None
        self._owned = not isinstance(cluster, Client)
        try:
            self._client = Client(cluster, timeout=CONNECT_S) if self._owned else cluster
        except (OSError, ValueError, TypeError) as error:
            raise DeviceError(f"cluster={cluster!r}: no scheduler answers there ({error})") from error
        self._devices = devices
        self._limits = limits
        self._own: dict[str, int | None] = {}
        self._known: dict[tuple[str, str], bool] = {}
        self._losses: dict[str, int] = {}
        self._alone_since: float | None = None

    def close(self) -> None:
        """Leave the cluster as it was found."""
        if self._owned:
            self._client.close()

    def labels(self) -> list[str | None]:
        """What the keys of the cells say of the device: nothing where any worker may measure any cell."""
        return list(self._devices) if self._devices is not None else [None]

    def run(self, jobs: Sequence[Job], cancel: threading.Event, news: Any) -> Iterator[tuple[str, Done]]:
        """Every job's result as it comes."""
        waiting, under_way = deque(jobs), {}
        try:
            while waiting or under_way:
                if cancel.is_set():
                    return
                workers = self._workers()
                yield from self._take_back(under_way, waiting, workers)
                self._hand_out(waiting, under_way, workers, news)
                if not waiting and not under_way:
                    return
                if not under_way:
                    if not workers and self._patient():
                        continue
                    names = ", ".join(sorted({str(self.labels()[job[2]]) for job in waiting}))
                    raise DeviceError(f"cluster: no worker can measure on {names}; start workers, the rest is kept")
                for future in self._finished(list(under_way)):
                    job, worker = under_way.pop(future)
                    done = self._result(future, job, worker)
                    if done is not None:
                        yield job[0], done
                    elif self._lost(job):
                        yield job[0], _given_up(job, worker)
                    else:
                        waiting.append(job)
        finally:
            for future in under_way:
                future.cancel()

    def _workers(self) -> list[str]:
        found = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        if found:
            self._alone_since = None
        return found

    def _finished(self, futures: list[Any]) -> list[Any]:
        from distributed import TimeoutError as TooLate
        from distributed import wait

        try:
            return list(wait(futures, timeout=_LOOK_S, return_when="FIRST_COMPLETED").done)
        except TooLate:
            return []

    def _patient(self) -> bool:
        """Wait for a moment for workers to come back; whether it was not too long yet."""
        if self._alone_since is None:
            self._alone_since = time.monotonic()
        time.sleep(_LOOK_S / 5)
        return time.monotonic() - self._alone_since < PATIENCE_S

    def _lost(self, job: Job) -> bool:
        """Count a worker that was lost with this cell; whether there were too many."""
        self._losses[job[0]] = self._losses.get(job[0], 0) + 1
        return self._losses[job[0]] >= LOSSES

    def _result(self, future: Any, job: Job, worker: str) -> Done | None:
        """What a finished cell found; None where it went with its worker before it was fetched."""
        from distributed import CancelledError, KilledWorker
        from distributed import TimeoutError as TooLate

        while True:
            try:
                return future.result(timeout=_LOOK_S)
            except TooLate:
                # A result that is lost would be worked out again by that very worker, for which nobody may wait.
                if worker not in self._workers():
                    future.cancel()
                    return None
            except (CancelledError, KilledWorker):
                return None
            except Exception as error:
                return Done(job[1], None, f"{type(error).__name__}: {error}", worker)

    def _take_back(
        self, under_way: dict[Any, Any], waiting: deque[Job], workers: list[str]
    ) -> Iterator[tuple[str, Done]]:
        """A lost worker's cell waits again, unless it was lost too often."""
        for future in [future for future, (_, worker) in under_way.items() if worker not in workers]:
            job, worker = under_way.pop(future)
            future.cancel()
            if self._lost(job):
                yield job[0], _given_up(job, worker)
            else:
                waiting.appendleft(job)

    def _hand_out(self, waiting: deque[Job], under_way: dict[Any, Any], workers: list[str], news: Any) -> None:
        busy = {worker for _, worker in under_way.values()}
        for worker in (worker for worker in workers if worker not in busy):
            job = next((job for job in waiting if self._fits(worker, job, workers)), None)
            if job is None:
                continue
            waiting.remove(job)
            _, cell, at = job
            name = self._devices[at] if self._devices is not None else self._own_device(worker, workers)
            news.say(f"{cell}: on {worker}")
            future = self._client.submit(
                measure_there, cell.to_dict(), name, self._limits, worker, workers=[worker],
                allow_other_workers=False, pure=False, retries=0,
            )  # fmt: skip
            under_way[future] = (job, worker)

    def _fits(self, worker: str, job: Job, workers: list[str]) -> bool:
        if self._devices is None:
            return True
        key = (worker, self._devices[job[2]])
        if key not in self._known:
            self._known[key] = bool(self._client.run(has_device, key[1], workers=[worker])[worker])
        return self._known[key]

    def _own_device(self, worker: str, workers: list[str]) -> int | None:
        """Index of the worker's device: the first worker of a host takes the first GPU, the second the second ..."""
        if worker not in self._own:
            rows = self._client.run(hardware_rows, workers=[worker])[worker]
            host = worker.rpartition(":")[0]
            rank = [other for other in workers if other.rpartition(":")[0] == host].index(worker)
            self._own[worker] = rows[rank % len(rows)] if rows else None
        return self._own[worker]


def _given_up(job: Job, worker: str) -> Done:
    return Done(job[1], None, f"DeviceError: {LOSSES} workers died while they measured it", worker)


def hardware_rows() -> list[int]:
    """On a worker: the hardware GPUs of its machine; none where the environment says which device to take."""
    import os

    from expandlab.gpu import devices

    if os.environ.get("EXPANDLAB_DEVICE"):
        return []
    return [item.index for item in devices() if not item.is_software]


def has_device(name: str) -> bool:
    """On a worker: whether its machine has a device of that name."""
    from expandlab.gpu import devices
    from expandlab.gpu.adapters import choose

    try:
        choose(name, list(devices()))
    except DeviceError:
        return False
    return True


_one_at_a_time = threading.Lock()
_opened: dict[tuple[Any, str], Any] = {}


def measure_there(cell: dict[str, Any], name: str | int | None, limits: str, worker: str) -> Done:
    """On a worker: measure one cell. A worker with several threads still measures one at a time."""
    from expandlab.gpu import open_device
    from expandlab.measuring.grid import Cell
    from expandlab.measuring.sweep import measure_cell

    found = Cell.from_dict(cell)
    with _one_at_a_time:
        try:
            if (name, limits) not in _opened:
                _opened[name, limits] = open_device(name, limits=limits)
        except DeviceError as error:
            return Done(found, None, f"DeviceError: {error}", worker)
        return measure_cell(found, _opened[name, limits], worker=worker)
