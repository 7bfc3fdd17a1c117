"""A distribution of N: histogram, sorted counts, Lorenz curve and statistics, alone or beside another one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from expandlab import counts as _counts
from expandlab.counts import Statistics, statistics
from expandlab.counts.statistics import lorenz
from expandlab.figures import alt
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, defaults, text_width
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.settings import DistributionSettings

_INSIDE = WIDTH - 2 * MARGIN
_GUTTER = 58
_BARS, _LABELS, _CURVES, _ROW = 130, 34, 250, 20
# Bins of equal width, at most; and points of a curve.
_EQUAL, _POINTS = 24, 500
# The first distribution and the one beside it: a solid line and a dashed one.
_INKS, _STYLES = (c.ACCENT, "#a35200"), ("solid", (0, (4, 3)))

# Field of `Statistics` -> (name, how it is written, what it means for threads).
_MEANINGS = {
    "src": ("src (P1)", "{:,}", "threads of pass 1"),
    "items": ("items (P2)", "{:,}", "what pass 2 has to do"),
    "mean": ("mean N", "{:,.2f}", "items for each src"),
    "median": ("median N", "{:,g}", "half of the src have no more"),
    "largest": ("largest N", "{:,}", "rounds of the longest loop over one src"),
    "deviation": ("standard deviation", "{:,.2f}", "of N"),
    "zeros": ("zeros", "{:.1%}", "src that spawn nothing"),
    "gini": ("Gini coefficient", "{:.2f}", "0: all N equal; towards 1: one src has all items"),
    "top": ("top 1 %", "{:.1%}", "of the items belong to the largest 1 % of the src"),
    "flat": ("flat at work", "{:.1%}", "mean / largest: the share of flat's threads that have an item"),
    "append": ("append at work", "{:.1%}", "of the lanes in append's loop, subgroups of 32 src in order"),
    "bits": ("set bits", "{:.2f}", "entries for each src in the power-of-two buckets"),
}


@dataclass(frozen=True)
class _Shown:
    """One distribution of the page."""

    name: str
    counts: np.ndarray
    stats: Statistics


def page(settings: DistributionSettings) -> Page:
    """The page that `settings` describe."""
    counts = settings.counts()
    shown = [_Shown(alt.source_words(settings), counts, statistics(counts))]
    if settings.compare is not None:
        mean = shown[0].stats.mean
        other = _counts.make(settings.compare, len(counts), mean=mean, max_n=settings.max_n, seed=settings.seed)
        shown.append(_Shown(f"{settings.compare}, mean {mean:g}, seed {settings.seed}", other, statistics(other)))
    bins = _bins(max(item.stats.largest for item in shown), settings.bins)
    with defaults():
        canvas = _draw(shown, bins)
    histograms = [_histogram(item.counts, bins) for item in shown]
    return Page(
        title="Distribution of N",
        description=describe(shown),
        figure=canvas.figure,
        counts=counts,
        head=("statistic", *(item.name for item in shown), "meaning"),
        rows=[
            (name, *(form.format(getattr(item.stats, field)) for item in shown), what)
            for field, (name, form, what) in _MEANINGS.items()
        ],
        data={
            "statistics": [item.stats for item in shown],
            "bins": [_bin_text(first, end) for first, end in bins],
            "histograms": [{"src": src, "items": items} for src, items in histograms],
        },
    )


def describe(shown: list[_Shown]) -> str:
    """Alternative text."""
    parts = []
    for item in shown:
        facts = ", ".join(
            f"{_MEANINGS[field][0]} {_MEANINGS[field][1].format(getattr(item.stats, field))}"
            for field in ("mean", "median", "largest", "zeros", "gini", "top", "flat", "append", "bits")
        )
        parts.append(f"{alt.counts_sentence(item.counts)} ({item.name}): {facts}")
    return ". ".join(parts) + "."


def _bins(largest: int, kind: str) -> list[tuple[int, int]]:
    """(first, end) of every bin: 0, 1, 2 to 3, 4 to 7, ...; or of equal widths."""
    if kind == "powers":
        return [(0, 1), *((1 << bit, 2 << bit) for bit in range(max(1, largest.bit_length())))]
    width = max(1, -(-(largest + 1) // _EQUAL))
    return [(first, first + width) for first in range(0, largest + 1, width)]


def _bin_text(first: int, end: int) -> str:
    return f"{first:,}" if end == first + 1 else f"{first:,}–{end - 1:,}"


def _histogram(counts: np.ndarray, bins: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Src of each bin, and the items that they have."""
    ordered = np.sort(counts)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(ordered, dtype=np.uint64)])
    places = np.searchsorted(ordered, [bins[0][0], *(end for _, end in bins)], side="left")
    return np.diff(places), np.diff(sums[places].astype(np.int64))


