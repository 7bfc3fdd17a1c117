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
PIECE = "expansion/po2/piece.wgsl"
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


def add_place(p: Passes, stored: bool) -> None:
    """Add pass 1 of the strategies with an entry for each set bit: `entries` and `filled`.

    stored: an entry is (src, offset within the src), two words; otherwise the src alone.
    """
    p.words("filled", BUCKETS)
    p.reset("state", "filled")
    p.add(
        "place", file=PLACE, threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=lambda b: _place(b, stored),
        overwrites=("entries",), constants={"STORED": int(stored)},
    )  # fmt: skip


def _place(b: Any, stored: bool) -> None:
    n = b.counts[: b.params[0]]
    for bucket in range(BUCKETS):
        src = np.flatnonzero(n >> np.uint32(bucket) & 1)
        b.filled[bucket] = len(src)
        first, end = int(b.bucket_starts[bucket]), int(b.bucket_starts[bucket + 1])
        src = src[: end - first]
        _columns(b.entries, stored)[0][first : first + len(src)] = src
        if stored:
            _columns(b.entries, stored)[1][first : first + len(src)] = n[src] & np.uint32((1 << bucket) - 1)


def _columns(entries: np.ndarray, stored: bool) -> np.ndarray:
    """The entries' words, one row for the src and, where they are stored, one for the offsets; a view."""
    words = 2 if stored else 1
    return entries[: len(entries) // words * words].reshape(-1, words).T


def bit_pieces(b: Any, bucket: int, entries: int, stored: bool) -> tuple[np.ndarray, np.ndarray]:
    """(src, local) of the items of a bucket's first entries, in order."""
    first, width = int(b.bucket_starts[bucket]), np.uint32(1 << bucket)
    owners, *offset = _columns(b.entries, stored)[:, first : first + entries]
    below = offset[0] if stored else b.counts[owners] & (width - np.uint32(1))
    offsets = np.arange(width if entries else 0, dtype=np.uint32)
    return np.repeat(owners, len(offsets)), (below[:, None] + offsets).ravel()


def bit_memory(
    buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes, *, stored: bool = False
) -> tuple[Memory, ...]:
    """32 buckets, one behind the other; an entry of bucket b stands for 2^b items, in 4 bytes or 8 with its offset."""
    first = bit_starts(sizes).astype(np.int64)
    owners = _columns(buffers["entries"], stored)[0]
    rows = tuple(
        bucket_row(
            first, bucket, 8 if stored else 4, owners[first[bucket] : first[bucket] + int(buffers["filled"][bucket])]
        )
        for bucket in range(BUCKETS)
    )
    return (Memory("entries", "entries of the 32 buckets", rows),)


def bucket_row(first: np.ndarray, bucket: int, entry_bytes: int, src: np.ndarray) -> MemoryRow:
    """The memory row of one bucket."""
    room = int(first[bucket + 1] - first[bucket])
    return MemoryRow(f"bucket {bucket}", room, entry_bytes, 1 << bucket, src.astype(np.int32))


def bit_model(m: MapBuilder, counts: np.ndarray, sizes: Sizes, stored: bool) -> dict[str, np.ndarray]:
    """Add the steps of pass 1 to a model; returns what it writes, the entries in src order."""
    one = m.lanes(len(counts))
    bits = np.bitwise_count(counts)
    m.step("place", "take N", anchor(PLACE, "load"), one.first(len(counts)))
    m.rounds("place", "count one set bit", anchor(PLACE, "count"), one, bits)
    m.step("place", "reserve the workgroup's entries", anchor(PLACE, "reserve"), first_lanes(one, BUCKETS))
    m.rounds("place", "write one entry", anchor(PLACE, "write"), one, bits)
    first = bit_starts(sizes).astype(np.int64)
    words = 2 if stored else 1
    buffers = {"entries": np.zeros(words * int(first[-1]), np.uint32), "filled": np.zeros(BUCKETS, np.uint32)}
    owners, *offsets = _columns(buffers["entries"], stored)
    for bucket in range(BUCKETS):
        src = np.flatnonzero(counts >> np.uint32(bucket) & 1)
        buffers["filled"][bucket] = len(src)
        owners[first[bucket] : first[bucket] + len(src)] = src
        for column in offsets:
            column[first[bucket] : first[bucket] + len(src)] = counts[src] & np.uint32((1 << bucket) - 1)
    return buffers


def bit_rows(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes, stored: bool) -> dict[str, np.ndarray]:
    """src, local, dst, entry, bucket and item (index in the bucket) of every item, bucket by bucket."""
    ends = np.cumsum(buffers["filled"].astype(np.int64) << np.arange(BUCKETS))
    dst = np.arange(int(ends[-1]))
    bucket = np.searchsorted(ends, dst, side="right")
    item = dst - np.concatenate([[0], ends])[bucket]
    entry = item >> bucket
    place = bit_starts(sizes).astype(np.int64)[bucket] + entry
    owners, *offsets = _columns(buffers["entries"], stored)
    src = owners[place].astype(np.int64)
    below = (1 << bucket) - 1
    local = (offsets[0][place].astype(np.int64) if stored else counts[src] & below) + (item & below)
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
