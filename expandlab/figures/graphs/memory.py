"""Resource lifetimes along the order, and where each transient buffer lies in the memory of its device."""

from __future__ import annotations

from typing import Any, NamedTuple

from expandlab.figures import colours as c
from expandlab.figures.canvas import bytes_text, plural
from expandlab.figures.graphs import words
from expandlab.graph import Plan

HEAD = ("form", "resource", "first pass", "last pass", "kept as", "device", "offset (bytes)", "size (bytes)")
_ROW, _HEADER, _MAP, _GUTTER, _MOST = 20, 66, 120, 150, 40


class Life(NamedTuple):
    """A resource that is used. uses: (place in the order, reads, writes); last: the place until which it lives."""

    resource: str
    uses: list[tuple[int, bool, bool]]
    last: int
    kept: str


def lives(plan: Plan) -> list[Life]:
    """The resources that the kept passes use, in order of declaration."""
    uses: dict[str, list[tuple[int, bool, bool]]] = {}
    for place, owner in enumerate(plan.order):
        mine: dict[str, tuple[bool, bool]] = {}
        for access in plan.passes[owner].accesses:
            reads, writes = mine.get(access.resource, (False, False))
            mine[access.resource] = reads or access.reads, writes or access.writes
        for name, (reads, writes) in mine.items():
            uses.setdefault(name, []).append((place, reads, writes))
    found = []
    for name, resource in plan.graph.resources.items():
        if name in uses:
            kept = "imported" if resource.imported else "output" if name in plan.graph.outputs else "transient"
            last = uses[name][-1][0] if kept == "transient" else len(plan.order) - 1
            found.append(Life(name, uses[name], last, kept))
    return found


def rows(plan: Plan) -> list[tuple[Any, ...]]:
    """The data table: a row for each placement, and one for each resource that has none."""
    form, found = words.MODE_NAMES[plan.mode], []
    for life in lives(plan):
        first, last = plan.order[life.uses[0][0]], plan.order[life.last]
        mine = [place for place in plan.memory if place.resource == life.resource]
        for place in mine:
            found.append((form, life.resource, first, last, life.kept, place.device, place.offset, place.size))
        if not mine:
            found.append((form, life.resource, first, last, life.kept, "", "", ""))
    return found


def total(plan: Plan) -> dict[str, tuple[int, int]]:
    """{device: (bytes that the placements reach to, the sum of their sizes)}."""
    found: dict[str, tuple[int, int]] = {}
    for place in plan.memory:
        end, sizes = found.get(place.device, (0, 0))
        found[place.device] = (max(end, place.offset + place.size), sizes + place.size)
    return found


def summary(plan: Plan) -> str:
    """`gpu0: 8,192 B for 12,288 B of transient buffers`."""
    parts = [f"{device}: {bytes_text(end)} for {bytes_text(sizes)} of transient buffers"
             for device, (end, sizes) in sorted(total(plan).items())]  # fmt: skip
    return "; ".join(parts) or "no transient buffer is placed"


def height(plan: Plan) -> float:
    """Pixels of the drawing."""
    many = len(lives(plan))
    return _HEADER + min(many, _MOST) * _ROW + (16 if many > _MOST else 0) + len(total(plan)) * (_MAP + 14) + 8


