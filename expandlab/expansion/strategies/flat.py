"""Flat expansion: MAX_N threads for every src.

Wins when every N is close to MAX_N: pass 2 finds its src with one division and no memory in between. Loses with the
spread of N: P1 * MAX_N threads start whatever they find, so one large N makes every src pay for it.
Source: solution 0 of "Efficient GPU Work Expansion".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, MAX_N, TOTAL, Passes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.wgsl import anchor

_COUNT, _SPREAD = "expansion/flat/count.wgsl", "expansion/flat/spread.wgsl"


def passes(p: Passes) -> None:
    """reset -> count -> setup -> spread."""
    p.reset("state")
    slots = count_into_bases(p, _count)
    p.add("setup", threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect",))
    p.expand("spread", twin=_spread, slots=slots)


def count_into_bases(p: Passes, twin: Callable[[Any], None]) -> dict[str, str]:
    """Add the pass `count`, which takes a base for each src where somebody asks for dst; the slots of its readers."""
    bases = p.uses_dst
    if bases:
        p.words("base", p.sizes.max_src)
    p.add(
        "count", file=None if bases else "expansion/flat/total.wgsl", threads=p.sizes.max_src,
        useful=lambda p1, p2: p1, twin=twin, overwrites=("base",) if bases else (),
    )  # fmt: skip
    return {"base": f"expansion/flat/{'base' if bases else 'no_base'}.wgsl"}


def _count(b: Any) -> None:
    n = b.counts[: b.params[0]].astype(np.uint64)
    ends = np.cumsum(n, dtype=np.uint64)
    if len(n) and int(ends[-1]) >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.base[: len(n)] = (ends - n).astype(np.uint32)
    b.state[TOTAL] = np.uint32(int(ends[-1]) & 0xFFFFFFFF) if len(n) else 0
    b.state[MAX_N] = n.max(initial=0)


def _setup(b: Any) -> None:
    threads = int(b.params[0]) * int(b.state[MAX_N])
    settle_twin(b, int(b.state[TOTAL]), threads if b.state[TOTAL] else 0)


def _spread(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    src, local = items_of(b.counts[: b.params[0]])
    return src, local, b.base[src] + local


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Any) -> tuple[Memory, ...]:
    """One base for every src."""
    row = MemoryRow("base of each src", sizes.max_src, 4, 1, np.arange(len(counts), dtype=np.int32))
    return (Memory("base", "first place of every src in the output", (row,)),)


def model(counts: np.ndarray, sizes: Any) -> ThreadMap:
    """Thread t has src t / MAX_N, local t % MAX_N, and nothing to do where local >= N."""
    m = MapBuilder("flat", sizes)
    widest = int(counts.max(initial=0))
    one = m.lanes(len(counts))
    every = one.first(len(counts))
    m.step("count", "take N", anchor(_COUNT, "load"), every)
    m.step("count", "reserve N places of the output", anchor(_COUNT, "reserve"), every)
    m.step("count", "keep the largest N", anchor(_COUNT, "widest"), every)
    m.one_thread("setup", "launch P1 x MAX_N threads", anchor("expansion/flat/setup.wgsl", "launch"))
    threads = len(counts) * widest
    two = m.lanes(threads)
    src, local = items_of(counts)
    thread = src.astype(np.int64) * widest + local
    working = np.zeros(threads, bool)
    working[thread] = True
    m.step("spread", "divide: src = t / MAX_N, local = t % MAX_N", anchor(_SPREAD, "divide"), two.first(threads))
    m.step("spread", "compare local with N", anchor(_SPREAD, "early-out"), two.first(threads))
    m.step("spread", "work", anchor(_SPREAD, "work"), two.active(working))
    starts = (np.cumsum(counts, dtype=np.int64) - counts)[src]
    return m.build(two, thread, memory({}, counts, sizes), src=src, local=local, dst=starts + local, entry=src)


def refuses(counts: np.ndarray) -> str | None:
    """Thread indices have 32 bits."""
    threads = len(counts) * int(counts.max(initial=0))
    return f"P1 x MAX_N = {threads:,} threads do not fit a 32-bit thread index" if threads >= 2**32 else None


STRATEGY = Strategy(
    name="flat",
    title="Flat expansion",
    solution="0",
    summary="P1 x MAX_N threads; a thread whose local index is N or more stops at once. Good when N hardly varies.",
    memory_formula="4 * P1",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("base",),
    refuses=refuses,
)
