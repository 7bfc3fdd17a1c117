"""Where the buckets of the power-of-two strategies lie, in memory and among the threads: read off their models."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from expandlab.expansion.buckets import BUCKETS
from expandlab.expansion.strategies import strategies
from expandlab.expansion.strategy import Sizes
from expandlab.expansion.thread_map import ThreadMap
from expandlab.results import Result


@dataclass(frozen=True)
class Bucket(Result):
    """One bucket. Entries stand for up to `width` items each.

    capacity, used: entries set aside and written, of `entry_bytes`. items: dst items that they stand for.
    first_thread, threads: its threads of pass 2, those without an item included; `first_thread` is -1 with none.
    """

    bucket: int
    width: int
    entry_bytes: int
    capacity: int
    used: int
    items: int
    first_thread: int
    threads: int


@dataclass(frozen=True)
class Piece(Result):
    """Items `first_local` to `first_local + items - 1` of one src, which lie in one bucket from `entry` on."""

    bucket: int
    entry: int
    first_local: int
    items: int
    first_thread: int


@dataclass(frozen=True, eq=False)
class BucketLayout(Result):
    """The buckets of a strategy for some counts. `map` is the model's; `straddling` counts the subgroups whose lanes
    lie in two buckets or more."""

    map: ThreadMap
    buckets: tuple[Bucket, ...]
    straddling: int

    def pieces(self, src: int) -> tuple[Piece, ...]:
        """Where the items of one src lie, in the order of their local index."""
        rows = np.flatnonzero(self.map.src == src)
        found = []
        for bucket in np.unique(self.map.bucket[rows]):
            mine = rows[self.map.bucket[rows] == bucket]
            first = mine[np.argmin(self.map.local[mine])]
            found.append(
                Piece(int(bucket), int(self.map.entry[first]), int(self.map.local[first]), len(mine), int(first))
            )
        return tuple(sorted(found, key=lambda piece: piece.first_local))


def bucket_layout(
    counts: np.ndarray, strategy: str, *, room: int = 1, rounded: bool = True, workgroup_size: int = 64,
    subgroup_size: int = 32,
) -> BucketLayout:  # fmt: skip
    """The layout of `po2_buckets`, `po2_merged` or `po2_range`.

    counts: uint32 (P1,). room: buffers are sized for so many times the src and the items. rounded: False leaves the
    buckets of a merged dispatch as long as they are, which no shader of ours does.
    """
    sizes = sized_for(counts, room, workgroup_size, subgroup_size if rounded else 1)
    made = strategies()[strategy].model(counts, sizes)
    lanes = min(subgroup_size, workgroup_size)
    thread = made.subgroup.astype(np.int64) * made.subgroup_size + made.lane
    made = replace(
        made, subgroup_size=lanes, subgroup=(thread // lanes).astype(np.int32), lane=(thread % lanes).astype(np.int32)
    )
    return BucketLayout(made, tuple(_buckets(made)), _straddling(made))


def sized_for(counts: np.ndarray, room: int, workgroup_size: int, subgroup_size: int) -> Sizes:
    """Sizes with room for so many times the src and the items, up to what 32 bits count."""
    total = int(counts.sum(dtype=np.uint64))
    most = 2**32 - 1
    return Sizes(min(room * len(counts), most), min(room * total, most), workgroup_size, subgroup_size)


def memory_bytes(counts: np.ndarray, strategy: str, *, room: int = 1, workgroup_size: int = 64) -> int:
    """Bytes that a strategy sets aside between the passes when it is sized for `room` times these counts."""
    made = strategies()[strategy].model(counts, sized_for(counts, room, workgroup_size, 32))
    return sum(memory.capacity_bytes for memory in made.memory)


def _buckets(map: ThreadMap) -> list[Bucket]:
    (memory,) = map.memory
    found = []
    for bucket in range(BUCKETS):
        row = memory.rows[bucket]
        threads = np.flatnonzero(map.bucket == bucket)
        items = int(np.count_nonzero(map.src[threads] >= 0))
        first = int(threads[0]) if len(threads) else -1
        found.append(Bucket(bucket, row.width, row.entry_bytes, row.capacity, row.used, items, first, len(threads)))
    return found


def _straddling(map: ThreadMap) -> int:
    """Subgroups whose lanes lie in two buckets or more."""
    known = map.bucket >= 0
    per_group = map.workgroup_size // map.subgroup_size
    group = (map.dispatch.astype(np.int64) * (int(map.workgroup.max(initial=0)) + 1) + map.workgroup) * per_group
    pairs = np.unique(np.stack([(group + map.subgroup)[known], map.bucket[known]], axis=1), axis=0)
    _, buckets = np.unique(pairs[:, 0], return_counts=True)
    return int(np.count_nonzero(buckets > 1))
