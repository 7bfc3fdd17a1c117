"""The page of a plan on several devices: where bytes are valid, the timeline simulated and measured, and the plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, defaults, plural
from expandlab.figures.graphs import levels, timeline, validity, words
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.graph import Plan
from expandlab.graph.device_examples import DEVICE_EXAMPLES
from expandlab.graph.simulate import Lane, Machine, Span, Timeline
from expandlab.settings.devices import DeviceSettings

_INSIDE = WIDTH - 2 * MARGIN
TITLES = {"validity": "Validity, copies and waits", "timeline": "Timeline", "plan": "Levels and lanes"}
_TIME_HEAD = ("timeline", "lane", "what", "kind", "start (us)", "end (us)")
_EDGE_HEAD = ("producer", "consumer", "device of the producer", "device of the consumer", "why")


def page(settings: DeviceSettings) -> Page:
    """The page that `settings` describe."""
    plan = settings.plan()
    with defaults():
        canvas, head, rows = {"validity": _validity, "timeline": _timeline, "plan": _plan}[settings.view](
            settings, plan
        )
    example = DEVICE_EXAMPLES[settings.example]
    return Page(
        title=f"{TITLES[settings.view]} of {example.title}",
        description=describe(settings, plan),
        figure=canvas.figure,
        counts=None,
        head=head,
        rows=rows,
        data={"plan": plan.to_dict(), "simulated": simulated(settings, plan).to_dict()},
    )


def simulated(settings: DeviceSettings, plan: Plan) -> Timeline:
    """The simulated timeline: with what was measured, if there is something; else with what is declared."""
    if settings.measured is None:
        return plan.simulate()
    machine = Machine(**settings.measured["machine"])
    return plan.simulate(machine, measured_us=settings.measured["costs_us"])


def difference(settings: DeviceSettings, plan: Plan) -> float:
    """(simulated - measured) / measured makespan of settings that hold a measurement."""
    return simulated(settings, plan).makespan_us / float(np.median(settings.measured["measured_us"])) - 1.0


def describe(settings: DeviceSettings, plan: Plan) -> str:
    """Alternative text."""
    example = DEVICE_EXAMPLES[settings.example]
    parts = [f"{TITLES[settings.view]} of {example.title}: {example.shows}", validity.summary(plan)]
    parts += [
        f"{words.span(plan, copy.resource, copy.range)} is copied from {copy.source} to {copy.destination} before "
        f"{copy.before}" for copy in plan.copies
    ]  # fmt: skip
    if settings.measured is not None:
        parts.append(_verdict(settings, plan))
    elif settings.view == "timeline":
        parts.append(timeline.summary(simulated(settings, plan)))
    return ". ".join(parts) + "."


def _verdict(settings: DeviceSettings, plan: Plan) -> str:
    """How the measurement and the simulation compare, and whether the outputs were right."""
    found = settings.measured
    runs = found["measured_us"]
    same = "outputs equal those of one device" if found["equal"] else "OUTPUTS DIFFER FROM THOSE OF ONE DEVICE"
    return (
        f"{float(np.median(runs)):,.0f} µs measured (median of {plural(len(runs), 'run')}), "
        f"{simulated(settings, plan).makespan_us:,.0f} µs simulated: {difference(settings, plan):+.0%}; {same}"
    )


def _sheet(settings: DeviceSettings, high: float) -> tuple[Canvas, float]:
    canvas = Canvas(WIDTH, float(np.ceil(2 * MARGIN + 36 + high)))
    example = DEVICE_EXAMPLES[settings.example]
    title = f"{example.title[0].upper()}{example.title[1:]}"
    return canvas, heading(canvas, title, f"{settings.size:,} B a buffer; {example.shows}")


def _validity(settings: DeviceSettings, plan: Plan) -> tuple[Canvas, tuple[str, ...], list[tuple[Any, ...]]]:
    canvas, y = _sheet(settings, SECTION + validity.height(plan))
    y = section(
        canvas, y, "Where the bytes are valid", f"after each pass, in the plan's order: {validity.summary(plan)}"
    )
    validity.draw(canvas, MARGIN, y, _INSIDE, plan)
    return canvas, validity.HEAD, validity.rows(plan)


def _timeline(settings: DeviceSettings, plan: Plan) -> tuple[Canvas, tuple[str, ...], list[tuple[Any, ...]]]:
    model = simulated(settings, plan)
    found = settings.measured
    real = None if found is None else measured(plan, found)
    longest = max([model.makespan_us, *([real.makespan_us] if real else [])])
    high = SECTION + timeline.height(model) + GAP + (0 if real is None else SECTION + timeline.height(real) + GAP)
    canvas, y = _sheet(settings, high)
    rows = [("simulated", *row) for row in _spans(model)]
    if real is not None:
        note = "; ".join(f"{name}: {label}" for name, label in found["devices"].items())
        note += "; software: they share the CPU and slow each other down" if found["software"] else ""
        y = section(canvas, y, "Measured", note)
        _lanes(canvas, y, real, longest, _verdict(settings, plan))
        y += timeline.height(real) + GAP
        rows = [("measured", *row) for row in _spans(real)] + rows
    note = timeline.machine_note(model.machine) if real is None else (
        f"with what was measured alone: passes, waits {model.machine.wait_us:.3g} µs, copies "
        f"{model.machine.copy_us:.4g} µs and {model.machine.copy_gb_per_s:.3g} GB/s a hop"
    )  # fmt: skip
    y = section(canvas, y, "Simulated", note)
    timeline.draw(canvas, MARGIN, y, _INSIDE, model, longest)
    return canvas, _TIME_HEAD, rows


def measured(plan: Plan, found: Any) -> Timeline:
    """The spans of a run as lanes: one for each device's passes, one for what is copied to it."""
    lanes = []
    for device in plan.graph.devices:
        for kind, name in (("pass", device), ("copy", f"host -> {device}")):
            mine = [item for item in found["spans"] if item["device"] == device and item["kind"] == kind]
            if mine:
                spans = tuple(Span(item["name"], kind, item["begin_us"], item["end_us"]) for item in mine)
                lanes.append(Lane(name, device, None, spans))
    return Timeline(max(item["end_us"] for item in found["spans"]), (), tuple(lanes))


