"""Power-of-two buckets in one dispatch: an entry for every set bit of N, no search among the src.

Wins when P2 is large against P1: pass 1 writes one entry for each set bit, at most 32 and usually a few, and pass 2
finds its entry with a shift. Loses on memory: every bucket is sized for its worst case.
Source: solution 3 of "Efficient GPU Work Expansion" and its note on merging the 32 dispatches. The offset of an
entry within its src is inferred from N, not stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import Passes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap
from expandlab.wgsl import anchor

BUCKETS = 32
_PLACE, _UNPACK = "expansion/po2_merged/place.wgsl", "expansion/po2_merged/unpack.wgsl"


def first_entries(sizes: Any) -> np.ndarray:
    """Where each bucket's entries begin, and the end of all: uint64 (33,). Every bucket fits its worst case."""
    room = [min(sizes.max_src, sizes.max_dst >> bucket) for bucket in range(BUCKETS)]
    return np.concatenate([[0], np.cumsum(room, dtype=np.uint64)]).astype(np.uint64)


def passes(p: Passes) -> None:
    """reset -> reset_filled -> place -> setup -> unpack."""
    first = first_entries(p.sizes)
    p.constants("bucket_starts", np.concatenate([first, np.zeros(3, np.uint64)]))
    p.words("filled", BUCKETS)
    p.words("entries", int(first[-1]))
    p.words("ranges", 66)
    p.reset("state", "filled")
    p.add("place", threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_place, overwrites=("entries",))
    p.add("setup", threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect", "ranges"))
    p.expand("unpack", twin=_unpack)


def _place(b: Any) -> None:
    n = b.counts[: b.params[0]]
    for bucket in range(BUCKETS):
        src = np.flatnonzero(n >> np.uint32(bucket) & 1)
        b.filled[bucket] = len(src)
        first, end = int(b.bucket_starts[bucket]), int(b.bucket_starts[bucket + 1])
        b.entries[first : first + min(len(src), end - first)] = src[: end - first]


def ranges_of(filled: np.ndarray, align: int) -> tuple[np.ndarray, np.ndarray]:
    """First thread of each bucket and first item of each bucket, each with the end of all: int64 (33,) both."""
    items = filled[:BUCKETS].astype(np.int64) << np.arange(BUCKETS)
    rounded = -(-items // align) * align
    zero = np.zeros(1, np.int64)
    return np.concatenate([zero, np.cumsum(rounded)]), np.concatenate([zero, np.cumsum(items)])


def _setup(b: Any) -> None:
    threads, items = ranges_of(b.filled, int(b.params[2]))
    b.ranges[:33] = (threads & 0xFFFFFFFF).astype(np.uint32)
    b.ranges[33:] = (items & 0xFFFFFFFF).astype(np.uint32)
    settle_twin(b, int(items[-1]), int(threads[-1]) if items[-1] else 0)


def _unpack(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    src, local = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)]
    for bucket in range(BUCKETS):
        first = int(b.bucket_starts[bucket])
        items = int(b.ranges[34 + bucket]) - int(b.ranges[33 + bucket])
        owners = b.entries[first : first + (items >> bucket)]
        below = b.counts[owners] & np.uint32((1 << bucket) - 1)
        width = 1 << bucket
        src.append(np.repeat(owners, width if len(owners) else 0))
        local.append((below[:, None] + np.arange(width if len(owners) else 0, dtype=np.uint32)).ravel())
    owners, offsets = np.concatenate(src), np.concatenate(local)
    return owners, offsets, np.arange(len(owners), dtype=np.uint32)


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Any) -> tuple[Memory, ...]:
    """32 buckets, one behind the other; entry of bucket b = 4 bytes for 2^b items."""
    first = first_entries(sizes).astype(np.int64)
    rows = tuple(
        MemoryRow(
            f"bucket {bucket}",
            int(first[bucket + 1] - first[bucket]),
            4,
            1 << bucket,
            buffers["entries"][first[bucket] : first[bucket] + int(buffers["filled"][bucket])].astype(np.int32),
        )
        for bucket in range(BUCKETS)
    )
    return (Memory("entries", "entries of the 32 buckets", rows),)


