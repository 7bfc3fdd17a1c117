"""Which thread works on which item: the CPU model of pass 1, pass 2 and the memory between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import UnsupportedError
from expandlab.expansion.arguments import pick_strategy, power_of_two
from expandlab.expansion.strategy import Sizes
from expandlab.graph.fold import fold
from expandlab.results import Result
from expandlab.wgsl import Line

# A map keeps ten words for every thread: 2^26 rows are 2.5 GiB, and no screen shows more.
MAX_ROWS = 2**26


@dataclass(frozen=True, eq=False)
class Step(Result):
    """One step that the lanes of a pass take together.

    `line` is the file and line of the shader that runs (of a modelled strategy, of the GLSL or HLSL that would);
    `active` has one entry for each subgroup of the pass: its active lanes. `repeats` is how often the step runs in a
    row with these lanes active (a loop of N rounds is one step for each change of its active lanes).
    """

    pass_name: str
    label: str
    line: Line
    active: np.ndarray
    repeats: int = 1

    def __repr__(self) -> str:
        times = f" x{self.repeats}" if self.repeats > 1 else ""
        return f"<{self.pass_name}: {self.label}{times}, {int(self.active.sum())} lanes, {self.line}>"


@dataclass(frozen=True, eq=False)
class MemoryRow(Result):
    """One array that pass 1 wrote, or one bucket of several that lie one behind the other.

    `capacity` and `used` count entries of `entry_bytes`; an entry stands for `width` dst items. `src` says whose each
    used entry is.
    """

    label: str
    capacity: int
    entry_bytes: int
    width: int
    src: np.ndarray

    @property
    def used(self) -> int:
        """Entries written."""
        return len(self.src)


@dataclass(frozen=True, eq=False)
class Memory(Result):
    """A buffer between pass 1 and pass 2 as it lies in memory."""

    buffer: str
    title: str
    rows: tuple[MemoryRow, ...]

    @property
    def capacity_bytes(self) -> int:
        """Bytes set aside."""
        return sum(row.capacity * row.entry_bytes for row in self.rows)

    @property
    def used_bytes(self) -> int:
        """Bytes written."""
        return sum(row.used * row.entry_bytes for row in self.rows)


@dataclass(frozen=True, eq=False)
class ThreadMap(Result):
    """Every pass-2 thread and its item.

    Arrays of equal length (int32), one row for each thread launched (or for each step of a thread that handles
    several items): `dispatch`, `workgroup`, `subgroup` (its index in the workgroup), `lane` (its index in the
    subgroup), `src`, `local`, `bucket`, `dst`, `entry` (the entry of `memory` that led to the item, counted in its
    bucket); -1 = idle or none. Every dst item stands in exactly one row. `steps` go from pass 1 to pass 2.
    `recorded` names the device that wrote the map, or is None for the model.
    """

    strategy: str
    workgroup_size: int
    subgroup_size: int
    dispatch: np.ndarray
    workgroup: np.ndarray
    subgroup: np.ndarray
    lane: np.ndarray
    src: np.ndarray
    local: np.ndarray
    bucket: np.ndarray
    dst: np.ndarray
    entry: np.ndarray
    steps: list[Step] = field(default_factory=list)
    memory: tuple[Memory, ...] = ()
    recorded: str | None = None

    def __len__(self) -> int:
        return len(self.src)

    @property
    def active(self) -> np.ndarray:
        """Which rows work on an item."""
        return self.src >= 0

    @property
    def utilisation(self) -> float:
        """Active rows / rows; 1.0 with no rows."""
        return float(np.count_nonzero(self.active) / len(self.src)) if len(self.src) else 1.0

    def to_dict(self) -> dict[str, Any]:
        """The map as plain Python, the utilisation and the memory's bytes included."""
        plain = super().to_dict()
        plain["utilisation"] = self.utilisation
        return plain

    def __repr__(self) -> str:
        where = f", recorded on {self.recorded}" if self.recorded else ""
        return (
            f"<ThreadMap {self.strategy}: {len(self)} threads, {np.count_nonzero(self.active)} with work, "
            f"utilisation {self.utilisation:.1%}{where}>"
        )

    def _repr_html_(self) -> str:
        from expandlab.figures.inline import map_html

        return map_html(self)


