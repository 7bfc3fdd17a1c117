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

from expandlab.expansion.scan import add_scan, scan_steps
from expandlab.expansion.steps import add_loop, search, stepped
from expandlab.expansion.strategy import TOTAL, Passes, Sizes, Strategy
from expandlab.expansion.thread_map import Lanes, MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.graph.fold import fold
from expandlab.wgsl import anchor

_CUT, _TILE = "expansion/tile_search/cut.wgsl", "expansion/tile_search/tile_items.wgsl"

# Items for each thread, and the rounds of counting heads at most; the shaders have the same.
ITEMS, LONGEST_ROUNDS = 16, 16


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
    items = _boundaries(total, b.workgroup_size)
    if total:
        items[-1] = total - 1
        ends = b.ends[: b.params[0]]
        b.tile_src[: len(items)] = np.searchsorted(ends, items.astype(np.uint32), side="right")
    b.launches[:3] = fold(len(items) - 1)


def _tile_items(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    total = int(b.state[TOTAL])
    # What every tile does, all at once: a mark at the first item of every src that has some, ranks, and the owners.
    ends = b.ends[: b.tile_src[-(-total // (ITEMS * b.workgroup_size))] + 1 if total else 0]
    starts = np.concatenate([np.zeros(1, np.uint32), ends])[: len(ends)]
    owners = np.flatnonzero(ends > starts)
    marks = np.zeros(total, np.uint32)
    marks[starts[owners]] = 1
    src = owners[np.cumsum(marks, dtype=np.uint32) - 1].astype(np.uint32) if total else np.zeros(0, np.uint32)
    dst = np.arange(total, dtype=np.uint32)
    return src, dst - starts[src], dst


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
        Memory("tile_src", "src of the first item of each tile, and of the last item", (tiles,)),
    )


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Workgroup t takes the items of tile t, four neighbours for each thread in turns."""
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
    workgroup, thread, index = _in_fours(items, size)
    m.lanes(len(workgroup))
    full = {name: np.full(len(workgroup), -1) for name in ("src", "local", "dst", "entry")}
    busy = np.flatnonzero(index >= 0)
    dst = boundaries[workgroup[busy]] + index[busy]
    for name, values in (("src", src[dst]), ("local", local[dst]), ("dst", dst), ("entry", src[dst])):
        full[name][busy] = values
    wrote = memory({"tile_src": tile_src}, counts, sizes)
    return m.build_rows(wrote, workgroup=workgroup, thread=thread, **full)


def _in_fours(items: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of workgroups whose threads take four neighbouring items each turn: as `strided`, a step for each item."""
    group, thread, step = stepped(4 * np.maximum(1, -(-items // (4 * size))), size)
    item = step // 4 * 4 * size + 4 * thread + step % 4
    return group, thread, np.where(item < items[group], item, -1)


def _cut_steps(m: MapBuilder, ends: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    items = boundaries.copy()
    m.one_thread("cut", "launch a workgroup for each tile", anchor(_CUT, "launch"))
    if len(boundaries) == 1:
        return np.zeros(1, np.int64)
    items[-1] -= 1
    every = np.zeros(len(items), np.int64)
    tile_src, probes = search(ends, items, "right", every, every + len(ends))
    lanes = m.lanes(len(items))
    m.rounds("cut", "probe", anchor(_CUT, "probe"), lanes, probes)
    m.step("cut", "store the tile's first src", anchor(_CUT, "store"), lanes.first(len(items)))
    return tile_src


def _tile_steps(
    m: MapBuilder, lanes: Lanes, ends: np.ndarray, items: np.ndarray, span: np.ndarray, tile_src: np.ndarray
) -> None:
    size = m.workgroup_size
    marked, thread = span <= LONGEST_ROUNDS * size, np.arange(lanes.launched) % size
    words = ITEMS * size // 32
    halves = _marking(ends, items, np.where(marked, span, 0), tile_src, size)
    m.step("tile_items", "take the tile's src", anchor(_TILE, "load"), lanes.active(np.repeat(items > 0, size)))
    m.step("tile_items", "zero the marks", anchor(_TILE, "zero"), lanes.active(thread < words))
    m.rounds("tile_items", "mark a first item", anchor(_TILE, "mark"), lanes, sum(halves))
    add_loop(
        m, "tile_items", lanes, np.where(thread < words, thread % 8, 0),
        ("count the marks of one word", anchor(_TILE, "sum"), 1),
    )  # fmt: skip
    add_loop(
        m, "tile_items", lanes, np.where(thread < words // 8, thread, 0),
        ("count the marks of eight words", anchor(_TILE, "sum-eights"), 1),
    )  # fmt: skip
    alone = np.flatnonzero(~marked)
    if len(alone):
        _search_steps(m, lanes, ends, items, tile_src, alone)
    for half, marks in enumerate(halves):
        m.rounds("tile_items", "store an owner under its rank", anchor(_TILE, "own"), lanes, marks)
        _row_steps(m, lanes, items, marked, range(half * ITEMS // 8, (half + 1) * ITEMS // 8))


def _marking(
    ends: np.ndarray, items: np.ndarray, span: np.ndarray, tile_src: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """How many src each thread marks in either half of its tile: those of its turns that begin there with N > 0."""
    tile = np.repeat(np.arange(len(span)), span)
    if not len(tile):
        return (np.zeros(len(span) * size, np.int64),) * 2
    turn = np.arange(len(tile)) - (np.cumsum(span) - span)[tile]
    src = tile_src[tile] + 1 + turn
    place = ends[src - 1] - tile * ITEMS * size
    inside = (place < items[tile]) & (ends[src] > ends[src - 1])
    half = ITEMS * size // 2
    thread = tile * size + turn % size
    first, second = (inside & (place // half == number) for number in (0, 1))
    return tuple(np.bincount(thread[mask], minlength=len(span) * size) for mask in (first, second))


def _row_steps(m: MapBuilder, lanes: Lanes, items: np.ndarray, marked: np.ndarray, rows: range) -> None:
    size = m.workgroup_size
    place = 4 * np.arange(size)
    for row in rows:
        left = (items[:, None] - row * 4 * size - place).clip(0, 4)
        if not left.any():
            continue
        looking = ((left > 0) & marked[:, None]).ravel()
        m.step("tile_items", "look up the owners of four items", anchor(_TILE, "look"), lanes.active(looking))
        for item in range(4):
            m.step("tile_items", "work", anchor(_TILE, "work"), lanes.active((left > item).ravel()))


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
    np.add.at(total, tile * size + index // 4 % size, probes)
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