def _spans(made: Timeline) -> list[tuple[Any, ...]]:
    return [(lane.name, span.name, span.kind, round(span.start_us, 3), round(span.end_us, 3))
            for lane in made.lanes for span in lane.spans]  # fmt: skip


def _lanes(canvas: Canvas, y: float, made: Timeline, longest: float, told: str) -> None:
    """Measured lanes in the measure of the simulated ones."""
    canvas.text(MARGIN, y + 13, told, 11, width=_INSIDE, smallest=8)
    row, gutter, top = timeline._ROW, timeline._GUTTER, y + timeline._PATH
    scale, start = (_INSIDE - gutter - 12) / max(longest, 1e-9), MARGIN + gutter
    for number, lane in enumerate(made.lanes):
        at = top + number * row
        canvas.text(MARGIN, at + 19, lane.name, 11, width=gutter - 8, smallest=8)
        canvas.lines([((start, at + row - 2), (MARGIN + _INSIDE, at + row - 2))], c.RULE, 0.8)
        for span in lane.spans:
            x, wide = start + span.start_us * scale, max(1.0, (span.end_us - span.start_us) * scale)
            canvas.rects(x, at + 4, wide, row - 10, timeline._FACES[span.kind], edge=c.MUTED, line=0.8, gid=span.kind)
            if span.kind == "copy":
                canvas.hatch(x, at + 4, wide, row - 10)
            if wide >= 18:
                canvas.text(x + wide / 2, at + 20, span.name, 10.5, align="center", width=wide - 4, smallest=7.5)
    timeline._axis(canvas, start, top + len(made.lanes) * row, scale, longest)


def _plan(settings: DeviceSettings, plan: Plan) -> tuple[Canvas, tuple[str, ...], list[tuple[Any, ...]]]:
    drawn = levels.prepare(plan, MARGIN, _INSIDE)
    canvas, y = _sheet(settings, SECTION + 24 + drawn.height)
    y = section(canvas, y, "Levels and lanes", "a pass stands below everything that it depends on; a column is a queue")
    canvas.text(MARGIN, y + 16, words.headline(plan), 12, weight="bold", width=_INSIDE, smallest=9)
    levels.draw(canvas, MARGIN, y + 24, _INSIDE, drawn)
    rows = [(edge.producer, edge.consumer, plan.devices[edge.producer], plan.devices[edge.consumer],
             "; ".join(edge.reasons)) for edge in words.edges(plan)]  # fmt: skip
    return canvas, _EDGE_HEAD, rows
