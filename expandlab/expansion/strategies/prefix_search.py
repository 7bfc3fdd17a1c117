"""Prefix sum and binary search: pass 2 finds its src among the ends of all ranges.

Wins nearly everywhere for its simplicity: pass 1 is constant work for each src, memory is 4 bytes for each src, and
neighbouring threads search along the same path. Loses to strategies without a search when P2 is large: log2(P1)
dependent loads for every item.
Source: solution 2 of "Efficient GPU Work Expansion".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.scan import add_scan, scan_steps
from expandlab.expansion.strategy import TOTAL, Passes, Strategy
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap
from expandlab.wgsl import anchor

_SEARCH = "expansion/prefix_search/search.wgsl"


def passes(p: Passes) -> None:
    """reset -> reduce -> spine -> apply -> search."""
    p.reset("state")
    add_scan(p)
    p.expand("search", twin=_search)


def _search(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dst = np.arange(int(b.state[TOTAL]), dtype=np.uint32)
    ends = b.ends[: b.params[0]]
    src = np.searchsorted(ends, dst, side="right").astype(np.uint32)
    starts = np.concatenate([np.zeros(1, np.uint32), ends])
    return src, dst - starts[src], dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Any) -> tuple[Memory, ...]:
    """One inclusive sum for every src."""
    row = MemoryRow("ends", sizes.max_src, 4, 1, np.arange(len(counts), dtype=np.int32))
    return (Memory("ends", "end of every src's range (inclusive prefix sum)", (row,)),)


def model(counts: np.ndarray, sizes: Any) -> ThreadMap:
    """Thread t searches for the first end beyond t."""
    m = MapBuilder("prefix_search", sizes)
    scan_steps(m, len(counts))
    ends = np.cumsum(counts, dtype=np.int64)
    thread = np.arange(int(ends[-1]) if len(ends) else 0)
    two = m.lanes(len(thread))
    src = m.upper_bound("search", anchor(_SEARCH, "probe"), two, ends, thread)
    m.step("search", "subtract the range's start", anchor(_SEARCH, "start"), two.first(len(thread)))
    m.step("search", "work", anchor(_SEARCH, "work"), two.first(len(thread)))
    local = thread - (ends - counts)[src]
    return m.build(two, thread, memory({}, counts, sizes), src=src, local=local, dst=thread, entry=src)


STRATEGY = Strategy(
    name="prefix_search",
    title="Prefix sum and binary search",
    solution="2",
    summary="A prefix sum over N, then one binary search for every item. The usual choice; little memory.",
    memory_formula="4 * P1 + P1 / (2 * WG)",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("ends",),
)
