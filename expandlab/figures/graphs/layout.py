"""Where the passes of a plan stand: dependency levels downwards, a column for each queue of each device.

The layers of Sugiyama's method without dummy nodes: a level is cut into rows that fit the page, each row is ordered
by where its producers stand, and an edge that passes a row goes through the nearest gap between its boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Of a box and of the gap beside it, in pixels.
NARROWEST, WIDEST, GAP = 34.0, 132.0, 14.0


@dataclass(frozen=True)
class Box:
    """A pass: its row from 0, its middle and its width in pixels."""

    row: int
    middle: float
    width: float


@dataclass(frozen=True)
class Layout:
    """lanes: (name, left, width). boxes: by pass. rows: how many. gaps: for each edge, x in the rows it passes."""

    lanes: tuple[tuple[str, float, float], ...]
    boxes: Mapping[str, Box]
    rows: int
    gaps: Mapping[tuple[str, str], tuple[float, ...]]
    levels: tuple[int, ...]


def levels(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """{pass: edges in the longest chain that leads to it}; `names` in an order along the edges."""
    into: dict[str, list[str]] = {name: [] for name in names}
    for first, second in edges:
        into[second].append(first)
    found: dict[str, int] = {}
    for name in names:
        found[name] = max((found[first] + 1 for first in into[name]), default=0)
    return found


def arrange(
    names: Sequence[str], lane_of: Mapping[str, str], edges: Sequence[tuple[str, str]], left: float, width: float,
    lanes: Sequence[str],
) -> Layout:  # fmt: skip
    """The layout of passes in `width` pixels from `left`; lanes: left to right, those without a pass are left out."""
    level = levels(names, edges)
    lanes = [lane for lane in lanes if lane in set(lane_of.values())]
    count = 1 + max(level.values(), default=-1)
    cells: dict[tuple[int, str], list[str]] = {}
    for name in names:
        cells.setdefault((level[name], lane_of[name]), []).append(name)
    widths = _lane_widths(lanes, cells, width)
    columns, at = [], left
    for lane in lanes:
        columns.append((lane, at, widths[lane]))
        at += widths[lane]
    into: dict[str, list[str]] = {name: [] for name in names}
    for first, second in edges:
        into[second].append(first)
    boxes: dict[str, Box] = {}
    row_level: list[int] = []
    for number in range(count):
        deepest = 1
        for lane, start, wide in columns:
            items = cells.get((number, lane), [])
            fits = max(1, int(wide // (NARROWEST + GAP)))
            middle = start + wide / 2
            items.sort(key=lambda name: _wanted(name, into, boxes, middle))
            lines = -(-len(items) // fits)
            deepest = max(deepest, lines)
            for line in range(lines):
                part = items[line::lines]
                room = wide / len(part)
                for place, name in enumerate(part):
                    boxes[name] = Box(
                        len(row_level) + line, start + room * (place + 0.5), max(8.0, min(WIDEST, room - GAP))
                    )
        row_level += [number] * deepest
    return Layout(tuple(columns), boxes, len(row_level), _routes(edges, boxes, columns), tuple(row_level))


def _wanted(name: str, into: Mapping[str, Sequence[str]], boxes: Mapping[str, Box], middle: float) -> float:
    """Where a pass would stand best: in the middle of its producers."""
    found = [boxes[first].middle for first in into[name]]
    return sum(found) / len(found) if found else middle


def _lane_widths(
    lanes: Sequence[str], cells: Mapping[tuple[int, str], Sequence[str]], width: float
) -> dict[str, float]:
    """Each lane as wide as its fullest level needs, the least being what one box of full width takes."""
    most = {lane: max(len(items) for (_, other), items in cells.items() if other == lane) for lane in lanes}
    share = {lane: max(2.0, min(most[lane], width / (NARROWEST + GAP))) for lane in lanes}
    total = sum(share.values())
    return {lane: width * share[lane] / total for lane in lanes}


def _routes(
    edges: Sequence[tuple[str, str]], boxes: Mapping[str, Box], columns: Sequence[tuple[str, float, float]]
) -> dict[tuple[str, str], tuple[float, ...]]:
    by_row: dict[int, list[Box]] = {}
    for box in boxes.values():
        by_row.setdefault(box.row, []).append(box)
    left, right = (columns[0][1], columns[-1][1] + columns[-1][2]) if columns else (0.0, 0.0)
    free: dict[int, list[tuple[float, float]]] = {}
    for row, found in by_row.items():
        ends = [left + 2]
        for box in sorted(found, key=lambda box: box.middle):
            ends += [box.middle - box.width / 2 - 4, box.middle + box.width / 2 + 4]
        ends.append(right - 2)
        free[row] = list(zip(ends[::2], ends[1::2], strict=True))
    used: dict[tuple[int, int], int] = {}
    routes = {}
    for first, second in edges:
        a, b = boxes[first], boxes[second]
        points, x = [], a.middle
        for row in range(a.row + 1, b.row):
            straight = x + (b.middle - x) / (b.row - row + 1)
            spaces = free.get(row, [(left, right)])
            best = min(range(len(spaces)), key=lambda at: abs(_inside(straight, spaces[at]) - straight))
            crowd = used[row, best] = used.get((row, best), -1) + 1
            # Neighbours in one gap stand beside each other, as far as it has room.
            x = _inside(_inside(straight, spaces[best]) + 5 * crowd, spaces[best])
            points.append(x)
        routes[first, second] = tuple(points)
    return routes


def _inside(x: float, space: tuple[float, float]) -> float:
    low, high = space
    return min(max(x, low), high) if low <= high else (low + high) / 2
