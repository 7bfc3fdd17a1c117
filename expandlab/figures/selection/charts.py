"""The drawings that the frames of a selection are made of: bars, histograms, cells coloured by place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, text_width
from expandlab.figures.page import MARGIN, WIDTH

INSIDE = WIDTH - 2 * MARGIN
GUTTER = 74
ROOM = INSIDE - GUTTER
LEFT = MARGIN + GUTTER
# Columns of a chart over many things: two pixels for each.
COLUMNS = ROOM // 2
BAR = 24


def place_colours(places: np.ndarray, n: int) -> np.ndarray:
    """uint8 (..., 3): dark for the best of n, light for the worst; places below 0 hold nothing and are white."""
    places = np.asarray(places)
    level = np.log1p(np.maximum(places, 0)) / max(np.log1p(n - 1), 1e-9)
    rgb = (colormaps["cividis"](np.clip(level, 0.0, 1.0))[..., :3] * 255).round().astype(np.uint8)
    return np.where((places >= 0)[..., None], rgb, np.uint8(255))


def binned(values: np.ndarray, columns: int, empty: int) -> np.ndarray:
    """The smallest of each of at most `columns` equal parts; a part of `empty` alone stays so."""
    if not len(values):
        return np.zeros(0, np.int64)
    each = -(-len(values) // columns)
    large = np.iinfo(np.int64).max
    padded = np.full(-(-len(values) // each) * each, large)
    padded[: len(values)] = np.where(values == empty, large, values)
    found = padded.reshape(-1, each).min(axis=1)
    return np.where(found == large, empty, found)


def scores_row(canvas: Canvas, y: float, tall: float, places: np.ndarray, k: int, lit: np.ndarray) -> None:
    """Every score at its index, the better the higher; `lit` (bool) are in play, and the k best are marked below."""
    n = len(places)
    columns = min(COLUMNS, n)
    each = -(-n // columns)
    padded = np.full(-(-n // each) * each, -1)
    padded[:n] = places
    table = padded.reshape(-1, each)
    lights = np.zeros(len(padded), bool)
    lights[:n] = lit
    lights = lights.reshape(-1, each)
    wide = ROOM / len(table)

    def level(place: np.ndarray) -> np.ndarray:
        return y + np.log1p(place) / max(np.log1p(n - 1), 1e-9) * (tall - 3)

    edges = LEFT + np.arange(len(table)) * wide
    large = np.iinfo(np.int64).max
    top = np.where(table >= 0, table, large).min(axis=1)
    foot = np.maximum(table.max(axis=1), 0)
    canvas.rects(edges, level(top), wide, np.maximum(level(foot) - level(top), 2.0), c.WASTED, gid="scores")
    if lights.any():
        alive = np.flatnonzero(lights.any(axis=1))
        best = np.where(lights, table, large).min(axis=1)[alive]
        worst = np.where(lights, table, -1).max(axis=1)[alive]
        heights = np.maximum(level(worst) - level(best), 2.0)
        canvas.rects(edges[alive], level(best), wide, heights, c.ACCENT, gid="in-play")
    wanted = np.flatnonzero(((table >= 0) & (table < k)).any(axis=1))
    canvas.rects(edges[wanted], y + tall + 3, max(wide - 0.5, 1.0), 7, c.INK, gid="wanted")
    canvas.text(LEFT - 8, y + 9, "best", 10, colour=c.MUTED, align="right")
    canvas.text(LEFT - 8, y + tall, "worst", 10, colour=c.MUTED, align="right")
    canvas.text(LEFT - 8, y + tall + 12, "wanted", 10, align="right", width=GUTTER - 8)
    canvas.text(LEFT, y + tall + 26, "index 0", 10, colour=c.MUTED)
    canvas.text(LEFT + ROOM, y + tall + 26, f"index {n - 1:,}", 10, colour=c.MUTED, align="right")


def histogram(
    canvas: Canvas, y: float, tall: float, counts: np.ndarray, chosen: int | None, shown: tuple[int, int] | None = None
) -> None:  # fmt: skip
    """Bars of a histogram, heights by powers of ten. chosen: the bucket of the k-th; those before it are darker."""
    filled = np.flatnonzero(counts)
    low, high = shown or ((int(filled[0]), int(filled[-1])) if len(filled) else (0, len(counts) - 1))
    window = counts[low : high + 1].astype(np.int64)
    each = -(-len(window) // COLUMNS)
    padded = np.concatenate([window, np.zeros(-len(window) % each, np.int64)]).reshape(-1, each)
    sums = padded.sum(axis=1)
    wide = min(40.0, ROOM / len(sums))
    most = max(1.0, float(np.log1p(sums.max(initial=1))))
    heights = np.log1p(sums) / most * (tall - 24)
    edges, foot = LEFT + np.arange(len(sums)) * wide, y + tall - 16
    gap = 1.0 if wide >= 5 else 0.0
    at = None if chosen is None else (chosen - low) // each
    number = np.arange(len(sums))
    for mask, colour, gid in (
        (number >= 0 if at is None else number > at, c.IDLE_HATCH, "bins"),
        (np.zeros(len(sums), bool) if at is None else number < at, c.INK, "bins-taken"),
        (number == (-1 if at is None else at), c.ACCENT, "bin-chosen"),
    ):
        if mask.any():
            canvas.rects(edges[mask], foot - heights[mask], wide - gap, heights[mask], colour, gid=gid)
    canvas.lines([((LEFT, foot), (LEFT + wide * len(sums), foot))], c.MUTED, 1.0)
    canvas.text(LEFT, foot + 14, f"bin {low:,}", 10, colour=c.MUTED)
    end = LEFT + wide * len(sums)
    if high > low and end - LEFT > 150:
        canvas.text(end, foot + 14, f"bin {high:,}", 10, colour=c.MUTED, align="right")
    canvas.text(LEFT - 8, foot - (tall - 24) + 4, f"{int(sums.max(initial=0)):,}", 10, colour=c.MUTED, align="right")
    if at is not None:
        middle = float(np.clip(edges[at] + wide / 2, LEFT + 40, LEFT + ROOM - 40))
        canvas.lines([((edges[at] + wide / 2, y + 6), (edges[at] + wide / 2, foot - heights[at]))], c.ACCENT, 1.0)
        canvas.text(middle + 6, y + 10, f"bin {chosen:,}", 11, colour=c.ACCENT, weight="bold")


def log_bars(canvas: Canvas, y: float, rows: Sequence[tuple[str, int, str]], most: int, label: float = 190.0) -> float:
    """Named numbers as bars, lengths by powers of ten; returns the y below. rows: (name, number, colour)."""
    left, room = MARGIN + label, INSIDE - label - 150
    for name, number, colour in rows:
        canvas.text(left - 10, y + 15, name, 11, align="right", width=label - 12, smallest=8)
        length = np.log1p(number) / max(np.log1p(most), 1e-9) * room
        canvas.rects(left, y + 3, max(float(length), 1.0), BAR - 8, colour, gid="bars")
        canvas.text(left + max(float(length), 1.0) + 8, y + 15, f"{number:,}", 11)
        y += BAR
    return y


def cells(canvas: Canvas, y: float, tall: float, table: np.ndarray, n: int, names: Sequence[str] = ()) -> None:
    """Items as they lie in memory, coloured by place; rows as in `table`, -1 where there is none."""
    rows, columns = table.shape
    high = min(22.0, tall / rows)
    pixels = place_colours(np.array([binned(row, COLUMNS, -1) for row in table]), n)
    canvas.image(pixels, LEFT, y, ROOM, high * rows, gid="memory")
    if rows > 1 and high >= 4:
        lines = [((LEFT, y + high * row), (LEFT + ROOM, y + high * row)) for row in range(1, rows)]
        canvas.lines(lines, c.BACKGROUND, 1.0)
    every = max(1, int(np.ceil(12 / high)))
    for row in range(0, len(names), every):
        canvas.text(
            LEFT - 8, y + high * (row + 0.5) + 4, names[row], 9, colour=c.MUTED, align="right", width=GUTTER - 8
        )
    if columns <= 40 and high >= 14:
        wide = ROOM / columns
        for row in range(rows):
            known = table[row] >= 0
            x = LEFT + (np.flatnonzero(known) + 0.5) * wide
            ground = place_colours(table[row][known], n)
            at = np.full(known.sum(), y + high * (row + 0.5))
            canvas.numbers_on(table[row][known], x, at, 9.5, ground, gid="places")


def heap(canvas: Canvas, y: float, tall: float, places: np.ndarray, n: int) -> int:
    """A heap level by level, coloured by place; returns how many items are drawn."""
    levels = min(10, max(1, len(places).bit_length()))
    high = min(24.0, tall / levels)
    for level in range(levels):
        first, count = 2**level - 1, 2**level
        mine = places[first : first + count]
        wide = ROOM / count
        x, top = LEFT + np.arange(len(mine)) * wide, y + level * high
        ground = place_colours(mine, n)
        gap = 2.0 if wide >= 8 else 0.5
        canvas.rects(x, top, wide - gap, high - 2, ground, gid="heap")
        if len(mine) and text_width(str(int(mine.max())), 9.5) + 4 < wide and high >= 13:
            canvas.numbers_on(
                mine, x + (wide - gap) / 2, np.full(len(mine), top + high / 2 - 1), 9.5, ground, gid="places"
            )
        if high >= 11:
            canvas.text(LEFT - 8, top + high / 2 + 3, f"level {level}", 9, colour=c.MUTED, align="right")
    return min(len(places), 2**levels - 1)


def pieces(canvas: Canvas, y: float, tall: float, places: np.ndarray, n: int, picked: np.ndarray | None) -> None:
    """The best of every piece: the better the taller; picked ones are coloured."""
    chosen = np.zeros(len(places), bool)
    if picked is not None:
        chosen[picked] = True
    each = -(-len(places) // COLUMNS)
    fill = -len(places) % each
    table = np.concatenate([places, np.full(fill, n)]).reshape(-1, each)
    lit = np.concatenate([chosen, np.zeros(fill, bool)]).reshape(-1, each).any(axis=1)
    best = table.min(axis=1)
    heights = (1 - np.log1p(best) / np.log1p(n)) * (tall - 18) + 1
    wide = min(40.0, ROOM / len(best))
    edges, foot = LEFT + np.arange(len(best)) * wide, y + tall - 16
    for mask, colour, gid in ((~lit, c.IDLE_HATCH, "pieces"), (lit, c.ACCENT, "pieces-picked")):
        if mask.any():
            canvas.rects(
                edges[mask], foot - heights[mask], wide - (1 if wide >= 4 else 0), heights[mask], colour, gid=gid
            )
    canvas.lines([((LEFT, foot), (LEFT + wide * len(best), foot))], c.MUTED, 1.0)
    canvas.text(LEFT, foot + 14, "piece 0", 10, colour=c.MUTED)
    canvas.text(LEFT - 8, y + 10, "best", 10, colour=c.MUTED, align="right")


def steps_chart(
    canvas: Canvas, y: float, tall: float, names: Sequence[str], left: Sequence[int], n: int, shown: int
) -> None:
    """How many are in play after each step, heights by powers of ten; the shown one is coloured."""
    count = len(left)
    pitch = min(86.0, ROOM / max(count, 1))
    foot = y + tall - 18
    heights = np.log1p(np.array(left, float)) / max(np.log1p(n), 1e-9) * (tall - 34)
    edges = LEFT + np.arange(count) * pitch
    gap = 3.0 if pitch >= 10 else 0.5
    now = np.arange(count) == shown
    for mask, colour, gid in ((~now, c.MUTED, "steps"), (now, c.ACCENT, "step-shown")):
        if mask.any():
            canvas.rects(edges[mask], foot - heights[mask], pitch - gap, heights[mask], colour, gid=gid)
    canvas.rects(edges[shown], foot + 1, pitch - gap, 3, c.ACCENT)
    for number in range(count):
        middle = edges[number] + (pitch - gap) / 2
        text = f"{left[number]:,}"
        if text_width(text, 10) < pitch:
            canvas.text(middle, foot - heights[number] - 4, text, 10, align="center")
        if text_width(names[number], 10) < pitch + 2:
            canvas.text(middle, foot + 15, names[number], 10, colour=c.MUTED, align="center")
    canvas.text(LEFT - 8, foot - heights.max(initial=0) + 4, "in play", 10, colour=c.MUTED, align="right")
