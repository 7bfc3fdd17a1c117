"""The model of `tile_search`: blocks of counts, tiles of items, and the lanes that work on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from expandlab.expansion.steps import add_loop, search, stepped
from expandlab.expansion.strategy import Sizes
from expandlab.expansion.thread_map import Lanes, MapBuilder, ThreadMap, items_of
from expandlab.wgsl import anchor

# Items for each thread, and the rounds of marking at most; the shaders have the same.
ITEMS, LONGEST_ROUNDS = 16, 16
# Every block adds up the sums of all blocks before it, which stays cheap up to this many.
MOST_BLOCKS = 2048
# A src with more tiles than this hands them to its workgroup; place.wgsl has the same.
ALONE = 32
_REDUCE, _PLACE, _TILE = (f"expansion/tile_search/{name}.wgsl" for name in ("reduce", "place", "tile_items"))


def row_of(src: int, size: int) -> int:
    """Counts for each thread: 8, or the next power of two that leaves at most MOST_BLOCKS blocks."""
    row = 8
    while src > MOST_BLOCKS * row * size:
        row *= 2
    return row


def owners_of_tiles(ends: np.ndarray, size: int) -> np.ndarray:
    """The src of every tile's first item."""
    total = int(ends[-1]) if len(ends) else 0
    return np.searchsorted(ends, np.arange(0, total, ITEMS * size), side="right")


def model(counts: np.ndarray, sizes: Sizes, memory: Callable[..., Any]) -> ThreadMap:
    """Workgroup t takes the items of tile t, four neighbours for each thread in turns."""
    m = MapBuilder("tile_search", sizes)
    size = sizes.workgroup_size
    src, local = items_of(counts)
    ends = np.cumsum(counts, dtype=np.int64)
    tile_src = owners_of_tiles(ends, size)
    _place_steps(m, counts, ends)
    groups = m.lanes(len(tile_src) * size)
    items, span = (np.zeros(groups.workgroups, np.int64) for _ in "is")
    begins = np.arange(groups.workgroups, dtype=np.int64) * ITEMS * size
    items[: len(tile_src)] = np.minimum(len(src) - begins[: len(tile_src)], ITEMS * size)
    # No src after the next tile's first one has an item in the tile; the last tile looks at all that are left.
    span[: len(tile_src)] = np.append(tile_src[1:], len(counts) - 1)[: len(tile_src)] - tile_src
    _tile_steps(m, groups, ends, items, span, tile_src)
    workgroup, thread, index = _in_fours(items, size)
    m.lanes(len(workgroup))
    full = {name: np.full(len(workgroup), -1) for name in ("src", "local", "dst", "entry")}
    busy = np.flatnonzero(index >= 0)
    dst = begins[workgroup[busy]] + index[busy]
    for name, values in (("src", src[dst]), ("local", local[dst]), ("dst", dst), ("entry", src[dst])):
        full[name][busy] = values
    wrote = memory({"tile_src": tile_src}, counts, sizes)
    return m.build_rows(wrote, workgroup=workgroup, thread=thread, **full)


def _in_fours(items: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of workgroups whose threads take four neighbouring items each turn: as `strided`, a step for each item."""
    group, thread, step = stepped(4 * np.maximum(1, -(-items // (4 * size))), size)
    item = step // 4 * 4 * size + 4 * thread + step % 4
    return group, thread, np.where(item < items[group], item, -1)


def _place_steps(m: MapBuilder, counts: np.ndarray, ends: np.ndarray) -> None:
    size = m.workgroup_size
    row = row_of(len(counts), size)
    blocks = max(1, -(-len(counts) // (row * size)))
    lanes = m.lanes(blocks * size)
    thread, rounds = np.arange(lanes.launched), size.bit_length() - 1
    block, local = thread // size, thread % size
    every, strided = lanes.first(lanes.launched), (len(counts) - block * row * size - local + size - 1) // size
    in_row = np.clip(len(counts) - thread * row, 0, row)
    m.rounds("reduce", "add up counts", anchor(_REDUCE, "load"), lanes, np.clip(strided, 0, row))
    m.step("reduce", f"add up the workgroup, {rounds} rounds", anchor(_REDUCE, "reduce"), every)
    m.step("reduce", "store the block's sum", anchor(_REDUCE, "store"), lanes.active(local == size - 1))
    m.rounds("place", f"take {row} counts", anchor(_PLACE, "load"), lanes, in_row)
    m.rounds(
        "place", "add up the blocks before", anchor(_PLACE, "before"), lanes, np.maximum(0, -((local - block) // size))
    )
    m.step("place", f"scan the workgroup, {rounds} rounds", anchor(_PLACE, "scan"), every)
    m.one_thread("place", "launch a workgroup for each tile", anchor(_PLACE, "launch"))
    m.rounds("place", "store the end of a range", anchor(_PLACE, "store"), lanes, in_row)
    starts = ends - counts
    tiles = -(-ends // (ITEMS * size)) + -starts // (ITEMS * size)
    alone = np.bincount(np.arange(len(counts)) // row, np.where(tiles > ALONE, 0, tiles), lanes.launched)
    m.rounds("place", "write down a tile", anchor(_PLACE, "tile"), lanes, alone.astype(np.int64))
    shared = np.zeros((blocks, size), np.int64)
    for src in np.flatnonzero(tiles > ALONE):
        shared[src // (row * size)] += np.maximum(0, -((np.arange(size) - tiles[src]) // size))
    m.rounds("place", "write down a giant's tile", anchor(_PLACE, "share"), lanes, shared.ravel())


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
        _search_steps(m, lanes, ends, items, span, tile_src, alone)
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
    m: MapBuilder,
    lanes: Lanes,
    ends: np.ndarray,
    items: np.ndarray,
    span: np.ndarray,
    tile_src: np.ndarray,
    alone: np.ndarray,
) -> None:
    """The probes of the tiles that search for every item: of each thread's items one after the other."""
    size = m.workgroup_size
    tile = np.repeat(alone, items[alone])
    index = (
        np.arange(len(tile)) - (np.cumsum(items[alone]) - items[alone])[np.repeat(np.arange(len(alone)), items[alone])]
    )
    _, probes = search(ends, tile * ITEMS * size + index, "right", tile_src[tile], tile_src[tile] + span[tile])
    total = np.zeros(lanes.launched, np.int64)
    np.add.at(total, tile * size + index // 4 % size, probes)
    m.rounds("tile_items", "search for the src, one probe", anchor(_TILE, "probe"), lanes, total)
