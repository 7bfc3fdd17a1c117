"""Head scan: mark where each src begins in the output, sum the marks over the whole output, subtract the start.

Wins on nothing but its parts: a scatter and two scans, which every array library has, so it is what `repeat` does
there. Loses on traffic: the output's length is cleared, read, written and read again before pass 2 begins, and takes
4 bytes of scratch for every item. Source: NumPy's and JAX's `repeat`, Thrust's example `expand`; G. Blelloch, "Prefix
Sums and Their Applications" (1990), for marking heads and scanning them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.scan import ROW, add_scan, scan_steps, sweep_steps
from expandlab.expansion.strategy import TOTAL, Passes, Sizes, Strategy
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.wgsl import anchor

_CLEAR, _MARK, _REDUCE, _SPINE, _APPLY, _SUBTRACT = (
    f"expansion/head_scan/{name}.wgsl"
    for name in ("heads_clear", "heads_mark", "heads_reduce", "heads_spine", "heads_apply", "subtract")
)


def passes(p: Passes) -> None:
    """reset -> reduce -> spine -> apply -> heads_clear -> _mark -> _reduce -> _spine -> _apply -> subtract."""
    size = p.sizes.workgroup_size
    blocks = max(1, -(-p.sizes.max_dst // (ROW * size)))
    p.words("heads", p.sizes.max_dst)
    p.words("head_sums", blocks)
    p.reset("state")
    add_scan(p)
    one_row = {"threads": blocks * size, "useful": lambda p1, p2: -(-p2 // ROW)}
    p.add(
        "heads_clear", threads="indirect", useful=lambda p1, p2: p2, twin=_heads_clear, overwrites=("heads",)
    )  # fmt: skip
    p.add("heads_mark", threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_heads_mark)
    p.add("heads_reduce", twin=_heads_reduce, overwrites=("head_sums",), **one_row)
    p.add(
        "heads_spine", twin=_heads_spine, threads=1, useful=lambda p1, p2: min(size, -(-p2 // (ROW * size)))
    )  # fmt: skip
    p.add("heads_apply", twin=_heads_apply, **one_row)
    p.expand("subtract", twin=_subtract)


def _heads_clear(b: Any) -> None:
    b.heads[: b.state[TOTAL]] = 0


def _heads_mark(b: Any) -> None:
    ends = b.ends[: b.params[0]]
    np.add.at(b.heads, ends[ends < b.state[TOTAL]], np.uint32(1))


def _heads_reduce(b: Any) -> None:
    starts = np.arange(0, int(b.state[TOTAL]), ROW * b.workgroup_size)
    if len(starts):
        b.head_sums[: len(starts)] = np.add.reduceat(b.heads[: b.state[TOTAL]], starts)


def _heads_spine(b: Any) -> None:
    sums = b.head_sums[: -(-int(b.state[TOTAL]) // (ROW * b.workgroup_size))]
    sums[:] = np.cumsum(sums, dtype=np.uint32) - sums


def _heads_apply(b: Any) -> None:
    # The offsets of the blocks are those of a scan over all: one cumulative sum gives the same as block by block.
    b.heads[: b.state[TOTAL]] = np.cumsum(b.heads[: b.state[TOTAL]], dtype=np.uint32)


def _subtract(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dst = np.arange(int(b.state[TOTAL]), dtype=np.uint32)
    src = b.heads[: len(dst)]
    return src, dst - np.where(src > 0, b.ends[np.maximum(src, 1) - 1], 0).astype(np.uint32), dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """The src of every item, and one inclusive sum for every src."""
    owners = buffers["heads"][: int(counts.sum(dtype=np.int64))].astype(np.int32)
    return (
        Memory("heads", "src of every item (scanned heads)", (MemoryRow("heads", sizes.max_dst, 4, 1, owners),)),
        Memory(
            "ends", "end of every src's range (inclusive prefix sum)",
            (MemoryRow("ends", sizes.max_src, 4, 1, np.arange(len(counts), dtype=np.int32)),),
        ),
    )  # fmt: skip


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Thread t reads the src of item t, which three passes over the whole output have put there."""
    m = MapBuilder("head_scan", sizes)
    scan_steps(m, len(counts))
    src, local = items_of(counts)
    two = m.lanes(len(src))
    item = np.arange(len(src))
    every = two.first(len(src))
    m.step("heads_clear", "clear a head", anchor(_CLEAR, "clear"), every)
    one = m.lanes(len(counts))
    ends = np.cumsum(counts, dtype=np.int64)
    m.step("heads_mark", "take the end", anchor(_MARK, "load"), one.first(len(counts)))
    m.step("heads_mark", "mark a head", anchor(_MARK, "mark"), one.active(ends < len(src)))
    sweep_steps(m, len(src), {"heads_reduce": _REDUCE, "heads_spine": _SPINE, "heads_apply": _APPLY}, "heads")
    m.step("subtract", "read the src", anchor(_SUBTRACT, "src"), every)
    m.step("subtract", "subtract the range's start", anchor(_SUBTRACT, "start"), every)
    m.step("subtract", "work", anchor(_SUBTRACT, "work"), every)
    wrote = memory({"heads": src}, counts, sizes)
    return m.build(two, item, wrote, src=src, local=local, dst=item, entry=item)


STRATEGY = Strategy(
    name="head_scan",
    title="Head scan",
    solution=None,
    summary="Mark where each src begins, scan the marks over the whole output, subtract: what array libraries do.",
    memory_formula="4 * P2 + P2 / (2 * WG) + 4 * P1 + P1 / (2 * WG)",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("heads",),
)
