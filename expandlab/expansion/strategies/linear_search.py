"""Linear search: pass 2 walks the list of (src, N) from its beginning until its index is used up.

Wins only where there is next to nothing to walk: a handful of src. All threads of a subgroup read the same entries in
step, which is as coherent as loads can be, but every thread reads all entries before its own. Loses with P1: the work
is P1 * P2. Source: solution 2 of "Efficient GPU Work Expansion", first form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, TOTAL, Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap
from expandlab.wgsl import anchor

# P1 * P2 steps: a longer list is a lesson that has been learned. Also far from where drivers end a loop.
MAX_LIST = 4096
_LIST, _WALK = "expansion/linear_search/list.wgsl", "expansion/linear_search/walk.wgsl"
_SETUP = "expansion/append/setup.wgsl"


def passes(p: Passes) -> None:
    """reset -> reset_length -> list -> setup -> walk."""
    p.words("list_length", 1)
    p.words("entries", 2 * min(p.sizes.max_src, MAX_LIST))
    p.reset("state", "list_length")
    p.add(
        "list", threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_list, overwrites=("entries",),
        constants={"MAX_LIST": MAX_LIST},
    )  # fmt: skip
    p.add("setup", file=_SETUP, threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect",))
    p.expand("walk", twin=_walk)


def _list(b: Any) -> None:
    n = b.counts[: b.params[0]]
    total = int(n.sum(dtype=np.uint64))
    if total >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.state[TOTAL] = total & 0xFFFFFFFF
    src = np.flatnonzero(n)[:MAX_LIST]
    b.list_length[0] = len(src)
    b.entries[: 2 * len(src)] = np.stack([src, n[src]], axis=1).ravel()


def _setup(b: Any) -> None:
    settle_twin(b, int(b.state[TOTAL]))


def _walk(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = b.entries[: 2 * int(b.list_length[0])].reshape(-1, 2)
    dst = np.arange(int(b.state[TOTAL]), dtype=np.uint32)
    ends = np.cumsum(table[:, 1], dtype=np.int64)
    place = np.searchsorted(ends, dst, side="right")
    return table[place, 0], dst - (ends - table[:, 1])[place], dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """The list."""
    used = int(buffers["list_length"][0])
    row = MemoryRow("entries", min(sizes.max_src, MAX_LIST), 8, 1, buffers["entries"][: 2 * used : 2].astype(np.int32))
    return (Memory("entries", "(src, N) of every src with items", (row,)),)


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Thread t subtracts N after N from t. The model's list is in src order."""
    m = MapBuilder("linear_search", sizes)
    one = m.lanes(len(counts))
    m.step("list", "take N", anchor(_LIST, "load"), one.first(len(counts)))
    m.step("list", "reserve an entry", anchor(_LIST, "reserve"), one.active(counts > 0))
    m.step("list", "write the entry", anchor(_LIST, "write"), one.active(counts > 0))
    m.one_thread("setup", "launch one thread for each item", anchor(_SETUP, "launch"))
    src = np.flatnonzero(counts)
    ends = np.cumsum(counts[src], dtype=np.int64)
    thread = np.arange(int(ends[-1]) if len(ends) else 0)
    two = m.lanes(len(thread))
    place = np.searchsorted(ends, thread, side="right")
    m.rounds("walk", "subtract one N", anchor(_WALK, "subtract"), two, place)
    m.step("walk", "work", anchor(_WALK, "work"), two.first(len(thread)))
    table = np.stack([src, counts[src]], axis=1).ravel()
    wrote = {"entries": table, "list_length": np.array([len(src)])}
    local = thread - (ends - counts[src])[place]
    return m.build(
        two, thread, memory(wrote, counts, sizes), src=src[place], local=local, dst=thread, entry=place
    )  # fmt: skip


STRATEGY = Strategy(
    name="linear_search",
    title="Linear search",
    solution="2, first form",
    summary="Every thread walks the list of (src, N) from its beginning. P1 x P2 steps: for a handful of src only.",
    memory_formula="8 * P1",
    max_src=MAX_LIST,
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("entries", "list_length"),
    atomic_order=True,
)
