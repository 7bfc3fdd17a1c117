"""A plot with two scales, drawn by hand on the canvas, so that it looks and measures the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, text_width

# Beside its colour each series has a mark, so that colour is not needed to tell them apart.
_MARKS = ("square", "diamond", "up", "down", "cross", "bar")
_DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))


@dataclass(frozen=True)
class Scale:
    """From values to pixels, linear or by powers of ten."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, values: object) -> np.ndarray:
        """Pixels of values; what a logarithm cannot show lies at the low end."""
        array = np.asarray(values, float)
        if self.log:
            array = np.log10(np.maximum(array, 1e-300))
        span = self.high - self.low or 1.0
        return self.start + (np.clip(array, self.low, self.high) - self.low) / span * (self.end - self.start)


def scale(values: Sequence[float], start: float, end: float, log: bool) -> tuple[Scale, list[tuple[float, str]]]:
    """A scale that holds the values, and its ticks: (value, text), at most about eight."""
    array = np.asarray([v for v in values if np.isfinite(v) and (v > 0 or not log)], float)
    if not array.size:
        array = np.array([1.0, 10.0]) if log else np.array([0.0, 1.0])
    if not log:
        from expandlab.figures.times import ticks

        marks = ticks(float(array.max()))
        return Scale(0.0, float(marks[-1]), start, end, False), [(float(v), f"{v:.6g}") for v in marks]
    low, high = float(np.log10(array.min())), float(np.log10(array.max()))
    pad = max(0.04 * (high - low), 0.02)
    low, high = low - pad, high + pad
    wide = high - low
    steps = (1, 2, 5) if wide < 2.2 else (1,)
    every = max(1, int(np.ceil(wide / 8)))
    marks = [
        step * 10.0**power
        for power in range(int(np.floor(low)), int(np.ceil(high)) + 1)
        for step in steps
        if low <= np.log10(step * 10.0**power) <= high and (len(steps) > 1 or power % every == 0)
    ]
    return Scale(low, high, start, end, True), [(v, _short(v)) for v in marks]


def _short(value: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            return f"{value / (1e3 if unit == 'k' else limit):.3g}{unit}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


class Plot:
    """Frame, grid, ticks and titles of a plot at (left, top) .. (right, foot) of a canvas."""

    def __init__(
        self, canvas: Canvas, box: tuple[float, float, float, float], xs: Sequence[float], ys: Sequence[float],
        x_title: str, y_title: str, *, log_x: bool = True, log_y: bool = True, rows: bool = False,
    ):  # fmt: skip
        left, top, right, foot = box
        self.canvas, self.box = canvas, box
        self.x, x_ticks = scale(xs, left, right, log_x)
        self.y, y_ticks = scale(ys, foot, top, log_y)
        if rows:  # what lies one below the other has names of its own
            y_ticks = []
        lines = [((float(self.x(v)), top), (float(self.x(v)), foot)) for v, _ in x_ticks]
        lines += [((left, float(self.y(v))), (right, float(self.y(v)))) for v, _ in y_ticks]
        canvas.lines(lines, c.RULE, 0.7)
        canvas.lines([((left, top), (left, foot), (right, foot))], c.MUTED, 1.0)
        for value, text in x_ticks:
            canvas.text(float(self.x(value)), foot + 16, text, 10, colour=c.MUTED, align="center")
        for value, text in y_ticks:
            canvas.text(left - 6, float(self.y(value)) + 4, text, 10, colour=c.MUTED, align="right")
        canvas.text((left + right) / 2, foot + 34, x_title, 11, colour=c.MUTED, align="center")
        canvas.text(left - 40, top - 10, y_title, 11, colour=c.MUTED)

    def line(self, look: int, x: Sequence[float], y: Sequence[float], gid: str = "series") -> None:
        """A series: a line and its marks."""
        points = np.stack([self.x(x), self.y(y)], axis=1)
        colour = _colour(look)
        if len(points) > 1:
            self.canvas.lines([points], colour, 1.6, gid=gid, style=_DASHES[look // 10 % len(_DASHES)])
        self.points(look, x, y)

    def points(self, look: int, x: Sequence[float], y: Sequence[float], size: float = 3.4) -> None:
        """Marks alone."""
        for px, py in zip(np.atleast_1d(self.x(x)), np.atleast_1d(self.y(y)), strict=True):
            mark(self.canvas, look, float(px), float(py), size)

    def whiskers(self, look: int, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
        """Quartiles as vertical strokes."""
        strokes = [((a, b), (a, d)) for a, b, d in zip(self.x(x), self.y(low), self.y(high), strict=True)]
        self.canvas.lines(strokes, _colour(look), 1.0, gid="quartiles")


def _colour(look: int) -> str:
    red, green, blue = (int(v) for v in c.src_colours(look + 1)[look])
    return f"#{red:02x}{green:02x}{blue:02x}"


def mark(canvas: Canvas, look: int, x: float, y: float, size: float = 3.4) -> None:
    """The mark of a series."""
    shape = {
        "square": [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)],
        "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0), (0, -1.3)],
        "up": [(-1.1, 1), (1.1, 1), (0, -1.2), (-1.1, 1)],
        "down": [(-1.1, -1), (1.1, -1), (0, 1.2), (-1.1, -1)],
        "cross": [(-1, -1), (1, 1), (0, 0), (-1, 1), (1, -1)],
        "bar": [(0, -1.3), (0, 1.3)],
    }[_MARKS[look % len(_MARKS)]]
    canvas.lines([[(x + dx * size, y + dy * size) for dx, dy in shape]], _colour(look), 2.0, gid="mark")


def key(canvas: Canvas, x: float, y: float, names: Sequence[tuple[int, str]], width: float) -> float:
    """The series' names, one below the other; returns the y below them."""
    for look, name in names:
        canvas.lines([((x, y - 4), (x + 20, y - 4))], _colour(look), 1.6, style=_DASHES[look // 10 % len(_DASHES)])
        mark(canvas, look, x + 10, y - 4)
        canvas.text(x + 26, y, name, 10, width=width - 26, smallest=8, gid="key")
        y += 17
    return y


def heading(canvas: Canvas, x: float, y: float, title: str, below: str, notes: Sequence[str], width: float) -> None:
    """Title, a line below it, and notes in frames on the right."""
    canvas.text(x, y, title, 17, weight="bold", width=width * 0.62, smallest=12)
    canvas.text(x, y + 21, below, 11, colour=c.MUTED, width=width * 0.62, smallest=9)
    for line, note in enumerate(notes):
        wide = text_width(note, 11, "bold")
        canvas.rects(x + width - wide - 18, y - 14 + line * 23, wide + 18, 20, "#fff3d6", edge="#b77a00", line=1.0)
        canvas.text(x + width - 9, y + line * 23, note, 11, weight="bold", colour="#6b4700", align="right")
