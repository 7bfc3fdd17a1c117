"""The page of a frame graph: one view of its plan, as a chain, as a graph, or both on one scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from expandlab.figures.canvas import Canvas, defaults, plural
from expandlab.figures.graphs import barriers, levels, listing, memory, timeline, words
from expandlab.figures.limits import TooLargeToDraw
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.figures.scene import Scene
from expandlab.graph import Plan
from expandlab.settings import GraphSettings

_INSIDE = WIDTH - 2 * MARGIN
MAX_PASSES = 200
TITLES = {
    "graph": "Levels and lanes", "barriers": "Barriers", "memory": "Lifetimes and memory", "timeline": "Timeline",
    "connections": "Connections and hazards", "schedules": "Schedules",
}  # fmt: skip
Sheet = Callable[[float, float], Any]


class _View(NamedTuple):
    """One way to look at plans: what it draws, its table, and what its alternative text adds for a plan."""

    draw: Callable[[GraphSettings, list[Plan], Sheet], Any]
    head: tuple[str, ...]
    rows: Callable[[GraphSettings, Plan], list[tuple[Any, ...]]]
    sentence: Callable[[GraphSettings, Plan], str]


@dataclass(frozen=True)
class Sketch:
    """A page for the screen: the same drawing as plain numbers, with what can be pointed at.

    plans: those shown, the older form first. scene: as of `Scene.to_dict`.
    """

    title: str
    description: str
    scene: dict[str, Any]
    head: tuple[str, ...]
    settings: GraphSettings
    plans: list[Plan] = field(repr=False)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The data table, made when it is wanted."""
        return _rows(self.settings, self.plans)


def page(settings: GraphSettings) -> Page:
    """The page that `settings` describe. Raises what `FrameGraph.from_json` and `compile` raise, TooLargeToDraw."""
    plans = planned(settings)
    view = _VIEWS[settings.view]
    with defaults():
        canvas = view.draw(settings, plans, Canvas)
    data = {"plans": {plan.mode: plan.to_dict() for plan in plans}, "dot": {plan.mode: plan.to_dot() for plan in plans}}
    return Page(
        title=title(settings), description=describe(settings, plans), figure=canvas.figure, counts=None,
        head=view.head, rows=_rows(settings, plans), data=data,
    )  # fmt: skip


def sketch(settings: GraphSettings) -> Sketch:
    """The same page for the screen, made without matplotlib's painting. Raises what `page` raises."""
    plans = planned(settings)
    view = _VIEWS[settings.view]
    scene = view.draw(settings, plans, Scene)
    return Sketch(title(settings), describe(settings, plans), scene.to_dict(), view.head, settings, plans)


def planned(settings: GraphSettings) -> list[Plan]:
    """The plans of the forms shown, the older one first."""
    graph = settings.frame_graph()
    if len(graph.passes) > MAX_PASSES:
        raise TooLargeToDraw(f"the graph has {len(graph.passes):,} passes, and a picture shows at most {MAX_PASSES}")
    return [graph.compile(mode, schedule=settings.schedule, tags=settings.tags) for mode in settings.modes]


def title(settings: GraphSettings) -> str:
    """What the page is called."""
    return f"{TITLES[settings.view]} of {settings.title}"


def describe(settings: GraphSettings, plans: list[Plan]) -> str:
    """Alternative text."""
    first = plans[0]
    parts = [f"{title(settings)}: {plural(len(first.order), 'pass', 'passes')}"]
    if first.culled:
        parts.append(f"culled: {', '.join(first.culled)}")
    if not settings.tags:
        parts.append("declared independence is ignored")
    for plan in plans:
        said = _VIEWS[settings.view].sentence(settings, plan)
        parts.append(words.headline(plan) + (f". {said}" if said else ""))
    return ". ".join(parts) + "."


def _rows(settings: GraphSettings, plans: list[Plan]) -> list[tuple[Any, ...]]:
    return [row for plan in plans for row in _VIEWS[settings.view].rows(settings, plan)]


def _edge_sentence(_: GraphSettings, plan: Plan) -> str:
    found = [f"{edge.producer} to {edge.consumer} ({'; '.join(edge.reasons)})" for edge in words.edges(plan)]
    return ", ".join(found[:20]) + (f", and {len(found) - 20} more" if len(found) > 20 else "")


def _barrier_sentence(_: GraphSettings, plan: Plan) -> str:
    found = [
        f"before {b.before} {b.kind}, from {words.joined(b.src_access)} to {words.joined(b.dst_access)}"
        for b in plan.barriers
    ]
    return "; ".join(found[:20]) + (f"; and {len(found) - 20} more" if len(found) > 20 else "")