def model(counts: np.ndarray, sizes: Any) -> ThreadMap:
    """Thread t finds its bucket, then its entry with a shift. The model's entries lie in src order."""
    m = MapBuilder("po2_merged", sizes)
    buffers = _filled(counts, sizes)
    one = m.lanes(len(counts))
    bits = np.bitwise_count(counts)
    m.step("place", "take N", anchor(_PLACE, "load"), one.first(len(counts)))
    m.rounds("place", "count one set bit", anchor(_PLACE, "count"), one, bits)
    m.step("place", "reserve the workgroup's entries", anchor(_PLACE, "reserve"), _first_of_each(one))
    m.rounds("place", "write one entry", anchor(_PLACE, "write"), one, bits)
    m.one_thread("setup", "round every bucket up and launch", anchor("expansion/po2_merged/setup.wgsl", "launch"))
    threads, items = ranges_of(buffers["filled"], sizes.align)
    two = m.lanes(int(threads[-1]))
    thread, columns = _rows(buffers, counts, sizes, threads, items)
    working = np.zeros(int(threads[-1]), bool)
    working[thread] = True
    m.step("unpack", "find the bucket, 5 probes", anchor(_UNPACK, "bucket"), two.first(int(threads[-1])), 5)
    m.step("unpack", "skip the padding of the bucket", anchor(_UNPACK, "padding"), two.first(int(threads[-1])))
    m.step("unpack", "read the entry", anchor(_UNPACK, "entry"), two.active(working))
    m.step("unpack", "work", anchor(_UNPACK, "work"), two.active(working))
    built = m.build(two, thread, memory(buffers, counts, sizes), **columns)
    # A thread in a bucket's padding has no item, but it does belong to the bucket.
    every = np.arange(int(threads[-1]))
    built.bucket[every] = np.searchsorted(threads[:BUCKETS], every, side="right") - 1
    return built


def _filled(counts: np.ndarray, sizes: Any) -> dict[str, np.ndarray]:
    first = first_entries(sizes).astype(np.int64)
    entries = np.zeros(int(first[-1]), np.uint32)
    filled = np.zeros(BUCKETS, np.uint32)
    for bucket in range(BUCKETS):
        src = np.flatnonzero(counts >> np.uint32(bucket) & 1)
        filled[bucket] = len(src)
        entries[first[bucket] : first[bucket] + len(src)] = src
    return {"entries": entries, "filled": filled}


def _rows(
    buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Any, threads: np.ndarray, items: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    dst = np.arange(int(items[-1]))
    bucket = np.searchsorted(items[1:], dst, side="right")
    item = dst - items[bucket]
    entry = item >> bucket
    src = buffers["entries"][first_entries(sizes).astype(np.int64)[bucket] + entry].astype(np.int64)
    below = (1 << bucket) - 1
    local = (counts[src] & below) + (item & below)
    return threads[bucket] + item, {"src": src, "local": local, "dst": dst, "entry": entry, "bucket": bucket}


def _first_of_each(lanes: Any) -> np.ndarray:
    """The first 32 lanes of every workgroup."""
    per_group = lanes.workgroup_size // lanes.subgroup_size
    pattern = np.clip(BUCKETS - np.arange(per_group) * lanes.subgroup_size, 0, lanes.subgroup_size)
    return np.tile(pattern, lanes.workgroups).astype(np.int32)


STRATEGY = Strategy(
    name="po2_merged",
    title="Power-of-two buckets, one dispatch",
    solution="3, note",
    summary="One entry for each set bit of N, bucket by bucket; no search among the src. Fast, but more memory.",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("entries", "filled"),
    atomic_order=True,
)
