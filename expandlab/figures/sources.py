"""Strip 1: one bar for each src, as high as its N."""

from __future__ import annotations

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, number_width

GUTTER = 60
_BARS, _RIBBON = 96, 13
# Room above the bars for N, or for the scale's top label.
_HEAD = 14
HEIGHT = _HEAD + _BARS + 3 + _RIBBON + 14


def caption(counts: np.ndarray, width: float) -> str:
    """What the bars are."""
    bins = _per_column(len(counts), width - GUTTER)
    if bins > 1:
        return f"the largest N of every {bins} src, and their colours"
    return "one bar for each src, as high as its N; the colour stands for the src in every strip"


def draw(canvas: Canvas, x: float, y: float, width: float, counts: np.ndarray, selected: int = -1) -> None:
    """Draw the strip at (x, y)."""
    left, room = x + GUTTER, width - GUTTER
    top, foot = y + _HEAD, y + _HEAD + _BARS
    if not len(counts):
        canvas.text(left, foot - _BARS / 2, "no src", colour=c.MUTED)
        return
    bins = _per_column(len(counts), room)
    # Several src in a column of pixels: the largest speaks for all.
    padded = np.zeros(-(-len(counts) // bins) * bins, np.int64)
    padded[: len(counts)] = counts
    who = padded.reshape(-1, bins).argmax(axis=1) + np.arange(0, len(counts), bins)
    heights = counts[who].astype(float)
    pitch = min(room / len(heights), 64.0)
    largest = float(heights.max())
    _scale(canvas, x, left, top, foot, pitch * len(heights), largest)
    gap = min(2.0, pitch * 0.15) if pitch >= 4 else 0.0
    edges = left + np.arange(len(heights)) * pitch
    ground = c.src_colours(len(counts))[who]
    tall = heights / max(largest, 1) * _BARS
    # N = 1 beside N = 10 000 is still there: one pixel is the least.
    tall = np.where(heights > 0, np.maximum(tall, 1), 0)
    canvas.rects(edges, foot - tall, pitch - gap, tall, ground, gid="source-bars", smooth=gap > 0)
    _ribbon(canvas, edges, foot + 3, pitch, gap, heights, ground)
    _labels(canvas, edges, foot, pitch, heights, tall, ground, bins, len(counts))
    if 0 <= selected < len(counts):
        edge = edges[selected // bins]
        rise = tall[selected // bins] + 3 + _RIBBON
        canvas.outline(edge - 1, foot + 3 + _RIBBON - rise - 1, pitch - gap + 2, rise + 2, 1.6, gid="selected-source")


def _per_column(src: int, room: float) -> int:
    """How many src share one column of pixels."""
    return max(1, -(-src // int(room)))


def _scale(canvas: Canvas, x: float, left: float, top: float, foot: float, wide: float, largest: float) -> None:
    canvas.lines([((left, foot + 0.5), (left + wide, foot + 0.5))], c.RULE)
    canvas.text(left - 8, foot, "0", 10, colour=c.MUTED, align="right")
    if largest:
        canvas.text(left - 8, top + 7, f"{int(largest):,}", 10, colour=c.MUTED, align="right", width=GUTTER - 12,
                    smallest=8)  # fmt: skip
    canvas.text(x, (top + foot) / 2 + 4, "N", 11, colour=c.MUTED)
    canvas.text(x, foot + 14, "src", 11, colour=c.MUTED)


def _ribbon(
    canvas: Canvas, edges: np.ndarray, y: float, pitch: float, gap: float, heights: np.ndarray, ground: np.ndarray
) -> None:
    """The identity colour at full height below every bar, however small N is; a src without items is hatched."""
    some = heights > 0
    if some.any():
        canvas.rects(edges[some], y, pitch - gap, _RIBBON, ground[some], gid="source-ribbon", smooth=gap > 0)
    if (~some).any():
        canvas.rects(edges[~some], y, pitch - gap, _RIBBON, c.IDLE)
        canvas.hatch(edges[~some], y, pitch - gap, _RIBBON, gid="source-empty")


def _labels(
    canvas: Canvas, edges: np.ndarray, foot: float, pitch: float, heights: np.ndarray, tall: np.ndarray,
    ground: np.ndarray, bins: int, count: int,
) -> None:  # fmt: skip
    index = np.arange(len(heights))
    centre = edges + pitch / 2
    if bins == 1 and pitch >= number_width(heights, 9) + 3 and len(heights) <= 100:
        canvas.numbers(heights, centre, foot - tall - 7, 9, c.MUTED, gid="source-n")
    if bins == 1 and pitch >= number_width(index, 9) + 4 and len(heights) <= 100:
        some = heights > 0
        canvas.numbers_on(index[some], centre[some] - 0.5, np.full(some.sum(), foot + 3 + _RIBBON / 2), 9, ground[some],
                          gid="source-index")  # fmt: skip
        return
    canvas.text(edges[0], foot + 3 + _RIBBON + 12, "0", 10, colour=c.MUTED)
    if count > 1:
        canvas.text(edges[-1] + pitch, foot + 3 + _RIBBON + 12, f"{count - 1:,}", 10, colour=c.MUTED,
                    align="right")  # fmt: skip
