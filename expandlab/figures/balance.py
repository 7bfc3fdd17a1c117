"""Lanes at work in every subgroup and step, for several strategies one below the other on one scale."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib
import numpy as np

from expandlab.expansion import thread_map
from expandlab.expansion.thread_map import ThreadMap
from expandlab.figures import alt, steps
from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, defaults, plural
from expandlab.figures.limits import refuse
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.settings import BalanceSettings

_INSIDE = WIDTH - 2 * MARGIN
_GUTTER = 84
_HEAT, _PASSES, _SENTENCE, _LEGEND = 150, 20, 22, 40
# Lines of a heat map at most; more subgroups than that share a line, which shows their mean.
_LINES = 50
_FACTS = 18
HEAD = (
    "strategy", "step", "pass", "what", "shader line", "times", "active lanes", "lanes of running subgroups",
    "lanes launched",
)  # fmt: skip


@dataclass(frozen=True)
class Load:
    """How a strategy's lanes are used over all its steps, a step of n rounds counted n times.

    rounds: of all steps. active, running, launched: lane rounds at work, of subgroups with at least one lane at work,
    and of all subgroups of the passes. active / running says how much the lanes of a subgroup diverge; running /
    launched how much subgroups differ from each other.
    """

    rounds: int
    active: int
    running: int
    launched: int


def load_of(map: ThreadMap) -> Load:
    """The load of a map's steps."""
    rounds = np.array([step.repeats for step in map.steps], np.int64)
    lanes = [_lanes(map, step) for step in map.steps]
    active, running, launched = (np.array(column, np.int64) for column in zip(*lanes, strict=True)) if lanes else (
        np.zeros((3, 0), np.int64)
    )  # fmt: skip
    return Load(int(rounds.sum()), int(rounds @ active), int(rounds @ running), int(rounds @ launched))


def _lanes(map: ThreadMap, step: object) -> tuple[int, int, int]:
    busy = np.count_nonzero(step.active)
    return int(step.active.sum()), int(busy) * map.subgroup_size, len(step.active) * map.subgroup_size


def page(settings: BalanceSettings) -> Page:
    """The page that `settings` describe."""
    counts = settings.counts()
    total = int(counts.sum(dtype=np.uint64))
    refuse(len(counts), f"there are {len(counts):,} src")
    refuse(total, f"these counts spawn {plural(total, 'item')}")
    if "flat" in settings.shown:
        threads = len(counts) * int(counts.max(initial=0))
        refuse(threads, f"flat launches {threads:,} threads", "; lower max N, or leave it out")
    maps = [
        thread_map(counts, name, workgroup_size=settings.workgroup_size, subgroup_size=settings.subgroup_size)
        for name in settings.shown
    ]
    loads = [load_of(item) for item in maps]
    with defaults():
        canvas = _draw(settings, counts, maps, loads)
    return Page(
        title="Lanes at work, step by step",
        description=describe(settings, counts, maps, loads),
        figure=canvas.figure,
        counts=counts,
        head=HEAD,
        rows=[
            (item.strategy, number, step.pass_name, step.label, str(step.line), step.repeats, *_lanes(item, step))
            for item in maps
            for number, step in enumerate(item.steps, 1)
        ],
        data={
            "loads": {item.strategy: load for item, load in zip(maps, loads, strict=True)},
            "steps": max(len(item.steps) for item in maps),
        },
    )


def describe(settings: BalanceSettings, counts: np.ndarray, maps: list[ThreadMap], loads: list[Load]) -> str:
    """Alternative text."""
    parts = [alt.counts_sentence(counts, settings)]
    for item, load in zip(maps, loads, strict=True):
        parts.append(f"{alt.title_of(item.strategy)}: {_facts(load)}; {_step_text(item, settings.step)}")
    return ". ".join(parts) + "."


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole else "nothing"


def _facts(load: Load) -> str:
    return (
        f"{load.rounds:,} rounds; of the lanes of running subgroups {_share(load.active, load.running)} at work, "
        f"of all launched {_share(load.active, load.launched)}"
    )


def _step_text(item: ThreadMap, at: int) -> str:
    if at >= len(item.steps):
        return f"finished after {plural(len(item.steps), 'step')}"
    step = item.steps[at]
    active, running, launched = _lanes(item, step)
    times = f" ×{step.repeats:,}" if step.repeats > 1 else ""
    busy = running // item.subgroup_size
    where = f"{busy:,} of {plural(launched // item.subgroup_size, 'subgroup')}"
    return f"step {at + 1} of {len(item.steps)}, {step.pass_name}: {step.label}{times}, {active:,} lanes in {where}"


