"""Power-of-two buckets, a dispatch for each: an entry for every set bit of N, 32 indirect dispatches.

Wins where few expansions run in a frame and each is large: pass 2 of bucket b is one shift by a constant. Loses on
the front end: 32 dispatches, most of them empty, cost a fixed time for every expansion, and memory is that of the
merged form. Source: solution 3 of "Efficient GPU Work Expansion".
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from expandlab.expansion import buckets
from expandlab.expansion.strategy import TOTAL, Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, ThreadMap
from expandlab.graph.fold import fold_threads
from expandlab.wgsl import anchor

_SETUP, _UNPACK = "expansion/po2_buckets/setup.wgsl", "expansion/po2_buckets/unpack.wgsl"


def passes(p: Passes, stored: bool = False) -> None:
    """reset -> reset_filled -> place -> setup -> unpack_0 .. unpack_31. stored: entries have their offsets."""
    buckets.declare(p, buckets.bit_starts(p.sizes), 2 if stored else 1)
    p.words("firsts", buckets.BUCKETS)
    p.words("launches", 3 * buckets.BUCKETS)
    buckets.add_place(p, stored)
    p.add(
        "setup", file=_SETUP, threads=1, useful=lambda p1, p2: 1, twin=_setup,
        overwrites=("indirect", "firsts", "launches"),
    )  # fmt: skip
    for bucket in range(buckets.BUCKETS):
        p.expand(
            f"unpack_{bucket}", file=_UNPACK, entry="unpack", twin=partial(_unpack, bucket, stored),
            indirect=("launches", 12 * bucket), constants={"BUCKET": bucket, "STORED": int(stored)},
            useful_of=partial(_items_of_bucket, bucket),
        )  # fmt: skip


def _items_of_bucket(bucket: int, counts: np.ndarray) -> int:
    return int(np.count_nonzero(counts >> np.uint32(bucket) & 1)) << bucket


def _setup(b: Any) -> None:
    items = b.filled[: buckets.BUCKETS].astype(np.int64) << np.arange(buckets.BUCKETS)
    ends = np.cumsum(items)
    b.firsts[: buckets.BUCKETS] = (ends - items) & 0xFFFFFFFF
    settle_twin(b, int(ends[-1]))
    for bucket in range(buckets.BUCKETS):
        threads = int(items[bucket]) if b.state[TOTAL] else 0
        b.launches[3 * bucket : 3 * bucket + 3] = fold_threads(threads, b.workgroup_size)


def _unpack(bucket: int, stored: bool, b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    src, local = buckets.bit_pieces(b, bucket, int(b.filled[bucket]), stored)
    return src, local, b.firsts[bucket] + np.arange(len(src), dtype=np.uint32)


def model(counts: np.ndarray, sizes: Sizes, stored: bool = False) -> ThreadMap:
    """Thread t of dispatch b works for entry t / 2^b. The model's entries lie in src order."""
    m = MapBuilder("po2_buckets_stored" if stored else "po2_buckets", sizes)
    wrote = buckets.bit_model(m, counts, sizes, stored)
    m.one_thread("setup", "write 32 sets of arguments", anchor(_SETUP, "launch"))
    columns = buckets.bit_rows(wrote, counts, sizes, stored)
    items = np.bincount(columns["bucket"], minlength=buckets.BUCKETS)
    # Every dispatch is rounded up to whole workgroups by itself.
    lanes = [m.lanes(int(count)) for count in items]
    begins = np.concatenate([[0], np.cumsum([dispatch.launched for dispatch in lanes])])
    rows = int(begins[-1])
    for bucket in np.flatnonzero(items):
        name, active = f"unpack_{bucket}", lanes[bucket].first(int(items[bucket]))
        m.step(name, "read the entry", anchor(buckets.PIECE, "entry"), active)
        m.step(name, "work", anchor(_UNPACK, "work"), active)
    dispatch = np.repeat(np.arange(buckets.BUCKETS), np.diff(begins))
    thread = np.arange(rows) - begins[dispatch]
    full = {name: np.full(rows, -1) for name in ("src", "local", "dst", "entry")}
    place = begins[columns["bucket"]] + columns["item"]
    for name, values in full.items():
        values[place] = columns[name]
    size = sizes.workgroup_size
    return m.build_rows(
        buckets.bit_memory(wrote, counts, sizes, stored=stored), dispatch=dispatch, workgroup=thread // size,
        thread=thread % size, bucket=dispatch, **full,
    )  # fmt: skip


STRATEGY = Strategy(
    name="po2_buckets",
    title="Power-of-two buckets, 32 dispatches",
    solution="3",
    summary="One entry for each set bit of N; every bucket has its own indirect dispatch. No search, but 32 launches.",
    memory_formula="4 * sum(min(P1, P2 >> b) for b in range(32))",
    passes=passes,
    model=model,
    memory=buckets.bit_memory,
    memory_buffers=("entries", "filled"),
    atomic_order=True,
)
