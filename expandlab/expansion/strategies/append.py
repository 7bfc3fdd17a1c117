"""Append: every src writes one info (src, local) for each of its items; pass 2 reads one info a thread.

Wins when N is small (below about 16) everywhere. Loses when N varies: a subgroup loops for its largest N while its
other lanes wait, and the infos take 8 bytes for every item.
Source: solution 1 of "Efficient GPU Work Expansion".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import (
    FAILED_LOOP,
    FAILED_OVERFLOW,
    FAILURE,
    TOTAL,
    Passes,
    Sizes,
    Strategy,
    settle_twin,
)
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.wgsl import anchor

_APPEND, _CONSUME = "expansion/append/append.wgsl", "expansion/append/consume.wgsl"
_SETUP, INFOS = "expansion/append/setup.wgsl", "expansion/append/infos.wgsl"

# The longest loop; shaders/expansion/append/infos.wgsl says why.
LONGEST = 65535


def passes(p: Passes) -> None:
    """reset -> append -> setup -> consume."""
    add_passes(p, "append", _APPEND)


def add_passes(p: Passes, name: str, file: str) -> None:
    """Add the passes of a strategy that appends infos; `name` and `file` are those of its pass 1."""
    p.words("infos", 2 * p.sizes.max_dst)
    p.reset("state")
    p.add(name, file=file, threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_append, overwrites=("infos",))
    p.add("setup", file=_SETUP, threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect",))
    p.expand("consume", file=_CONSUME, twin=_consume)


def _append(b: Any) -> None:
    n = b.counts[: b.params[0]]
    total = int(n.sum(dtype=np.uint64))
    if total >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    if n.max(initial=0) > LONGEST:
        b.state[FAILURE] |= FAILED_LOOP
    b.state[TOTAL] = total & 0xFFFFFFFF
    if total <= b.params[1]:
        src, local = items_of(n)
        b.infos[: 2 * total : 2], b.infos[1 : 2 * total : 2] = src, local


def _setup(b: Any) -> None:
    settle_twin(b, int(b.state[TOTAL]))


def _consume(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    total = int(b.state[TOTAL])
    return b.infos[: 2 * total : 2], b.infos[1 : 2 * total : 2], np.arange(total, dtype=np.uint32)


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Any) -> tuple[Memory, ...]:
    """One info of 8 bytes for every item."""
    total = int(counts.sum(dtype=np.uint64))
    src = buffers["infos"][: 2 * total : 2].astype(np.int32)
    row = MemoryRow("infos", sizes.max_dst, 8, 1, src)
    return (Memory("infos", "one (src, local) for every item", (row,)),)


def model(counts: np.ndarray, sizes: Any) -> ThreadMap:
    """Thread t reads info t. The model's atomics serve the src in order; a device's may not."""
    m = MapBuilder("append", sizes)
    one = m.lanes(len(counts))
    m.step("append", "take N", anchor(_APPEND, "load"), one.first(len(counts)))
    m.step("append", "reserve N infos", anchor(_APPEND, "reserve"), one.active(counts > 0))
    m.rounds("append", "write one info", anchor(INFOS, "write"), one, counts)
    return finish(m, counts, sizes)


def finish(m: MapBuilder, counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """The set-up and pass 2 of every strategy that appends infos."""
    m.one_thread("setup", "launch one thread for each info", anchor(_SETUP, "launch"))
    src, local = items_of(counts)
    two = m.lanes(len(src))
    m.step("consume", "read info t", anchor(_CONSUME, "info"), two.first(len(src)))
    m.step("consume", "work", anchor(_CONSUME, "work"), two.first(len(src)))
    thread = np.arange(len(src))
    infos = np.stack([src, local], axis=1).ravel()
    return m.build(
        two, thread, memory({"infos": infos}, counts, sizes), src=src, local=local, dst=thread, entry=thread
    )  # fmt: skip


def refuses(counts: np.ndarray) -> str | None:
    """A thread's loop is bounded."""
    widest = int(counts.max(initial=0))
    return (
        f"a thread writes at most {LONGEST:,} infos in its loop, and one src has N = {widest:,}"
        if (widest > LONGEST)
        else None
    )


STRATEGY = Strategy(
    name="append",
    title="Append one info for each item",
    solution="1",
    summary="Each src takes a range with one atomic and writes N infos in a loop. Good when every N is small.",
    memory_formula="8 * P2",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("infos",),
    refuses=refuses,
    atomic_order=True,
)
