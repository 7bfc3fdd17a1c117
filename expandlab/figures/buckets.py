"""The buckets of the power-of-two strategies: the bits of one N, the memory, the threads, and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.bucket_layout import Bucket, BucketLayout, Piece, bucket_layout, memory_bytes
from expandlab.figures import alt, memory, threads
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, bytes_text, defaults, plural, text_width
from expandlab.figures.limits import refuse
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.settings import BucketSettings

_INSIDE = WIDTH - 2 * MARGIN
_BITS, _BAND, _BAR = 118, 62, 22
# Beside the bucket strategy: what stands in memory for each item, for each src, and for each src with a counter.
_OTHERS = ("prefix_search", "atomic64_add", "append")
HEAD = (
    "bucket", "items of an entry", "entries set aside", "entries written", "entries free", "bytes set aside",
    "bytes written", "items", "first thread", "threads", "threads without an item",
)  # fmt: skip


def page(settings: BucketSettings) -> Page:
    """The page that `settings` describe."""
    counts = settings.counts()
    total = int(counts.sum(dtype=np.uint64))
    refuse(len(counts), f"there are {plural(len(counts), 'src', 'src')}")
    refuse(total, f"these counts spawn {plural(total, 'item')}")
    layout = bucket_layout(
        counts, settings.strategy, room=settings.room, rounded=settings.rounded,
        workgroup_size=settings.workgroup_size, subgroup_size=settings.subgroup_size,
    )  # fmt: skip
    src = min(settings.src, max(0, len(counts) - 1))
    pieces = layout.pieces(src) if len(counts) else ()
    costs = {
        name: memory_bytes(counts, name, room=settings.room, workgroup_size=settings.workgroup_size)
        for name in (settings.strategy, *_OTHERS)
    }
    with defaults():
        canvas = _draw(settings, counts, layout, src, pieces, costs)
    return Page(
        title=f"Buckets of {alt.title_of(settings.strategy)}",
        description=describe(settings, counts, layout, src, pieces, costs),
        figure=canvas.figure,
        counts=counts,
        head=HEAD,
        rows=[_row(bucket) for bucket in layout.buckets if bucket.capacity or bucket.items],
        data={"src": src, "pieces": pieces, "straddling_subgroups": layout.straddling, "bytes_set_aside": costs},
    )


def _row(b: Bucket) -> tuple[Any, ...]:
    return (
        b.bucket, b.width, b.capacity, b.used, b.capacity - b.used, b.capacity * b.entry_bytes, b.used * b.entry_bytes,
        b.items, b.first_thread, b.threads, b.threads - b.items,
    )  # fmt: skip


def piece_text(piece: Piece) -> str:
    """`bucket 3: local 3 to 10`."""
    last = piece.first_local + piece.items - 1
    return f"bucket {piece.bucket}: local {piece.first_local:,}" + (f" to {last:,}" if piece.items > 1 else "")


def describe(
    settings: BucketSettings, counts: np.ndarray, layout: BucketLayout, src: int, pieces: tuple[Piece, ...],
    costs: dict[str, int],
) -> str:  # fmt: skip
    """Alternative text."""
    parts = [alt.counts_sentence(counts, settings)]
    if len(counts):
        n = int(counts[src])
        lies = "; ".join(f"{piece_text(piece)}, entry {piece.entry}" for piece in pieces) or "it is in no bucket"
        parts.append(f"src {src} has N = {n:,} = {n:#b}: {lies}")
    idle = sum(b.threads - b.items for b in layout.buckets)
    parts.append(f"{alt.title_of(settings.strategy)}: {plural(len(layout.map), 'thread')}, {idle:,} of them padding")
    parts.append(straddle_text(layout))
    parts.append(
        f"Sized for {settings.room} times these counts it sets aside "
        + ", ".join(f"{bytes_text(size)} ({name})" for name, size in costs.items())
    )
    return ". ".join(parts) + "."


def straddle_text(layout: BucketLayout) -> str:
    """How many subgroups lie in two buckets or more."""
    if not layout.straddling:
        return "No subgroup straddles two buckets"
    return f"{plural(layout.straddling, 'subgroup straddles', 'subgroups straddle')} two buckets or more"


def _draw(
    settings: BucketSettings, counts: np.ndarray, layout: BucketLayout, src: int, pieces: tuple[Piece, ...],
    costs: dict[str, int],
) -> Canvas:  # fmt: skip
    grid = threads.grids([layout.map], _INSIDE)[0]
    high = (
        2 * MARGIN + 36 + 5 * SECTION + _BITS + memory.height(layout.map) + _BAND + threads.height(grid)
        + len(costs) * (_BAR + 6) + 4 * GAP
    )  # fmt: skip
    canvas = Canvas(WIDTH, float(np.ceil(high)))
    y = heading(canvas, alt.counts_sentence(counts), alt.source_words(settings))
    n = int(counts[src]) if len(counts) else 0
    each = "a set bit is an entry in the bucket of its number"
    highest = "the highest set bit says in which bucket the src lies"
    y = section(canvas, y, f"N of src {src} in binary", highest if settings.strategy == "po2_range" else each)
    _bits(canvas, y, n, src, pieces)
    y = section(canvas, y + _BITS + GAP, "Memory", _memory_note(settings, layout, counts))
    marked = [piece.first_thread for piece in pieces]
    memory.draw(canvas, MARGIN, y, _INSIDE, layout.map, counts, memory.largest_row(layout.map), marked)
    y = section(canvas, y + memory.height(layout.map) + GAP, "Threads, bucket by bucket", _band_note(settings, layout))
    _band(canvas, y, layout)
    y = section(canvas, y + _BAND + GAP, "Threads, one by one", threads.note(layout.map, grid))
    threads.draw(canvas, MARGIN, y, layout.map, len(counts), grid, marked[0] if marked else -1)
    note = f"bytes set aside between the passes, sized for {settings.room} × the src and {settings.room} × the items"
    y = section(canvas, y + threads.height(grid) + GAP, "What it costs", note)
    _costs(canvas, y, costs, max(1, int(counts.sum(dtype=np.uint64))))
    return canvas


def _bits(canvas: Canvas, y: float, n: int, src: int, pieces: tuple[Piece, ...]) -> None:
    """The bits of N from the highest to bit 0, and below them the items of the src, piece by piece to scale."""
    count = max(4, n.bit_length())
    pitch = min(58.0, (_INSIDE - 150) / count)
    ground = c.src_colours(src + 1)[src]
    ink = c.INK if c.ink_on(ground) else c.BACKGROUND
    canvas.text(MARGIN, y + 14, "bucket", 11, colour=c.MUTED)
    canvas.text(MARGIN, y + 42, f"N = {n:,}", 12, weight="bold", width=110, smallest=8)
    used = {piece.bucket for piece in pieces}
    for place in range(count):
        bit = count - 1 - place
        x = MARGIN + 120 + place * pitch
        value = n >> bit & 1
        taken = bit in used
        canvas.text(x + pitch / 2 - 2, y + 14, str(bit), 11, colour=c.INK if taken else c.MUTED, align="center",
                    weight="bold" if taken else "normal")  # fmt: skip
        canvas.rects(x, y + 22, pitch - 4, 28, ground[None] if taken else c.FREE, edge=c.RULE, line=1.0, gid="bits")
        canvas.text(x + pitch / 2 - 2, y + 42, str(value), 14, align="center", weight="bold" if value else "normal",
                    colour=ink if taken else c.INK if value else c.MUTED)  # fmt: skip
    canvas.text(MARGIN, y + 84, "its items", 11, colour=c.MUTED)
    if not pieces:
        canvas.text(MARGIN + 120, y + 84, "none: N = 0 has no bit set and takes no part", 11, colour=c.MUTED)
        return
    room = _INSIDE - 120
    scale = room / sum(piece.items for piece in pieces)
    for piece in pieces:
        x = MARGIN + 120 + piece.first_local * scale
        wide = piece.items * scale
        canvas.rects(x, y + 66, max(1.0, wide - 2), 26, ground[None], gid="pieces")
        text = next((t for t in (piece_text(piece), f"b{piece.bucket}") if text_width(t, 10.5) + 8 <= wide), "")
        canvas.text(x + wide / 2 - 1, y + 83, text, 10.5, align="center", colour=ink)
        canvas.text(x, y + 106, f"{piece.first_local:,}", 10, colour=c.MUTED, width=wide)


def _memory_note(settings: BucketSettings, layout: BucketLayout, counts: np.ndarray) -> str:
    used = memory.usage(layout.map, counts)
    return f"{memory.summary(used)}; {memory.note(used)}"


def _band_note(settings: BucketSettings, layout: BucketLayout) -> str:
    if settings.strategy == "po2_buckets":
        return f"every bucket is a dispatch of its own, rounded up to whole workgroups of {settings.workgroup_size}"
    how = f"rounded up to whole subgroups of {layout.map.subgroup_size}" if settings.rounded else "NOT rounded up"
    return f"one dispatch; every bucket {how}; {straddle_text(layout).lower()}"


def _band(canvas: Canvas, y: float, layout: BucketLayout) -> None:
    """All threads on one line to scale: one shade for each bucket, padding hatched, the subgroups' borders below."""
    count = len(layout.map)
    if not count:
        canvas.text(MARGIN, y + 20, "no thread is launched", 11, colour=c.MUTED)
        return
    left, room = MARGIN + memory.GUTTER, _INSIDE - memory.GUTTER
    scale = room / count
    canvas.text(MARGIN, y + 28, "bucket", 11, colour=c.MUTED)
    for number, bucket in enumerate(b for b in layout.buckets if b.threads):
        x, wide = left + bucket.first_thread * scale, bucket.threads * scale
        busy = bucket.items * scale
        canvas.rects(x, y + 14, busy, 22, c.RULE if number % 2 else c.MUTED, gid="bucket-threads")
        if busy < wide:
            canvas.rects(x + busy, y + 14, wide - busy, 22, c.IDLE)
            canvas.hatch(x + busy, y + 14, wide - busy, 22, gid="bucket-padding")
        canvas.text(x + wide / 2, y + 10, str(bucket.bucket), 10.5, align="center", width=wide + 2, weight="bold")
    # What the last workgroup has beyond the last bucket.
    end = max(b.first_thread + b.threads for b in layout.buckets)
    if end < count:
        canvas.rects(left + end * scale, y + 14, (count - end) * scale, 22, c.IDLE)
        canvas.hatch(left + end * scale, y + 14, (count - end) * scale, 22)
    _borders(canvas, left, y + 40, scale, layout)


