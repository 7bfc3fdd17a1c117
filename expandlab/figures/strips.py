"""The picture that every expansion panel shares: sources, what pass 1 wrote, pass-2 threads, and the steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from expandlab.figures import alt, memory, sources, steps, threads
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, bytes_text, defaults

if TYPE_CHECKING:
    from expandlab.expansion.thread_map import ThreadMap
    from expandlab.settings import ExpansionSettings

WIDTH = 1280
_MARGIN = 36
_COLUMN_GAP = 40
# Heights of the page's parts, in pixels; strips say their own.
_HEADING, _STATS, _SECTION, _GAP, _SENTENCE = 34, 76, 24, 18, 20


@dataclass(frozen=True)
class _Column:
    """One strategy's part of the page."""

    map: ThreadMap
    grid: threads.Grid | None
    used: memory.Usage
    selected: int
    sentence: str | None


def strips(map: ThreadMap, counts: Any, *, settings: ExpansionSettings, compare: ThreadMap | None = None) -> Figure:
    """The three linked strips of a map, with its headline and its steps; with `compare`, two columns.

    counts: the N of every src, (P1,) whole numbers. settings: `step` and `thread` say what is marked, `source` and
    its fellows are quoted. Returns a Figure of 1280 pixels' width at 100 dpi, as high as its contents.
    """
    values = np.asarray(counts)
    with defaults():
        return _page(map, values, settings, compare).figure


def _page(map: ThreadMap, counts: np.ndarray, settings: ExpansionSettings, compare: ThreadMap | None) -> Canvas:
    maps = [map] if compare is None else [map, compare]
    width = (WIDTH - 2 * _MARGIN - _COLUMN_GAP * (len(maps) - 1)) / len(maps)
    grids = threads.grids(maps, width)
    columns = [_column(item, map, counts, settings, grid) for item, grid in zip(maps, grids, strict=True)]
    heights = _heights(columns, settings)
    canvas = Canvas(WIDTH, heights["page"])
    y = _MARGIN
    canvas.text(_MARGIN, y + 14, alt.counts_sentence(counts), 18, weight="bold", width=760, smallest=13)
    canvas.text(WIDTH - _MARGIN, y + 14, alt.source_words(settings), 11, colour=c.MUTED, align="right", width=430)
    y += _HEADING
    whole = WIDTH - 2 * _MARGIN
    _section(canvas, _MARGIN, y, whole, "1", "Sources", sources.caption(counts, whole))
    sources.draw(canvas, _MARGIN, y + _SECTION, whole, counts, _selected_src(columns[0]))
    y += _SECTION + sources.HEIGHT + _GAP
    scale = max(memory.largest_row(item) for item in maps)
    most = max(float(steps.weights(item).sum()) for item in maps)
    for number, column in enumerate(columns):
        x = _MARGIN + number * (width + _COLUMN_GAP)
        _draw_column(canvas, x, y, width, column, counts, settings, heights, scale, most)
    if len(columns) > 1:
        middle = _MARGIN + width + _COLUMN_GAP / 2
        canvas.lines([((middle, y), (middle, heights["page"] - _MARGIN))], c.RULE)
    return canvas


def _column(
    item: ThreadMap, first: ThreadMap, counts: np.ndarray, settings: ExpansionSettings, grid: threads.Grid | None
) -> _Column:
    selected, sentence = -1, None
    if settings.thread is not None:
        selected = settings.thread if item is first else alt.same_item(first, item, settings.thread)
        if item is first or selected >= 0:
            sentence = alt.thread_sentence(item, selected)
        if selected >= len(item):
            selected = -1
    return _Column(item, grid, memory.usage(item, counts), selected, sentence)


def _selected_src(column: _Column) -> int:
    return int(column.map.src[column.selected]) if column.selected >= 0 else -1


