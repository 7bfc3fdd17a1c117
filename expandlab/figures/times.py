"""Measured times: one stacked bar for each strategy, its passes one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from expandlab.figures import alt as _alt
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, defaults, plural, text_width

if TYPE_CHECKING:
    from expandlab.measuring import Measurements, PassTime

WIDTH = 1280
_MARGIN = 36
_LABEL, _VALUE = 250, 190
_TOP, _ROW, _BAR, _AXIS, _CAPTION = 74, 58, 24, 40, 48
# Beside its colour each pass has a hatch, so that colour is not needed to tell segments apart.
_HATCHES = ("", "////", "\\\\\\\\", "....", "xxxx", "----", "||||", "oooo")


def times(timings: Measurements) -> Figure:
    """Stacked bars of the passes' median times, with the quartiles of the sum as whiskers.

    timings: what `expandlab.measure` returns; a cancelled one is marked, and so is a software adapter.
    Returns a Figure of 1280 pixels' width at 100 dpi.
    """
    with defaults():
        return _page(timings).figure


def alt(timings: Measurements) -> str:
    """Alternative text of the picture."""
    return _alt.timings_text(timings)


def picture(timings: Measurements, fmt: str = "png") -> bytes:
    """The picture as a file's bytes: png, svg or pdf."""
    from expandlab.figures.render import render

    return render(times(timings), fmt, title="Measured times", description=alt(timings))


def _page(timings: Measurements) -> Canvas:
    count = max(1, len(timings.totals))
    canvas = Canvas(WIDTH, _MARGIN + _TOP + count * _ROW + _AXIS + _CAPTION + _MARGIN - 12)
    _heading(canvas, timings)
    left, right = _MARGIN + _LABEL, WIDTH - _MARGIN - _VALUE
    top = _MARGIN + _TOP
    foot = top + count * _ROW
    if not timings.totals:
        canvas.text(_MARGIN, top + 24, "nothing was measured before the run was cancelled", 12, colour=c.MUTED)
    else:
        longest = max(max(row.q3_ms, _sum(timings, row)) for row in timings.totals)
        scale = _scale(canvas, left, right, top, count, longest)
    # One look for a pass of a name, so that a scan looks the same in every strategy that has one.
    looks = {name: index for index, name in enumerate(dict.fromkeys(row.pass_name for row in timings.rows))}
    for number, row in enumerate(timings.totals):
        _strategy(canvas, timings, row, top + number * _ROW, left, scale, looks)
    _caption(canvas, timings, foot + _AXIS + 16)
    return canvas


def _heading(canvas: Canvas, timings: Measurements) -> None:
    title = f"{timings.src_count:,} src → {plural(timings.total, 'item')}"
    canvas.text(_MARGIN, _MARGIN + 14, title, 18, weight="bold", width=760, smallest=13)
    canvas.text(_MARGIN, _MARGIN + 36, "median time of every pass; the whisker spans the quartiles of the sum", 11,
                colour=c.MUTED, width=760)  # fmt: skip
    notes = []
    if timings.software:
        notes.append("software adapter: the CPU is measured")
    if timings.cancelled:
        notes.append("cancelled: partial results")
    if timings.clock_moved:
        notes.append("the clock moved: compare ratios")
    for line, note in enumerate(notes):
        wide = text_width(note, 12, "bold")
        y = _MARGIN + 14 + line * 24
        canvas.rects(WIDTH - _MARGIN - wide - 20, y - 15, wide + 20, 21, "#fff3d6", edge="#b77a00", line=1.0)
        canvas.text(WIDTH - _MARGIN - 10, y, note, 12, weight="bold", colour="#6b4700", align="right")


def _sum(timings: Measurements, total: PassTime) -> float:
    """Sum of the medians: where the bar ends. It need not be the median of the sums, which the text gives."""
    return sum(row.median_ms for row in timings.rows if row.name == total.name)


def ticks(longest: float, at_most: int = 8) -> np.ndarray:
    """Round numbers from 0 to at least `longest`."""
    if not longest > 0 or not np.isfinite(longest):
        return np.array([0.0, 1.0])
    rough = longest / at_most
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return np.arange(0, int(np.ceil(longest / step - 1e-9)) + 1) * step


