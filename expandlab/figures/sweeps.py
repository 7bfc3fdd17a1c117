"""Pictures of many measurements: times and ratios along an axis, memory against time, who wins where, K at once, and
predictions beside what was measured. Pure functions of measurements; each has its rows for the data formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, defaults, plural
from expandlab.figures.plot import Plot, heading, key

if TYPE_CHECKING:
    from expandlab.measuring import Measurements

WIDTH, HEIGHT = 1280, 640
_MARGIN, _KEY = 36, 250
_BOX = (_MARGIN + 58, 112, WIDTH - _MARGIN - _KEY - 24, HEIGHT - 104)
# Rows of a figure's data: what every point is.
Row = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of picture: what it says above, its rows, and how it is drawn."""

    title: str
    says: str
    rows: Callable[[Sequence[Measurements]], list[Row]]
    draw: Callable[[Canvas, list[Row]], None]


def figure(name: str, measured: Iterable[Measurements], about: str = "") -> Figure:
    """The picture called `name`, one of `KINDS`, of some measurements. 1280 by 640 pixels at 100 dpi.

    about: which inputs they are of; it stands below the title.

    Raises ValueError for an unknown name, or where the measurements hold nothing for it.
    """
    found = list(measured)
    kind, rows = KINDS[known(name)], rows_of(name, found)
    with defaults():
        canvas = Canvas(WIDTH, HEIGHT)
        notes = ["software adapter: the CPU is measured"] if any(item.software for item in found) else []
        if any(item.clock_moved for item in found):
            notes.append("the clock moved in some runs: compare ratios")
        heading(
            canvas,
            _MARGIN,
            _MARGIN + 12,
            kind.title,
            "; ".join(filter(None, (kind.says, about))),
            notes,
            WIDTH - 2 * _MARGIN,
        )
        kind.draw(canvas, rows)
        _caption(canvas, found)
        return canvas.figure


def known(name: str) -> str:
    """`name`, or ValueError with the names that there are."""
    if name not in KINDS:
        raise ValueError(f"figure={name!r}: use one of {', '.join(KINDS)}")
    return name


def rows_of(name: str, measured: Iterable[Measurements]) -> list[Row]:
    """The data of a picture. Raises ValueError where the measurements hold nothing for it."""
    rows = KINDS[known(name)].rows(list(measured))
    if not rows:
        raise ValueError(f"figure={name!r}: these measurements hold nothing for it; {_NEEDS.get(name, 'measure more')}")
    return rows


def alt(name: str, measured: Iterable[Measurements]) -> str:
    """Alternative text of the picture."""
    found = list(measured)
    rows = rows_of(name, found)
    names = list(dict.fromkeys(row["name"] for row in rows))
    where = ", ".join(sorted({item.device for item in found}))
    text = f"{KINDS[name].title}: {KINDS[name].says}. {plural(len(rows), 'point')} of {', '.join(names)} on {where}"
    if any(item.software for item in found):
        text += ". It is a software adapter: the CPU is measured"
    return text + "."


def _caption(canvas: Canvas, found: Sequence[Measurements]) -> None:
    y, room = HEIGHT - _MARGIN + 4, WIDTH - 2 * _MARGIN
    canvas.lines([((_MARGIN, y - 16), (_MARGIN + room, y - 16))], c.RULE)
    where = "; ".join(sorted({f"{item.device}, driver {item.driver or 'not named'}" for item in found}))
    timers = ", ".join(sorted({item.timer for item in found}))
    sizes = ", ".join(str(size) for size in sorted({item.workgroup_size for item in found}))
    text = f"{where}; timer: {timers}; workgroups of {sizes}; medians, results are written to memory and not read back"
    canvas.text(_MARGIN, y, text, 11, colour=c.MUTED, width=room, smallest=8.5)


def _points(item: Measurements, roles: tuple[str, ...] = ("contender", "peer")) -> Iterable[tuple[Any, Row]]:
    for one in item.of_role(*roles):
        ratio = item.x_limit(one.name)
        yield one, {
            "name": one.name, "role": one.role, "counts": item.input.get("kind"), "mean": item.input.get("mean"),
            "cv": item.input.get("cv"), "src_count": item.src_count, "total": item.total, "at_once": item.at_once,
            "workgroup_size": item.workgroup_size, "ms": one.gpu.median, "q1_ms": one.gpu.q1, "q3_ms": one.gpu.q3,
            "x_limit": ratio.median if ratio else None, "scratch_bytes": one.scratch_bytes,
            "ns_per_item": one.gpu.median * 1e6 / item.total if item.total else None,
            "skew": _band(item.input.get("cv")),
            "size": 2.0 ** (round(2 * np.log2(item.total)) / 2) if item.total else None,
        }  # fmt: skip