def _heights(columns: list[_Column], settings: ExpansionSettings) -> dict[str, float]:
    """Heights of the strips, the higher column's for both, so that the strips of two columns stay in line."""
    found = {
        "memory": max(memory.height(column.map) for column in columns),
        "threads": max(threads.height(column.grid) for column in columns),
        "sentence": _SENTENCE if settings.thread is not None or any(threads.left_out(x.map) for x in columns) else 0,
        "steps": steps.HEIGHT + (steps.STEP_HEIGHT if settings.step is not None else 0),
    }
    top = _MARGIN + _HEADING + _SECTION + sources.HEIGHT + _GAP + _STATS
    found["page"] = float(np.ceil(top + sum(found.values()) + 3 * _SECTION + 2 * _GAP + _MARGIN - 8))
    return found


def _draw_column(
    canvas: Canvas, x: float, y: float, width: float, column: _Column, counts: np.ndarray,
    settings: ExpansionSettings, heights: dict[str, float], scale: int, most: float,
) -> None:  # fmt: skip
    _headline(canvas, x, y, width, column, counts)
    y += _STATS
    _section(canvas, x, y, width, "2", "What pass 1 wrote", memory.note(column.used))
    y += _SECTION
    marked = (column.selected,) if column.selected >= 0 else ()
    memory.draw(canvas, x, y, width, column.map, counts, scale, marked)
    y += heights["memory"] + _GAP
    _section(canvas, x, y, width, "3", "Pass-2 threads", threads.note(column.map, column.grid))
    y += _SECTION
    threads.draw(canvas, x, y, column.map, len(counts), column.grid, column.selected)
    y += heights["threads"]
    said = "; ".join(text for text in (column.sentence, threads.left_out(column.map)) if text)
    if said:
        said = said[0].upper() + said[1:]
        left = x + threads.GUTTER
        canvas.text(left, y + 16, said, 11, weight="bold", width=width - threads.GUTTER, smallest=9)
    y += heights["sentence"] + _GAP
    _section(canvas, x, y, width, "", "Steps", steps.note(column.map))
    steps.draw(canvas, x, y + _SECTION, width, column.map, most, settings.step)


def _section(canvas: Canvas, x: float, y: float, width: float, number: str, title: str, note: str) -> None:
    """A strip's heading: number and title, and in grey how to read it."""
    canvas.lines([((x, y - 0.5), (x + width, y - 0.5))], c.RULE)
    label = f"{number}  {title}" if number else title
    used = canvas.text(x, y + 15, label, 12, weight="bold")
    canvas.text(x + used + 12, y + 15, note, 10, colour=c.MUTED, width=width - used - 12, smallest=9)


def _headline(canvas: Canvas, x: float, y: float, width: float, column: _Column, counts: np.ndarray) -> None:
    item = column.map
    title = canvas.text(x, y + 13, alt.title_of(item.strategy), 15, weight="bold", width=width * 0.62, smallest=12)
    canvas.text(
        x + width, y + 13, alt.origin(item), 11, colour=c.MUTED, align="right", width=width - title - 16, smallest=8.5
    )
    idle = len(item) - int(np.count_nonzero(item.active))
    written = column.used.filled + column.used.wasted
    total = int(counts.sum(dtype=np.uint64))
    facts = (
        (f"{item.utilisation:.1%}".replace("%", " %"), "utilisation of pass 2"),
        (f"{len(counts):,} → {total:,}", "P1 src → P2 items"),
        (f"{len(item):,}", f"{'thread' if len(item) == 1 else 'threads'}, {idle:,} idle"),
        (bytes_text(column.used.total), f"set aside, {bytes_text(written)} written"),
    )
    share = width / len(facts)
    for index, (value, meaning) in enumerate(facts):
        left = x + index * share
        canvas.text(left, y + 42, value, 18, weight="bold", width=share - 12, smallest=11)
        canvas.text(left, y + 57, meaning, 10, colour=c.MUTED, width=share - 12, smallest=8.5)
