"""Load-balancing search: one search for each tile of the output, heads counted and scanned inside the tile.

Wins when P2 is large: a search is shared by a tile of 8 items for each thread, every workgroup has the same work
whatever N is, and the items of a tile are found in workgroup memory. Loses when P2 is small, where its five passes cost
more than one search for each item, and where long runs of empty src lie in a tile: its items then search one by one.
Source: S. Baxter, "moderngpu", load-balancing search (2013); here heads are counted instead of merging serially.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.scan import add_scan, scan_steps
from expandlab.expansion.steps import add_loop, rounds_of, search, strided
from expandlab.expansion.strategy import TOTAL, Passes, Sizes, Strategy
from expandlab.expansion.thread_map import Lanes, MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.graph.fold import fold
from expandlab.wgsl import anchor

_CUT, _TILE = "expansion/tile_search/cut.wgsl", "expansion/tile_search/tile_items.wgsl"

# Items for each thread, and the rounds of counting heads at most; the shaders have the same.
ITEMS, LONGEST_ROUNDS = 8, 16


def passes(p: Passes) -> None:
    """reset -> reduce -> spine -> apply -> cut -> tile_items."""
    size = p.sizes.workgroup_size
    boundaries = -(-p.sizes.max_dst // (ITEMS * size)) + 1
    p.words("tile_src", boundaries)
    p.words("launches", 3)
    p.reset("state")
    add_scan(p)
    p.add(
        "cut", threads=boundaries, useful=lambda p1, p2: -(-p2 // (ITEMS * size)) + 1, twin=_cut,
        overwrites=("tile_src", "launches"),
    )  # fmt: skip
    p.expand("tile_items", twin=_tile_items, indirect="launches", useful=lambda p1, p2: _busy_threads(p2, size))


def _busy_threads(total: int, size: int) -> int:
    return total // (ITEMS * size) * size + min(total % (ITEMS * size), size)


def _boundaries(total: int, size: int) -> np.ndarray:
    """First item of every tile, and the end of the last one."""
    return np.append(np.arange(0, total, ITEMS * size), total)


def _cut(b: Any) -> None:
    total = int(b.state[TOTAL])
    boundaries = _boundaries(total, b.workgroup_size)
    ends = b.ends[: b.params[0]]
    b.tile_src[: len(boundaries)] = np.searchsorted(ends, boundaries.astype(np.uint32), side="left")
    b.launches[:3] = fold(len(boundaries) - 1)


def _tile_items(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    total = int(b.state[TOTAL])
    # What every tile does, all at once: src that end before the tile, and the heads up to the item inside it.
    ends = b.ends[: b.tile_src[-(-total // (ITEMS * b.workgroup_size))]]
    heads = np.bincount(ends, minlength=total)
    ended = np.cumsum(heads)
    first = np.arange(total) // (ITEMS * b.workgroup_size)
    before = np.concatenate([[0], ended])[first * ITEMS * b.workgroup_size]
    src = (b.tile_src[first] + (ended - before)).astype(np.uint32)
    dst = np.arange(total, dtype=np.uint32)
    return src, dst - np.concatenate([np.zeros(1, np.uint32), ends])[src], dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """One inclusive sum for every src, and the boundaries of the tiles."""
    size = sizes.workgroup_size
    ends = MemoryRow("ends", sizes.max_src, 4, 1, np.arange(len(counts), dtype=np.int32))
    used = len(_boundaries(int(counts.sum(dtype=np.int64)), size))
    tiles = MemoryRow(
        "tiles", -(-sizes.max_dst // (ITEMS * size)) + 1, 4, ITEMS * size, buffers["tile_src"][:used].astype(np.int32)
    )
    return (
        Memory("ends", "end of every src's range (inclusive prefix sum)", (ends,)),
        Memory("tile_src", "first src that ends in each tile or after it", (tiles,)),
    )


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Workgroup t takes the items of tile t."""
    m = MapBuilder("tile_search", sizes)
    size = sizes.workgroup_size
    scan_steps(m, len(counts))
    src, local = items_of(counts)
    boundaries = _boundaries(len(src), size)
    ends = np.cumsum(counts, dtype=np.int64)
    tile_src = _cut_steps(m, ends, boundaries)
    groups = m.lanes((len(boundaries) - 1) * size)
    items, span = (np.zeros(groups.workgroups, np.int64) for _ in "is")
    items[: len(boundaries) - 1], span[: len(boundaries) - 1] = np.diff(boundaries), np.diff(tile_src)
    _tile_steps(m, groups, ends, items, span, tile_src)
    workgroup, thread, index = strided(items, size)
    m.lanes(len(workgroup))
    full = {name: np.full(len(workgroup), -1) for name in ("src", "local", "dst", "entry")}
    busy = np.flatnonzero(index >= 0)
    dst = boundaries[workgroup[busy]] + index[busy]
    for name, values in (("src", src[dst]), ("local", local[dst]), ("dst", dst), ("entry", src[dst])):
        full[name][busy] = values
    wrote = memory({"tile_src": tile_src}, counts, sizes)
    return m.build_rows(wrote, workgroup=workgroup, thread=thread, **full)