def _band(cv: float | None) -> float | None:
    """Skew in four steps for each power of ten: samples of one distribution differ a little."""
    return float(10.0 ** (round(np.log10(cv) * 4) / 4)) if cv else None


def _every(measured: Sequence[Measurements]) -> list[Row]:
    return [row for item in measured if item.at_once == 1 and item.total for _, row in _points(item)]


def _looks(rows: Sequence[Row]) -> dict[str, int]:
    return {name: look for look, name in enumerate(dict.fromkeys(row["name"] for row in rows))}


def _along(x: str, y: str, x_title: str, y_title: str) -> Callable[[Canvas, list[Row]], None]:
    """One line for each contender: the median over what shares its x."""

    def draw(canvas: Canvas, rows: list[Row]) -> None:
        looks = _looks(rows)
        plot = Plot(canvas, _BOX, [row[x] for row in rows], [row[y] for row in rows], x_title, y_title)
        for name, look in looks.items():
            mine = [row for row in rows if row["name"] == name]
            at = sorted({row[x] for row in mine})
            groups = [[row[y] for row in mine if row[x] == value] for value in at]
            plot.line(look, at, [float(np.median(group)) for group in groups])
            low, high = [min(group) for group in groups], [max(group) for group in groups]
            plot.whiskers(look, at, low, high)
        key(canvas, _BOX[2] + 24, _BOX[1] + 8, [(look, name) for name, look in looks.items()], _KEY)

    return draw


def _with(*names: str) -> Callable[[Sequence[Measurements]], list[Row]]:
    """Rows that have these numbers, above 0: the scales are logarithmic."""

    def rows(measured: Sequence[Measurements]) -> list[Row]:
        return [row for row in _every(measured) if all(row[name] and row[name] > 0 for name in names)]

    return rows


def _passes(measured: Sequence[Measurements]) -> list[Row]:
    """Median ms of every pass of every contender, over all inputs added up."""
    rows: dict[tuple[str, str], Row] = {}
    for item in measured:
        for row in item.rows if item.at_once == 1 else ():
            entry = rows.setdefault((row.name, row.pass_name), {"name": row.name, "pass": row.pass_name, "ms": 0.0})
            entry["ms"] += row.median_ms
    return list(rows.values())


def _draw_passes(canvas: Canvas, rows: list[Row]) -> None:
    names = list(dict.fromkeys(row["name"] for row in rows))
    passes = {name: look for look, name in enumerate(dict.fromkeys(row["pass"] for row in rows))}
    sums = {name: sum(row["ms"] for row in rows if row["name"] == name) for name in names}
    left, top, right, foot = _BOX[0] + 130, _BOX[1], _BOX[2], _BOX[3]
    plot = Plot(canvas, (left, top, right, foot), list(sums.values()), [1.0], "milliseconds", "", log_x=False,
                log_y=False, rows=True)  # fmt: skip
    tall = min(38.0, (foot - top) / len(names))
    colours = c.src_colours(len(passes))
    for number, name in enumerate(names):
        y, edge = top + number * tall, 0.0
        canvas.text(left - 8, y + tall / 2 + 4, name, 10, align="right", width=170, smallest=8)
        for row in (row for row in rows if row["name"] == name):
            x0, x1 = float(plot.x(edge)), float(plot.x(edge + row["ms"]))
            canvas.rects(x0, y + 2, x1 - x0, tall - 4, colours[passes[row["pass"]]][None], edge=c.BACKGROUND, line=0.8,
                         gid="pass-time")  # fmt: skip
            edge += row["ms"]
    room = int((foot - top) // 17)
    key(canvas, _BOX[2] + 24, top + 8, [(look, name) for name, look in list(passes.items())[:room]], _KEY)


def _memory(measured: Sequence[Measurements]) -> list[Row]:
    """Scratch bytes and time for each item, over all inputs their geometric means; on the front where nothing is
    better in both."""
    groups: dict[str, list[Row]] = {}
    for row in _every(measured):
        if row["scratch_bytes"] is not None and row["role"] == "contender" and row["ms"] > 0:
            groups.setdefault(row["name"], []).append(row)
    # Only what all inputs share can be averaged.
    most = max((len(rows) for rows in groups.values()), default=0)
    found = [
        {
            "name": name,
            "bytes_per_item": _mean([row["scratch_bytes"] / row["total"] for row in rows]),
            "ns_per_item": _mean([row["ms"] * 1e6 / row["total"] for row in rows]),
        }
        for name, rows in groups.items()
        if len(rows) == most
    ]
    for row in found:
        row["front"] = not any(
            other["bytes_per_item"] <= row["bytes_per_item"] and other["ns_per_item"] <= row["ns_per_item"]
            and (other["bytes_per_item"], other["ns_per_item"]) != (row["bytes_per_item"], row["ns_per_item"])
            for other in found
        )  # fmt: skip
    return found


def _mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-12)))))