def _scale(canvas: Canvas, left: float, right: float, top: float, count: int, longest: float) -> float:
    foot = top + count * _ROW
    marks = ticks(longest)
    scale = (right - left) / marks[-1]
    # Beside the bars only: no line runs through the names below them.
    spans = [(top + row * _ROW - 6, top + row * _ROW + _BAR + 2) for row in range(count)] + [(foot - 4, foot + 2)]
    canvas.lines([((left + v * scale, a), (left + v * scale, b)) for v in marks for a, b in spans], c.RULE, 0.8)
    canvas.lines([((left, a), (left, b)) for a, b in spans], c.MUTED, 1.0)
    for value in marks:
        canvas.text(left + value * scale, foot + 16, f"{value:.6g}", 11, colour=c.MUTED, align="center")
    canvas.text((left + right) / 2, foot + 34, "milliseconds", 11, colour=c.MUTED, align="center")
    return float(scale)


def _strategy(
    canvas: Canvas, timings: Measurements, total: PassTime, y: float, left: float, scale: float, looks: dict[str, int]
) -> None:
    title = _alt.title_of(total.name)
    canvas.text(_MARGIN, y + 16, title, 13, weight="bold", width=_LABEL - 16, smallest=11)
    canvas.text(_MARGIN, y + 32, f"{total.name}, {plural(total.samples, 'run')}", 10, colour=c.MUTED,
                width=_LABEL - 16)  # fmt: skip
    edge = left
    rows = [row for row in timings.rows if row.name == total.name]
    for row in rows:
        wide = row.median_ms * scale
        _segment(canvas, edge, y, wide, _BAR, looks[row.pass_name], "pass-time")
        edge += wide
    _names(canvas, left, y + _BAR + 15, rows, looks)
    middle = y + _BAR / 2
    low, high = left + total.q1_ms * scale, left + total.q3_ms * scale
    whisker = [((low, middle), (high, middle)), ((low, middle - 6), (low, middle + 6)), ((high, middle - 6), (high, middle + 6))]  # fmt: skip  # noqa: E501
    canvas.lines(whisker, c.BACKGROUND, 3.4)
    canvas.lines(whisker, c.INK, 1.4, gid="quartiles")
    value = WIDTH - _MARGIN
    canvas.text(value, y + 16, _alt.time_text(total.median_ms), 14, weight="bold", align="right", width=_VALUE - 16)
    ratio = timings.x_limit(total.name)
    beside = f"; {ratio.median:.3g} x limit" if ratio else ""
    canvas.text(value, y + 32, f"{total.q1_ms:.3g} to {total.q3_ms:.3g} ms{beside}", 10, colour=c.MUTED, align="right",
                width=_VALUE - 16, smallest=8)  # fmt: skip


def _segment(canvas: Canvas, x: float, y: float, wide: float, tall: float, look: int, gid: str) -> None:
    face = c.src_colours(look + 1)[look]
    canvas.rects(x, y, wide, tall, face[None], edge=c.BACKGROUND, line=1.0, gid=gid)
    hatch = _HATCHES[look % len(_HATCHES)]
    if hatch and wide > 2:
        # The hatch takes the colour of an edge that is not drawn.
        canvas.rects(x, y, wide, tall, "none", edge="#ffffffb0").set_hatch(hatch)


def _names(canvas: Canvas, x: float, y: float, rows: list[PassTime], looks: dict[str, int]) -> None:
    """Every pass below the bar in order, with its colour and time: a segment may be too short for its name."""
    end = WIDTH - _MARGIN - _VALUE
    for row in rows:
        text = f"{row.pass_name} {_alt.time_text(row.median_ms)}"
        if x + 22 + text_width(text, 10) > end:
            canvas.text(x, y, "…", 10, colour=c.MUTED)
            return
        _segment(canvas, x, y - 9, 16, 10, looks[row.pass_name], "pass-key")
        x += 21
        x += canvas.text(x, y, text, 10, gid="pass-name") + 14


def _caption(canvas: Canvas, timings: Measurements, y: float) -> None:
    room = WIDTH - 2 * _MARGIN
    canvas.lines([((_MARGIN, y - 16), (_MARGIN + room, y - 16))], c.RULE)
    where = f"{timings.device}; driver {timings.driver or 'not named'}; timer: {timings.timer}"
    canvas.text(_MARGIN, y, where, 11, colour=c.MUTED, width=room, smallest=9)
    limit = timings.limit
    what = (
        f"workgroups of {timings.workgroup_size}; results are written to memory and not read back; "
        f"counts SHA-256 {timings.counts_sha256[:12]}"
    )
    if limit is not None:
        what += f"; limit: {limit.name} of the same bytes, {_alt.time_text(limit.gpu.median)}"
    canvas.text(_MARGIN, y + 17, what, 11, colour=c.MUTED, width=room, smallest=9)