def _draw(shown: list[_Shown], bins: list[tuple[int, int]]) -> Canvas:
    each = SECTION + _BARS + _LABELS + GAP
    high = 2 * MARGIN + 36 + len(shown) * each + 2 * SECTION + _CURVES + 2 * GAP + (len(_MEANINGS) + 1) * _ROW
    canvas = Canvas(WIDTH, float(high))
    y = heading(canvas, alt.counts_sentence(shown[0].counts), shown[0].name)
    for number, item in enumerate(shown):
        y = section(
            canvas, y, f"Histogram: {item.name}", "filled: share of the src; hatched: share of the items that they have"
        )
        _bars(canvas, y, item.counts, bins, _INKS[number])
        y += _BARS + _LABELS + GAP
    y = section(canvas, y, "Sorted, and added up", "left: N of every src, largest first; right: Lorenz curve")
    half = (_INSIDE - 40) / 2
    _sorted(canvas, MARGIN, y, half, shown)
    _lorenz(canvas, MARGIN + half + 40, y, half, shown)
    y = section(canvas, y + _CURVES + GAP, "In numbers", "and what they mean for threads")
    _table(canvas, y, shown)
    return canvas


def _bars(canvas: Canvas, y: float, counts: np.ndarray, bins: list[tuple[int, int]], ink: str) -> None:
    src, items = _histogram(counts, bins)
    shares = [part / max(1, int(part.sum())) for part in (src, items)]
    most = max(0.01, *(float(share.max(initial=0.0)) for share in shares))
    left, foot = MARGIN + _GUTTER, y + _BARS
    pitch = min(90.0, (_INSIDE - _GUTTER) / len(bins))
    for value in (0.0, most / 2, most):
        level = foot - value / most * (_BARS - 14)
        canvas.lines([((left, level), (left + pitch * len(bins), level))], c.RULE, 0.8)
        canvas.text(left - 8, level + 4, f"{value:.0%}".replace("%", " %"), 10, colour=c.MUTED, align="right")
    edges = left + np.arange(len(bins)) * pitch
    wide = pitch * 0.4
    tall = [share / most * (_BARS - 14) for share in shares]
    # What is there is at least a line.
    tall = [np.where(part > 0, np.maximum(rise, 1.0), 0.0) for part, rise in zip((src, items), tall, strict=True)]
    for mask, rise, offset in ((src > 0, tall[0], 0.08), (items > 0, tall[1], 0.52)):
        if not mask.any():
            continue
        at, top = edges[mask] + pitch * offset, foot - rise[mask]
        if offset < 0.5:
            canvas.rects(at, top, wide, rise[mask], ink, gid="src-share")
        else:
            bars = canvas.rects(at, top, wide, rise[mask], c.WASTED, edge=c.MUTED, line=0.8, gid="item-share")
            bars.set_hatch("///")
    for edge, (first, end) in zip(edges, bins, strict=True):
        whole = _bin_text(first, end)
        # Where the range does not fit, its first value and a dash.
        text = whole if text_width(whole, 10) <= pitch - 2 else f"{first:,}–"
        canvas.text(edge + pitch / 2, foot + 14, text, 10, align="center", width=pitch - 1, smallest=7)
    canvas.text(MARGIN, foot + 14, "N", 11, colour=c.MUTED)


