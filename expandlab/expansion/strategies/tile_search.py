"""Load-balancing search: one search for each tile of the output, heads counted and scanned inside the tile.

Wins when P2 is large: a search is shared by a tile of 16 items for each thread, every workgroup has the same work
whatever N is, the items of a tile are found in workgroup memory, and results leave in 16-byte stores. Loses when P2 is
small, where its passes cost more than one search for each item, and where long runs of empty src lie in a tile: its
items then search one by one.
Source: S. Baxter, "moderngpu", load-balancing search (2013). Here the src mark their first items in a bit field instead
of being merged serially: a bit's rank is the number of src that began before it (Jacobson 1989, succinct rank).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import TOTAL, Passes, Sizes, Strategy
from expandlab.expansion.thread_map import Memory, MemoryRow
from expandlab.expansion.tile_model import model
from expandlab.expansion.tiles import ITEMS, add_place


def passes(p: Passes) -> None:
    """reduce -> place -> tile_items; with a reset in front where the expansion is prepared."""
    size = p.sizes.workgroup_size
    tile = ITEMS * size
    add_place(p, tile=tile, tile_threads=size, entries=False)
    # Where the host knows P2 a direct dispatch will do: wgpu checks an indirect one by a dispatch of its own.
    p.expand(
        "tile_items", twin=_tile_items, constants={"TILE": tile},
        indirect="indirect" if p.prepared else -(-p.sizes.max_dst // tile) * size,
        useful=lambda p1, p2: _busy_threads(p2, size),
    )  # fmt: skip


def _busy_threads(total: int, size: int) -> int:
    return total // (ITEMS * size) * size + min(-(-(total % (ITEMS * size)) // 4), size)


def _tile_items(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    total = int(b.state[TOTAL])
    # What every tile does, all at once: a mark at the first item of every src that has some, ranks, and the owners.
    ends = b.ends[: b.params[0]]
    starts = np.concatenate([np.zeros(1, np.uint32), ends])[: len(ends)]
    owners = np.flatnonzero(ends > starts)
    marks = np.zeros(total, np.uint32)
    if total:
        marks[starts[owners]] = 1
    src = owners[np.cumsum(marks, dtype=np.uint32) - 1].astype(np.uint32)
    dst = np.arange(total, dtype=np.uint32)
    return src, dst - starts[src], dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """One inclusive sum for every src, and the src of each tile's first item."""
    tile = ITEMS * sizes.workgroup_size
    ends = MemoryRow("ends", sizes.max_src, 4, 1, np.arange(len(counts), dtype=np.int32))
    used = -(-int(counts.sum(dtype=np.int64)) // tile)
    tiles = MemoryRow("tiles", -(-sizes.max_dst // tile), 4, tile, buffers["tile_src"][:used].astype(np.int32))
    return (
        Memory("ends", "end of every src's range (inclusive prefix sum)", (ends,)),
        Memory("tile_src", "src of the first item of each tile", (tiles,)),
    )


STRATEGY = Strategy(
    name="tile_search",
    title="Load-balancing search",
    solution=None,
    summary="A prefix sum that notes the src of each tile of the output, and bits counted inside the tile.",
    memory_formula="4 * P1 + P2 / (4 * WG) + P1 / WG",
    passes=passes,
    model=lambda counts, sizes: model(counts, sizes, memory),
    memory=memory,
    memory_buffers=("tile_src",),
)
