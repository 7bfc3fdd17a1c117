"""Ranges of powers of two: each src lies in one bucket as one piece, and a thread picks between two entries.

Wins as the merged buckets do, and keeps all items of a src together, which is what the work itself likes: neighbours
share what they load. Pass 1 writes one or two entries for each src, however many bits N has. Loses a second, seldom
taken load in pass 2, and 8 bytes for each entry. Source: the later form by the author of "Efficient GPU Work
Expansion".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion import buckets
from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, ThreadMap
from expandlab.wgsl import anchor

_PLACE, _SETUP, _PICK = (f"expansion/po2_range/{name}.wgsl" for name in ("place", "setup", "pick"))


def range_starts(sizes: Sizes) -> np.ndarray:
    """Places of the buckets: a src begins at most two ranges, and the last range of a bucket may be a part."""
    return buckets.starts_of(
        [min(2 * sizes.max_src, (sizes.max_dst >> b) + 1) if sizes.max_dst >> b else 0 for b in range(buckets.BUCKETS)]
    )


def passes(p: Passes) -> None:
    """reset -> reset_items -> place -> setup -> pick."""
    buckets.declare(p, range_starts(p.sizes), 2)
    p.words("items", buckets.BUCKETS)
    p.words("ranges", 66)
    p.reset("state", "items")
    p.add("place", threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_place, overwrites=("entries",))
    p.add("setup", threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect", "ranges"))
    p.expand("pick", twin=_pick)


def pieces(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(src, bucket, start in the bucket) of every src with items, in src order, and the items of each bucket."""
    src = np.flatnonzero(counts)
    n = counts[src].astype(np.int64)
    bucket = np.frexp(n.astype(np.float64))[1] - 1
    start = np.zeros(len(src), np.int64)
    items = np.zeros(buckets.BUCKETS, np.int64)
    for b in np.unique(bucket):
        mine = bucket == b
        ends = np.cumsum(n[mine])
        start[mine] = ends - n[mine]
        items[b] = ends[-1]
    return src, bucket, start, items


