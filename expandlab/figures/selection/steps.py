"""The view of one method, step by step: the row of scores, what the step holds, and all steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, section
from expandlab.figures.selection import charts, words
from expandlab.figures.selection.frames import NO_INDEX, Frame, Told, bits_of, tell, value_text
from expandlab.settings import TopKSettings

HEAD = ("step", "pass", "what", "in play after it", "wanted ones in play", "explanation")
_ROW, _CHART, _ALL = 112, 196, 104
_MOST_ROWS = 190


def page(settings: TopKSettings) -> Page:
    """The page of the view `steps`."""
    told = tell(settings)
    step = min(settings.step, len(told.frames) - 1)
    canvas = _draw(settings, told, step)
    return Page(
        title=words.title(settings),
        description=_describe(settings, told, step),
        figure=canvas.figure,
        counts=None,
        head=HEAD,
        rows=[_table_row(told, settings.k, number, frame) for number, frame in enumerate(told.frames)],
        data={
            "indices": told.indices, "values": told.row.scores[told.indices].astype(object), "right": told.right,
            "steps": len(told.frames), "shown": {"pass": told.frames[step].pass_name, "what": told.frames[step].what,
                                                 **told.frames[step].data},
        },
    )  # fmt: skip


def in_play(told: Told, frame: Frame) -> np.ndarray:
    """Which scores are in play after a frame: bool."""
    if frame.indices is None:
        return told.row.places < frame.left
    found = np.zeros(len(told.row.scores), bool)
    found[frame.indices] = True
    return found


def _table_row(told: Told, k: int, number: int, frame: Frame) -> tuple[Any, ...]:
    wanted = int(in_play(told, frame)[told.row.best].sum())
    return (number + 1, frame.pass_name, frame.what, frame.left, wanted, frame.said)


def _step_text(told: Told, step: int) -> str:
    frame = told.frames[step]
    return f"Step {step + 1} of {len(told.frames)}, {frame.pass_name}: {frame.what}"


def _describe(settings: TopKSettings, told: Told, step: int) -> str:
    frame = told.frames[step]
    ways = ", ".join(f"{item.pass_name} {item.left:,}" for item in told.frames)
    return ". ".join([
        words.sentence(settings), f"{_step_text(told, step)}. {frame.said[0].upper()}{frame.said[1:]}",
        f"In play after each step: {ways}", words.check(told.right, settings.k),
    ]) + "."  # fmt: skip


def _draw(settings: TopKSettings, told: Told, step: int) -> Canvas:
    high = 2 * MARGIN + 36 + 3 * SECTION + _ROW + 44 + _CHART + 46 + _ALL + 2 * GAP - 8
    canvas = Canvas(WIDTH, float(high))
    frame, row = told.frames[step], told.row
    y = words.heading(canvas, settings)
    note = "each at its index, the better the higher (powers of ten); blue: in play after this step; black: the k best"
    y = section(canvas, y, "The scores", note)
    charts.scores_row(canvas, y, _ROW, row.places, settings.k, in_play(told, frame))
    y = section(canvas, y + _ROW + 44, _step_text(told, step), _legend(frame))
    canvas.text(MARGIN, y + 14, frame.said, 13, width=charts.INSIDE, smallest=9)
    _CHARTS.get(frame.what, _numbers)(canvas, y + 32, settings, told, step)
    y = section(canvas, y + _CHART + 46, "All steps", "scores in play after each (powers of ten)")
    names = [item.pass_name for item in told.frames]
    charts.steps_chart(canvas, y, _ALL, names, [item.left for item in told.frames], settings.n, step)
    canvas.text(MARGIN, y + _ALL + GAP + 6, words.check(told.right, settings.k), 13, weight="bold", width=charts.INSIDE,
                smallest=9)  # fmt: skip
    return canvas


_PLACES = "coloured by place among all: dark is best, light is worst, white is empty"


def _legend(frame: Frame) -> str:
    if frame.what in ("histogram", "bucket"):
        return "heights by powers of ten; black: in for sure; blue: the bin with the k-th; grey: dropped"
    if frame.what in ("queue", "heap", "runs", "order"):
        return _PLACES
    return {"maxima": "the better the taller; blue: reaches the bound that follows"}.get(frame.what, "")


def _histogram(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    frame = told.frames[step]
    follows = told.frames[step + 1] if step + 1 < len(told.frames) else None
    chosen = follows.data["digit"] if follows is not None and follows.what == "bucket" else None
    charts.histogram(canvas, y, _CHART, frame.data["counts"], chosen)


def _bucket(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    data = told.frames[step].data
    earlier = [frame for frame in told.frames[:step] if frame.what == "histogram"]
    charts.histogram(canvas, y, _CHART - 66, earlier[-1].data["counts"], data["digit"])
    canvas.text(charts.LEFT, y + _CHART - 52, bits_of(earlier[-1].data), 11, colour=c.MUTED)
    rows = [("in for sure", data["taken"], c.INK), ("in the bin", data["inside"], c.ACCENT)]
    charts.log_bars(canvas, y + _CHART - 46, rows, settings.n)


def _left(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    frame = told.frames[step]
    before = told.frames[step - 1].left if step else settings.n
    charts.log_bars(
        canvas, y + 10,
        [("scores", settings.n, c.IDLE_HATCH), ("in play before", before, c.MUTED),
         ("in play now", frame.left, c.ACCENT), ("wanted (k)", settings.k, c.INK)], settings.n,
    )  # fmt: skip


def _numbers(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    data = told.frames[step].data
    plain = [(name, int(value), c.ACCENT) for name, value in data.items() if isinstance(value, (int, np.integer))]
    charts.log_bars(canvas, y + 10, plain[:7], max([1, *(number for _, number, _ in plain)]))


def _readback(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    rows = [
        ("words over the bus", told.frames[step].data["words"], c.ACCENT),
        ("words of the k best", 2 * settings.k, c.INK),
    ]
    charts.log_bars(canvas, y + 10, rows, settings.n)


def _splitters(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    before = told.frames[step - 1].left if step else settings.n
    ordered = np.sort(told.row.keys)[:before]
    at = np.searchsorted(ordered, told.frames[step].data["keys"]) / max(1, before) * charts.ROOM + charts.LEFT
    foot = y + 70
    canvas.rects(charts.LEFT, y + 20, charts.ROOM, 50, c.SHADE)
    canvas.lines([((x, y + 20), (x, foot)) for x in at], c.ACCENT, 1.0, gid="splitters")
    canvas.text(charts.LEFT, foot + 16, f"best of the {before:,} in play", 10, colour=c.MUTED)
    canvas.text(charts.LEFT + charts.ROOM, foot + 16, "worst", 10, colour=c.MUTED, align="right")
    wanted = min(1.0, settings.k / max(1, before)) * charts.ROOM
    canvas.rects(charts.LEFT, foot + 24, max(wanted, 2.0), 7, c.INK)
    canvas.text(charts.LEFT + max(wanted, 2.0) + 8, foot + 32, "wanted", 10)


def _maxima(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    follows = [frame for frame in told.frames[step:] if frame.what == "bound"]
    _pieces(canvas, y, told, told.frames[step].data["keys"], follows[0].data.get("picked") if follows else None)


def _bound(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    frame = told.frames[step]
    earlier = [item for item in told.frames[:step] if item.what == "maxima"]
    if earlier:
        _pieces(canvas, y, told, earlier[-1].data["keys"], frame.data.get("picked"))
    else:
        _left(canvas, y, settings, told, step)


def _pieces(canvas: Canvas, y: float, told: Told, keys: np.ndarray, picked: Any) -> None:
    places = np.searchsorted(np.sort(told.row.keys), keys)
    charts.pieces(canvas, y, _CHART, places, len(told.row.keys), picked)


def _places(told: Told, indices: np.ndarray) -> np.ndarray:
    """Places of items as they lie; -1 where none is."""
    known = indices != NO_INDEX
    return np.where(known, told.row.places[np.where(known, indices, 0)], -1)


def _table(rows: list[np.ndarray]) -> np.ndarray:
    found = np.full((len(rows), max(map(len, rows), default=1) or 1), -1)
    for number, row in enumerate(rows):
        found[number, : len(row)] = row
    return found


def _queue(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    queues = told.frames[step].data["queues"]
    shown = [_places(told, queue) for queue in queues[:_MOST_ROWS]]
    names = [f"group {number}" for number in range(len(shown))]
    charts.cells(canvas, y, _CHART - 18, _table(shown), settings.n, names)
    if len(queues) > len(shown):
        canvas.text(charts.LEFT, y + _CHART - 4, f"the first {len(shown)} of {len(queues):,}", 10, colour=c.MUTED)


def _runs(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    data = told.frames[step].data
    places = _places(told, data["indices"]).reshape(-1, data["length"])
    names = [f"block {number}" for number in range(min(len(places), _MOST_ROWS))]
    charts.cells(canvas, y, _CHART - 18, places[:_MOST_ROWS], settings.n, names)
    if len(places) > _MOST_ROWS:
        canvas.text(charts.LEFT, y + _CHART - 4, f"the first {_MOST_ROWS} of {len(places):,}", 10, colour=c.MUTED)


def _order(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    places = _places(told, told.frames[step].data["indices"])
    rows = 8 if len(places) > 64 else 1
    wide = -(-len(places) // rows)
    parts = [places[wide * row : wide * (row + 1)] for row in range(rows) if wide * row < len(places)]
    charts.cells(canvas, y, _CHART - 18, _table(parts), settings.n, [f"{wide * row:,}" for row in range(len(parts))])


def _heap(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    places = _places(told, told.frames[step].data["indices"])
    drawn = charts.heap(canvas, y, _CHART - 18, places, settings.n)
    if drawn < len(places):
        canvas.text(charts.LEFT, y + _CHART - 4, f"the first {drawn:,} of {len(places):,}", 10, colour=c.MUTED)


def _result(canvas: Canvas, y: float, settings: TopKSettings, told: Told, step: int) -> None:
    best = told.frames[step].data["indices"]
    for number, index in enumerate(best[:21]):
        x, top = charts.LEFT + number // 7 * 310, y + number % 7 * 25
        text = f"{number:,}.  {value_text(told.row.scores[index])}  at index {int(index):,}"
        canvas.text(x, top + 14, text, 12, width=300)
    if len(best) > 21:
        canvas.text(charts.LEFT, y + _CHART - 6, f"the first 21 of {len(best):,}", 10, colour=c.MUTED)


_CHARTS: dict[str, Callable[[Canvas, float, TopKSettings, Told, int], None]] = {
    "histogram": _histogram, "bucket": _bucket, "bound": _bound, "survivors": _left, "splitters": _splitters,
    "maxima": _maxima, "queue": _queue, "heap": _heap, "runs": _runs, "order": _order, "readback": _readback,
    "result": _result,
}  # fmt: skip