class Lanes:
    """The threads of a dispatch: how many are launched, and where each one sits."""

    def __init__(self, threads: int, workgroup_size: int, subgroup_size: int):
        self.workgroup_size = workgroup_size
        self.subgroup_size = min(subgroup_size, workgroup_size)
        groups = -(-threads // workgroup_size)
        x, y, _ = fold(groups)
        self.workgroups = x * y
        self.launched = self.workgroups * workgroup_size
        self.subgroups = self.workgroups * (workgroup_size // self.subgroup_size)

    def active(self, mask: np.ndarray) -> np.ndarray:
        """Active lanes of every subgroup; `mask` covers the first threads, the others are idle."""
        padded = np.zeros(self.launched, bool)
        padded[: len(mask)] = mask
        return padded.reshape(self.subgroups, self.subgroup_size).sum(axis=1, dtype=np.int32)

    def first(self, threads: int) -> np.ndarray:
        """Active lanes of every subgroup when the first `threads` threads are active."""
        starts = np.arange(self.subgroups, dtype=np.int64) * self.subgroup_size
        return np.clip(threads - starts, 0, self.subgroup_size).astype(np.int32)


class MapBuilder:
    """Collects the steps of a model and turns its rows into a `ThreadMap`."""

    def __init__(self, strategy: str, sizes: Sizes):
        self.strategy = strategy
        self.workgroup_size = sizes.workgroup_size
        self.subgroup_size = sizes.align
        self.steps: list[Step] = []

    def lanes(self, threads: int) -> Lanes:
        """The lanes of a dispatch of `threads` threads. Raises UnsupportedError where a map would be too large."""
        if threads > MAX_ROWS:
            raise UnsupportedError(
                f"strategy={self.strategy!r}: these counts launch {threads:,} threads, and a map keeps at most "
                f"{MAX_ROWS:,}; use fewer items or a strategy that launches fewer threads, such as 'prefix_search'"
            )
        return Lanes(threads, self.workgroup_size, self.subgroup_size)

    def active_of(self, working: np.ndarray) -> np.ndarray:
        """Active lanes of every subgroup, where the threads of whole subgroups stand one behind the other."""
        return working.reshape(-1, self.subgroup_size).sum(axis=1, dtype=np.int32)

    def step(self, pass_name: str, label: str, line: Line, active: np.ndarray, repeats: int = 1) -> None:
        """Add a step."""
        self.steps.append(Step(pass_name, label, line, active, repeats))

    def rounds(self, pass_name: str, label: str, line: Line, lanes: Lanes, rounds: np.ndarray) -> None:
        """Add the steps of a loop that thread t runs `rounds[t]` times."""
        before = 0
        for level in np.unique(rounds[rounds > 0]):
            self.step(pass_name, label, line, lanes.active(rounds > before), int(level) - before)
            before = int(level)

    def upper_bound(self, pass_name: str, line: Line, lanes: Lanes, ends: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Add the probes of a binary search for the first of `ends` beyond each thread's index; returns its place."""
        low = np.zeros(len(thread), np.int64)
        high = np.full(len(thread), len(ends), np.int64)
        probe = 0
        while np.any(searching := low < high):
            probe += 1
            self.step(pass_name, f"probe {probe}", line, lanes.active(searching))
            middle = np.where(searching, low + (high - low) // 2, 0)
            right = searching & (ends[middle] <= thread)
            high = np.where(searching & ~right, middle, high)
            low = np.where(right, middle + 1, low)
        return low

    def one_thread(self, pass_name: str, label: str, line: Line) -> None:
        """Add a step of a set-up stage."""
        self.step(pass_name, label, line, np.ones(1, np.int32))

    def build(self, lanes: Lanes, threads: np.ndarray, memory: Iterable[Memory], **columns: np.ndarray) -> ThreadMap:
        """The map of one dispatch: `columns` hold the values of the active `threads`, all others are idle."""
        index = np.arange(lanes.launched, dtype=np.int32)
        rows = {}
        for name, values in columns.items():
            rows[name] = np.full(lanes.launched, -1, np.int32)
            rows[name][threads] = values
        size = lanes.workgroup_size
        return self.build_rows(memory, workgroup=index // size, thread=index % size, **rows)

    def build_rows(
        self,
        memory: Iterable[Memory],
        *,
        workgroup: np.ndarray,
        thread: np.ndarray,
        dispatch: np.ndarray | int = 0,
        **columns: np.ndarray,
    ) -> ThreadMap:
        """The map of rows given one by one: of several dispatches, or of threads that take several steps.

        Rows stand in the order dispatch, workgroup, step, `thread` (the index in the workgroup). `columns` are any of
        src, local, bucket, dst, entry; -1 = idle or none, as for those left out.
        """
        rows = {"workgroup": workgroup, "dispatch": np.broadcast_to(dispatch, workgroup.shape)}
        rows |= {"subgroup": thread // self.subgroup_size, "lane": thread % self.subgroup_size}
        for name in ("src", "local", "bucket", "dst", "entry"):
            rows[name] = columns.get(name, np.full(len(workgroup), -1))
        return ThreadMap(
            strategy=self.strategy,
            workgroup_size=self.workgroup_size,
            subgroup_size=self.subgroup_size,
            steps=self.steps,
            memory=tuple(memory),
            **{name: np.ascontiguousarray(values, np.int32) for name, values in rows.items()},
        )


def items_of(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(src, local) of every dst item in src order: the definition of an expansion."""
    ends = np.cumsum(counts, dtype=np.int64)
    src = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    starts = (ends - counts).astype(np.uint32)
    return src, (np.arange(len(src), dtype=np.uint32) - starts[src] if len(src) else src.copy())


def thread_map(counts: Any, strategy: str, *, workgroup_size: int = 64, subgroup_size: int = 32) -> ThreadMap:
    """The CPU model of a strategy: which pass-2 thread works on which item, and every step that leads there.

    counts: the N of every src, checked as `expandlab.counts.load` checks an array.
    strategy: a name of `strategies()`.
    workgroup_size: threads in a workgroup, a power of two from 32 to 256.
    subgroup_size: lanes in a subgroup, a power of two from 4 to 128.

    Returns a `ThreadMap`. Raises CountsError, UnsupportedError (more than 2^26 threads), OverflowError (P2 >= 2^32).
    """
    values = _counts.check(counts)
    chosen = pick_strategy(strategy, values, None)
    power_of_two("workgroup_size", workgroup_size, 32, 256)
    power_of_two("subgroup_size", subgroup_size, 4, 128)
    total = int(values.sum(dtype=np.uint64))
    if total >= 2**32:
        raise OverflowError(f"counts: their sum, {total:,}, does not fit 32 bits; split them")
    if total > MAX_ROWS:
        raise UnsupportedError(
            f"counts: they spawn {total:,} items, and a map keeps at most {MAX_ROWS:,} threads; use fewer items"
        )
    return chosen.model(values, Sizes(len(values), total, workgroup_size, subgroup_size))