def _frame(
    canvas: Canvas, x: float, y: float, wide: float, x_words: str, y_words: str
) -> tuple[float, float, float, float]:
    """Axes: (left, foot, width, height) of what is drawn inside."""
    left, foot, room, tall = x + _GUTTER, y + _CURVES - 30, wide - _GUTTER, _CURVES - 52
    canvas.lines([((left, foot - tall), (left, foot), (left + room, foot))], c.MUTED, 1.0)
    canvas.text(left + room / 2, foot + 26, x_words, 11, colour=c.MUTED, align="center", width=room)
    canvas.text(x, foot - tall - 8, y_words, 11, colour=c.MUTED, width=wide)
    return left, foot, room, tall


def _curve(canvas: Canvas, x: np.ndarray, y: np.ndarray, number: int, gid: str) -> None:
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), _POINTS)).round().astype(int))
    canvas.lines([np.stack([x[kept], y[kept]], axis=1)], _INKS[number], 2.0, gid=gid, style=_STYLES[number])


def _sorted(canvas: Canvas, x: float, y: float, wide: float, shown: list[_Shown]) -> None:
    """N by rank; the scale of N doubles, with 0 below 1."""
    left, foot, room, tall = _frame(canvas, x, y, wide, "src, largest N first", "N, a doubling scale")
    top = max(1.0, *(float(np.log2(item.stats.largest + 1)) for item in shown))
    marks = [0, *(4**power for power in range(17) if 4**power <= 2**top)]
    for value in marks[:: max(1, len(marks) // 8)]:
        level = foot - np.log2(value + 1) / top * tall
        canvas.lines([((left, level), (left + room, level))], c.RULE, 0.8)
        canvas.text(left - 8, level + 4, f"{value:,}", 10, colour=c.MUTED, align="right", width=_GUTTER - 8, smallest=7)
    for number, item in enumerate(shown):
        n = np.sort(item.counts)[::-1].astype(np.float64)
        if len(n):
            at = left + np.linspace(0, room, len(n) + 1)
            steps = np.append(n, n[-1])
            _curve(canvas, at, foot - np.log2(steps + 1) / top * tall, number, "sorted")


def _lorenz(canvas: Canvas, x: float, y: float, wide: float, shown: list[_Shown]) -> None:
    left, foot, room, tall = _frame(canvas, x, y, wide, "share of the src, smallest N first", "share of the items")
    for value in (0.0, 0.5, 1.0):
        told = f"{value:.0%}".replace("%", " %")
        canvas.text(left - 8, foot - value * tall + 4, told, 10, colour=c.MUTED, align="right")
        side = "right" if value == 1 else "center"
        canvas.text(left + value * room, foot + 13, told, 10, colour=c.MUTED, align=side)
    canvas.lines([((left, foot), (left + room, foot - tall))], c.RULE, 1.2)
    canvas.text(left + room * 0.36, foot - tall * 0.42, "all N equal", 10, colour=c.MUTED, align="right")
    for number, item in enumerate(shown):
        across, up = lorenz(item.counts)
        _curve(canvas, left + across * room, foot - up * tall, number, "lorenz")
        canvas.text(left + 10, foot - tall + 16 + 17 * number, f"Gini {item.stats.gini:.2f}: {item.name}", 11,
                    colour=_INKS[number], weight="bold", width=room * 0.72, smallest=8)  # fmt: skip


def _table(canvas: Canvas, y: float, shown: list[_Shown]) -> None:
    columns = [MARGIN + 300 + 170 * number for number in range(len(shown))]
    for number, (column, item) in enumerate(zip(columns, shown, strict=True)):
        canvas.text(column, y + 12, item.name, 10.5, align="right", width=164, smallest=7.5, colour=_INKS[number])
    for line, (field, (name, form, what)) in enumerate(_MEANINGS.items(), 1):
        foot = y + line * _ROW + 13
        canvas.lines([((MARGIN, foot - 15), (WIDTH - MARGIN, foot - 15))], c.RULE, 0.6)
        canvas.text(MARGIN, foot, name, 12)
        for column, item in zip(columns, shown, strict=True):
            canvas.text(column, foot, form.format(getattr(item.stats, field)), 12, align="right", weight="bold")
        canvas.text(
            columns[-1] + 24, foot, what, 11, colour=c.MUTED, width=WIDTH - MARGIN - columns[-1] - 24, smallest=8
        )
