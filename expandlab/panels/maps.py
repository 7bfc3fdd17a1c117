"""The maps of a panel's settings: modelled or recorded, kept while nothing that they depend on changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from expandlab.errors import UnsupportedError
from expandlab.expansion import record_map, strategies, thread_map
from expandlab.expansion.thread_map import ThreadMap
from expandlab.figures.limits import refuse
from expandlab.gpu import resolve
from expandlab.settings import ExpansionSettings

# What strategies launch beyond one thread for each item, where that can be much more.
_LAUNCHES = {
    "flat": lambda counts, size: len(counts) * int(counts.max(initial=0)),
    "dispatch_each": lambda counts, size: _in_workgroups(counts, size),
    "work_graph": lambda counts, size: _in_workgroups(counts, size),
    "task_mesh": lambda counts, size: _in_workgroups(counts, min(size, 128)),
}


def _in_workgroups(counts: np.ndarray, size: int) -> int:
    """Threads where every src has whole workgroups of its own."""
    return int((-(-counts.astype(np.int64) // size)).sum()) * size


@dataclass(frozen=True)
class Picture:
    """What a panel shows: the N of every src, one map or two, and what there is to say about a recording."""

    counts: np.ndarray
    maps: tuple[ThreadMap, ...]
    remark: str


class Maps:
    """Makes pictures and keeps the last one."""

    def __init__(self) -> None:
        self._counts: tuple[object, np.ndarray] | None = None

    def picture(self, settings: ExpansionSettings) -> Picture:
        """The picture of `settings`. Raises what counts, `thread_map` and `record_map` raise, and TooLargeToDraw."""
        counts = self.counts(settings)
        names = list(dict.fromkeys(name for name in (settings.strategy, settings.compare) if name))
        if settings.strategy == settings.compare:
            names *= 2
        for name in names:
            _check_size(name, counts, settings.workgroup_size)
        if settings.device is None:
            made = tuple(
                thread_map(
                    counts, name, workgroup_size=settings.workgroup_size, subgroup_size=settings.subgroup_size
                )
                for name in names
            )  # fmt: skip
            remark = _modelled(names)
        else:
            made, remark = _recorded(counts, names, settings)
        for item in made:
            # Strategies with 32 buckets round each up to a workgroup at most; that much beyond the items is no harm.
            refuse(len(item) - 32 * item.workgroup_size, f"{item.strategy} launches {len(item):,} threads")
        return Picture(counts, made, remark)

    def counts(self, settings: ExpansionSettings) -> np.ndarray:
        """The N of every src; a file is read again, because it may have changed."""
        key = (
            settings.source, settings.items, settings.mean, settings.max_n, settings.seed,
            tuple(sorted(settings.shape.items())), settings.values,
        )  # fmt: skip
        if settings.source != "file" and self._counts is not None and self._counts[0] == key:
            return self._counts[1]
        values = settings.counts()
        self._counts = (key, values)
        return values


def _modelled(names: list[str]) -> str:
    """What is to be said about strategies that nothing here can run."""
    known = strategies()
    said = [f"{name} is modelled only: no WebGPU has its stages, so it is neither recorded nor timed." for name in
            dict.fromkeys(names) if known[name].modelled]  # fmt: skip
    return " ".join(said)


def _check_size(name: str, counts: np.ndarray, workgroup_size: int) -> None:
    total = int(counts.sum(dtype=np.uint64))
    refuse(len(counts), f"there are {len(counts):,} src")
    refuse(total, f"these counts spawn {total:,} items")
    if name in _LAUNCHES:
        threads = _LAUNCHES[name](counts, workgroup_size)
        more = "; lower max N or the workgroup, or choose another strategy"
        refuse(threads, f"{name} launches {threads:,} threads", more)


def _recorded(counts: np.ndarray, names: list[str], settings: ExpansionSettings) -> tuple[tuple[ThreadMap, ...], str]:
    device = resolve(settings.device)
    if device.is_reference:
        raise UnsupportedError(
            "The reference device has no record: NumPy has no threads that could note what they do. "
            "Choose Model, or a GPU or software adapter as the device."
        )
    made = tuple(record_map(counts, name, device=device, workgroup_size=settings.workgroup_size) for name in names)
    said = "; ".join(f"{item.strategy}: {agreement(item, counts)}" for item in made)
    lanes = device.subgroup_size
    wide = f"its subgroups have {lanes} lanes" if lanes else "it has no subgroup operations"
    return made, f"Recorded on {device.info.name} ({wide}). {said}."


def agreement(recorded: ThreadMap, counts: np.ndarray) -> str:
    """Whether a recording and the model of the same launch agree: thread by thread, or as sets where atomics decide."""
    model = thread_map(
        counts,
        recorded.strategy,
        workgroup_size=recorded.workgroup_size,
        subgroup_size=min(recorded.subgroup_size, 128),
    )
    columns = ("src", "local", "dst", "entry")
    same = len(model) == len(recorded) and all(
        np.array_equal(getattr(model, name), getattr(recorded, name)) for name in columns
    )
    if same:
        return "recorded and model agree thread by thread"
    if not strategies()[recorded.strategy].atomic_order:
        return "recorded and model DIFFER"
    if np.array_equal(_items(model), _items(recorded)):
        return "recorded and model agree on the set of items (atomics decide their places)"
    return "recorded and model DIFFER in their items"


def _items(item: ThreadMap) -> np.ndarray:
    """The (src, local) of a map, sorted."""
    keys = item.src[item.active].astype(np.int64) << 32 | item.local[item.active]
    return np.sort(keys)
