"""The barrier table: what a plan sets before each pass, with its masks, beside what wgpu sets by itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from expandlab.figures import colours as c
from expandlab.figures.graphs import words
from expandlab.graph import Plan
from expandlab.graph.native import emitted

HEAD = (
    "form", "before", "kind", "source stages", "source access", "destination stages", "destination access",
    "because of", "wgpu would emit",
)  # fmt: skip
_COLUMNS = (("before", 0.0), ("kind", 0.13), ("source", 0.225), ("destination", 0.445), ("because of", 0.70),
            ("wgpu would emit", 0.84))  # fmt: skip
_LINE, _TOP, _MOST = 15, 24, 24


class Row(NamedTuple):
    """What stands before a pass. Masks are texts; `native`: the buffers for which wgpu sets a barrier there."""

    before: str
    kind: str
    source_stages: str
    source_access: str
    destination_stages: str
    destination_access: str
    because: str
    native: str


def table(plan: Plan) -> list[Row]:
    """Barriers, layout changes, waits, and where only wgpu sets something, in the plan's order."""
    barriers: dict[str, list[Any]] = {}
    for barrier in plan.barriers:
        barriers.setdefault(barrier.before, []).append(barrier)
    changes: dict[str, list[Any]] = {}
    for change in plan.layouts:
        changes.setdefault(change.before, []).append(change)
    waits: dict[str, list[Any]] = {}
    for wait in plan.waits:
        waits.setdefault(wait.before, []).append(wait)
    native = emitted(plan)
    found = []
    for name in plan.order:
        mine: list[Row] = []
        told = ", ".join(native[name]) or "none"
        for b in barriers.get(name, ()):
            mine.append(Row(
                name, b.kind, words.joined(b.src_stages), words.joined(b.src_access), words.joined(b.dst_stages),
                words.joined(b.dst_access), ", ".join(b.resources), "" if mine else told,
            ))  # fmt: skip
        for change in changes.get(name, ()):
            part = words.span(plan, change.resource, change.subresources)
            mine.append(Row(name, "layout", change.old_layout, "", change.new_layout, "", part, "" if mine else told))
        for wait in waits.get(name, ()):
            timeline = f"{wait.device}.{wait.queue} reaches {wait.value}"
            mine.append(Row(name, "wait", timeline, "", "", "", "", "" if mine else told))
        if not mine and native[name]:
            mine.append(Row(name, "none", "", "", "", "", "", told))
        found += mine
    return found


def rows(plan: Plan) -> list[tuple[Any, ...]]:
    """The data table."""
    form = words.MODE_NAMES[plan.mode]
    return [(form, *row) for row in table(plan)]


def height(plan: Plan) -> float:
    """Pixels of the drawing."""
    found = table(plan)
    shown = found[:_MOST]
    return _TOP + sum(_lines(row) * _LINE + 5 for row in shown) + (18 if len(found) > _MOST or not found else 4)


def _lines(row: Row) -> int:
    return 2 if row.source_access else 1


def draw(canvas: Any, left: float, y: float, width: float, plan: Plan) -> None:
    """Draw the first rows; an export's table has them all."""
    at = {name: left + part * width for name, part in _COLUMNS}
    ends = [*list(at.values())[1:], left + width]
    room = {name: end - start - 10 for (name, start), end in zip(at.items(), ends, strict=True)}
    for name, start in at.items():
        canvas.text(start, y + 13, name, 11, weight="bold", width=room[name], smallest=9)
    found = table(plan)
    top = y + _TOP
    rules = []
    form = words.MODE_NAMES[plan.mode]
    for number, row in enumerate(found[:_MOST]):
        rules.append(((left, top - 1), (left + width, top - 1)))
        first = {
            "before": row.before, "kind": row.kind, "source": row.source_stages, "destination": row.destination_stages,
            "because of": row.because, "wgpu would emit": row.native,
        }  # fmt: skip
        for name, text in first.items():
            real = name == "wgpu would emit"
            canvas.text(at[name], top + 12, text, 11, width=room[name], smallest=8,
                        weight="bold" if name == "before" else "normal",
                        colour=c.ACCENT if real and text != "none" else c.INK)  # fmt: skip
        if _lines(row) == 2:
            for name, text in (("source", row.source_access), ("destination", row.destination_access)):
                canvas.text(at[name], top + 12 + _LINE, text, 10.5, colour=c.MUTED, width=room[name], smallest=8)
        high = _lines(row) * _LINE + 5
        told = [f"{name}: {text}" for name, text in zip(HEAD[1:], row, strict=True) if text]
        box = (left, top - 1, width, high)
        canvas.target(words.ident(form, "row", str(number)), "row", told, box=box, more={"pass": row.before})
        top += high
    canvas.lines(rules, c.RULE, 0.8) if rules else None
    if not found:
        canvas.text(left, top + 12, "no barrier, no layout change, no wait", 11, colour=c.MUTED)
    if len(found) > _MOST:
        canvas.text(left, top + 12, f"and {len(found) - _MOST} more: the data table has them", 11, colour=c.MUTED)
