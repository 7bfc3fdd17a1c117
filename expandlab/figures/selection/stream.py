"""The view of a stream, bound by bound: the row in several passes, and what each lets through."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, plural, text_width
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, section
from expandlab.figures.selection import charts, words
from expandlab.figures.selection.frames import Row, row_of, value_text
from expandlab.settings import TopKSettings
from expandlab.topk import Push, trace_stream

HEAD = ("pass", "first index", "scores", "bound, score", "bound, index", "better than the bound", "among the k best after it", "words back")  # fmt: skip  # noqa: E501
_ROW, _CHART, _BARS = 112, 190, 3 * charts.BAR


def page(settings: TopKSettings) -> Page:
    """The page of the view `stream`."""
    row = row_of(settings)
    indices, told = _told(settings.kind, settings.n, settings.seed, settings.largest, settings.k, settings.pushes)
    step = min(settings.step, len(told) - 1)
    right = bool(np.array_equal(indices, row.best))
    canvas = _draw(settings, row, told, step, right)
    return Page(
        title=words.title(settings, "A stream"),
        description=_describe(settings, row, told, step, right),
        figure=canvas.figure,
        counts=None,
        head=HEAD,
        rows=[_table_row(row, number, push) for number, push in enumerate(told, 1)],
        data={"indices": indices, "right": right, "steps": len(told), "shown": told[step]},
    )


@lru_cache(maxsize=8)
def _told(kind: str, n: int, seed: int, largest: bool, k: int, pushes: int) -> tuple[np.ndarray, tuple[Push, ...]]:
    return trace_stream(_row_of(kind, n, seed, largest, k).scores, k, pushes, largest=largest)


def _row_of(kind: str, n: int, seed: int, largest: bool, k: int) -> Row:
    return row_of(TopKSettings(kind=kind, n=n, seed=seed, largest=largest, k=k))


def _table_row(row: Row, number: int, push: Push) -> tuple[Any, ...]:
    bound = ("", "") if push.bound is None else (value_text(row.scores[push.bound[1]]), push.bound[1])
    return (number, push.base, push.scores, *bound, push.passed, push.entered, push.words_back)


def _said(row: Row, told: tuple[Push, ...], step: int) -> str:
    push = told[step]
    if push.bound is None:
        bound = "no bound yet, so everything counts"
    else:
        bound = f"the bound is score {value_text(row.scores[push.bound[1]])} at index {push.bound[1]:,}"
    return (
        f"pass {step + 1} of {len(told)}, {plural(push.scores, 'score')} from index {push.base:,}: {bound}; "
        f"{push.passed:,} are better than it, {push.entered:,} of them are among the best after the pass; "
        f"{plural(push.words_back, 'word')} come back"
    )


def _describe(settings: TopKSettings, row: Row, told: tuple[Push, ...], step: int, right: bool) -> str:
    said = _said(row, told, step)
    return ". ".join([
        words.sentence(settings, "A stream"), said[0].upper() + said[1:],
        "Better than the carried bound, pass by pass: " + ", ".join(f"{push.passed:,}" for push in told),
        f"{sum(push.words_back for push in told):,} words come back in all, where {settings.n:,} would have",
        words.check(right, settings.k),
    ]) + "."  # fmt: skip


def _draw(settings: TopKSettings, row: Row, told: tuple[Push, ...], step: int, right: bool) -> Canvas:
    high = 2 * MARGIN + 36 + 3 * SECTION + _ROW + 44 + _CHART + 30 + _BARS + 2 * GAP - 6
    canvas = Canvas(WIDTH, float(high))
    y = words.heading(canvas, settings, "A stream")
    note = "each at its index, the better the higher (powers of ten); blue: better than the bound, in this pass"
    y = section(canvas, y, "The scores", note)
    push = told[step]
    mine = np.arange(settings.n)
    lit = (mine >= push.base) & (mine < push.base + push.scores)
    if push.bound is not None:
        lit &= row.places < row.places[push.bound[1]]
    charts.scores_row(canvas, y, _ROW, row.places, settings.k, lit)
    y = section(canvas, y + _ROW + 44, f"Pass {step + 1} of {len(told)}",
                "grey: scores; blue: better than the carried bound; black: among the best after it (powers of ten)")  # fmt: skip  # noqa: E501
    canvas.text(MARGIN, y + 14, _said(row, told, step), 13, width=charts.INSIDE, smallest=9)
    _passes(canvas, y + 30, told, step)
    y = section(canvas, y + _CHART + 30 + GAP, "Words that come back", "powers of ten")
    back = sum(item.words_back for item in told)
    rows = [("all scores", settings.n, c.IDLE_HATCH), ("all passes of the stream", back, c.ACCENT),
            ("the k best (2k)", 2 * settings.k, c.INK)]  # fmt: skip
    charts.log_bars(canvas, y, rows, max(settings.n, back))
    canvas.text(MARGIN, y + _BARS + GAP + 4, words.check(right, settings.k), 13, weight="bold", width=charts.INSIDE,
                smallest=9)  # fmt: skip
    return canvas


def _passes(canvas: Canvas, y: float, told: tuple[Push, ...], step: int) -> None:
    pitch = min(96.0, charts.ROOM / len(told))
    foot, tall = y + _CHART - 34, _CHART - 54
    most = np.log1p(max(push.scores for push in told))
    edges = charts.LEFT + np.arange(len(told)) * pitch
    wide = pitch * 0.27
    series = (("scores", c.IDLE_HATCH), ("passed", c.ACCENT), ("entered", c.INK))
    for number, (name, colour) in enumerate(series):
        values = np.array([getattr(push, name) for push in told])
        heights = np.log1p(values) / most * tall
        x = edges + number * pitch * 0.29
        canvas.rects(x, foot - heights, wide, heights, colour, gid=name)
        for at, value in enumerate(values):
            if text_width(f"{value:,}", 9) < pitch * 0.36:
                canvas.text(x[at] + wide / 2, foot - heights[at] - 3, f"{value:,}", 9, align="center")
    every = max(1, int(np.ceil(18 / pitch)))
    for at in range(0, len(told), every):
        canvas.text(edges[at] + pitch * 0.43, foot + 18, f"{at + 1}", 10, colour=c.MUTED, align="center")
    canvas.rects(edges[step], foot + 2, pitch * 0.86, 3, c.ACCENT, gid="step-shown")
    canvas.text(charts.LEFT - 8, foot + 18, "pass", 10, colour=c.MUTED, align="right")
