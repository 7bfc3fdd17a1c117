"""Prefix sum of the counts in three passes, reduce then scan; shared by the strategies that search.

Source: D. Merrill and A. Grimshaw, "Parallel Scan for Stream Architectures" (2009), reduce-then-scan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, Passes, settle_twin
from expandlab.expansion.thread_map import Lanes, MapBuilder
from expandlab.wgsl import anchor

# Counts for each thread; shaders/expansion/scan/block.wgsl has the same.
ROW = 8
_REDUCE, _SPINE, _APPLY = (f"expansion/scan/{name}.wgsl" for name in ("reduce", "spine", "apply"))


def add_scan(p: Passes) -> None:
    """Add reduce -> spine -> apply. Leaves the inclusive sums in `ends`, the set-up done."""
    block = ROW * p.sizes.workgroup_size
    blocks = max(1, -(-p.sizes.max_src // block))
    p.words("sums", blocks)
    p.words("ends", p.sizes.max_src)
    one_row = {"threads": blocks * p.sizes.workgroup_size, "useful": lambda p1, p2: -(-p1 // ROW)}
    p.add("reduce", file=_REDUCE, twin=_reduce, overwrites=("sums",), **one_row)
    p.add(
        "spine", file=_SPINE, twin=_spine, threads=1, overwrites=("indirect",),
        useful=lambda p1, p2: min(p.sizes.workgroup_size, -(-p1 // block)),
    )  # fmt: skip
    p.add("apply", file=_APPLY, twin=_apply, overwrites=("ends",), **one_row)


def _block(b: Any) -> int:
    return ROW * b.workgroup_size


def _reduce(b: Any) -> None:
    n = b.counts[: b.params[0]].astype(np.uint64)
    starts = np.arange(0, len(n), _block(b))
    sums = np.add.reduceat(n, starts) if len(n) else np.zeros(0, np.uint64)
    if np.any(sums >= 2**32):
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.sums[: len(sums)] = (sums & 0xFFFFFFFF).astype(np.uint32)


def _spine(b: Any) -> None:
    blocks = -(-int(b.params[0]) // _block(b))
    sums = b.sums[:blocks].astype(np.uint64)
    ends = np.cumsum(sums, dtype=np.uint64)
    b.sums[:blocks] = ((ends - sums) & 0xFFFFFFFF).astype(np.uint32)
    settle_twin(b, int(ends[-1]) if blocks else 0)


def _apply(b: Any) -> None:
    n = b.counts[: b.params[0]]
    # The offsets of the blocks are those of a scan over all: one cumulative sum gives the same as block by block.
    b.ends[: len(n)] = np.cumsum(n, dtype=np.uint32)


def scan_steps(m: MapBuilder, src_count: int) -> None:
    """Add the steps of the three passes to a model."""
    files = {"reduce": _REDUCE, "spine": _SPINE, "apply": _APPLY}
    sweep_steps(m, src_count, files, "counts", launch="launch one thread for each item")


def sweep_steps(
    m: MapBuilder,
    count: int,
    files: dict[str, str],
    what: str,
    *,
    launch: str | None = None,
    to: str = "inclusive sums",
) -> None:
    """Add the steps of reduce-then-scan over `count` words to a model.

    files: the passes' names and shaders, in order. what: is added up. launch: what the second pass launches where it is
    the set-up, too. to: what the third one stores.
    """
    (reduce, reduce_file), (spine, spine_file), (apply, apply_file) = files.items()
    size = m.workgroup_size
    blocks = -(-count // (ROW * size))
    rows = m.lanes(blocks * size)
    busy = rows.first(-(-count // ROW))
    rounds = size.bit_length() - 1
    m.step(reduce, f"add up {ROW} {what}", anchor(reduce_file, "load"), _strided(rows, count), ROW)
    m.step(reduce, f"add up the workgroup, {rounds} rounds", anchor(reduce_file, "reduce"), rows.first(rows.launched))
    m.step(reduce, "store the block's sum", anchor(reduce_file, "store"), _one_each(rows))
    lanes = Lanes(size, size, m.subgroup_size)
    for first in range(0, blocks, size):
        active = lanes.first(min(size, blocks - first))
        m.step(spine, "scan the block sums", anchor(spine_file, "scan"), active)
    if launch:
        m.one_thread(spine, launch, anchor(spine_file, "launch"))
    m.step(apply, f"take {ROW} {what}", anchor(apply_file, "load"), busy, ROW)
    m.step(apply, f"scan the workgroup, {rounds} rounds", anchor(apply_file, "scan"), rows.first(rows.launched))
    m.step(apply, f"store {ROW} {to}", anchor(apply_file, "store"), busy, ROW)


def _strided(lanes: Lanes, src_count: int) -> np.ndarray:
    """Lanes with at least one count when each workgroup's threads stride its block together."""
    block = ROW * lanes.workgroup_size
    thread = np.arange(lanes.launched)
    first = thread // lanes.workgroup_size * block + thread % lanes.workgroup_size
    return lanes.active(first < src_count)


def _one_each(lanes: Lanes) -> np.ndarray:
    """The last lane of every workgroup."""
    per_group = lanes.workgroup_size // lanes.subgroup_size
    active = np.zeros(lanes.subgroups, np.int32)
    active[per_group - 1 :: per_group] = 1
    return active
