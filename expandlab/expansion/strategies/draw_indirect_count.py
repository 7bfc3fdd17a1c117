"""Draws with a count from the GPU: every src appends a draw of N vertices, and a vertex is a pass-2 thread.

No API has a "dispatch indirect count", but draws do have one: pass 1 appends as many draws as there are src with
items, and one command runs them all. Wins over `dispatch_each` everywhere: nothing is recorded for each src, src
without items cost nothing, and the draws do not wait for each other. Loses with the number of src against strategies
of one dispatch, because the front end still takes up every draw by itself, and where N is below a subgroup, because a
draw begins a subgroup of its own. A vertex has no workgroup memory, no barrier and, on many drivers, no subgroup
operations, so not every pass 2 can be written as one; and the work passes through the graphics pipeline, whose
primitives are assembled and clipped for nothing.
Source: "Gfx API Solutions" of "Efficient GPU Work Expansion" (indirect count; its form there is
vkCmdDrawMeshTasksIndirectCountEXT), vkCmdDrawIndirectCount of Vulkan 1.2.

The standard promises that a vertex runs at least once, not exactly once: a GPU that bins triangles may run it twice,
and a body that counts would count twice there. The drivers that this was tested on run each one once: the vertices of
these draws are not indexed, so none is shared, and no tile asks for one again.
What is known of lanes: nothing, because a vertex cannot ask. Model and recording number the vertices of a draw as if
they filled subgroups from the first lane on, and count the rest of the last subgroup as idle; src, local, dst and
the draw of every vertex are the device's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.steps import own_launches
from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, TOTAL, Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.graph import Draws
from expandlab.wgsl import anchor

_APPEND, _SETUP = "expansion/draw_indirect_count/append.wgsl", "expansion/draw_indirect_count/setup.wgsl"
_VERTEX = "expansion/draw_indirect_count/vertex.wgsl"


def passes(p: Passes) -> None:
    """reset -> reset_drawn -> append -> setup -> vertex, which is draws."""
    p.words("places", 2 * p.sizes.max_src)
    p.words("draws", 4 * p.sizes.max_src)
    p.words("drawn", 1)
    p.reset("state", "drawn")
    p.add(
        "append", threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_append, overwrites=("places", "draws"),
    )  # fmt: skip
    p.add("setup", threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect",))
    draws = Draws("draws", "drawn", p.sizes.max_src)
    p.expand("vertex", twin=_vertex, indirect=draws, constants={"LANES": p.sizes.align})


def _append(b: Any) -> None:
    n = b.counts[: b.params[0]]
    total = int(n.sum(dtype=np.uint64))
    if total >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.state[TOTAL] = total & 0xFFFFFFFF
    src = np.flatnonzero(n)
    first = np.cumsum(n, dtype=np.uint64) - n
    b.places.reshape(-1, 2)[src] = np.stack([first[src] & 0xFFFFFFFF, np.arange(len(src), dtype=np.uint64)], axis=1)
    b.drawn[0] = len(src)
    b.draws.reshape(-1, 4)[: len(src)] = np.stack([n[src], np.ones_like(src), np.zeros_like(src), src], axis=1)


def _setup(b: Any) -> None:
    settle_twin(b, int(b.state[TOTAL]))
    if not b.state[TOTAL]:
        b.drawn[0] = 0


def _vertex(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draws = b.draws.reshape(-1, 4)[: b.drawn[0]]
    draw, local = items_of(draws[:, 0])
    src = draws[draw, 3]
    return src, local, b.places.reshape(-1, 2)[src, 0] + local


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """One draw of 16 bytes for every src with items, in the order in which they were appended."""
    count = int(buffers["drawn"][0])
    src = buffers["draws"][: 4 * count].reshape(-1, 4)[:, 3].astype(np.int32)
    return (Memory("draws", "draws of the src with items", (MemoryRow("draws", sizes.max_src, 16, 1, src),)),)


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Vertex v of the draw of src s has local index v. The model's atomics serve the src in order."""
    m = MapBuilder("draw_indirect_count", sizes)
    one = m.lanes(len(counts))
    some = one.active(counts > 0)
    m.step("append", "take N", anchor(_APPEND, "load"), one.first(len(counts)))
    m.step("append", "reserve N places of the output", anchor(_APPEND, "reserve"), some)
    m.step("append", "reserve a draw", anchor(_APPEND, "append"), some)
    m.step("append", "write the draw", anchor(_APPEND, "write"), some)
    m.one_thread("setup", "say how many draws there are", anchor(_SETUP, "count"))
    src, local, active = own_launches(m, counts, m.subgroup_size)
    m.step("vertex", "read the place of the src", anchor(_VERTEX, "place"), m.active_of(active))
    m.step("vertex", "work", anchor(_VERTEX, "work"), m.active_of(active))
    with_items = np.flatnonzero(counts)
    draw = np.full(len(counts), -1)
    draw[with_items] = np.arange(len(with_items))
    draws = np.zeros((len(with_items), 4), np.uint32)
    draws[:, 3] = with_items
    wrote = {"drawn": np.array([len(with_items)]), "draws": draws.ravel()}
    starts = np.cumsum(counts, dtype=np.int64) - counts
    size = sizes.workgroup_size
    return m.build_rows(
        memory(wrote, counts, sizes), dispatch=src, workgroup=local // size, thread=local % size,
        src=np.where(active, src, -1), local=np.where(active, local, -1),
        dst=np.where(active, starts[src] + local, -1), entry=np.where(active, draw[src], -1),
    )  # fmt: skip


STRATEGY = Strategy(
    name="draw_indirect_count",
    title="Draws with a count from the GPU",
    solution=None,
    summary="Each src appends a draw of N vertices; one indirect-count command runs them all, a vertex for each item.",
    memory_formula="24 * P1",
    needs=("multi-draw-indirect-count", "vertex-writable-storage", "indirect-first-instance"),
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("draws", "drawn"),
    records_idle=False,
    atomic_order=True,
)