def draw(canvas: Any, left: float, y: float, width: float, plan: Plan) -> None:
    """Lifetimes, and below them the memory of each device, both over the plan's order."""
    form = words.MODE_NAMES[plan.mode]
    step = (width - _GUTTER) / max(1, len(plan.order))
    start = left + _GUTTER
    found = lives(plan)
    for place, name in enumerate(plan.order):
        if step >= 22:
            canvas.text(start + (place + 0.5) * step, y + 40, name, 10.5, align="center", width=step - 4, smallest=7)
    for kind, mark, text in (("write", c.INK, "writes"), ("read", c.BACKGROUND, "reads")):
        at = left + (0 if kind == "write" else 78)
        canvas.rects(at, y + 6, 10, 10, mark, edge=c.INK, line=1.0)
        canvas.text(at + 16, y + 15, text, 10.5, colour=c.MUTED)
    canvas.text(left + 150, y + 15, "half filled: both; the bar is how long the contents are needed", 10.5,
                colour=c.MUTED)  # fmt: skip
    top = y + 52
    colours = c.src_colours(len(found))
    for row, life in enumerate(found[:_MOST]):
        at = top + row * _ROW
        canvas.text(left, at + 13, f"{life.resource} ({life.kept})", 11, width=_GUTTER - 8, smallest=8)
        first = life.uses[0][0] if life.kept != "imported" else 0
        canvas.rects(start + first * step + 1, at + 4, (life.last - first + 1) * step - 2, 11, colours[row][None],
                     gid="lifetime")  # fmt: skip
        used = [f"{plan.order[place]} {'reads and writes' if r and w else 'writes' if w else 'reads'}"
                for place, r, w in life.uses]  # fmt: skip
        placed = [f"{p.size:,} bytes at {p.offset:,} on {p.device}" for p in plan.memory if p.resource == life.resource]
        near = [words.ident(form, "place", p.device, p.resource) for p in plan.memory if p.resource == life.resource]
        canvas.target(words.ident(form, "life", life.resource), "life",
                      [f"{life.resource}, {life.kept}", *used, *placed],
                      box=(left, at + 1, width, _ROW - 2), near=near)  # fmt: skip
        for place, reads, writes in life.uses:
            middle = start + (place + 0.5) * step
            canvas.rects(middle - 5, at + 4.5, 10, 10, c.BACKGROUND, edge=c.INK, line=1.0, gid="use")
            if writes:
                canvas.rects(middle - 5, at + 4.5 + (5 if reads else 0), 10, 5 if reads else 10, c.INK)
    if len(found) > _MOST:
        canvas.text(left, top + _MOST * _ROW + 12, f"and {plural(len(found) - _MOST, 'more resource')}", 11,
                    colour=c.MUTED)  # fmt: skip
    top += min(len(found), _MOST) * _ROW + (16 if len(found) > _MOST else 0) + 12
    places = {life.resource: (row, life) for row, life in enumerate(found)}
    for device, (end, _) in sorted(total(plan).items()):
        canvas.text(left, top + 12, f"memory of {device}", 11, weight="bold", width=_GUTTER - 8, smallest=8)
        canvas.text(left, top + 28, bytes_text(end), 11, colour=c.MUTED, width=_GUTTER - 8)
        canvas.rects(start, top, width - _GUTTER, _MAP, c.FREE, edge=c.RULE, line=1.0)
        for place in plan.memory:
            if place.device != device:
                continue
            row, life = places[place.resource]
            first = life.uses[0][0]
            x, wide = start + first * step, (life.last - first + 1) * step
            low, high = place.offset / end * _MAP, place.size / end * _MAP
            canvas.rects(x + 1, top + low + 0.5, wide - 2, max(1.0, high - 1), colours[row][None], edge=c.INK, line=0.6,
                         gid="placement")  # fmt: skip
            canvas.target(words.ident(form, "place", device, place.resource), "place",
                          [place.resource, f"{place.size:,} bytes at {place.offset:,} on {device}",
                           f"from {plan.order[first]} to {plan.order[life.last]}"],
                          box=(x + 1, top + low, wide - 2, max(3.0, high)),
                          near=[words.ident(form, "life", place.resource)] if row < _MOST else [])  # fmt: skip
            if high >= 12:
                ink = c.INK if c.ink_on(colours[row]) else c.BACKGROUND
                canvas.text(x + wide / 2, top + low + high / 2 + 4, f"{place.resource} at {place.offset:,}", 10.5,
                            align="center", colour=ink, width=wide - 4, smallest=7)  # fmt: skip
        top += _MAP + 14
