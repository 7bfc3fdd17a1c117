"""Strip 2: what pass 1 wrote, entry by entry, and what it costs in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from expandlab.expansion.thread_map import Memory, MemoryRow, ThreadMap
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, bytes_text, number_width, text_width

GUTTER = 60
_ROW, _GAP, _TITLE = 17, 4, 15
# From this many entries on, colour alone tells whose an entry is.
_NUMBERED = 256


@dataclass(frozen=True)
class Usage:
    """Bytes of a map's memory: led somewhere by an entry, written for a src without items, and not written."""

    filled: int
    wasted: int
    free: int

    @property
    def total(self) -> int:
        """Bytes set aside."""
        return self.filled + self.wasted + self.free


def usage(map: ThreadMap, counts: np.ndarray) -> Usage:
    """How the memory between the passes is used."""
    filled = wasted = free = 0
    for row in (row for memory in map.memory for row in memory.rows):
        led = int(np.count_nonzero(_leads(row, counts)))
        filled += led * row.entry_bytes
        wasted += (row.used - led) * row.entry_bytes
        free += (row.capacity - row.used) * row.entry_bytes
    return Usage(filled, wasted, free)


def _leads(row: MemoryRow, counts: np.ndarray) -> np.ndarray:
    """Which written entries lead a thread to an item."""
    src = np.asarray(row.src)
    known = (src >= 0) & (src < len(counts))
    return known & (np.asarray(counts)[np.where(known, src, 0)] > 0) if len(counts) else known


def shown(memory: Memory) -> tuple[tuple[MemoryRow, ...], tuple[MemoryRow, ...]]:
    """The rows drawn one by one, and the empty ones above the last used that are summed up in one line."""
    if len(memory.rows) == 1:
        return memory.rows, ()
    last = max((index for index, row in enumerate(memory.rows) if row.used), default=-1)
    return memory.rows[: last + 1], memory.rows[last + 1 :]


def height(map: ThreadMap) -> float:
    """Pixels that the strip takes."""
    total = 0.0
    for memory in map.memory:
        rows, rest = shown(memory)
        total += _TITLE + (len(rows) + bool(rest)) * (_ROW + _GAP)
    return max(total, _TITLE + _ROW)


def largest_row(map: ThreadMap | None) -> int:
    """Bytes of the largest row: the scale of the byte bars."""
    rows = [row for memory in (map.memory if map else ()) for row in memory.rows]
    return max((row.capacity * row.entry_bytes for row in rows), default=0)


def draw(
    canvas: Canvas, x: float, y: float, width: float, map: ThreadMap, counts: np.ndarray, scale_bytes: int,
    selected: Sequence[int] = (),
) -> None:  # fmt: skip
    """Draw the strip at (x, y). `scale_bytes`: what a full byte bar stands for; `selected`: rows of the map."""
    side = 172 if width < 900 else 250
    room = width - GUTTER - side - 14
    if not map.memory:
        canvas.text(x, y + 11, "nothing is written between the passes", colour=c.MUTED)
    for memory in map.memory:
        rows, rest = shown(memory)
        _title(canvas, x, y, width, side, memory)
        y += _TITLE
        units = max((row.capacity * row.width for row in rows), default=0)
        for number, row in enumerate(rows):
            pitch = room / units * row.width if units else 0.0
            # The name of the buffer says more than a long label cut short.
            label = row.label if len(memory.rows) > 1 else memory.buffer
            canvas.text(x, y + _ROW - 5, label, 10, width=GUTTER - 5, smallest=8.5)
            _row(canvas, x, y, row, pitch, counts)
            _bytes(canvas, x + width - side, y, side, row, scale_bytes)
            for thread in selected:
                if int(map.bucket[thread]) in (-1, number) and 0 <= map.entry[thread] < row.used:
                    left = x + GUTTER + int(map.entry[thread]) * pitch
                    canvas.outline(left - 0.5, y, max(pitch, 2.0), _ROW, 1.6, gid="selected-entry")
            y += _ROW + _GAP
        if rest:
            _rest(canvas, x, y, width, side, rest)
            y += _ROW + _GAP


