"""`sweep`: a grid of measurements that can be stopped at any moment and taken up again."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from expandlab.errors import CountsError, ExpandlabError
from expandlab.gpu import Device, open_device
from expandlab.measuring.grid import Cell, cells
from expandlab.measuring.measurements import Measurements, MeasurementsError, check_format, read_json, write_json
from expandlab.measuring.progress import Progress
from expandlab.measuring.protocol import measure
from expandlab.measuring.store import FORMAT as STORE_FORMAT
from expandlab.measuring.store import Store
from expandlab.measuring.store import read as read_store
from expandlab.results import Result, to_plain

if TYPE_CHECKING:
    import pandas as pd

FORMAT, VERSION = "expandlab-sweep", 1


@dataclass(frozen=True)
class Done(Result):
    """A finished cell: what was measured, or why nothing could be. worker: the Dask worker that did it, or None."""

    cell: Cell
    measurements: Measurements | None
    error: str | None = None
    worker: str | None = None

    @classmethod
    def from_body(cls, body: Any, where: str) -> Done:
        """An entry of a store."""
        try:
            cell = Cell.from_dict(body["cell"])
            error, worker, taken = body["error"], body["worker"], body["measurements"]
        except (TypeError, KeyError) as problem:
            raise MeasurementsError(f"{where}: a cell is damaged ({problem}); take another copy") from None
        return cls(cell, None if taken is None else Measurements.from_dict(taken, where), error, worker)

    def to_body(self) -> dict[str, Any]:
        """The entry of a store."""
        taken = None if self.measurements is None else self.measurements.to_dict()
        return {"cell": self.cell.to_dict(), "measurements": taken, "error": self.error, "worker": self.worker}


@dataclass(frozen=True)
class Sweep(Result):
    """The finished cells of a sweep, in the grid's order. planned: how many the grid has on all devices."""

    cells: tuple[Done, ...]
    planned: int

    def __repr__(self) -> str:
        return f"<Sweep: {len(self.cells)} of {self.planned} cells measured, {len(self.failed)} failed>"

    @property
    def complete(self) -> bool:
        """Whether every cell is there."""
        return len(self.cells) == self.planned

    @property
    def measurements(self) -> list[Measurements]:
        """What was measured, cell by cell."""
        return [done.measurements for done in self.cells if done.measurements is not None]

    @property
    def failed(self) -> list[Done]:
        """Cells that could not be measured, and why."""
        return [done for done in self.cells if done.error is not None]

    def frame(self) -> pd.DataFrame:
        """All cells in one pandas table, the rows as of `Measurements.frame`, with the worker of each."""
        import pandas as pd

        frames = [done.measurements.frame().assign(worker=done.worker) for done in self.cells if done.measurements]
        for frame in frames:
            frame.attrs.clear()  # concat compares them, and they differ
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def standings(self) -> pd.DataFrame:
        """How each contender stands against the best of each cell, see `Measurements.standings`."""
        return Measurements.standings(self.measurements)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python."""
        return {"format": FORMAT, "version": VERSION, "planned": self.planned,
                "cells": [to_plain(done.to_body()) for done in self.cells]}  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON to `path`, at once or not at all; returns the path."""
        return write_json(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sweep:
        """Read what `save` wrote, or the store of a sweep, finished or not. Raises MeasurementsError or StoreError."""
        target = Path(path)
        if _is_store(target):
            bodies = list(read_store(target).values())
            return cls(tuple(Done.from_body(body, target.name) for body in bodies), len(bodies))
        data = read_json(target)
        check_format(data, FORMAT, VERSION, target.name)
        if not isinstance(data.get("cells"), list):
            raise MeasurementsError(f"{target.name}: 'cells' is missing; the file is damaged, take another copy")
        return cls(tuple(Done.from_body(body, target.name) for body in data["cells"]), int(data["planned"]))


def _is_store(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return STORE_FORMAT.encode() in file.readline(200)
    return False


def sweep(
    grid: Any,
    *,
    devices: str | int | Device | Sequence[str | int | Device] | None = None,
    cluster: Any = None,
    store: str | os.PathLike[str],
    limits: str = "default",
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
    time_limit_s: float | None = None,
    retry_failed: bool = False,
) -> Sweep:
    """Measure every cell of a grid, on one device after the other or on the workers of a cluster.

    grid: a name (`goals`, `topk`, `skew`, `at_once`, `workgroups`, `quick`), the path of a JSON file, or a mapping of
        axes: `kind` (names, or `{"kind": ..., "shape": {...}}`), `mean`, `max_n`, `shape`, `seed`, one of `p1` and
        `p2`, `at_once`, `workgroup_size`, or for top-k `k` and `n`, each one value or a list; and `strategies`,
        `checked`, `repeats`, `peers`, `verify`, `warm_up_s`, `batch_ms`, `budget_s` as of `measure`. A list of grids is
        all of them.
    devices: of this machine, or what its workers call theirs; None = the default one, or on a cluster each worker its
        own (the first worker of a host takes its first GPU, the second its second ...).
    cluster: address of a Dask scheduler, or a `distributed.Client`. Cells are shared out, one at a time to a worker.
    store: a file that keeps every finished cell. Start again with the same one, after whatever end, and only what is
        missing is measured. One process may write it at a time.
    limits: of the devices, `default` or `adapter`.
    cancel, time_limit_s: end early; finished cells are kept, the one under way is not. retry_failed: measure cells
        again that ended in an error.

    A strategy that a cell refuses is left out of it, and `Measurements.left_out` says why. Raises GridError, StoreError
    and DeviceError.
    """
    plan = cells(grid)
    cancel = cancel or threading.Event()
    with Store(store) as kept, _ended_after(time_limit_s, cancel) as cancel:
        if cluster is not None:
            from expandlab.measuring.cluster import Lanes

            runner: Any = Lanes(cluster, _names(devices), limits)
        else:
            runner = _Here(devices, limits)
        with contextlib.closing(runner):
            jobs = [(cell.key(label), cell, at) for at, label in enumerate(runner.labels()) for cell in plan]
            failed = {key for key, body in kept.entries.items() if body["error"] is not None}
            missing = [job for job in jobs if job[0] not in kept.entries or (retry_failed and job[0] in failed)]
            news = _News(len(jobs), len(jobs) - len(missing), on_progress)
            for key, done in runner.run(missing, cancel, news):
                kept.add(key, to_plain(done.to_body()), replace=key in failed)
                news.finished(done)
        found = [kept.entries[key] for key, _, _ in jobs if key in kept.entries]
        return Sweep(tuple(Done.from_body(body, str(store)) for body in found), len(jobs))


def measure_cell(
    cell: Cell, device: Device, on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None, worker: str | None = None,
) -> Done:  # fmt: skip
    """Measure one cell on an open device; a cell that cannot be measured says why."""
    try:
        taken = measure(
            cell.strategies, cell.recipe(), device=device, on_progress=on_progress, cancel=cancel, leave_out=True,
            **cell.options(),
        )  # fmt: skip
    except (ExpandlabError, CountsError, ValueError, TypeError, OverflowError, MemoryError) as error:
        return Done(cell, None, f"{type(error).__name__}: {error}", worker)
    return Done(cell, taken, None, worker)


Job = tuple[str, Cell, int]


class _Here:
    """Runs cells in this process, one device after the other."""

    def __init__(self, devices: Any, limits: str):
        asked = [None] if devices is None else _listed(devices)
        self._devices = [item if isinstance(item, Device) else open_device(item, limits=limits) for item in asked]

    def labels(self) -> list[str]:
        """What the keys of the cells say of each device."""
        return [f"{device.info.label}, {device.info.driver}" for device in self._devices]

    def run(self, jobs: Sequence[Job], cancel: threading.Event, news: _News) -> Iterator[tuple[str, Done]]:
        """Every job's result as it comes; none for the one that is cancelled."""
        for key, cell, at in jobs:
            if cancel.is_set():
                return
            done = measure_cell(cell, self._devices[at], news.inside(cell), cancel)
            if cancel.is_set():
                return
            yield key, done

    def close(self) -> None:
        """Devices stay open; others may hold them."""


class _News:
    """Progress over all cells, and inside the one under way."""

    def __init__(self, total: int, before: int, tell: Callable[[Progress], None] | None):
        self._total, self._done, self._before, self._tell = total, before, before, tell
        self._start = time.perf_counter()

    def say(self, text: str) -> None:
        """Something happens in the cell under way."""
        if self._tell is not None:
            fresh = self._done - self._before
            spent = time.perf_counter() - self._start
            left = spent / fresh * (self._total - self._done) if fresh else 0.0
            self._tell(Progress(self._done, self._total, text, left))

    def inside(self, cell: Cell) -> Callable[[Progress], None] | None:
        """What `measure` may call."""
        return None if self._tell is None else lambda item: self.say(f"{cell}: {item.text}")

    def finished(self, done: Done) -> None:
        """A cell is in the store."""
        self._done += 1
        self.say(f"{done.cell}: {done.error or 'measured'}")


@contextlib.contextmanager
def _ended_after(seconds: float | None, cancel: threading.Event) -> Iterator[threading.Event]:
    """An event that is set when `cancel` is, and when the time is over."""
    if seconds is None:
        yield cancel
        return
    either, over = threading.Event(), threading.Event()
    if seconds <= 0:
        either.set()

    def watch() -> None:
        end = time.monotonic() + seconds
        while not over.wait(0.05):
            if cancel.is_set() or time.monotonic() >= end:
                either.set()
                return

    thread = threading.Thread(target=watch, name="expandlab time limit", daemon=True)
    thread.start()
    try:
        yield either
    finally:
        over.set()
        thread.join()


def _listed(devices: Any) -> list[Any]:
    found = [devices] if isinstance(devices, (str, int, Device)) else list(devices)
    if not found:
        raise ValueError("devices=[]: give at least one, or None for the default")
    return found


def _names(devices: Any) -> list[str] | None:
    if devices is None:
        return None
    found = _listed(devices)
    if any(isinstance(item, Device) for item in found):
        raise ValueError("devices: on a cluster give names; an open device cannot be sent to a worker")
    return [str(item) for item in found]