def _cut_steps(m: MapBuilder, ends: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    every = np.zeros(len(boundaries), np.int64)
    tile_src, probes = search(ends, boundaries, "left", every, every + len(ends))
    lanes = m.lanes(len(boundaries))
    m.one_thread("cut", "launch a workgroup for each tile", anchor(_CUT, "launch"))
    m.rounds("cut", "probe", anchor(_CUT, "probe"), lanes, probes)
    m.step("cut", "store the tile's first src", anchor(_CUT, "store"), lanes.first(len(boundaries)))
    return tile_src


def _tile_steps(
    m: MapBuilder, lanes: Lanes, ends: np.ndarray, items: np.ndarray, span: np.ndarray, tile_src: np.ndarray
) -> None:
    size = m.workgroup_size
    every, counted = lanes.first(lanes.launched), span <= LONGEST_ROUNDS * size
    m.step("tile_items", "take the tile's src", anchor(_TILE, "load"), lanes.active(np.repeat(items > 0, size)))
    m.step("tile_items", "zero the heads", anchor(_TILE, "zero"), every, ITEMS)
    m.rounds(
        "tile_items", "count one head", anchor(_TILE, "count"), lanes, rounds_of(np.where(counted, span, 0), size)
    )  # fmt: skip
    m.step("tile_items", f"add up {ITEMS} heads", anchor(_TILE, "sum"), every, ITEMS)
    m.step("tile_items", f"scan the workgroup, {size.bit_length() - 1} rounds", anchor(_TILE, "scan"), every)
    m.step("tile_items", "spread the sums over the heads", anchor(_TILE, "spread"), every, ITEMS)
    alone = np.flatnonzero(~counted)
    if len(alone):
        _search_steps(m, lanes, ends, items, tile_src, alone)
    add_loop(
        m, "tile_items", lanes, rounds_of(items, size),
        ("look up the src", anchor(_TILE, "look"), 1), ("work", anchor(_TILE, "work"), 1),
    )  # fmt: skip


def _search_steps(
    m: MapBuilder, lanes: Lanes, ends: np.ndarray, items: np.ndarray, tile_src: np.ndarray, alone: np.ndarray
) -> None:
    """The probes of the tiles that search for every item: of each thread's items one after the other."""
    size = m.workgroup_size
    tile = np.repeat(alone, items[alone])
    index = (
        np.arange(len(tile)) - (np.cumsum(items[alone]) - items[alone])[np.repeat(np.arange(len(alone)), items[alone])]
    )
    _, probes = search(ends, tile * ITEMS * size + index, "right", tile_src[tile], tile_src[tile + 1])
    total = np.zeros(lanes.launched, np.int64)
    np.add.at(total, tile * size + index % size, probes)
    m.rounds("tile_items", "search for the src, one probe", anchor(_TILE, "probe"), lanes, total)


STRATEGY = Strategy(
    name="tile_search",
    title="Load-balancing search",
    solution=None,
    summary="A prefix sum, one search for each tile of the output, and heads scanned inside the tile.",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("tile_src",),
)
