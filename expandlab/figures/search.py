"""Traces: the words of a shader at one step, where they came from, the line that runs, and all steps."""

from __future__ import annotations

import re
import textwrap

import numpy as np

from expandlab import wgsl
from expandlab.expansion import traces
from expandlab.expansion.traces import Moment, Trace, Words
from expandlab.figures import alt
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, defaults, shorten, text_width
from expandlab.figures.limits import refuse
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.settings import SearchSettings

_INSIDE = WIDTH - 2 * MARGIN
# More src than this are finer than the cells of a row.
MOST_SRC = 192
_GUTTER, _CELL, _ROW, _INDEX = 112, 30, 46, 12
_SAID, _CODE_LINES, _CODE_ROW, _CHART = 62, 9, 19, 66
_MARKED = "#fff0c9"
HEAD = ("step", "pass", "what", "shader line", "times", "active threads", "of", "explanation")


def page(settings: SearchSettings) -> Page:
    """The page that `settings` describe."""
    counts = settings.counts()
    refuse(len(counts), f"there are {len(counts):,} src", most=MOST_SRC)
    trace = traces.make(
        settings.view, counts, threads=settings.threads, thread=settings.thread, order=settings.order,
        put_off=settings.put_off,
    )  # fmt: skip
    step = min(settings.step, max(0, len(trace.moments) - 1))
    with defaults():
        canvas = _draw(settings, counts, trace, step)
    return Page(
        title=trace.title,
        description=describe(settings, counts, trace, step),
        figure=canvas.figure,
        counts=counts,
        head=HEAD,
        rows=[
            (index, m.pass_name, m.label, str(m.line), m.repeats, m.active, m.lanes, m.said)
            for index, m in enumerate(trace.moments, 1)
        ],
        data={"answer": trace.answer, "steps": len(trace.moments), "shown": trace.moments[step : step + 1]},
    )


def describe(settings: SearchSettings, counts: np.ndarray, trace: Trace, step: int) -> str:
    """Alternative text."""
    parts = [alt.counts_sentence(counts, settings), trace.title]
    if trace.moments:
        m = trace.moments[step]
        parts.append(f"{_step_text(trace, step)} ({m.line}). {m.said.rstrip('.')}")
        parts += [
            f"{row.name}: {' '.join(text or '_' for text in row.texts)}" for row in m.rows if len(row.texts) <= 32
        ]  # fmt: skip
    return ". ".join([*parts, trace.answer]) + "."


def _step_text(trace: Trace, step: int) -> str:
    m = trace.moments[step]
    times = f", {m.repeats:,} times" if m.repeats > 1 else ""
    return (
        f"Step {step + 1} of {len(trace.moments)}, {m.pass_name}: {m.label}{times}, {m.active:,} of {m.lanes:,} threads"
    )


def _draw(settings: SearchSettings, counts: np.ndarray, trace: Trace, step: int) -> Canvas:
    rows = len(trace.moments[step].rows) if trace.moments else 0
    words = rows * _ROW + _INDEX + 14
    high = 2 * MARGIN + 36 + 4 * SECTION + _SAID + words + _CODE_LINES * _CODE_ROW + _CHART + 4 * GAP + 20
    canvas = Canvas(WIDTH, float(high))
    y = heading(canvas, trace.title, f"{alt.counts_sentence(counts)}; {alt.source_words(settings)}")
    if not trace.moments:
        canvas.text(MARGIN, y + 20, trace.answer, 13, width=_INSIDE)
        return canvas
    m = trace.moments[step]
    y = section(canvas, y, "Step", _step_text(trace, step))
    for number, line in enumerate(textwrap.wrap(m.said, 128)[:3]):
        canvas.text(MARGIN, y + 16 + number * 19, line, 13, width=_INSIDE, smallest=10)
    y = section(
        canvas,
        y + _SAID,
        "Words in memory",
        "blue frame: read; dark frame: written; a line says where a value came from",
    )
    _words(canvas, y, m)
    y = section(canvas, y + words + GAP, "The line that runs", str(m.line))
    _code(canvas, y, m.line)
    y = section(canvas, y + _CODE_LINES * _CODE_ROW + GAP, "All steps", "share of the threads that take part")
    _chart(canvas, y, trace, step)
    canvas.text(MARGIN, y + _CHART + GAP + 16, trace.answer, 13, weight="bold", width=_INSIDE, smallest=9)
    return canvas


