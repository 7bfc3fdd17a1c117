"""What the power-of-two strategies share: bucket b stands for pieces of 2^b items.

Source: solution 3 of "Efficient GPU Work Expansion".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import Passes, Sizes
from expandlab.expansion.thread_map import Lanes, MapBuilder, Memory, MemoryRow
from expandlab.wgsl import anchor

BUCKETS = 32
PLACE = "expansion/po2/place.wgsl"
FIND = "expansion/po2/find.wgsl"


def starts_of(room: list[int]) -> np.ndarray:
    """Where each bucket's entries begin, and the end of all: uint64 (33,)."""
    return np.concatenate([[0], np.cumsum(room, dtype=np.uint64)]).astype(np.uint64)


def bit_starts(sizes: Sizes) -> np.ndarray:
    """Places of the buckets when each set bit of N has an entry: at most one for each src and bucket."""
    return starts_of([min(sizes.max_src, sizes.max_dst >> bucket) for bucket in range(BUCKETS)])


def declare(p: Passes, starts: np.ndarray, words_per_entry: int) -> None:
    """Declare the entries, and the places of the buckets as a constant."""
    p.constants("bucket_starts", np.concatenate([starts, np.zeros(3, np.uint64)]))
    p.words("entries", words_per_entry * int(starts[-1]))


def add_place(p: Passes) -> None:
    """Add pass 1 of the strategies with an entry for each set bit: `entries` and `filled`."""
    p.words("filled", BUCKETS)
    p.reset("state", "filled")
    p.add(
        "place", file=PLACE, threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_place, overwrites=("entries",)
    )  # fmt: skip


def _place(b: Any) -> None:
    n = b.counts[: b.params[0]]
    for bucket in range(BUCKETS):
        src = np.flatnonzero(n >> np.uint32(bucket) & 1)
        b.filled[bucket] = len(src)
        first, end = int(b.bucket_starts[bucket]), int(b.bucket_starts[bucket + 1])
        b.entries[first : first + min(len(src), end - first)] = src[: end - first]


def bit_pieces(b: Any, bucket: int, entries: int) -> tuple[np.ndarray, np.ndarray]:
    """(src, local) of the items of a bucket's first entries, in order."""
    first, width = int(b.bucket_starts[bucket]), np.uint32(1 << bucket)
    owners = b.entries[first : first + entries]
    below = b.counts[owners] & (width - np.uint32(1))
    offsets = np.arange(width if entries else 0, dtype=np.uint32)
    return np.repeat(owners, len(offsets)), (below[:, None] + offsets).ravel()


def bit_memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """32 buckets, one behind the other; an entry of bucket b has 4 bytes and stands for 2^b items."""
    first = bit_starts(sizes).astype(np.int64)
    rows = tuple(
        bucket_row(first, bucket, 4, buffers["entries"][first[bucket] : first[bucket] + int(buffers["filled"][bucket])])
        for bucket in range(BUCKETS)
    )
    return (Memory("entries", "entries of the 32 buckets", rows),)


def bucket_row(first: np.ndarray, bucket: int, entry_bytes: int, src: np.ndarray) -> MemoryRow:
    """The memory row of one bucket."""
    room = int(first[bucket + 1] - first[bucket])
    return MemoryRow(f"bucket {bucket}", room, entry_bytes, 1 << bucket, src.astype(np.int32))


def bit_model(m: MapBuilder, counts: np.ndarray, sizes: Sizes) -> dict[str, np.ndarray]:
    """Add the steps of pass 1 to a model; returns what it writes, the entries in src order."""
    one = m.lanes(len(counts))
    bits = np.bitwise_count(counts)
    m.step("place", "take N", anchor(PLACE, "load"), one.first(len(counts)))
    m.rounds("place", "count one set bit", anchor(PLACE, "count"), one, bits)
    m.step("place", "reserve the workgroup's entries", anchor(PLACE, "reserve"), first_lanes(one, BUCKETS))
    m.rounds("place", "write one entry", anchor(PLACE, "write"), one, bits)
    first = bit_starts(sizes).astype(np.int64)
    buffers = {"entries": np.zeros(int(first[-1]), np.uint32), "filled": np.zeros(BUCKETS, np.uint32)}
    for bucket in range(BUCKETS):
        src = np.flatnonzero(counts >> np.uint32(bucket) & 1)
        buffers["filled"][bucket] = len(src)
        buffers["entries"][first[bucket] : first[bucket] + len(src)] = src
    return buffers


def bit_rows(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> dict[str, np.ndarray]:
    """src, local, dst, entry, bucket and item (index in the bucket) of every item, bucket by bucket."""
    ends = np.cumsum(buffers["filled"].astype(np.int64) << np.arange(BUCKETS))
    dst = np.arange(int(ends[-1]))
    bucket = np.searchsorted(ends, dst, side="right")
    item = dst - np.concatenate([[0], ends])[bucket]
    entry = item >> bucket
    src = buffers["entries"][bit_starts(sizes).astype(np.int64)[bucket] + entry].astype(np.int64)
    below = (1 << bucket) - 1
    local = (counts[src] & below) + (item & below)
    return {"src": src, "local": local, "dst": dst, "entry": entry, "bucket": bucket, "item": item}


def ranges_of(items: np.ndarray, align: int) -> tuple[np.ndarray, np.ndarray]:
    """First thread and first item of each bucket in a merged dispatch, each with the end of all: int64 (33,) both."""
    rounded = -(-items // align) * align
    zero = np.zeros(1, np.int64)
    return np.concatenate([zero, np.cumsum(rounded)]), np.concatenate([zero, np.cumsum(items)])


def merged_steps(m: MapBuilder, pass_name: str, file: str, lanes: Lanes, threads: int) -> None:
    """Add the steps that find a thread's bucket in a merged dispatch."""
    m.step(pass_name, "find the bucket, 5 probes", anchor(FIND, "bucket"), lanes.first(threads), 5)
    m.step(pass_name, "skip the padding of the bucket", anchor(file, "padding"), lanes.first(threads))


def mark_padding(bucket: np.ndarray, threads: np.ndarray) -> None:
    """Name the bucket of threads in a bucket's padding too: they have no item, but they do belong to it."""
    every = np.arange(int(threads[-1]))
    bucket[every] = np.searchsorted(threads[:BUCKETS], every, side="right") - 1


def first_lanes(lanes: Lanes, count: int) -> np.ndarray:
    """Active lanes when the first `count` threads of every workgroup are active."""
    per_group = lanes.workgroup_size // lanes.subgroup_size
    pattern = np.clip(count - np.arange(per_group) * lanes.subgroup_size, 0, lanes.subgroup_size)
    return np.tile(pattern, lanes.workgroups).astype(np.int32)
