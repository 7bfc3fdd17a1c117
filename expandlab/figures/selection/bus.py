"""The view of the bus: bytes that come back from the device, beside the document's, and times once measured."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from expandlab.figures import alt
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, bytes_text
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, section
from expandlab.figures.selection import charts, words
from expandlab.settings import TopKSettings
from expandlab.settings.selection import MOST_SCORES
from expandlab.topk import top_k_methods
from expandlab.topk.keys import FORMATS
from expandlab.topk.method import Sizes
from expandlab.topk.prepared import build

HEAD = ("method", "scores", "k", "words back", "bytes back", "share of the document's", "median ms",
        "lower quartile ms", "upper quartile ms", "passes ms", "runs")  # fmt: skip
# The document brings back all of these float32; it wants so many of them, with their indices.
DOCUMENT_BYTES, DOCUMENT_K = 4 * MOST_SCORES, 1024
_LINE, _LABEL = 21, 150


def words_back(method: str, n: int, k: int) -> int | None:
    """32-bit words that a run of a method brings to the host; None where it does not take n or k."""
    found = top_k_methods()[method]
    if (found.max_src is not None and n > found.max_src) or (found.max_k is not None and k > found.max_k):
        return None
    graph = build(found, Sizes(n, k, FORMATS["float32"], True)).graph
    return sum(graph.resources[name].size // 4 for name in graph.outputs)


def page(settings: TopKSettings) -> Page:
    """The page of the view `bus`; times are those that the settings hold."""
    back = {name: words_back(name, settings.n, settings.k) for name in top_k_methods()}
    times = {row["method"]: SimpleNamespace(**row) for row in (settings.measured or {}).get("rows", ())}
    canvas = _draw(settings, back, times)
    return Page(
        title=words.title(settings, "Over the bus"),
        description=_describe(settings, back, times),
        figure=canvas.figure,
        counts=None,
        head=HEAD,
        rows=[_table_row(settings, name, count, times.get(name)) for name, count in back.items()],
        data={"words_back": back, "measured": settings.measured, "document_bytes": DOCUMENT_BYTES, "steps": 1},
    )


def _table_row(settings: TopKSettings, name: str, count: int | None, time: Any) -> tuple[Any, ...]:
    timed = ("", "", "", "", "") if time is None else (
        time.median_ms, time.q1_ms, time.q3_ms, "" if time.gpu_ms is None else time.gpu_ms, time.samples,
    )  # fmt: skip
    if count is None:
        return (name, settings.n, settings.k, "does not take them", "", "", *timed)
    return (name, settings.n, settings.k, count, 4 * count, f"{4 * count / DOCUMENT_BYTES:.4%}", *timed)


def _where(settings: TopKSettings) -> str:
    held = settings.measured
    if held is None:
        return "not measured yet"
    software = " (software adapter: the CPU is measured, and there is no bus)" if held["software"] else ""
    partial = ", cancelled: partial" if held["cancelled"] else ""
    return f"measured on {held['device']}{software}, {held['timer']}{partial}"


def _describe(settings: TopKSettings, back: dict[str, int | None], times: dict[str, Any]) -> str:
    parts = [words.sentence(settings, "Over the bus")]
    parts.append(
        f"The document brings {DOCUMENT_BYTES:,} bytes back for each pass, {MOST_SCORES:,} float32; what it wants is "
        f"{8 * DOCUMENT_K:,}"
    )
    for name, count in back.items():
        text = f"{name}: " + ("does not take them" if count is None else f"{4 * count:,} bytes")
        if name in times:
            text += f", {alt.time_text(times[name].median_ms)}"
            gpu = times[name].gpu_ms
            text += f", of that {alt.time_text(gpu)} in its passes" if gpu is not None else ""
        parts.append(text)
    where = _where(settings)
    return ". ".join([*parts, where[0].upper() + where[1:]]) + "."


def _bytes_rows(settings: TopKSettings, back: dict[str, int | None]) -> list[tuple[str, int, str]]:
    method = back[settings.method]
    rows = [
        ("the document, float32", DOCUMENT_BYTES, c.IDLE_HATCH),
        ("the same as float16", DOCUMENT_BYTES // 2, c.IDLE_HATCH),
        (f"all {settings.n:,} scores here", 4 * settings.n, c.MUTED),
    ]
    rows += [] if method is None else [(settings.method, 4 * method, c.ACCENT)]
    return [*rows, ("what the document wants", 8 * DOCUMENT_K, c.INK)]


def _draw(settings: TopKSettings, back: dict[str, int | None], times: dict[str, Any]) -> Canvas:
    bars = _bytes_rows(settings, back)
    left_out = dict((settings.measured or {}).get("left_out", {}))
    high = 2 * MARGIN + 36 + 2 * SECTION + 5 * charts.BAR + 2 * GAP + _LINE * (len(back) + 3 + len(left_out)) + 10
    canvas = Canvas(WIDTH, float(high))
    y = words.heading(canvas, settings, "Over the bus")
    y = section(canvas, y, "Bytes that come back for each pass", "powers of ten; 8,388,608 scores and 1,024 wanted are the document's")  # fmt: skip  # noqa: E501
    charts.log_bars(canvas, y, bars, DOCUMENT_BYTES)
    y = section(canvas, y + 5 * charts.BAR + GAP, "Time to the k best, back on the host", _where(settings))
    _times(canvas, y, settings, back, times)
    y += _LINE * (len(back) + 2)
    for number, (name, why) in enumerate(left_out.items()):
        text = f"{name} was left out: {why}"
        canvas.text(MARGIN, y + _LINE * number + 8, text, 11, width=charts.INSIDE, smallest=8)
    note = "bars: median on the host's clock, whiskers the quartiles; dark part: the passes on the device's clock; every result was checked first"  # fmt: skip  # noqa: E501
    canvas.text(MARGIN, high - MARGIN + 4, note, 11, colour=c.MUTED, width=charts.INSIDE, smallest=8)
    return canvas


def _times(
    canvas: Canvas, y: float, settings: TopKSettings, back: dict[str, int | None], times: dict[str, Any]
) -> None:  # fmt: skip
    left, room = MARGIN + _LABEL, charts.INSIDE - _LABEL - 300
    most = max((row.q3_ms for row in times.values()), default=1.0)
    canvas.text(WIDTH - MARGIN, y + 12, "bytes back", 11, colour=c.MUTED, align="right")
    canvas.text(WIDTH - MARGIN - 110, y + 12, "median", 11, colour=c.MUTED, align="right")
    for number, (name, count) in enumerate(back.items()):
        top = y + _LINE * (number + 1)
        weight = "bold" if name == settings.method else "normal"
        canvas.text(left - 10, top + 12, name, 11, align="right", weight=weight, width=_LABEL - 12)
        told = "–" if count is None else bytes_text(4 * count)
        canvas.text(WIDTH - MARGIN, top + 12, told, 11, align="right")
        row = times.get(name)
        if row is None:
            continue
        length = max(1.0, row.median_ms / most * room)
        canvas.rects(left, top + 2, length, _LINE - 8, c.PETROFF10[0], gid="times")
        if row.gpu_ms is not None:
            inside = min(row.gpu_ms, row.median_ms) / most * room
            canvas.rects(left, top + 2, max(inside, 1.0), _LINE - 8, c.ACCENT, gid="passes")
        middle = top + 2 + (_LINE - 8) / 2
        ends = left + np.array([row.q1_ms, row.q3_ms]) / most * room
        canvas.lines([((ends[0], middle), (ends[1], middle))], c.INK, 1.2, gid="quartiles")
        canvas.text(WIDTH - MARGIN - 110, top + 12, alt.time_text(row.median_ms), 11, align="right")
    if not times:
        canvas.text(left + 10, y + _LINE * 4, "Not measured yet: press Run.", 14, weight="bold")