def _title(canvas: Canvas, x: float, y: float, width: float, side: float, memory: Memory) -> None:
    widths = {row.width for row in memory.rows}
    note = "; an entry is as wide as the items it stands for" if len(widths) > 1 else ""
    # The words give way first: a caption that is cut tells less than a shorter one.
    room = width - side - 14
    if text_width(memory.title + note, 10) > room:
        note = ""
    canvas.text(x, y + 8, memory.title + note, 10, colour=c.MUTED, width=room)
    canvas.text(x + width, y + 8, "bytes written of set aside", 10, colour=c.MUTED, align="right", width=side)


def _row(canvas: Canvas, x: float, y: float, row: MemoryRow, pitch: float, counts: np.ndarray) -> None:
    left = x + GUTTER
    if row.capacity > row.used:
        start = left + row.used * pitch
        canvas.rects(start, y + 1, (row.capacity - row.used) * pitch, _ROW - 2, c.FREE, edge=c.RULE, line=0.8,
                     gid="memory-free")  # fmt: skip
    if not row.capacity:
        canvas.text(left, y + _ROW - 5, "no room set aside", 10, colour=c.MUTED)
    if not row.used:
        return
    leads = _leads(row, counts)
    ground = c.src_colours(max(len(counts), 1))[np.where(leads, row.src, 0)]
    if pitch < 1:
        pixels = np.where(leads[:, None], ground, np.array(c.rgb(c.WASTED), np.uint8))
        canvas.image(pixels[None].astype(np.uint8), left, y, row.used * pitch, _ROW, gid="memory-image")
        return
    edges = left + np.arange(row.used) * pitch
    gap = 1.0 if pitch >= 4 else 0.0
    canvas.rects(edges[leads], y, pitch - gap, _ROW, ground[leads], gid="memory-filled")
    if not leads.all():
        canvas.rects(edges[~leads], y, pitch - gap, _ROW, c.WASTED)
        canvas.hatch(edges[~leads], y, pitch - gap, _ROW, gid="memory-wasted")
    if row.used < _NUMBERED and pitch >= number_width(row.src, 9) + 4:
        centre = edges[leads] + (pitch - gap) / 2
        canvas.numbers_on(row.src[leads], centre, np.full(len(centre), y + _ROW / 2), 9, ground[leads],
                          gid="memory-src")  # fmt: skip


def _bytes(canvas: Canvas, x: float, y: float, side: float, row: MemoryRow, scale_bytes: int) -> None:
    text = f"{bytes_text(row.used * row.entry_bytes)} of {bytes_text(row.capacity * row.entry_bytes)}"
    label = 112
    bar = side - label - 8
    scale = bar / scale_bytes if scale_bytes else 0.0
    whole, used = row.capacity * row.entry_bytes * scale, row.used * row.entry_bytes * scale
    if whole:
        canvas.rects(x, y + 4, whole, _ROW - 8, c.FREE, edge=c.MUTED, line=0.8, gid="memory-bytes")
    if used:
        canvas.rects(x, y + 4, used, _ROW - 8, c.MUTED, gid="memory-bytes-used")
    canvas.text(x + side, y + _ROW - 5, text, 10, align="right", width=label, smallest=8)


def _rest(canvas: Canvas, x: float, y: float, width: float, side: float, rest: tuple[MemoryRow, ...]) -> None:
    numbers = [row.label.rpartition(" ")[2] for row in rest]
    name = rest[0].label.rpartition(" ")[0] or "row"
    which = f"{name}s {numbers[0]}–{numbers[-1]}" if len(rest) > 1 else rest[0].label
    spare = sum(row.capacity * row.entry_bytes for row in rest)
    what = f"{bytes_text(spare)} set aside for them" if spare else "no room set aside"
    canvas.text(x, y + _ROW - 5, f"{which} (not drawn): empty, {what}", 10, colour=c.MUTED, width=width - side - 14)
    if spare:
        canvas.text(x + width, y + _ROW - 5, f"0 B of {bytes_text(spare)}", 10, align="right", width=112, smallest=8)


def note(used: Usage) -> str:
    """The key of the strip in words."""
    if not used.wasted:
        return "coloured: written; outlined: set aside, not written"
    return "coloured: written; hatched: written, but N = 0; outlined: not written"


def summary(used: Usage) -> str:
    """`1,920 B set aside, 420 B written (22 %)`."""
    written = used.filled + used.wasted
    share = f" ({written / used.total:.0%})" if used.total else ""
    return f"{bytes_text(used.total)} set aside, {bytes_text(written)} written{share}"