def _draw_memory(canvas: Canvas, rows: list[Row]) -> None:
    plot = Plot(canvas, _BOX, [row["bytes_per_item"] for row in rows], [row["ns_per_item"] for row in rows],
                "bytes between the passes, for each item", "ns for each item")  # fmt: skip
    front = sorted((row for row in rows if row["front"]), key=lambda row: row["bytes_per_item"])
    corners = [(front[0]["bytes_per_item"], front[0]["ns_per_item"])]
    for row in front[1:]:
        corners += [(row["bytes_per_item"], corners[-1][1]), (row["bytes_per_item"], row["ns_per_item"])]
    steps = np.stack([plot.x([x for x, _ in corners]), plot.y([y for _, y in corners])], axis=1)
    if len(steps) > 1:
        canvas.lines([steps], c.INK, 1.2, gid="front", style=(0, (4, 2)))
    for look, row in enumerate(rows):
        plot.points(look, [row["bytes_per_item"]], [row["ns_per_item"]], 4.5)
    names = [(look, row["name"] + (" (front)" if row["front"] else "")) for look, row in enumerate(rows)]
    key(canvas, _BOX[2] + 24, _BOX[1] + 8, names, _KEY)


def _winners(measured: Sequence[Measurements]) -> list[Row]:
    """The fastest contender of every input, and how far the second is behind."""
    found = []
    for item in measured:
        rows = sorted((row for _, row in _points(item, ("contender",))), key=lambda row: row["ms"])
        if rows and item.at_once == 1 and item.total and rows[0]["cv"] is not None and rows[0]["mean"]:
            lead = rows[1]["ms"] / rows[0]["ms"] if len(rows) > 1 and rows[0]["ms"] > 0 else 1.0
            found.append(rows[0] | {"lead": lead, "second": rows[1]["name"] if len(rows) > 1 else None})
    return found


def _draw_winners(canvas: Canvas, rows: list[Row]) -> None:
    means = sorted({row["mean"] for row in rows})
    bands = _bands([row["cv"] for row in rows])
    looks = _looks(rows)
    left, top, right, foot = _BOX
    wide, tall = (right - left) / len(means), (foot - top) / len(bands)
    colours = c.src_colours(len(looks))
    for at, mean in enumerate(means):
        canvas.text(left + (at + 0.5) * wide, foot + 16, f"{mean:g}", 10, colour=c.MUTED, align="center")
    for at, (low, high) in enumerate(bands):
        y = foot - (at + 1) * tall
        ends = [f"{max(value, 0.0):.2g}" if value > 1e-5 else "0" for value in (low, high)]
        text = ends[0] if ends[0] == ends[1] else "-".join(ends)
        canvas.text(left - 6, y + tall / 2 + 4, text, 10, colour=c.MUTED, align="right", width=86, smallest=8)
        for column, mean in enumerate(means):
            here = [row for row in rows if row["mean"] == mean and low <= row["cv"] <= high]
            if not here:
                continue
            names = [row["name"] for row in here]
            name = max(dict.fromkeys(names), key=names.count)
            x = left + column * wide
            canvas.rects(x, y, wide, tall, colours[looks[name]][None], edge=c.BACKGROUND, line=1.5, gid="winner")
            ink = c.INK if c.ink_on(colours[looks[name]]) else c.BACKGROUND
            lead = _mean([row["lead"] for row in here if row["name"] == name])
            canvas.text(x + wide / 2, y + tall / 2, name, 10, colour=ink, align="center", width=wide - 6, smallest=7)
            canvas.text(x + wide / 2, y + tall / 2 + 14, f"by {lead - 1:.0%}", 9, colour=ink, align="center",
                        width=wide - 6)  # fmt: skip
    canvas.text((left + right) / 2, foot + 34, "mean N", 11, colour=c.MUTED, align="center")
    canvas.text(left - 40, top - 10, "spread of N (standard deviation over mean)", 11, colour=c.MUTED)
    counts = [(look, f"{name}: {sum(row['name'] == name for row in rows)}") for name, look in looks.items()]
    key(canvas, _BOX[2] + 24, top + 8, counts, _KEY)


