"""Single-pass scan with look-back, then binary search: the counts are read once instead of twice.

Wins over reduce-then-scan when P1 is large and memory is the limit. Loses when P1 is small, and wherever workgroups are
put off: nobody may wait for them, so their counts are added up again. Needs neither 64-bit atomics (a sum is published
as two halves that carry their own flags) nor that workgroups run in any order (tickets, and a bounded number of looks).
Source: D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016); T. Smith,
R. Levien and J. Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan" (2024).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.scan import ROW
from expandlab.expansion.steps import search
from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, TOTAL, Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.wgsl import anchor

_CLEAR, _LOOKBACK, _SETUP = (f"expansion/lookback_search/{name}.wgsl" for name in ("clear", "lookback", "setup"))
_SEARCH = "expansion/prefix_search/search.wgsl"

# Looks in vain before a workgroup counts for others, in all: adding a block up takes about as long as that many looks,
# and some drivers end long loops.
SPINS = 64
# The flag of a published sum up to a block's end; shaders/expansion/lookback_search/spine.wgsl has the same.
_INCLUSIVE = 2 << 16


def passes(p: Passes) -> None:
    """reset -> clear -> lookback -> setup -> search."""
    size = p.sizes.workgroup_size
    blocks = _blocks(p.sizes.max_src, size)
    p.words("spine", 1 + 2 * blocks)
    p.words("ends", p.sizes.max_src)
    p.reset("state")
    # At least one element more than the words, where the buffer is rounded up.
    words = 1 + 2 * blocks
    p.add("clear", threads=max(12, words), useful=lambda p1, p2: words, twin=_clear, overwrites=("spine",))
    p.add(
        "lookback", threads=blocks * size, useful=lambda p1, p2: -(-p1 // ROW), twin=_lookback, overwrites=("ends",),
        constants={"SPINS": SPINS},
    )  # fmt: skip
    p.add("setup", threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect",))
    p.expand("search", file=_SEARCH, twin=_search)


def _blocks(src_count: int, size: int) -> int:
    return -(-src_count // (ROW * size))


def _clear(b: Any) -> None:
    b.spine[:] = 0


def _lookback(b: Any) -> None:
    n = b.counts[: b.params[0]]
    ends = np.cumsum(n, dtype=np.uint64)
    if len(n) and int(ends[-1]) >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.ends[: len(n)] = ends & 0xFFFFFFFF
    b.state[TOTAL] = b.ends[len(n) - 1] if len(n) else 0
    blocks = _blocks(len(n), b.workgroup_size)
    last = np.minimum(np.arange(1, blocks + 1) * ROW * b.workgroup_size, len(n)) - 1
    b.spine[0] += np.uint32(blocks)
    b.spine[1 : 1 + 2 * blocks : 2] = _INCLUSIVE | b.ends[last] & 0xFFFF
    b.spine[2 : 2 + 2 * blocks : 2] = _INCLUSIVE | b.ends[last] >> np.uint32(16)


def _setup(b: Any) -> None:
    settle_twin(b, int(b.state[TOTAL]))


def _search(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dst = np.arange(int(b.state[TOTAL]), dtype=np.uint32)
    ends = b.ends[: b.params[0]]
    src = np.searchsorted(ends, dst, side="right").astype(np.uint32)
    return src, dst - np.concatenate([np.zeros(1, np.uint32), ends])[src], dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """One inclusive sum for every src, and two words for every block."""
    block = ROW * sizes.workgroup_size
    first_src = np.arange(0, len(counts), block, dtype=np.int32)
    ends = MemoryRow("ends", sizes.max_src, 4, 1, np.arange(len(counts), dtype=np.int32))
    spine = MemoryRow("blocks", _blocks(sizes.max_src, sizes.workgroup_size), 8, 1, first_src)
    return (
        Memory("ends", "end of every src's range (inclusive prefix sum)", (ends,)),
        Memory("spine", "what every block of src tells the next ones", (spine,)),
    )


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Thread t searches for the first end beyond t. In the model one look is enough; a device may need more."""
    m = MapBuilder("lookback_search", sizes)
    _lookback_steps(m, len(counts))
    m.one_thread("setup", "launch one thread for each item", anchor(_SETUP, "launch"))
    src, local = items_of(counts)
    thread = np.arange(len(src))
    two = m.lanes(len(src))
    every = two.first(len(src))
    start = np.zeros(len(src), np.int64)
    _, probes = search(np.cumsum(counts, dtype=np.int64), thread, "right", start, start + len(counts))
    m.rounds("search", "probe", anchor(_SEARCH, "probe"), two, probes)
    m.step("search", "subtract the range's start", anchor(_SEARCH, "start"), every)
    m.step("search", "work", anchor(_SEARCH, "work"), every)
    return m.build(two, thread, memory({}, counts, sizes), src=src, local=local, dst=thread, entry=src)


def _lookback_steps(m: MapBuilder, src_count: int) -> None:
    size = m.workgroup_size
    blocks = _blocks(src_count, size)
    words = m.lanes(max(12, 1 + 2 * blocks))
    m.step("clear", "forget the last run", anchor(_CLEAR, "clear"), words.first(max(12, 1 + 2 * blocks)))
    lanes = m.lanes(blocks * size)
    thread = np.arange(lanes.launched) % size
    block = np.arange(lanes.launched) // size
    mine = block < blocks
    busy = lanes.first(-(-src_count // ROW))
    leader = lanes.active(mine & (thread == 0))

    def step(label: str, where: str, active: np.ndarray, repeats: int = 1) -> None:
        m.step("lookback", label, anchor(_LOOKBACK, where), active, repeats)

    step("draw a ticket", "ticket", lanes.active(thread == 0))
    step(f"take {ROW} counts", "load", busy, ROW)
    step(f"scan the workgroup, {size.bit_length() - 1} rounds", "scan", lanes.active(mine))
    step("publish the block's sum", "publish", leader)
    if blocks > 1:
        step("look back", "look", lanes.active(mine & (thread < block)))
        step("add what the block before knows", "add", lanes.active(mine & (thread == 0) & (block > 0)))
    step("publish the sum up to here", "publish-inclusive", leader)
    step(f"store {ROW} inclusive sums", "store", busy, ROW)


STRATEGY = Strategy(
    name="lookback_search",
    title="Look-back scan and binary search",
    solution=None,
    summary="A prefix sum in a single pass: each workgroup looks back at what the ones before it have published.",
    memory_formula="4 * P1 + P1 / WG",
    passes=passes,
    model=model,
    memory=memory,
)
