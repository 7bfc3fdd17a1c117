"""What the strategies with a packed 64-bit counter share: count of entries above, sum of items below.

Source: solution 2.5 of "Efficient GPU Work Expansion".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, TOTAL, Passes, Sizes, settle_twin
from expandlab.expansion.thread_map import Lanes, MapBuilder, Memory, MemoryRow, ThreadMap
from expandlab.wgsl import anchor

NEEDS = ("shader-int64", "shader-int64-atomic-all-ops")
_SETUP, _SEARCH = "expansion/atomic64/setup.wgsl", "expansion/atomic64/search.wgsl"
WRITE = anchor("expansion/atomic64/entries.wgsl", "write")


def passes(p: Passes) -> None:
    """reset -> reset_packed -> count -> setup -> search."""
    p.words("packed", 2)
    p.words("entries", 3 * p.sizes.max_src)
    p.reset("state", "packed")
    p.add("count", threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_count, overwrites=("entries",))
    p.add("setup", file=_SETUP, threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect",))
    p.expand("search", file=_SEARCH, twin=_search)


def _count(b: Any) -> None:
    n = b.counts[: b.params[0]]
    src = np.flatnonzero(n)
    ends = np.cumsum(n[src], dtype=np.uint64)
    total = int(ends[-1]) if len(ends) else 0
    if total >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    table = np.stack([src, n[src], ends & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32)
    b.entries[: table.size] = table.ravel()
    b.packed[:2] = total & 0xFFFFFFFF, len(src)


def _setup(b: Any) -> None:
    settle_twin(b, int(b.packed[0]))


def _search(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = b.entries[: 3 * int(b.packed[1])].reshape(-1, 3)
    dst = np.arange(int(b.state[TOTAL]), dtype=np.uint32)
    entry = np.searchsorted(table[:, 2], dst, side="right")
    src, count, end = table[entry].T if len(dst) else np.zeros((3, 0), np.uint32)
    return src, dst - (end - count), dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """The entries, and the packed counter."""
    used = int(buffers["packed"][1])
    entries = MemoryRow("entries", sizes.max_src, 12, 1, buffers["entries"][: 3 * used : 3].astype(np.int32))
    counter = MemoryRow("count and sum", 1, 8, 1, np.full(1, -1, np.int32))
    return (
        Memory("entries", "(src, N, end of its range), in the order of the atomics", (entries,)),
        Memory("packed", "the packed 64-bit counter", (counter,)),
    )


def model(
    name: str, count_steps: Callable[[MapBuilder, Lanes, np.ndarray], None]
) -> Callable[[np.ndarray, Sizes], ThreadMap]:
    """The model of a strategy that differs from the others in how it counts."""

    def built(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
        m = MapBuilder(name, sizes)
        one = m.lanes(len(counts))
        count_steps(m, one, counts)
        m.step("count", "write the entry", WRITE, one.active(counts > 0))
        m.one_thread("setup", "unpack the counter and launch", anchor(_SETUP, "launch"))
        src = np.flatnonzero(counts)
        ends = np.cumsum(counts[src], dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        thread = np.arange(total)
        two = m.lanes(total)
        entry = m.upper_bound("search", anchor(_SEARCH, "probe"), two, ends, thread)
        m.step("search", "read the entry", anchor(_SEARCH, "entry"), two.first(total))
        m.step("search", "work", anchor(_SEARCH, "work"), two.first(total))
        table = np.stack([src, counts[src], ends], axis=1).astype(np.uint32).ravel()
        wrote = {"entries": table, "packed": np.array([total, len(src)])}
        owner = src[entry]
        local = thread - (ends - counts[src])[entry]
        return m.build(
            two, thread, memory(wrote, counts, sizes), src=owner, local=local, dst=thread, entry=entry
        )  # fmt: skip

    return built
