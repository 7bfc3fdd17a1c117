"""The simulated timeline: a lane for each queue and each link, and the chain that decides when the end comes."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.graphs import words
from expandlab.graph import Plan
from expandlab.graph.simulate import Machine, Span, Timeline

HEAD = ("form", "lane", "what", "kind", "start (us)", "end (us)", "on the critical path")
_ROW, _GUTTER, _AXIS, _PATH = 34, 150, 28, 22
# Of a span: its ground.
_FACES = {"pass": c.SHADE, "barrier": c.MUTED, "copy": "#92dadd"}


def rows(plan: Plan, machine: Machine | None = None) -> list[tuple[Any, ...]]:
    """The data table: a row for each span."""
    timeline, form = plan.simulate(machine), words.MODE_NAMES[plan.mode]
    return [
        (form, lane.name, span.name, span.kind, round(span.start_us, 3), round(span.end_us, 3),
         "yes" if span.kind != "barrier" and span.name in timeline.critical_path else "")
        for lane in timeline.lanes
        for span in lane.spans
    ]  # fmt: skip


def summary(timeline: Timeline) -> str:
    """`120.0 us; critical path fill_low, fill_high, use`."""
    path = timeline.critical_path
    told = " → ".join(path if len(path) <= 12 else (*path[:5], f"{len(path) - 10} more", *path[-5:]))
    return f"{timeline.makespan_us:,.1f} µs simulated; critical path {told or 'empty'}"


def machine_note(machine: Machine) -> str:
    """What the simulation assumes."""
    hops = "from device to device" if machine.peer_access else "by way of the host"
    return (
        f"SIMULATED, not measured: barrier {machine.barrier_us:g} µs, wait {machine.wait_us:g} µs, copy "
        f"{machine.copy_us:g} µs and {machine.copy_gb_per_s:g} GB/s, {hops}; passes take what they declare"
    )


def height(timeline: Timeline) -> float:
    """Pixels of the drawing."""
    return len(timeline.lanes) * _ROW + _AXIS + _PATH


def draw(
    canvas: Any,
    left: float,
    y: float,
    width: float,
    timeline: Timeline,
    longest: float,
    form: str = "graph",
) -> None:
    """Draw the lanes, `longest` microseconds wide, so that several timelines have one scale."""
    scale = (width - _GUTTER - 12) / max(longest, 1e-9)
    start = left + _GUTTER
    canvas.text(left, y + 13, summary(timeline), 11, width=width, smallest=8)
    top = y + _PATH
    for number, lane in enumerate(timeline.lanes):
        at = top + number * _ROW
        canvas.text(left, at + 19, lane.name, 11, width=_GUTTER - 8, smallest=8)
        canvas.lines([((start, at + _ROW - 2), (left + width, at + _ROW - 2))], c.RULE, 0.8)
        for kind, face in _FACES.items():
            mine = [span for span in lane.spans if span.kind == kind]
            if not mine:
                continue
            x = start + np.array([span.start_us for span in mine]) * scale
            wide = np.maximum(1.0, np.array([span.end_us - span.start_us for span in mine]) * scale)
            critical = np.array([kind != "barrier" and span.name in timeline.critical_path for span in mine])
            for chosen, edge, line in ((~critical, c.MUTED, 0.8), (critical, c.ACCENT, 2.4)):
                if chosen.any():
                    canvas.rects(x[chosen], at + 4, wide[chosen], _ROW - 10, face, edge=edge, line=line,
                                 gid=f"{kind}{'-critical' if line > 1 else ''}")  # fmt: skip
            if kind == "copy":
                canvas.hatch(x, at + 4, wide, _ROW - 10)
            for span, left_edge, room in zip(mine, x, wide, strict=True):
                canvas.target(
                    words.ident(form, lane.name, kind, span.name, f"{span.start_us:.6f}"), "span",
                    _says(span, lane.name, timeline),
                    box=(left_edge, at + 4, room, _ROW - 10), more={"pass": span.name} if kind == "pass" else {},
                )  # fmt: skip
            if kind != "barrier":
                for span, left_edge, room in zip(mine, x, wide, strict=True):
                    if room >= 18:
                        canvas.text(left_edge + room / 2, at + 20, span.name, 10.5, align="center", width=room - 4,
                                    smallest=7.5)  # fmt: skip
    _axis(canvas, start, top + len(timeline.lanes) * _ROW, scale, longest)


def _says(span: Span, lane: str, timeline: Timeline) -> list[str]:
    """What a span is, when, and whether the end depends on it."""
    critical = span.kind != "barrier" and span.name in timeline.critical_path
    what = f"barrier before {span.name}" if span.kind == "barrier" else span.name
    when = f"{span.start_us:,.2f} to {span.end_us:,.2f} µs on {lane}, simulated"
    return [what, when, *(["on the critical path"] if critical else [])]


def _axis(
    canvas: Any,
    start: float,
    y: float,
    scale: float,
    longest: float,
    form: str = "graph",
) -> None:
    step = _round(longest / 8)
    ticks = np.arange(0, longest * 1.0001, step)
    canvas.lines([((start + t * scale, y), (start + t * scale, y + 5)) for t in ticks], c.MUTED, 1.0)
    for t in ticks:
        canvas.text(start + t * scale, y + 18, f"{t:,g} µs" if t == ticks[-1] else f"{t:,g}", 10, align="center",
                    colour=c.MUTED)  # fmt: skip


def _round(step: float) -> float:
    """The next of 1, 2, 5, 10, 20, ..."""
    power = 10.0 ** np.floor(np.log10(max(step, 1e-9)))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step))