def _heading(settings: GraphSettings, plans: list[Plan], canvas: Any) -> float:
    culled = plans[0].culled
    note = f"culled: {', '.join(culled)}" if culled else "no pass is culled"
    note += "" if settings.tags else "; tags ignored"
    said = f"{settings.title[0].upper()}{settings.title[1:]}"
    return heading(
        canvas, said, f"{plural(len(plans[0].order), 'pass', 'passes')}; schedule {settings.schedule}; {note}"
    )


def _sheet(sheet: Sheet, high: float) -> Any:
    return sheet(WIDTH, float(np.ceil(2 * MARGIN + 36 + high)))


def _levels(settings: GraphSettings, plans: list[Plan], sheet: Sheet) -> Any:
    wide = (_INSIDE - (len(plans) - 1) * 2 * GAP) / len(plans)
    lefts = [MARGIN + number * (wide + 2 * GAP) for number in range(len(plans))]
    drawn = [levels.prepare(plan, left, wide) for plan, left in zip(plans, lefts, strict=True)]
    canvas = _sheet(sheet, SECTION + 24 + max(item.height for item in drawn))
    y = _heading(settings, plans, canvas)
    y = section(canvas, y, "Levels and lanes", "a pass stands below everything that it depends on; a column is a queue")
    for item, left in zip(drawn, lefts, strict=True):
        canvas.text(left, y + 16, words.headline(item.plan), 12, weight="bold", width=wide, smallest=9)
        levels.draw(canvas, left, y + 24, wide, item)
    return canvas


def _stacked(
    settings: GraphSettings, plans: list[Plan], sheet: Sheet, height: Callable[[Plan], float],
    note: Callable[[Plan], str], draw: Callable[[Any, float, Plan], None],
) -> Any:  # fmt: skip
    canvas = _sheet(sheet, sum(SECTION + height(plan) + GAP for plan in plans))
    y = _heading(settings, plans, canvas)
    for plan in plans:
        y = section(canvas, y, words.headline(plan), note(plan))
        draw(canvas, y, plan)
        y += height(plan) + GAP
    return canvas


def _barriers(settings: GraphSettings, plans: list[Plan], sheet: Sheet) -> Any:
    told = "masks and layouts are the plan's, simulated; the last column is what wgpu does, whatever the plan says"
    return _stacked(
        settings, plans, sheet, barriers.height, lambda _: told,
        lambda canvas, y, plan: barriers.draw(canvas, MARGIN, y, _INSIDE, plan),
    )  # fmt: skip


def _memory(settings: GraphSettings, plans: list[Plan], sheet: Sheet) -> Any:
    return _stacked(
        settings, plans, sheet, memory.height, memory.summary,
        lambda canvas, y, plan: memory.draw(canvas, MARGIN, y, _INSIDE, plan),
    )  # fmt: skip


def _timeline(settings: GraphSettings, plans: list[Plan], sheet: Sheet) -> Any:
    made = {plan.mode: plan.simulate(settings.machine) for plan in plans}
    longest = max(item.makespan_us for item in made.values())
    return _stacked(
        settings, plans, sheet, lambda plan: timeline.height(made[plan.mode]),
        lambda plan: timeline.machine_note(made[plan.mode].machine),
        lambda canvas, y, plan: timeline.draw(
            canvas, MARGIN, y, _INSIDE, made[plan.mode], longest, words.MODE_NAMES[plan.mode]
        ),
    )  # fmt: skip


def _listed(kind: type[listing.Listing]) -> _View:
    """A view that is a table: its rows are what is drawn."""

    def draw(settings: GraphSettings, plans: list[Plan], sheet: Sheet) -> Any:
        made = {plan.mode: kind(settings, plan) for plan in plans}
        return _stacked(
            settings, plans, sheet, lambda plan: made[plan.mode].height, lambda plan: made[plan.mode].note,
            lambda canvas, y, plan: made[plan.mode].draw(canvas, MARGIN, y, _INSIDE),
        )  # fmt: skip

    return _View(
        draw, kind.HEAD, lambda settings, plan: kind(settings, plan).rows, lambda s, plan: kind(s, plan).sentence
    )


_VIEWS = {
    "graph": _View(_levels, levels.HEAD, lambda _, plan: levels.rows(plan), _edge_sentence),
    "barriers": _View(_barriers, barriers.HEAD, lambda _, plan: barriers.rows(plan), _barrier_sentence),
    "memory": _View(_memory, memory.HEAD, lambda _, plan: memory.rows(plan), lambda _, plan: memory.summary(plan)),
    "timeline": _View(
        _timeline, timeline.HEAD, lambda settings, plan: timeline.rows(plan, settings.machine),
        lambda settings, plan: timeline.summary(plan.simulate(settings.machine)),
    ),
    "connections": _listed(listing.Connections),
    "schedules": _listed(listing.Schedules),
}  # fmt: skip
