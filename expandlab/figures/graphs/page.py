"""The page of a frame graph: one view of its plan, as a chain, as a graph, or both on one scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from expandlab.figures.canvas import Canvas, defaults, plural
from expandlab.figures.graphs import barriers, levels, memory, timeline, words
from expandlab.figures.limits import TooLargeToDraw
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.graph import Plan
from expandlab.settings import GraphSettings

_INSIDE = WIDTH - 2 * MARGIN
MAX_PASSES = 200
TITLES = {
    "graph": "Levels and lanes", "barriers": "Barriers", "memory": "Lifetimes and memory", "timeline": "Timeline",
}  # fmt: skip


class _View(NamedTuple):
    """One way to look at plans: what it draws, its table, and what its alternative text adds for a plan."""

    draw: Callable[[GraphSettings, list[Plan]], Canvas]
    head: tuple[str, ...]
    rows: Callable[[Plan], list[tuple[Any, ...]]]
    sentence: Callable[[Plan], str]


def page(settings: GraphSettings) -> Page:
    """The page that `settings` describe. Raises what `FrameGraph.from_json` and `compile` raise, TooLargeToDraw."""
    graph = settings.frame_graph()
    if len(graph.passes) > MAX_PASSES:
        raise TooLargeToDraw(f"the graph has {len(graph.passes):,} passes, and a picture shows at most {MAX_PASSES}")
    plans = [graph.compile(mode, schedule=settings.schedule, tags=settings.tags) for mode in settings.modes]
    view = _VIEWS[settings.view]
    with defaults():
        canvas = view.draw(settings, plans)
    return Page(
        title=f"{TITLES[settings.view]} of {settings.title}",
        description=describe(settings, plans),
        figure=canvas.figure,
        counts=None,
        head=view.head,
        rows=[row for plan in plans for row in view.rows(plan)],
        data={"plans": {plan.mode: plan.to_dict() for plan in plans}},
    )


def describe(settings: GraphSettings, plans: list[Plan]) -> str:
    """Alternative text."""
    first = plans[0]
    parts = [f"{TITLES[settings.view]} of {settings.title}: {plural(len(first.order), 'pass', 'passes')}"]
    if first.culled:
        parts.append(f"culled: {', '.join(first.culled)}")
    if not settings.tags:
        parts.append("declared independence is ignored")
    for plan in plans:
        said = _VIEWS[settings.view].sentence(plan)
        parts.append(words.headline(plan) + (f". {said}" if said else ""))
    return ". ".join(parts) + "."


def _edge_sentence(plan: Plan) -> str:
    found = [f"{edge.producer} to {edge.consumer} ({'; '.join(edge.reasons)})" for edge in words.edges(plan)]
    return ", ".join(found[:20]) + (f", and {len(found) - 20} more" if len(found) > 20 else "")


def _barrier_sentence(plan: Plan) -> str:
    found = [
        f"before {b.before} {b.kind}, from {words.joined(b.src_access)} to {words.joined(b.dst_access)}"
        for b in plan.barriers
    ]
    return "; ".join(found[:20]) + (f"; and {len(found) - 20} more" if len(found) > 20 else "")


def _time_sentence(plan: Plan) -> str:
    return timeline.summary(plan.simulate())


def _heading(settings: GraphSettings, plans: list[Plan], canvas: Canvas) -> float:
    culled = plans[0].culled
    note = f"culled: {', '.join(culled)}" if culled else "no pass is culled"
    note += "" if settings.tags else "; tags ignored"
    title = f"{settings.title[0].upper()}{settings.title[1:]}"
    return heading(
        canvas, title, f"{plural(len(plans[0].order), 'pass', 'passes')}; schedule {settings.schedule}; {note}"
    )


def _sheet(high: float) -> Canvas:
    return Canvas(WIDTH, float(np.ceil(2 * MARGIN + 36 + high)))


def _levels(settings: GraphSettings, plans: list[Plan]) -> Canvas:
    wide = (_INSIDE - (len(plans) - 1) * 2 * GAP) / len(plans)
    lefts = [MARGIN + number * (wide + 2 * GAP) for number in range(len(plans))]
    drawn = [levels.prepare(plan, left, wide) for plan, left in zip(plans, lefts, strict=True)]
    canvas = _sheet(SECTION + 24 + max(item.height for item in drawn))
    y = _heading(settings, plans, canvas)
    y = section(canvas, y, "Levels and lanes", "a pass stands below everything that it depends on; a column is a queue")
    for item, left in zip(drawn, lefts, strict=True):
        canvas.text(left, y + 16, words.headline(item.plan), 12, weight="bold", width=wide, smallest=9)
        levels.draw(canvas, left, y + 24, wide, item)
    return canvas


def _stacked(
    settings: GraphSettings, plans: list[Plan], height: Callable[[Plan], float], note: Callable[[Plan], str],
    draw: Callable[[Canvas, float, Plan], None],
) -> Canvas:  # fmt: skip
    canvas = _sheet(sum(SECTION + height(plan) + GAP for plan in plans))
    y = _heading(settings, plans, canvas)
    for plan in plans:
        y = section(canvas, y, words.headline(plan), note(plan))
        draw(canvas, y, plan)
        y += height(plan) + GAP
    return canvas


def _barriers(settings: GraphSettings, plans: list[Plan]) -> Canvas:
    told = "masks and layouts are the plan's, simulated; the last column is what wgpu does, whatever the plan says"
    return _stacked(
        settings, plans, barriers.height, lambda _: told,
        lambda canvas, y, plan: barriers.draw(canvas, MARGIN, y, _INSIDE, plan),
    )  # fmt: skip


def _memory(settings: GraphSettings, plans: list[Plan]) -> Canvas:
    return _stacked(
        settings, plans, memory.height, memory.summary,
        lambda canvas, y, plan: memory.draw(canvas, MARGIN, y, _INSIDE, plan),
    )  # fmt: skip


def _timeline(settings: GraphSettings, plans: list[Plan]) -> Canvas:
    made = {plan.mode: plan.simulate() for plan in plans}
    longest = max(item.makespan_us for item in made.values())
    return _stacked(
        settings, plans, lambda plan: timeline.height(made[plan.mode]),
        lambda plan: timeline.machine_note(made[plan.mode].machine),
        lambda canvas, y, plan: timeline.draw(canvas, MARGIN, y, _INSIDE, made[plan.mode], longest),
    )  # fmt: skip


_VIEWS = {
    "graph": _View(_levels, levels.HEAD, levels.rows, _edge_sentence),
    "barriers": _View(_barriers, barriers.HEAD, barriers.rows, _barrier_sentence),
    "memory": _View(_memory, memory.HEAD, memory.rows, memory.summary),
    "timeline": _View(_timeline, timeline.HEAD, timeline.rows, _time_sentence),
}
