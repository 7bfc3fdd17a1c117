"""Strip 3: every thread of pass 2 as a cell, in subgroups and workgroups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from expandlab.expansion.thread_map import ThreadMap
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, number_width, plural
from expandlab.figures.limits import MAX_DRAWN

GUTTER = 60
# Below this many threads a cell carries its numbers.
NUMBERED = 256
# More threads than this are not drawn but counted.
MOST = MAX_DRAWN
# Pixels that a grid of cells may take: of colours alone, and of cells large enough for numbers.
_TALLEST, _TALLEST_NUMBERED = 400, 600
_CELLS = (20, 18, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2)
_EMPTY = 40


@dataclass(frozen=True)
class Grid:
    """Where the cells go: blocks of one workgroup each, left to right and down, of `lanes` threads a line."""

    blocks: int
    per_row: int
    lanes: int
    lines: int
    subgroup: int
    cell_width: float
    cell_height: float
    subgroup_gap: float
    block_gap: float
    numbered: bool = False

    @property
    def lines_per_subgroup(self) -> int:
        """Lines that a subgroup takes; 1 where a line holds one or more."""
        return max(1, self.subgroup // self.lanes)

    @property
    def line_gap(self) -> float:
        """Pixels between subgroups that stand below one another."""
        return self.subgroup_gap if self.lines_per_subgroup > 1 else 0.0

    @property
    def block_width(self) -> float:
        """Pixels of a line of lanes, gaps between subgroups included."""
        return self.lanes * self.cell_width + (max(1, self.lanes // self.subgroup) - 1) * self.subgroup_gap

    @property
    def block_height(self) -> float:
        """Pixels of a workgroup's lines."""
        return self.lines * self.cell_height + (self.lines // self.lines_per_subgroup - 1) * self.line_gap

    @property
    def width(self) -> float:
        """Pixels of a full row of blocks."""
        return self.per_row * (self.block_width + self.block_gap) - self.block_gap

    @property
    def height(self) -> float:
        """Pixels of all rows of blocks."""
        return -(-self.blocks // self.per_row) * (self.block_height + self.block_gap) - self.block_gap

    def place(self, block: np.ndarray, within: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Left and top of the cells of threads `within` their blocks."""
        line, lane = within // self.lanes, within % self.lanes
        x = (block % self.per_row) * (self.block_width + self.block_gap) + lane * self.cell_width
        x = x + (lane // self.subgroup) * self.subgroup_gap
        y = (block // self.per_row) * (self.block_height + self.block_gap) + line * self.cell_height
        y = y + (line // self.lines_per_subgroup) * self.line_gap
        return x.astype(float), y.astype(float)


def blocks_of(map: ThreadMap) -> tuple[np.ndarray, np.ndarray]:
    """(block, place in it) of every row: a block is a workgroup of one dispatch, once for each turn its threads take.

    A map with one row for each step of a thread that handles several items gets one block for each step.
    """
    if not len(map):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    size = map.workgroup_size
    within = np.clip(map.subgroup.astype(np.int64) * map.subgroup_size + map.lane, 0, size - 1)
    group = map.dispatch.astype(np.int64) * (int(map.workgroup.max()) + 1) + map.workgroup
    thread = group * size + within
    order = np.argsort(thread, kind="stable")
    new = np.ones(len(thread), bool)
    new[1:] = np.diff(thread[order]) > 0
    starts = np.flatnonzero(new)
    turn = np.empty(len(thread), np.int64)
    turn[order] = np.arange(len(thread)) - np.repeat(starts, np.diff(np.append(starts, len(thread))))
    _, block = np.unique(group * (int(turn.max()) + 1) + turn, return_inverse=True)
    return block.reshape(-1), within


def grids(maps: Sequence[ThreadMap], width: float) -> list[Grid | None]:
    """The largest cells that fit `width` pixels and a screen's height, of one scale for all maps.

    None for a map of no threads. Cells carry numbers where every map has fewer than 256 threads, or where one has
    and the others still fit a screen with cells as large.
    """
    launched = [item for item in maps if len(item)]
    if not launched:
        return [None] * len(maps)
    size, subgroup = launched[0].workgroup_size, min(launched[0].subgroup_size, launched[0].workgroup_size)
    blocks = [min(int(blocks_of(item)[0].max(initial=-1)) + 1, MOST // size) for item in maps]
    room = width - GUTTER
    found = None
    if min(map(len, launched)) < NUMBERED:
        found = _numbered(launched, max(blocks), room, size, subgroup)
        if found.height > _TALLEST_NUMBERED:
            found = None
    found = found or _coloured(max(blocks), room, size, subgroup)
    return [replace(found, blocks=count) if count else None for count in blocks]


def _coloured(blocks: int, room: float, size: int, subgroup: int) -> Grid:
    fits = []
    lanes = size
    while lanes >= 4:
        # A workgroup on one line is read most easily, then a subgroup on one: cells may be smaller for it.
        ease = 2.0 if lanes == size else 1.6 if lanes >= subgroup else 1.0
        for cell in _CELLS:
            found = _fit(blocks, size, lanes, subgroup, cell, cell, room)
            if found.width <= room and found.height <= _TALLEST:
                fits.append((cell * ease, found))
                break
        lanes //= 2
    if not fits:
        return _fit(blocks, size, size, subgroup, _CELLS[-1], _CELLS[-1], room)
    return _stretched(max(fits, key=lambda item: item[0])[1], room)


def _stretched(found: Grid, room: float) -> Grid:
    """The grid with cells as wide as the page allows, up to twice their height."""
    groups = max(1, found.lanes // found.subgroup) - 1
    per_block = (room + found.block_gap) / found.per_row - found.block_gap - groups * found.subgroup_gap
    wide = min(float(int(per_block / found.lanes)), 2 * found.cell_height)
    return replace(found, cell_width=max(wide, found.cell_width))


def _gaps(cell: float) -> tuple[float, float]:
    """Pixels between subgroups of a workgroup, and between workgroups."""
    return (3.0, 6.0) if cell >= 10 else (2.0, 4.0) if cell >= 4 else (1.0, 2.0)


def _fit(blocks: int, size: int, lanes: int, subgroup: int, wide: float, tall: float, room: float) -> Grid:
    gap, between = _gaps(wide)
    one = Grid(blocks, 1, lanes, size // lanes, subgroup, wide, tall, gap, between)
    per_row = max(1, min(blocks, int((room + between) // (one.block_width + between))))
    return Grid(blocks, per_row, lanes, size // lanes, subgroup, wide, tall, gap, between)


def _numbered(maps: Sequence[ThreadMap], blocks: int, room: float, size: int, subgroup: int) -> Grid:
    local = max(number_width(item.local[item.active], 10.5) for item in maps)
    src = max(number_width(item.src[item.active], 8) for item in maps)
    need = max(local, src, 11) + 4
    lanes = size
    while lanes > 8 and (lanes * need + (lanes // subgroup) * 3 > room or lanes > 32):
        lanes //= 2
    wide = min(float(int((room - 3 * max(0, lanes // subgroup - 1)) / lanes)), 40.0)
    return replace(_fit(blocks, size, lanes, subgroup, wide, 26.0, room), numbered=True)


def height(found: Grid | None) -> float:
    """Pixels that the strip takes."""
    return _EMPTY if found is None else found.height


def note(map: ThreadMap, found: Grid | None) -> str:
    """How to read the grid."""
    if found is None:
        return "no thread is launched"
    lines = found.lines
    shape = f"a block is a workgroup of {map.workgroup_size}"
    if found.lanes < found.subgroup:
        shape += f", each subgroup of {found.subgroup} takes {found.subgroup // found.lanes} lines"
    elif found.lanes == found.subgroup and lines > 1:
        shape += f", a line is a subgroup of {found.subgroup}"
    else:
        shape += f", a gap parts its subgroups of {found.subgroup}"
    numbers = "; small: src, large: local" if found.numbered and len(map) < NUMBERED else ""
    return f"{shape}{numbers}; hatched: idle"


def draw(canvas: Canvas, x: float, y: float, map: ThreadMap, src_count: int, found: Grid | None,
         selected: int = -1) -> None:  # fmt: skip
    """Draw the grid at (x, y); `selected` is a row of the map."""
    if found is None:
        canvas.rects(x + GUTTER, y, 300, _EMPTY - 8, c.IDLE)
        canvas.text(x + GUTTER + 12, y + 20, "P2 = 0: pass 2 launches no thread", colour=c.MUTED)
        return
    block, within = blocks_of(map)
    kept = np.flatnonzero(block < found.blocks)
    left, top = found.place(block[kept], within[kept])
    left, top = left + x + GUTTER, top + y
    gap = 1.0 if found.cell_width >= 5 else 0.0
    wide, tall = found.cell_width - gap, found.cell_height - gap
    active = map.src[kept] >= 0
    ground = c.src_colours(max(src_count, 1))[np.where(active, map.src[kept], 0)]
    if active.any():
        canvas.rects(left[active], top[active], wide, tall, ground[active], gid="threads-active")
    if not active.all():
        canvas.rects(left[~active], top[~active], wide, tall, c.IDLE, gid="threads-idle")
        canvas.hatch(left[~active], top[~active], wide, tall, gid="threads-hatch")
    if found.numbered and len(map) < NUMBERED:
        centre = left[active] + wide / 2
        canvas.numbers_on(map.src[kept][active], centre, top[active] + 6.5, 8, ground[active], gid="threads-src")
        canvas.numbers_on(map.local[kept][active], centre, top[active] + 17, 10.5, ground[active], gid="threads-local")
    _relatives(canvas, map, kept, left, top, wide, tall, selected)
    _group_numbers(canvas, x, y, map, block, found)


def _relatives(
    canvas: Canvas, map: ThreadMap, kept: np.ndarray, left: np.ndarray, top: np.ndarray, wide: float, tall: float,
    selected: int,
) -> None:  # fmt: skip
    if not 0 <= selected < len(map):
        return
    if map.src[selected] >= 0:
        kin = np.flatnonzero(map.src[kept] == map.src[selected])
        # Neighbours on a line share one outline: on small cells one each would hide the colours.
        apart = (np.diff(top[kin]) != 0) | (np.diff(left[kin]) > wide + 1.5)
        first = kin[np.concatenate([[True], apart])]
        last = kin[np.concatenate([apart, [True]])]
        canvas.outline(left[first], top[first], left[last] - left[first] + wide, tall, 1.2, gid="threads-siblings")
    here = kept == selected
    if here.any():
        canvas.outline(left[here] - 1, top[here] - 1, wide + 2, tall + 2, 2.6, gid="selected-thread")


def _group_numbers(canvas: Canvas, x: float, y: float, map: ThreadMap, block: np.ndarray, found: Grid) -> None:
    """The number of the first workgroup of each row of blocks, as often as there is room for text."""
    first = np.unique(block, return_index=True)[1]
    pitch = found.block_height + found.block_gap
    every = max(1, int(-(-14 // pitch)))
    for row in range(0, -(-found.blocks // found.per_row), every):
        number = int(map.workgroup[first[min(row * found.per_row, len(first) - 1)]])
        text = f"group {number}" if number < 1000 else f"{number:,}"
        canvas.text(x, y + row * pitch + min(11.0, max(found.cell_height * 0.5 + 4, 6.0)), text, 10, colour=c.MUTED,
                    width=GUTTER - 6, smallest=8)  # fmt: skip


def left_out(map: ThreadMap) -> str | None:
    """What is said where a map is too large to be drawn whole."""
    more = len(map) - MOST
    return f"the first {MOST:,} threads are drawn; {plural(more, 'thread')} more are not" if more > 0 else None
