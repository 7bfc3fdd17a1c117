"""Where the bytes of a plan's buffers are valid: a column for the start and for each pass, a row for each device."""

from __future__ import annotations

from typing import Any

from expandlab.figures import colours as c
from expandlab.figures.canvas import plural
from expandlab.figures.graphs import words
from expandlab.graph import Plan

HEAD = ("after", "resource", "first byte", "end", "valid on", "before it")
_ROW, _GUTTER, _TOP, _GAP, _FOOT = 30, 150, 64, 16, 26
_START = "at the start"


def rows(plan: Plan) -> list[tuple[Any, ...]]:
    """The data table: a row for each range of each resource at the start and after each pass."""
    before = words.before(plan)
    return [
        (item.after or _START, item.resource, *item.range, ", ".join(item.devices) or "none",
         "; ".join(before[item.after]) if item.after else "")
        for item in plan.validity
    ]  # fmt: skip


def summary(plan: Plan) -> str:
    """`1 copy of 65,536 B, 1 wait`."""
    moved = sum(copy.range[1] - copy.range[0] for copy in plan.copies)
    if not plan.copies:
        return f"no copy, {plural(len(plan.waits), 'wait')}"
    return f"{plural(len(plan.copies), 'copy', 'copies')} of {moved:,} B in all, {plural(len(plan.waits), 'wait')}"


def _devices(plan: Plan) -> list[str]:
    used = set(plan.devices.values())
    return [name for name in plan.graph.devices if name in used]


def _resources(plan: Plan) -> list[str]:
    return list(dict.fromkeys(item.resource for item in plan.validity))


def height(plan: Plan) -> float:
    """Pixels of the drawing."""
    return _TOP + len(_resources(plan)) * (len(_devices(plan)) * _ROW + _GAP) + _FOOT


def draw(canvas: Any, left: float, y: float, width: float, plan: Plan) -> None:
    """Draw it: filled where the bytes are valid, hatched where they are old or nothing; copies as arrows."""
    devices, resources = _devices(plan), _resources(plan)
    columns = [None, *plan.order]
    step = (width - _GUTTER) / len(columns)
    start = left + _GUTTER
    looks = dict(zip(devices, c.src_colours(len(devices)), strict=True))
    block = len(devices) * _ROW + _GAP
    before = words.before(plan)
    for at, after in enumerate(columns):
        x = start + at * step
        canvas.text(
            x + step / 2, y + 14, after or _START, 12, weight="bold", align="center", width=step - 6, smallest=8
        )
        if after is not None:
            canvas.text(x + step / 2, y + 30, f"on {plan.devices[after]}", 10.5, align="center", width=step - 6,
                        colour=c.MUTED, smallest=8)  # fmt: skip
            told = "; ".join(text for text in before[after] if not text.startswith("copy"))
            canvas.text(x + step / 2, y + 46, told, 10, align="center", width=step - 6, colour=c.ACCENT, smallest=7)
    for number, resource in enumerate(resources):
        top = y + _TOP + number * block
        size = plan.graph.resources[resource].extent
        for row, device in enumerate(devices):
            at = top + row * _ROW
            name = f"{resource} on {device}"
            canvas.text(left, at + 18, name, 11, width=_GUTTER - 10, smallest=8)
        for at, after in enumerate(columns):
            x, wide = start + at * step + 5, step - 10
            for item in plan.validity:
                if item.after != after or item.resource != resource:
                    continue
                low, part = item.range[0] / size * wide, (item.range[1] - item.range[0]) / size * wide
                for row, device in enumerate(devices):
                    box = (x + low, top + row * _ROW + 4, part, _ROW - 10)
                    if device in item.devices:
                        canvas.rects(*box, looks[device][None], edge=c.INK, line=0.8, gid="valid")
                    else:
                        canvas.rects(*box, c.IDLE, edge=c.RULE, line=0.8, gid="not-valid")
                        canvas.hatch(*box)
        for copy in plan.copies:
            if copy.resource == resource:
                _arrow(canvas, plan, copy, devices, start, step, top, size)
    foot = y + _TOP + len(resources) * block + 10
    canvas.rects(left, foot, 14, 10, looks[devices[0]][None], edge=c.INK, line=0.8)
    used = canvas.text(left + 20, foot + 9, "valid here", 10.5, colour=c.MUTED)
    canvas.rects(left + used + 40, foot, 14, 10, c.IDLE, edge=c.RULE, line=0.8)
    canvas.hatch(left + used + 40, foot, 14, 10)
    canvas.text(left + used + 60, foot + 9, "old, or nothing; from left to right the bytes; an arrow is a copy by way "
                "of the host, before the pass below whose name it ends", 10.5, colour=c.MUTED, width=width - used - 60,
                smallest=8)  # fmt: skip


def _arrow(
    canvas: Any, plan: Plan, copy: Any, devices: list[str], start: float, step: float, top: float, size: int
) -> None:
    """A copy: from its bytes on the source, in the column before, to those on its destination."""
    column = 1 + plan.order.index(copy.before)
    middle = (copy.range[0] + copy.range[1]) / 2 / size
    wide = step - 10
    x0 = start + (column - 1) * step + 5 + middle * wide
    x1 = start + column * step + 5 + middle * wide
    y0 = top + devices.index(copy.source) * _ROW + _ROW / 2 - 1
    y1 = top + devices.index(copy.destination) * _ROW + _ROW / 2 - 1
    canvas.lines([((x0, y0), (x1, y1))], c.BACKGROUND, 4.0)
    canvas.lines([((x0, y0), (x1, y1))], c.INK, 1.6, gid="copy")
    length = max(1e-9, ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    side = [(x1 - 9 * ux + turn * 4 * uy, y1 - 9 * uy - turn * 4 * ux) for turn in (1, -1)]
    canvas.polygons([[(x1, y1), *side]], c.INK, gid="copy-head")
