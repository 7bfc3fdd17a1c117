"""The graph itself: passes in dependency levels, a lane for each queue, edges labelled by their reason."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.canvas import clean, text_width
from expandlab.figures.graphs import words
from expandlab.figures.graphs.layout import Box, Layout, arrange
from expandlab.graph import Plan

HEAD = ("form", "producer", "consumer", "kind", "because of", "producer's queue", "consumer's queue")
# Kind of an edge -> its colour and its stroke.
STROKES: dict[str, tuple[str, Any]] = {
    "RAW": (c.INK, "solid"), "WAW": ("#832db6", (0, (5, 2))), "WAR": ("#e76300", (0, (5, 2, 1, 2))),
    "explicit": (c.ACCENT, (0, (1, 1.5))), "link": ("#bd1f01", (0, (2, 2))),
}  # fmt: skip
_BOX, _LANES, _LEGEND = 26, 20, 24
_LABELLED = 14


class Drawn(NamedTuple):
    """A plan with its layout. labelled: whether there is room for the reasons of its edges and for notes."""

    plan: Plan
    layout: Layout
    edges: list[words.Edge]
    notes: dict[str, list[str]]
    labelled: bool

    @property
    def pitch(self) -> float:
        """From one row to the next."""
        return 104.0 if self.labelled else 56.0

    @property
    def height(self) -> float:
        """Pixels of the drawing."""
        return _LANES + 20 + self.layout.rows * self.pitch + _LEGEND


def prepare(plan: Plan, left: float, width: float) -> Drawn:
    """The layout of a plan in `width` pixels."""
    lanes = {name: words.lane(plan, name) for name in plan.order}
    edges = words.edges(plan)
    layout = arrange(plan.order, lanes, [edge[:2] for edge in edges], left + 18, width - 18, words.all_lanes(plan))
    return Drawn(plan, layout, edges, words.before(plan), len(edges) <= _LABELLED)


def rows(plan: Plan) -> list[tuple[Any, ...]]:
    """The data table: one row for each edge."""
    form = words.MODE_NAMES[plan.mode]
    return [
        (form, first, second, kind, "; ".join(why), words.lane(plan, first), words.lane(plan, second))
        for first, second, kind, why in words.edges(plan)
    ]


def draw(canvas: Any, left: float, y: float, width: float, drawn: Drawn) -> None:
    """Draw a prepared plan."""
    _lanes(canvas, left, y, drawn)
    top = y + _LANES + 20
    taken = _boxes(canvas, top, drawn)
    paths = [_points(top, edge, drawn) for edge in drawn.edges]
    _edges(canvas, paths, drawn, taken)
    _targets(canvas, top, paths, drawn)
    _legend(canvas, left, y + drawn.height - 8, width, drawn)


def _top(top: float, box: Box, pitch: float) -> float:
    return top + box.row * pitch


def _lanes(canvas: Any, left: float, y: float, drawn: Drawn) -> None:
    layout = drawn.layout
    high = layout.rows * drawn.pitch + 18
    for number, (name, start, wide) in enumerate(layout.lanes):
        if number % 2 == 0:
            canvas.rects(start, y + _LANES, wide, high, c.SHADE, gid="lane")
        canvas.text(start + wide / 2, y + 13, name, 11, colour=c.MUTED, align="center", width=wide - 6, smallest=8)
    seen: set[int] = set()
    for row, level in enumerate(layout.levels):
        if level not in seen:
            seen.add(level)
            canvas.text(left, y + _LANES + 20 + row * drawn.pitch + 17, str(level), 11, colour=c.MUTED)


def _boxes(canvas: Any, top: float, drawn: Drawn) -> list[tuple[float, float, float, float]]:
    """The passes; returns the rectangles that labels keep clear of."""
    boxes = drawn.layout.boxes
    if not boxes:
        return []
    x, wide, y = (
        np.array(values)
        for values in zip(
            *((b.middle - b.width / 2, b.width, _top(top, b, drawn.pitch)) for b in boxes.values()), strict=True
        )
    )
    canvas.rects(x, y, wide, _BOX, c.BACKGROUND, edge=c.INK, line=1.2, gid="pass")
    barred = {barrier.before: barrier.kind for barrier in drawn.plan.barriers}
    for kind, face in (("memory", c.INK), ("execution", c.BACKGROUND)):
        some = [b for name, b in boxes.items() if barred.get(name) == kind]
        if some:
            canvas.rects([b.middle - b.width / 2 for b in some], [_top(top, b, drawn.pitch) - 5 for b in some],
                         [b.width for b in some], 5, face, edge=c.INK, line=1.0, gid=f"{kind}-barrier")  # fmt: skip
    taken = []
    for name, box in boxes.items():
        at = _top(top, box, drawn.pitch)
        canvas.text(box.middle, at + 17, name, 11.5, align="center", width=box.width - 4, smallest=8, weight="bold")
        taken.append((box.middle - box.width / 2, at - 5, box.middle + box.width / 2, at + _BOX))
        if drawn.labelled:
            room = max(box.width, 150)
            for line, note in enumerate(drawn.notes[name][:3]):
                used = canvas.text(box.middle, at + _BOX + 12 + 11 * line, note, 9.5, align="center", colour=c.MUTED,
                                   width=room, smallest=8)  # fmt: skip
                low = at + _BOX + 12 + 11 * line
                taken.append((box.middle - used / 2, low - 9, box.middle + used / 2, low + 2))
    return taken


def _points(top: float, edge: words.Edge, drawn: Drawn) -> list[tuple[float, float]]:
    first, second = drawn.layout.boxes[edge.producer], drawn.layout.boxes[edge.consumer]
    points = [(first.middle, _top(top, first, drawn.pitch) + _BOX)]
    for row, x in enumerate(drawn.layout.gaps[edge[:2]], first.row + 1):
        points += [(x, top + row * drawn.pitch - 4), (x, top + row * drawn.pitch + _BOX + 4)]
    # Edges that end in one box end beside each other, in the order of where they come from.
    reach = min(second.width * 0.35, 40.0)
    shift = max(-reach, min(reach, (points[-1][0] - second.middle) * 0.25))
    return [*points, (second.middle + shift, _top(top, second, drawn.pitch) - 6)]


def _edges(
    canvas: Any, paths: Sequence[list[tuple[float, float]]], drawn: Drawn,
    taken: list[tuple[float, float, float, float]],
) -> None:  # fmt: skip
    strokes: dict[str, list[list[tuple[float, float]]]] = {}
    heads: dict[str, list[list[tuple[float, float]]]] = {}
    for edge, points in zip(drawn.edges, paths, strict=True):
        strokes.setdefault(edge.kind, []).append(points)
        heads.setdefault(edge.kind, []).append(_arrow(points[-2], points[-1]))
    for kind, lines in strokes.items():
        colour, style = STROKES[kind]
        canvas.lines(lines, colour, 1.4, style=style, gid=f"edge-{kind}")
        canvas.polygons(heads[kind], colour, gid="arrow")
    if drawn.labelled:
        for edge, points in zip(drawn.edges, paths, strict=True):
            _label(canvas, edge, points, taken, drawn)


def _targets(canvas: Any, top: float, paths: Sequence[list[tuple[float, float]]], drawn: Drawn) -> None:
    """Each pass, followed by the edges that leave it, so that the keys walk along the graph."""
    form = words.MODE_NAMES[drawn.plan.mode]
    along = words.hazards_along(drawn.plan)
    leaving: dict[str, list[tuple[words.Edge, list[tuple[float, float]]]]] = {}
    touching: dict[str, list[str]] = {}
    for edge, points in zip(drawn.edges, paths, strict=True):
        leaving.setdefault(edge.producer, []).append((edge, points))
        for end in edge[:2]:
            touching.setdefault(end, []).append(_edge_id(form, edge))
    for name in drawn.plan.order:
        box = drawn.layout.boxes[name]
        canvas.target(
            words.ident(form, "pass", name), "pass", words.about(drawn.plan, name, drawn.notes[name]),
            box=(box.middle - box.width / 2, _top(top, box, drawn.pitch), box.width, _BOX),
            near=touching.get(name, ()), more={"pass": name},
        )  # fmt: skip
        for edge, points in leaving.get(name, ()):
            canvas.target(
                _edge_id(form, edge), "edge",
                [f"{edge.producer} → {edge.consumer} ({form})", *words.why(drawn.plan, edge, along.get(edge[:2], ()))],
                path=points, near=[words.ident(form, "pass", end) for end in edge[:2]],
            )  # fmt: skip


def _edge_id(form: str, edge: words.Edge) -> str:
    return words.ident(form, "edge", edge.producer, edge.consumer)


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(1e-6, (dx * dx + dy * dy) ** 0.5)
    ux, uy = dx / length, dy / length
    back = (end[0] - 7 * ux, end[1] - 7 * uy)
    return [end, (back[0] - 3.2 * uy, back[1] + 3.2 * ux), (back[0] + 3.2 * uy, back[1] - 3.2 * ux)]


def _label(
    canvas: Any, edge: words.Edge, points: Sequence[tuple[float, float]],
    taken: list[tuple[float, float, float, float]], drawn: Drawn,
) -> None:  # fmt: skip
    """The reasons on the edge, where nothing else stands; where there is no such place, the table says them."""
    lines = list(edge.reasons[:2])
    if len(edge.reasons) > 2:
        lines[1] = f"and {len(edge.reasons) - 1} more"
    wide = max(text_width(clean(line), 9.5) for line in lines) + 6
    high = 12 * len(lines) + 2
    low, high_x = drawn.layout.lanes[0][1], drawn.layout.lanes[-1][1] + drawn.layout.lanes[-1][2]
    for (x0, y0), (x1, y1) in pairwise(points):
        for part in (0.62, 0.5, 0.75, 0.4, 0.85):
            x = min(max(x0 + (x1 - x0) * part - wide / 2, low), high_x - wide)
            y = y0 + (y1 - y0) * part - high / 2
            place = (x, y, x + wide, y + high)
            if all(_apart(place, other) for other in taken):
                taken.append(place)
                canvas.rects(x, y, wide, high, c.BACKGROUND, edge=c.RULE, line=0.6, gid="reason")
                for number, line in enumerate(lines):
                    canvas.text(x + wide / 2, y + 11 + 12 * number, line, 9.5, align="center",
                                colour=STROKES[edge.kind][0])  # fmt: skip
                return


def _apart(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def _legend(canvas: Any, left: float, y: float, width: float, drawn: Drawn) -> None:
    at = left
    for kind in words.KINDS:
        if any(edge.kind == kind for edge in drawn.edges):
            colour, style = STROKES[kind]
            canvas.lines([((at, y - 4), (at + 24, y - 4))], colour, 1.6, style=style)
            at += 30 + canvas.text(at + 30, y, kind, 10, colour=c.MUTED) + 14
    for kind, face in (("memory", c.INK), ("execution", c.BACKGROUND)):
        if any(barrier.kind == kind for barrier in drawn.plan.barriers):
            canvas.rects(at, y - 7, 22, 5, face, edge=c.INK, line=1.0)
            at += 28 + canvas.text(at + 28, y, f"{kind} barrier", 10, colour=c.MUTED,
                                   width=max(10, left + width - at - 28)) + 14  # fmt: skip
