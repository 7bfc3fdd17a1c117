"""The steps from pass 1 to pass 2: the share of lanes at work in each, and the lanes of every subgroup in one."""

from __future__ import annotations

import numpy as np

from expandlab.expansion.thread_map import Step, ThreadMap
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, shorten, text_width

GUTTER = 60
_CHART, _PASSES = 60, 16
_HEAD = 12
# The subgroups of the selected step: its sentence, its bars.
_SENTENCE, _BARS = 20, 34
HEIGHT = _HEAD + _CHART + _PASSES + 4
STEP_HEIGHT = _SENTENCE + _BARS + 10


def share(map: ThreadMap, step: Step) -> float:
    """Active lanes of the subgroups that run a step."""
    lanes = len(step.active) * map.subgroup_size
    return float(step.active.sum() / lanes) if lanes else 0.0


def weights(map: ThreadMap) -> np.ndarray:
    """Widths of the steps: a loop of many rounds is wider, but does not push all others off the page."""
    return np.array([1 + np.log2(max(step.repeats, 1)) for step in map.steps])


def chosen(map: ThreadMap, step: int | None) -> int | None:
    """The step shown, or None: a step beyond the last is the last."""
    return None if step is None or not map.steps else min(step, len(map.steps) - 1)


def note(map: ThreadMap) -> str:
    """What the chart shows."""
    rounds = "; ×n: n rounds, 1 + log₂ n wide" if any(step.repeats > 1 for step in map.steps) else ""
    return f"lanes at work, as a share of the subgroups launched; {len(map.steps)} steps{rounds}"


def draw(
    canvas: Canvas, x: float, y: float, width: float, map: ThreadMap, most: float, step: int | None = None
) -> None:
    """Draw the chart at (x, y). `most`: the sum of `weights` that fills the width; `step`: the one shown."""
    left, room = x + GUTTER, width - GUTTER
    top, foot = y + _HEAD, y + _HEAD + _CHART
    for value, text in ((0, "0 %"), (0.5, "50 %"), (1, "100 %")):
        level = foot - value * _CHART
        canvas.lines([((left, level), (left + room, level))], c.RULE, 0.8)
        canvas.text(left - 8, level + 4, text, 10, colour=c.MUTED, align="right")
    if not map.steps:
        return
    unit = min(room / most, 96.0)
    wide = weights(map) * unit
    edges = left + np.concatenate([[0.0], np.cumsum(wide)])
    level = np.array([share(map, item) for item in map.steps])
    gap = 1.0 if unit >= 4 else 0.0
    mark = chosen(map, step)
    normal = np.arange(len(wide)) != (-1 if mark is None else mark)
    tall = np.maximum(level * _CHART, (level > 0) * 1.0)
    for mask, colour, gid in ((normal, c.MUTED, "steps"), (~normal, c.ACCENT, "step-shown")):
        if mask.any():
            canvas.rects(edges[:-1][mask], foot - tall[mask], wide[mask] - gap, tall[mask], colour, gid=gid)
    _repeats(canvas, map, edges, wide, foot, tall)
    _passes(canvas, map, edges, foot)
    if mark is not None:
        middle = edges[mark] + wide[mark] / 2
        canvas.rects(edges[mark], foot + 1, wide[mark] - gap, 3, c.ACCENT)
        canvas.lines([((middle, top), (middle, foot - tall[mark]))], c.ACCENT, 0.8, style=(0, (2, 2)))
        _subgroups(canvas, x, y + HEIGHT, width, map, mark)


def _repeats(
    canvas: Canvas, map: ThreadMap, edges: np.ndarray, wide: np.ndarray, foot: float, tall: np.ndarray
) -> None:
    for index, step in enumerate(map.steps):
        text = f"×{step.repeats:,}"
        if step.repeats > 1 and text_width(text, 9) + 4 <= wide[index]:
            canvas.text(edges[index] + wide[index] / 2, foot - tall[index] - 3, text, 9, colour=c.MUTED, align="center")


def _passes(canvas: Canvas, map: ThreadMap, edges: np.ndarray, foot: float) -> None:
    """A bracket below the steps of each pass, with its name where there is room."""
    names = [step.pass_name for step in map.steps]
    starts = [i for i in range(len(names)) if i == 0 or names[i] != names[i - 1]]
    for start, end in zip(starts, [*starts[1:], len(names)], strict=True):
        left, right = edges[start], edges[end] - 2
        canvas.lines([((left, foot + 6), (right, foot + 6))], c.MUTED, 1.2)
        text = shorten(names[start], 10, right - left)
        # An ellipsis alone, or one letter, tells nothing.
        if text and (text == names[start] or len(text) > 3):
            canvas.text((left + right) / 2, foot + 17, text, 10, colour=c.INK, align="center", gid="pass-name")


def _subgroups(canvas: Canvas, x: float, y: float, width: float, map: ThreadMap, mark: int) -> None:
    step = map.steps[mark]
    times = f", {step.repeats:,} rounds" if step.repeats > 1 else ""
    text = f"Step {mark + 1} of {len(map.steps)}, {step.pass_name}: {step.label}{times}"
    used = canvas.text(x, y + 13, text, 11, colour=c.ACCENT, weight="bold", width=width)
    canvas.text(x + used + 10, y + 13, str(step.line), 10, colour=c.MUTED, width=max(0.0, width - used - 12))
    y += _SENTENCE
    left, room = x + GUTTER, width - GUTTER
    active = np.asarray(step.active, float)
    bins = max(1, -(-len(active) // int(room / 2)))
    if not len(active):
        return
    mean = np.add.reduceat(active, np.arange(0, len(active), bins)) / np.minimum(
        bins, len(active) - np.arange(0, len(active), bins)
    )
    pitch = min(26.0, room / len(mean))
    gap = 3.0 if pitch >= 12 else 1.0 if pitch >= 4 else 0.0
    edges = left + np.arange(len(mean)) * pitch
    tall = mean / map.subgroup_size * _BARS
    canvas.rects(edges, y, pitch - gap, _BARS, c.IDLE, gid="step-subgroups")
    canvas.rects(edges, y + _BARS - tall, pitch - gap, tall, c.ACCENT, gid="step-active")
    canvas.text(x, y + 13, "lanes of", 10, colour=c.MUTED, width=GUTTER - 4)
    canvas.text(x, y + 26, "subgroups", 10, colour=c.MUTED, width=GUTTER - 4, smallest=8)
    if bins == 1 and pitch >= 18:
        for mask, colour in ((tall > 16, c.BACKGROUND), (tall <= 16, c.INK)):
            at = np.where(tall > 16, y + _BARS - tall + 8, y + _BARS - tall - 7)
            canvas.numbers(active[mask], (edges + (pitch - gap) / 2)[mask], at[mask], 10, colour, gid="step-numbers")
