"""The model of `tile_search`: tiles of items, and the lanes that mark and look up their src."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from expandlab.expansion.steps import add_loop, search, stepped
from expandlab.expansion.strategy import Sizes
from expandlab.expansion.thread_map import Lanes, MapBuilder, ThreadMap, items_of
from expandlab.expansion.tiles import ITEMS, LONGEST_ROUNDS, owners_of_tiles, place_steps
from expandlab.wgsl import anchor

_TILE = "expansion/tile_search/tile_items.wgsl"


def model(counts: np.ndarray, sizes: Sizes, memory: Callable[..., Any]) -> ThreadMap:
    """Workgroup t takes the items of tile t, four neighbours for each thread in turns."""
    m = MapBuilder("tile_search", sizes)
    size = sizes.workgroup_size
    src, local = items_of(counts)
    ends = np.cumsum(counts, dtype=np.int64)
    tile_src = owners_of_tiles(ends, ITEMS * size)
    place_steps(m, counts, ends, ITEMS * size)
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