def _borders(canvas: Canvas, left: float, y: float, scale: float, layout: BucketLayout) -> None:
    lanes = layout.map.subgroup_size
    canvas.text(MARGIN, y + 12, "subgroups", 11, colour=c.MUTED, width=memory.GUTTER - 4, smallest=8)
    if lanes * scale < 4:
        canvas.text(left, y + 12, "too narrow to be drawn", 10, colour=c.MUTED)
        return
    bucket = layout.map.bucket.reshape(-1, lanes)
    starts = left + np.arange(len(bucket)) * lanes * scale
    kinds = np.array([len(np.unique(row[row >= 0])) for row in bucket])
    for mask, colour in ((kinds <= 1, c.RULE), (kinds > 1, "#bd1f01")):
        if mask.any():
            canvas.rects(starts[mask] + 1, y + 2, lanes * scale - 2, 12, colour,
                         gid="subgroups" if colour == c.RULE else "straddling")  # fmt: skip
    if (kinds > 1).any() and lanes * scale >= 14:
        for x, kind in zip(starts[kinds > 1], kinds[kinds > 1], strict=True):
            canvas.text(x + lanes * scale / 2, y + 12, str(kind), 10, align="center", colour=c.BACKGROUND,
                        weight="bold")  # fmt: skip


def _costs(canvas: Canvas, y: float, costs: dict[str, int], items: int) -> None:
    left, room = MARGIN + 190, _INSIDE - 190 - 210
    most = max(1, *costs.values())
    for number, (name, size) in enumerate(costs.items()):
        top = y + number * (_BAR + 6)
        canvas.text(MARGIN, top + 15, name, 12, weight="bold" if number == 0 else "normal", width=180)
        canvas.rects(left, top + 3, max(1.0, size / most * room), _BAR - 6, c.ACCENT if number == 0 else c.MUTED,
                     gid="cost")  # fmt: skip
        told = f"{bytes_text(size)}, {size / items:.3g} B for each item"
        canvas.text(left + size / most * room + 10, top + 16, told, 11, width=300)