def _bands(values: Sequence[float], most: int = 8) -> list[tuple[float, float]]:
    """Values in at most so many bands of similar size: (least, largest) of each."""
    ordered = np.array(sorted({round(value, 6) for value in values}))
    parts = [part for part in np.array_split(ordered, min(most, len(ordered))) if len(part)]
    # A value that was rounded still lies in its band.
    return [(float(part[0]) - 1e-6, float(part[-1]) + 1e-6) for part in parts]


def _at_once(measured: Sequence[Measurements]) -> list[Row]:
    rows = [row for item in measured if item.total for _, row in _points(item, ("contender",)) if row["ms"] > 0]
    several = {row["name"] for row in rows if row["at_once"] > 1}
    return [row | {"ms_each": row["ms"] / row["at_once"]} for row in rows if row["name"] in several]


def _predicted(measured: Sequence[Measurements]) -> list[Row]:
    """Measured times beside those that a cost model gave for them before; where none did, beside those of a model that
    is fitted to the others of these measurements, for counts that can be made again."""
    said = [item for item in measured if item.input.get("predicted_ms")]
    if said:
        return [
            {"name": one.name, "ms": one.gpu.median, "predicted_ms": item.input["predicted_ms"][one.name],
             "total": item.total, "device": item.device}
            for item in said for one in item.of_role("contender")
            if one.name in item.input["predicted_ms"] and one.gpu.median > 0
        ]  # fmt: skip
    from expandlab.advice import fitted_for

    return fitted_for(measured)


def _draw_predicted(canvas: Canvas, rows: list[Row]) -> None:
    both = [row["ms"] for row in rows] + [row["predicted_ms"] for row in rows]
    plot = Plot(canvas, _BOX, both, both, "measured ms", "predicted ms")
    ends = [min(both), max(both)]
    for factor, style in ((1.0, "solid"), (1.1, (0, (4, 3))), (1 / 1.1, (0, (4, 3)))):
        line = np.stack([plot.x(ends), plot.y([value * factor for value in ends])], axis=1)
        canvas.lines([line], c.MUTED, 1.0, style=style, gid="exact" if factor == 1.0 else "tenth")
    looks = _looks(rows)
    for name, look in looks.items():
        mine = [row for row in rows if row["name"] == name]
        plot.points(look, [row["ms"] for row in mine], [row["predicted_ms"] for row in mine], 3.0)
    key(canvas, _BOX[2] + 24, _BOX[1] + 8, [(look, name) for name, look in looks.items()], _KEY)


KINDS: dict[str, Kind] = {
    "time": Kind("Time against P2", "median ms; strokes span the inputs of a size", _with("total", "ms"),
                 _along("size", "ms", "P2, items", "ms")),
    "x_limit": Kind("Ratio to the limit against P2", "time over the fastest fill of the same bytes, round by round",
                    _with("total", "x_limit"), _along("size", "x_limit", "P2, items", "x limit")),
    "time_skew": Kind("Time against skew", "ns for each item; skew is the standard deviation of N over its mean",
                      _with("skew", "ns_per_item"),
                      _along("skew", "ns_per_item", "spread of N", "ns for each item")),
    "x_limit_skew": Kind("Ratio to the limit against skew", "skew is the standard deviation of N over its mean",
                         _with("skew", "x_limit"), _along("skew", "x_limit", "spread of N", "x limit")),
    "passes": Kind("Where the time goes", "medians of every pass, added up over the inputs", _passes, _draw_passes),
    "memory": Kind("Memory against time", "geometric means over the inputs; dashed: nothing is better in both",
                   _memory, _draw_memory),
    "win_map": Kind("Who wins where", "the fastest of every input, and by how much the second is slower", _winners,
                    _draw_winners),
    "at_once": Kind("Many expansions at once", "time of each when K are recorded side by side", _at_once,
                    _along("at_once", "ms_each", "K expansions at once", "ms for each")),
    "predicted": Kind("Predicted against measured", "the line is exact, the dashes are 10 % off", _predicted,
                      _draw_predicted),
}  # fmt: skip
_NEEDS = {
    "time_skew": "it needs counts whose N differ",
    "x_limit_skew": "it needs counts whose N differ",
    "at_once": "measure with at_once above 1",
    "predicted": "it needs counts made from a recipe, on a device with a cost model",
}