def _words(canvas: Canvas, y: float, m: Moment) -> None:
    room = _INSIDE - _GUTTER
    longest = max(len(row.texts) for row in m.rows)
    pitch = min(64.0, room / max(1, longest))
    tops = {row.name: y + _INDEX + number * _ROW for number, row in enumerate(m.rows)}
    _links(canvas, m, tops, pitch)
    for row in m.rows:
        _row(canvas, tops[row.name], row, pitch, room)


def _pitch_of(row: Words, pitch: float, room: float) -> float:
    """Cells of a row with few words may be as wide as their text needs."""
    need = max((text_width(text, 12) for text in row.texts), default=0.0) + 10
    return max(pitch, min(need, room / max(1, len(row.texts))))


def _links(canvas: Canvas, m: Moment, tops: dict[str, float], pitch: float) -> None:
    room = _INSIDE - _GUTTER
    pitches = {row.name: _pitch_of(row, pitch, room) for row in m.rows}
    segments = []
    for (name, at), (to, index) in m.links:
        x0, x1 = (MARGIN + _GUTTER + (i + 0.5) * pitches[row] for row, i in ((name, at), (to, index)))
        down = tops[to] > tops[name]
        y0 = tops[name] + (_CELL if down else 0)
        y1 = tops[to] + (0 if down else _CELL)
        segments.append(((x0, y0), (x1, y1)))
    if segments:
        canvas.lines(segments, c.ACCENT, 1.2, gid="links")
        ends = np.array([end for _, end in segments])
        canvas.rects(ends[:, 0] - 2, ends[:, 1] - 2, 4, 4, c.ACCENT)