def entries_of(counts: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries (src, start) that pass 1 writes: uint32 (entries, 2), and the items of each bucket.

    first: where the entries of each bucket begin, and the end of all.
    """
    src, bucket, start, items = pieces(counts)
    table = np.zeros((int(first[-1]), 2), np.uint32)
    begin = (start + (1 << bucket) - 1) >> bucket
    for extra in (0, 1):
        mine = ((begin + extra) << bucket) < start + counts[src]
        slot = first[bucket] + begin + extra
        mine &= slot < first[bucket + 1]
        table[slot[mine]] = np.stack([src[mine], start[mine]], axis=1)
    return table, items


def _place(b: Any) -> None:
    n = b.counts[: b.params[0]]
    table, items = entries_of(n, b.bucket_starts[: buckets.BUCKETS + 1].astype(np.int64))
    b.entries[: table.size] = table.ravel()
    if items.sum() >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.items[: buckets.BUCKETS] = items & 0xFFFFFFFF


def _setup(b: Any) -> None:
    threads, items = buckets.ranges_of(b.items[: buckets.BUCKETS].astype(np.int64), int(b.params[2]))
    b.ranges[:33], b.ranges[33:66] = threads & 0xFFFFFFFF, items & 0xFFFFFFFF
    settle_twin(b, int(items[-1]), int(threads[-1]) if items[-1] else 0)


def _pick(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dst = np.arange(int(b.ranges[65]))
    bucket = np.searchsorted(b.ranges[34:66], dst, side="right")
    item = dst - b.ranges[33:65].astype(np.int64)[bucket]
    table = b.entries[: len(b.entries) // 2 * 2].reshape(-1, 2)
    src, local, _ = look_up(table, b.counts, b.bucket_starts.astype(np.int64), bucket, item)
    return src, local, dst


def look_up(
    table: np.ndarray, counts: np.ndarray, first: np.ndarray, bucket: np.ndarray, item: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(src, local, range) of items by their index in the bucket: the entry of the range, or the one after it."""
    index = item >> bucket
    entry = table[first[bucket] + index].astype(np.int64)
    past = item - entry[:, 1] >= counts[entry[:, 0]] if len(entry) else np.zeros(0, bool)
    index = index + past
    entry = table[first[bucket] + index].astype(np.int64)
    return entry[:, 0], item - entry[:, 1], index


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """32 buckets, one behind the other; an entry of bucket b has 8 bytes and stands for a range of 2^b items."""
    first = range_starts(sizes).astype(np.int64)
    src = buffers["entries"][::2]
    bits = np.arange(buckets.BUCKETS)
    used = (buffers["items"][: buckets.BUCKETS].astype(np.int64) + (1 << bits) - 1) >> bits
    rows = tuple(
        buckets.bucket_row(first, b, 8, src[first[b] : first[b] + int(used[b])]) for b in range(buckets.BUCKETS)
    )
    return (Memory("entries", "an entry for the beginning of every range of 2^b items", rows),)


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Thread t finds its bucket and range, and looks one entry on where the first one's piece has ended."""
    m = MapBuilder("po2_range", sizes)
    one = m.lanes(len(counts))
    _, bucket_of_src, start, _ = pieces(counts)
    first = range_starts(sizes).astype(np.int64)
    table, items = entries_of(counts, first)
    m.step("place", "take N", anchor(_PLACE, "load"), one.first(len(counts)))
    m.step("place", "add N to its bucket", anchor(_PLACE, "count"), one.active(counts > 0))
    m.step("place", "reserve the workgroup's items", anchor(_PLACE, "reserve"), buckets.first_lanes(one, 32))
    m.rounds("place", "write one entry", anchor(_PLACE, "write"), one, _written(counts, bucket_of_src, start))
    m.one_thread("setup", "round every bucket up and launch", anchor(_SETUP, "launch"))
    threads, ends = buckets.ranges_of(items, sizes.align)
    two = m.lanes(int(threads[-1]))
    dst = np.arange(int(ends[-1]))
    bucket = np.searchsorted(ends[1:], dst, side="right")
    item = dst - ends[bucket]
    src, local, entry = look_up(table, counts, first, bucket, item)
    thread = threads[bucket] + item
    _pick_steps(m, two, int(threads[-1]), thread, entry > item >> bucket)
    built = m.build(
        two, thread, memory({"entries": table.ravel(), "items": items}, counts, sizes),
        src=src, local=local, dst=dst, entry=entry, bucket=bucket,
    )  # fmt: skip
    buckets.mark_padding(built.bucket, threads)
    return built


def _written(counts: np.ndarray, bucket: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Entries that each src writes: the ranges that begin inside its piece."""
    written = np.zeros(len(counts), np.int64)
    src = np.flatnonzero(counts)
    last = start + counts[src] - 1
    written[src] = (last >> bucket) - ((start - 1) >> bucket)
    return written


def _pick_steps(m: MapBuilder, lanes: Any, threads: int, thread: np.ndarray, second: np.ndarray) -> None:
    buckets.merged_steps(m, "pick", _PICK, lanes, threads)
    working = np.zeros(threads, bool)
    working[thread] = True
    looking = np.zeros(threads, bool)
    looking[thread[second]] = True
    m.step("pick", "read the range's entry", anchor(_PICK, "entry"), lanes.active(working))
    m.step("pick", "read the next entry", anchor(_PICK, "next"), lanes.active(looking))
    m.step("pick", "work", anchor(_PICK, "work"), lanes.active(working))


STRATEGY = Strategy(
    name="po2_range",
    title="Ranges of powers of two",
    solution="3, later form",
    summary="Each src lies in one bucket as one piece; a thread picks between two entries.",
    memory_formula="8 * sum(min(2 * P1, (P2 >> b) + 1) for b in range(P2.bit_length()))",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("entries", "items"),
    atomic_order=True,
)
