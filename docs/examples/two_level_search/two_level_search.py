"""Prefix sum and a search in two levels: first for the block, then inside it.

Wins over one search where P1 is large: the probes of the first level fall on a table 8 * workgroup_size times shorter,
which stays in the cache. Loses where P1 is a few blocks, since there is nothing to save.
Source: the top levels of a B-tree, R. Bayer and E. McCreight (1972); the table is what the prefix sum leaves behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.scan import ROW, add_scan, scan_steps
from expandlab.expansion.steps import search
from expandlab.expansion.strategy import TOTAL, Passes, Sizes, Strategy
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap
from expandlab.wgsl import anchor

_FILE = "expansion/two_level_search/two_level.wgsl"


def passes(p: Passes) -> None:
    """reset -> reduce -> spine -> apply -> two_level."""
    p.reset("state")
    add_scan(p)
    p.expand("two_level", twin=_two_level)


def _two_level(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dst = np.arange(int(b.state[TOTAL]), dtype=np.uint32)
    src = np.searchsorted(b.ends[: b.params[0]], dst, side="right").astype(np.uint32)
    return src, dst - np.concatenate([np.zeros(1, np.uint32), b.ends])[src], dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """One inclusive sum for every src, and where every block begins."""
    block = ROW * sizes.workgroup_size
    ends = MemoryRow("ends", sizes.max_src, 4, 1, np.arange(len(counts), dtype=np.int32))
    firsts = np.arange(0, len(counts), block, dtype=np.int32)
    blocks = MemoryRow("blocks", max(1, -(-sizes.max_src // block)), 4, 1, firsts)
    return (
        Memory("ends", "end of every src's range (inclusive prefix sum)", (ends,)),
        Memory("sums", "items before every block", (blocks,)),
    )


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Thread t searches the blocks, then the ends of one block."""
    m = MapBuilder("two_level_search", sizes)
    scan_steps(m, len(counts))
    ends = np.cumsum(counts, dtype=np.int64)
    thread = np.arange(int(ends[-1]) if len(ends) else 0)
    lanes, every = m.lanes(len(thread)), np.zeros(len(thread), np.int64)
    begins = (ends - counts)[:: ROW * sizes.workgroup_size]
    behind, coarse = search(begins, thread, "right", every, every + len(begins))
    first = (behind - 1) * ROW * sizes.workgroup_size
    last = np.minimum(first + ROW * sizes.workgroup_size, len(ends))
    src, fine = search(ends, thread, "right", first, last)
    m.rounds("two_level", "search the blocks, one probe", anchor(_FILE, "coarse"), lanes, coarse)
    m.rounds("two_level", "search the block, one probe", anchor(_FILE, "fine"), lanes, fine)
    m.step("two_level", "subtract the range's start", anchor(_FILE, "start"), lanes.first(len(thread)))
    m.step("two_level", "work", anchor(_FILE, "work"), lanes.first(len(thread)))
    local = thread - (ends - counts)[src]
    return m.build(lanes, thread, memory({}, counts, sizes), src=src, local=local, dst=thread, entry=src)


STRATEGY = Strategy(
    name="two_level_search",
    title="Prefix sum and a search in two levels",
    solution=None,
    summary="A prefix sum, one search for the block in a short table, and one inside the block.",
    memory_formula="4 * P1 + P1 / (2 * WG)",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("ends", "sums"),
)
