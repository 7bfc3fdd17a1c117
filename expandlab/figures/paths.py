"""What the front end is asked to start, and what that takes: launches against time, measured or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from expandlab.expansion import strategies, thread_map
from expandlab.expansion.thread_map import ThreadMap
from expandlab.figures import alt
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, bytes_text, defaults, plural
from expandlab.figures.limits import refuse
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.measuring.front_end import per_src, sizes_of
from expandlab.settings import PathSettings

_INSIDE = WIDTH - 2 * MARGIN
_GUTTER = 76
_ROW, _CHART, _NOTE = 22, 300, 24
# Nothing is drawn for each thread, so more of them than in other pictures are still quick.
_MOST_THREADS = 2**20
_BUCKETS = 32
HEAD = (
    "strategy", "modelled", "src", "items", "launches of pass 2", "threads", "threads without an item", "median ms",
    "lower quartile ms", "upper quartile ms", "runs",
)  # fmt: skip


@dataclass(frozen=True)
class Launched:
    """What pass 2 of a strategy asks the front end for.

    launches: dispatches or draws, empty ones included where they are recorded. held_bytes: memory between the passes.
    """

    strategy: str
    src: int
    items: int
    launches: int
    threads: int
    idle: int
    held_bytes: int


def launched(counts: np.ndarray, name: str, workgroup_size: int) -> Launched:
    """What a strategy launches for some counts, by its model."""
    made = thread_map(counts, name, workgroup_size=workgroup_size)
    held = sum(memory.capacity_bytes for memory in made.memory)
    active = int(made.active.sum())
    return Launched(name, len(counts), active, _launches(made, counts), len(made), len(made) - active, held)


def _launches(made: ThreadMap, counts: np.ndarray) -> int:
    # These two record their dispatches before anybody knows which are empty.
    fixed = {"dispatch_each": len(counts), "po2_buckets": _BUCKETS}
    return fixed.get(made.strategy, len(np.unique(made.dispatch)))


def page(settings: PathSettings) -> Page:
    """The page that `settings` describe; times are those that they hold, and none where they hold none."""
    counts = settings.counts()
    total = int(counts.sum(dtype=np.uint64))
    refuse(total, f"these counts spawn {plural(total, 'item')}", most=_MOST_THREADS)
    padded = int((-(-counts.astype(np.int64) // settings.workgroup_size)).sum()) * settings.workgroup_size
    refuse(padded, f"a dispatch for each src launches {plural(padded, 'thread')}", most=_MOST_THREADS)
    if "flat" in settings.shown:
        threads = len(counts) * int(counts.max(initial=0))
        refuse(threads, f"flat launches {plural(threads, 'thread')}", "; or leave it out", most=_MOST_THREADS)
    table = [
        launched(counts[:size], name, settings.workgroup_size)
        for name in settings.shown
        for size in sizes_of(len(counts)) or [0]
    ]
    times = _times(settings)
    with defaults():
        canvas = _draw(settings, counts, table, times)
    return Page(
        title="What the front end is asked for",
        description=describe(settings, counts, table, times),
        figure=canvas.figure,
        counts=counts,
        head=HEAD,
        rows=[_table_row(row, times) for row in table],
        data={"launched": table, "measured": settings.measured, "us_for_each_src": _slopes(times)},
    )


def _times(settings: PathSettings) -> dict[str, list[Any]]:
    """Strategy -> its measured rows, small numbers of src first; never one of a modelled strategy."""
    known = strategies()
    rows = [SimpleNamespace(**row) for row in (settings.measured or {}).get("rows", ())]
    found = {name: [row for row in rows if row.strategy == name] for name in settings.shown}
    return {
        name: sorted(mine, key=lambda row: row.src) for name, mine in found.items() if mine and not known[name].modelled
    }


def _slopes(times: dict[str, list[Any]]) -> dict[str, float | None]:
    fits = {name: per_src(rows) for name, rows in times.items()}
    return {name: fit and fit[1] for name, fit in fits.items()}


def _table_row(row: Launched, times: dict[str, list[Any]]) -> tuple[Any, ...]:
    at = next((time for time in times.get(row.strategy, ()) if time.src == row.src), None)
    taken = (at.median_ms, at.q1_ms, at.q3_ms, at.samples) if at else ("", "", "", "")
    modelled = "modelled" if strategies()[row.strategy].modelled else ""
    return (row.strategy, modelled, row.src, row.items, row.launches, row.threads, row.idle, *taken)


def _last(table: list[Launched], name: str) -> Launched:
    return [row for row in table if row.strategy == name][-1]


def _where(settings: PathSettings) -> str:
    held = settings.measured
    if held is None:
        return "not measured yet"
    software = " (software adapter: the CPU is measured)" if held["software"] else ""
    partial = ", cancelled: partial" if held["cancelled"] else ""
    return f"measured on {held['device']}{software}, {held['timer']}{partial}"


def describe(
    settings: PathSettings, counts: np.ndarray, table: list[Launched], times: dict[str, list[Any]]
) -> str:  # fmt: skip
    """Alternative text."""
    parts = [alt.counts_sentence(counts, settings)]
    slopes = _slopes(times)
    for name in settings.shown:
        row = _last(table, name)
        text = f"{alt.title_of(name)}: {plural(row.launches, 'launch', 'launches')} of {plural(row.threads, 'thread')}"
        text += f", {row.idle:,} idle"
        if strategies()[name].modelled:
            text += ", modelled, no time"
        elif name in times:
            text += f", {alt.time_text(times[name][-1].median_ms)} for {times[name][-1].src:,} src"
            text += f", {slopes[name]:.3g} us for each" if slopes[name] is not None else ""
        parts.append(text)
    return ". ".join([*parts, _where(settings)[0].upper() + _where(settings)[1:]]) + "."


def _draw(
    settings: PathSettings, counts: np.ndarray, table: list[Launched], times: dict[str, list[Any]]
) -> Canvas:  # fmt: skip
    left_out = (settings.measured or {}).get("left_out", {})
    shown_out = [name for name in settings.shown if name in left_out]
    rows = (len(settings.shown) + 1) * _ROW
    high = 2 * MARGIN + 36 + 2 * SECTION + rows + _CHART + 2 * GAP + _NOTE * (1 + len(shown_out))
    canvas = Canvas(WIDTH, float(high))
    y = heading(canvas, alt.counts_sentence(counts), alt.source_words(settings))
    asked = f"with all {plural(len(counts), 'src', 'src')}, by the models; workgroups of {settings.workgroup_size}"
    y = section(canvas, y, "What pass 2 asks for", asked)
    _launches_table(canvas, y, settings, table, times)
    y = section(canvas, y + rows + GAP, "Time against the number of src", _where(settings))
    _chart(canvas, y, settings, times)
    y += _CHART + GAP
    note = "both scales in powers; whiskers span the quartiles; a run is the whole expansion, pass 1 included"
    canvas.text(MARGIN, y + 8, note, 11, colour=c.MUTED, width=_INSIDE)
    for number, name in enumerate(shown_out, 1):
        canvas.text(MARGIN, y + 8 + number * _NOTE, f"{name} was left out: {left_out[name]}", 11, width=_INSIDE)
    return canvas


_COLUMNS = ((200, "launches"), (300, "threads"), (400, "without item"), (520, "bytes held"), (680, "longest run"), (820, "for each src"))  # fmt: skip  # noqa: E501


def _launches_table(
    canvas: Canvas, y: float, settings: PathSettings, table: list[Launched], times: dict[str, list[Any]]
) -> None:  # fmt: skip
    slopes = _slopes(times)
    for right, name in _COLUMNS:
        canvas.text(MARGIN + right + 60, y + 14, name, 11, colour=c.MUTED, align="right")
    for number, name in enumerate(settings.shown):
        row = _last(table, name)
        foot = y + (number + 1) * _ROW + 14
        _mark(canvas, MARGIN + 6, foot - 4, number)
        canvas.text(MARGIN + 18, foot, name, 12, weight="bold", width=178, smallest=9)
        modelled = strategies()[name].modelled
        time = "modelled" if modelled else alt.time_text(times[name][-1].median_ms) if name in times else "–"
        slope = slopes.get(name)
        told = (
            f"{row.launches:,}", f"{row.threads:,}", f"{row.idle:,}", bytes_text(row.held_bytes), time,
            f"{slope:.3g} µs" if slope is not None else "–",
        )  # fmt: skip
        for (right, _), text in zip(_COLUMNS, told, strict=True):
            canvas.text(MARGIN + right + 60, foot, text, 12, align="right")


def _colour(number: int) -> str:
    r, g, b = c.src_colours(number + 1)[number]
    return f"#{r:02x}{g:02x}{b:02x}"


def _mark(canvas: Canvas, x: float, y: float, number: int) -> None:
    """A small figure of its own for each strategy: colour alone is not enough."""
    shape = np.array(_SHAPES[number % len(_SHAPES)]) * 5 + (x, y)
    canvas.lines([shape], _colour(number), 3.0, gid="mark")


_TURN = np.linspace(0, 2 * np.pi, 13)
_SHAPES: tuple[Any, ...] = (
    np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1) * 0.9,
    [(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8), (-0.8, -0.8)],
    [(0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0), (0, -1.1)],
    [(0, -1), (1, 0.8), (-1, 0.8), (0, -1)],
    [(-0.9, -0.9), (0.9, 0.9), (0, 0), (-0.9, 0.9), (0.9, -0.9)],
    [(-1, 0), (1, 0)],
)


def _chart(canvas: Canvas, y: float, settings: PathSettings, times: dict[str, list[Any]]) -> None:
    left, top, room, tall = MARGIN + _GUTTER, y + 10, _INSIDE - _GUTTER - 20, _CHART - 50
    foot = top + tall
    canvas.lines([((left, top), (left, foot), (left + room, foot))], c.MUTED, 1.0)
    canvas.text(left + room / 2, foot + 34, "number of src", 11, colour=c.MUTED, align="center")
    rows = [row for mine in times.values() for row in mine]
    if not rows:
        canvas.text(left + 16, top + 30, "Not measured yet: press Run.", 14, weight="bold")
        return
    low_x, high_x = 0.0, max(1.0, float(np.ceil(np.log10(max(row.src for row in rows)))))
    low_y = float(np.floor(np.log10(min(row.q1_ms for row in rows))))
    high_y = max(low_y + 1, float(np.ceil(np.log10(max(row.q3_ms for row in rows)))))

    def at(src: Any, ms: Any) -> tuple[Any, Any]:
        across = left + (np.log10(src) - low_x) / (high_x - low_x) * room
        return across, foot - (np.log10(ms) - low_y) / (high_y - low_y) * tall

    for power in range(int(low_x), int(high_x) + 1):
        x, _ = at(10.0**power, 10.0**low_y)
        canvas.lines([((x, top), (x, foot))], c.RULE, 0.8)
        canvas.text(x, foot + 16, f"{10**power:,}", 11, colour=c.MUTED, align="center")
    for power in range(int(low_y), int(high_y) + 1):
        _, level = at(1.0, 10.0**power)
        canvas.lines([((left, level), (left + room, level))], c.RULE, 0.8)
        canvas.text(left - 8, level + 4, f"{10.0**power:g} ms", 11, colour=c.MUTED, align="right")
    for number, name in enumerate(settings.shown):
        mine = times.get(name, [])
        points = [at(row.src, row.median_ms) for row in mine]
        if len(points) > 1:
            canvas.lines([np.array(points)], _colour(number), 1.6, gid="times")
        for row, (x, level) in zip(mine, points, strict=True):
            (_, low), (_, high) = at(row.src, row.q1_ms), at(row.src, row.q3_ms)
            canvas.lines([((x, low), (x, high))], _colour(number), 1.4, gid="quartiles")
            _mark(canvas, x, level, number)