def _draw(settings: BalanceSettings, counts: np.ndarray, maps: list[ThreadMap], loads: list[Load]) -> Canvas:
    # One scale for all: pixels of a subgroup, and of a round. A strategy takes as much height as it has subgroups.
    groups = [max((len(step.active) for step in item.steps), default=1) for item in maps]
    share = -(-max(groups) // _LINES)
    line = min(_HEAT / -(-max(groups) // share), 14.0)
    widest = max(float(steps.weights(item).sum()) for item in maps)
    heights = [max(24.0, -(-count // share) * line) for count in groups]
    each = SECTION + _FACTS + _PASSES + _SENTENCE + GAP
    canvas = Canvas(WIDTH, float(np.ceil(2 * MARGIN + 36 + len(maps) * each + sum(heights) + _LEGEND)))
    y = heading(canvas, alt.counts_sentence(counts), alt.source_words(settings))
    for item, load, high in zip(maps, loads, heights, strict=True):
        top = section(canvas, y, alt.title_of(item.strategy), item.strategy)
        canvas.text(MARGIN, top + 10, _facts(load), 11.5, width=_INSIDE, smallest=9)
        _heat(canvas, top + _FACTS, item, _INSIDE - _GUTTER, widest, (share, line, high), settings.step)
        said = _step_text(item, settings.step)
        canvas.text(MARGIN, top + _FACTS + high + _PASSES + 16, said[0].upper() + said[1:], 12, colour=c.ACCENT,
                    weight="bold", width=_INSIDE, smallest=9)  # fmt: skip
        y += each + high
    _legend(canvas, y, settings)
    return canvas


def _shades(values: np.ndarray) -> np.ndarray:
    """cividis, from the dark end for few lanes to the light one for all: uint8 (n, 3)."""
    return (matplotlib.colormaps["cividis"](values)[:, :3] * 255).round().astype(np.uint8)


def _heat(
    canvas: Canvas, y: float, item: ThreadMap, room: float, widest: float, scale: tuple[int, float, float], at: int
) -> None:  # fmt: skip
    """One column for each step, one line for each subgroup (or for several): how many of its lanes are at work.

    widest: what fills the room. scale: subgroups of a line, its pixels, and those of all lines.
    """
    left, (share, line, tall) = MARGIN + _GUTTER, scale
    canvas.text(MARGIN, y + 12, "subgroups", 11, colour=c.MUTED)
    if not item.steps:
        canvas.text(left, y + 12, "no step", 11, colour=c.MUTED)
        return
    unit = min(room / max(widest, 1.0), 60.0)
    wide = steps.weights(item) * unit
    edges = left + np.concatenate([[0.0], np.cumsum(wide)])
    x, top, value, width = [], [], [], []
    for index, step in enumerate(item.steps):
        starts = np.arange(0, len(step.active), share)
        sizes = np.minimum(share, len(step.active) - starts)
        lanes = np.add.reduceat(step.active, starts) / sizes / item.subgroup_size if len(starts) else np.zeros(0)
        x += [edges[index]] * len(starts)
        width += [wide[index]] * len(starts)
        top += (y + np.arange(len(starts)) * line).tolist()
        value += lanes.tolist()
    x, top, value, width = (np.array(column, float) for column in (x, top, value, width))
    gap = 1.0 if unit >= 5 else 0.0
    thin = 1.0 if line >= 4 else 0.0
    busy = value > 0
    if busy.any():
        canvas.rects(x[busy], top[busy], width[busy] - gap, line - thin, _shades(value[busy]), gid="lanes")
    if not busy.all():
        canvas.rects(x[~busy], top[~busy], width[~busy] - gap, line - thin, c.IDLE, gid="resting")
        if line >= 4:
            canvas.hatch(x[~busy], top[~busy], width[~busy] - gap, line - thin)
    _passes(canvas, y + tall, item, edges)
    if at < len(item.steps):
        high = -(-len(item.steps[at].active) // share) * line
        canvas.outline(edges[at] - 1, y - 1, wide[at] + 1, high + 1, 2.0, gid="step-shown")
        canvas.rects(edges[at], y + tall + 1, wide[at] - gap, 3, c.ACCENT)


def _passes(canvas: Canvas, y: float, item: ThreadMap, edges: np.ndarray) -> None:
    names = [step.pass_name for step in item.steps]
    starts = [i for i in range(len(names)) if i == 0 or names[i] != names[i - 1]]
    for start, end in zip(starts, [*starts[1:], len(names)], strict=True):
        canvas.lines([((edges[start], y + 6), (edges[end] - 2, y + 6))], c.MUTED, 1.2)
        canvas.text((edges[start] + edges[end]) / 2, y + 17, names[start], 10, align="center",
                    width=edges[end] - edges[start] - 2)  # fmt: skip


def _legend(canvas: Canvas, y: float, settings: BalanceSettings) -> None:
    x = MARGIN + _GUTTER
    canvas.text(MARGIN, y + 14, "lanes", 11, colour=c.MUTED)
    canvas.rects(x, y + 4, 22, 12, c.IDLE)
    canvas.hatch(x, y + 4, 22, 12)
    x += 28 + canvas.text(x + 28, y + 14, "none: the subgroup rests", 11, colour=c.MUTED) + 20
    marks = np.unique(np.array([1, settings.subgroup_size // 4, settings.subgroup_size // 2, settings.subgroup_size]))
    for lanes, shade in zip(marks, _shades(marks / settings.subgroup_size), strict=True):
        canvas.rects(x, y + 4, 22, 12, shade[None])
        x += 28 + canvas.text(x + 28, y + 14, f"{lanes} of {settings.subgroup_size}", 11, colour=c.MUTED) + 16
    canvas.text(
        x, y + 14, "a column is a step, n rounds are 1 + log₂ n wide", 11, colour=c.MUTED, width=WIDTH - MARGIN - x
    )