def _row(canvas: Canvas, top: float, row: Words, pitch: float, room: float) -> None:
    pitch = _pitch_of(row, pitch, room)
    canvas.text(MARGIN, top + 19, row.name, 12, weight="bold", width=_GUTTER - 8, smallest=9)
    count = len(row.texts)
    if not count:
        canvas.text(MARGIN + _GUTTER, top + 19, "no words", 11, colour=c.MUTED)
        return
    edges = MARGIN + _GUTTER + np.arange(count) * pitch
    gap = 3.0 if pitch >= 16 else 1.0 if pitch >= 5 else 0.0
    known = np.array([bool(text) for text in row.texts])
    owned = known & (row.owner >= 0)
    palette = c.src_colours(int(max(row.owner.max(initial=0), 0)) + 1)
    ground = np.where(owned[:, None], palette[np.maximum(row.owner, 0)], np.array(c.rgb(c.SHADE), np.uint8))
    # What the search has left behind fades.
    lit = np.ones(count, bool)
    if row.lit is not None:
        lit[:] = False
        lit[row.lit[0] : row.lit[1]] = True
    ground = np.where(lit[:, None], ground, (ground.astype(int) + 3 * 255) // 4).astype(np.uint8)
    canvas.rects(edges, top, pitch - gap, _CELL, ground, edge=c.RULE, line=0.6 if gap > 1 else 0.0, gid="words")
    for kind, colour, line in ((row.read, c.ACCENT, 2.0), (row.written, c.INK, 2.6)):
        where = np.array(kind, int)
        if len(where) and gap:
            canvas.rects(edges[where] + 1, top + 1, pitch - gap - 2, _CELL - 2, "none", edge=colour, line=line,
                         gid="read" if colour == c.ACCENT else "written")  # fmt: skip
    _texts(canvas, top, row, edges, pitch - gap, ground)
    _marks(canvas, top, row, pitch)


def _texts(canvas: Canvas, top: float, row: Words, edges: np.ndarray, wide: float, ground: np.ndarray) -> None:
    size = 12.0
    longest = max((text_width(text, size) for text in row.texts), default=0.0)
    if longest + 4 > wide:
        size = 9.0
        longest = max(text_width(text, size) for text in row.texts)
    if longest + 2 <= wide:
        dark = c.ink_on(ground)
        for text, x, light in zip(row.texts, edges, dark, strict=True):
            if text:
                canvas.text(x + wide / 2, top + 20, text, size, align="center", colour=c.INK if light else c.BACKGROUND)
    every = max(1, int(-(-22 // max(wide, 1))))
    for index in range(0, len(edges), every):
        canvas.text(edges[index] + wide / 2, top - 3, str(index), 8.5, align="center", colour=c.MUTED)


def _marks(canvas: Canvas, top: float, row: Words, pitch: float) -> None:
    """The registers that hold an index, below the word that they point at; several at one place share a line."""
    places: dict[int, list[str]] = {}
    for name, index in (row.marks or {}).items():
        places.setdefault(index, []).append(name)
    for index, names in places.items():
        x = MARGIN + _GUTTER + min(index + 0.5, len(row.texts) + 0.3) * pitch
        canvas.lines([((x, top + _CELL + 1), (x, top + _CELL + 6))], c.ACCENT, 1.6)
        canvas.text(x, top + _CELL + 16, ", ".join(names), 10.5, colour=c.ACCENT, align="center", weight="bold",
                    gid="marks")  # fmt: skip


def _code(canvas: Canvas, y: float, line: wgsl.Line) -> None:
    """The shader around the line, without the labels that only the model reads."""
    lines = wgsl.read(line.file).splitlines()
    first = max(0, min(line.line - 1 - _CODE_LINES // 2, len(lines) - _CODE_LINES))
    for row, text in enumerate(lines[first : first + _CODE_LINES]):
        top = y + row * _CODE_ROW
        here = first + row == line.line - 1
        if here:
            canvas.rects(MARGIN, top, _INSIDE, _CODE_ROW, _MARKED, gid="marked-line")
            canvas.rects(MARGIN, top, 3, _CODE_ROW, c.ACCENT)
        canvas.text(MARGIN + 40, top + 14, str(first + row + 1), 10.5, colour=c.MUTED, align="right")
        bare = re.sub(r"\s*//:.*$", "", text)
        comment = bare.lstrip().startswith("//")
        canvas.code(MARGIN + 52, top + 14, bare, 11.5, c.MUTED if comment else c.INK, _INSIDE - 56)


def _chart(canvas: Canvas, y: float, trace: Trace, step: int) -> None:
    count = len(trace.moments)
    left, room = MARGIN + 48, _INSIDE - 48
    pitch = min(60.0, room / count)
    foot = y + _CHART - 18
    tall = foot - y - 4
    for value, text in ((0, "0 %"), (1, "100 %")):
        canvas.lines([((left, foot - value * tall), (left + pitch * count, foot - value * tall))], c.RULE, 0.8)
        canvas.text(left - 6, foot - value * tall + 4, text, 10, colour=c.MUTED, align="right")
    share = np.array([m.active / m.lanes if m.lanes else 0.0 for m in trace.moments])
    edges = left + np.arange(count) * pitch
    gap = 2.0 if pitch >= 8 else 0.5 if pitch >= 3 else 0.0
    now = np.arange(count) == step
    for mask, colour, gid in ((~now, c.MUTED, "steps"), (now, c.ACCENT, "step-shown")):
        if mask.any():
            canvas.rects(edges[mask], foot - share[mask] * tall, pitch - gap, share[mask] * tall, colour, gid=gid)
    canvas.rects(edges[step], foot + 1, pitch - gap, 3, c.ACCENT)
    names = [m.pass_name for m in trace.moments]
    starts = [i for i in range(count) if i == 0 or names[i] != names[i - 1]]
    for start, end in zip(starts, [*starts[1:], count], strict=True):
        text = shorten(names[start], 10, (end - start) * pitch - 3)
        if text == names[start]:
            canvas.text((edges[start] + edges[end - 1] + pitch) / 2, foot + 15, text, 10, align="center")
