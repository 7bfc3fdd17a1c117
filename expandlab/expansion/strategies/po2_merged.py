"""Power-of-two buckets in one dispatch: an entry for every set bit of N, no search among the src.

Wins when P2 is large against P1: pass 1 writes one entry for each set bit, at most 32 and usually a few, and pass 2
finds its entry with a shift. Loses on memory: every bucket is sized for its worst case.
Source: solution 3 of "Efficient GPU Work Expansion" and its note on merging the 32 dispatches. The offset of an
entry within its src is inferred from N here; `po2_merged_stored` stores it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from expandlab.expansion import buckets
from expandlab.expansion.strategy import Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, ThreadMap
from expandlab.wgsl import anchor

_SETUP, _UNPACK = "expansion/po2_merged/setup.wgsl", "expansion/po2_merged/unpack.wgsl"


def passes(p: Passes, stored: bool = False) -> None:
    """reset -> reset_filled -> place -> setup -> unpack. stored: entries have their offsets beside them."""
    buckets.declare(p, buckets.bit_starts(p.sizes), 2 if stored else 1)
    p.words("ranges", 66)
    buckets.add_place(p, stored)
    p.add("setup", file=_SETUP, threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect", "ranges"))
    p.expand("unpack", file=_UNPACK, twin=partial(_unpack, stored), constants={"STORED": int(stored)})


def _setup(b: Any) -> None:
    threads, items = buckets.ranges_of(b.filled[: buckets.BUCKETS].astype(np.int64) << np.arange(32), int(b.params[2]))
    b.ranges[:33], b.ranges[33:66] = threads & 0xFFFFFFFF, items & 0xFFFFFFFF
    settle_twin(b, int(items[-1]), int(threads[-1]) if items[-1] else 0)


def _unpack(stored: bool, b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pieces = [buckets.bit_pieces(b, bucket, int(b.ranges[34 + bucket] - b.ranges[33 + bucket]) >> bucket, stored)
              for bucket in range(buckets.BUCKETS)]  # fmt: skip
    src, local = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
    return src, local, np.arange(len(src), dtype=np.uint32)


def model(counts: np.ndarray, sizes: Sizes, stored: bool = False) -> ThreadMap:
    """Thread t finds its bucket, then its entry with a shift. The model's entries lie in src order."""
    m = MapBuilder("po2_merged_stored" if stored else "po2_merged", sizes)
    wrote = buckets.bit_model(m, counts, sizes, stored)
    m.one_thread("setup", "round every bucket up and launch", anchor(_SETUP, "launch"))
    threads, _ = buckets.ranges_of(wrote["filled"].astype(np.int64) << np.arange(buckets.BUCKETS), sizes.align)
    two = m.lanes(int(threads[-1]))
    columns = buckets.bit_rows(wrote, counts, sizes, stored)
    thread = threads[columns["bucket"]] + columns.pop("item")
    working = np.zeros(int(threads[-1]), bool)
    working[thread] = True
    buckets.merged_steps(m, "unpack", _UNPACK, two, int(threads[-1]))
    m.step("unpack", "read the entry", anchor(buckets.PIECE, "entry"), two.active(working))
    m.step("unpack", "work", anchor(_UNPACK, "work"), two.active(working))
    built = m.build(two, thread, buckets.bit_memory(wrote, counts, sizes, stored=stored), **columns)
    buckets.mark_padding(built.bucket, threads)
    return built


STRATEGY = Strategy(
    name="po2_merged",
    title="Power-of-two buckets, one dispatch",
    solution="3, note",
    summary="One entry for each set bit of N, bucket by bucket; no search among the src. Fast, but more memory.",
    memory_formula="4 * sum(min(P1, P2 >> b) for b in range(32))",
    passes=passes,
    model=model,
    memory=buckets.bit_memory,
    memory_buffers=("entries", "filled"),
    atomic_order=True,
)
