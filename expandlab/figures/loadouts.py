"""The page of a search for loadouts: what culling keeps, what partial loadouts spawn, the frame's graph, the builds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas, bytes_text, defaults, plural
from expandlab.figures.graphs import levels, words
from expandlab.figures.page import GAP, MARGIN, SECTION, WIDTH, Page, heading, section
from expandlab.relics.goal import DAMAGE_WEIGHTS, Goal
from expandlab.relics.loadouts import FILTERS, ORDER, relic_pool
from expandlab.relics.stats import SLOTS
from expandlab.searching import twins
from expandlab.searching.graph import loadout_graph, partial_bound
from expandlab.settings.devices import LoadoutSettings

_INSIDE = WIDTH - 2 * MARGIN
GOAL = Goal(DAMAGE_WEIGHTS)
TITLES = {"pool": "Pool and partial loadouts", "graph": "The frame graph", "builds": "The best builds"}
_BARS = 480
# Of a device's buffers in the frame: loadouts at once.
CAPACITY = 2**18


def page(settings: LoadoutSettings) -> Page:
    """The page that `settings` describe. Raises RelicsError for a file that cannot be read."""
    relics = settings.relics()
    pool = relic_pool(relics, GOAL, sets=settings.sets, drop=settings.drop)
    counts = spawned(pool)
    with defaults():
        canvas, head, rows = _VIEWS[settings.view](settings, relics, pool, counts)
    return Page(
        title=f"{TITLES[settings.view]}: {FILTERS[settings.sets]}",
        description=describe(settings, relics, pool, counts),
        figure=canvas.figure,
        counts=None,
        head=head,
        rows=rows,
        data={"space": list(relics.space), "kept": [len(pool.kept(slot)) for slot in range(len(ORDER))],
              "counts": counts.tolist()},
    )  # fmt: skip


def spawned(pool: Any) -> np.ndarray:
    """N of every partial loadout, by the passes' twins: uint32."""
    most = partial_bound(pool)
    lists = np.zeros(len(pool.sizes) * (1 + 2 * pool.set_count) + sum(pool.sizes), np.uint32)
    b = SimpleNamespace(lists=lists, pool=pool.words([(0, most)]), counts=np.zeros(most, np.uint32))
    twins.cull(pool)(b)
    twins.spawn(pool, 0)(b)
    return b.counts[: twins.Lists(lists, pool).partials()]


def describe(settings: LoadoutSettings, relics: Any, pool: Any, counts: np.ndarray) -> str:
    """Alternative text."""
    kept = ", ".join(
        f"{len(pool.kept(slot))} of {pool.sizes[slot]} for {name}" for slot, name in enumerate(ORDER)
    )  # fmt: skip
    parts = [
        f"{TITLES[settings.view]} of {len(relics):,} relics, {FILTERS[settings.sets]}",
        f"culling keeps {kept}",
        _counts_told(counts),
    ]
    if settings.view == "graph":
        plan = _made(settings, pool).graph.compile("dag")
        parts.append(f"on {plural(settings.device_count, 'device')} {words.headline(plan)[0].lower()}"
                     f"{words.headline(plan)[1:]}")  # fmt: skip
    if settings.found is not None:
        parts.append(_told(settings))
        if settings.found["scores"]:
            parts.append(f"the best build scores {settings.found['scores'][0]:.6g}")
    return ". ".join(parts) + "."


def _counts_told(counts: np.ndarray) -> str:
    total, empty = int(counts.sum(dtype=np.uint64)), int((counts == 0).sum())
    largest = int(counts.max()) if len(counts) else 0
    return (
        f"{plural(len(counts), 'partial loadout')} spawn {plural(total, 'loadout')}; {empty:,} spawn none, one spawns "
        f"{largest:,} at most"
    )


def _told(settings: LoadoutSettings) -> str:
    """What the search cost."""
    report = settings.found["report"]
    seconds = max(report["wall_ms"] * 1e-3, 1e-9)
    back = 4 * report["words_back_per_frame"] * report["frames"]
    state = "cancelled after" if report["cancelled"] else "all"
    return (
        f"{state} {report['scored']:,} loadouts scored, {report['scored'] / seconds:,.0f} a second, in "
        f"{plural(report['frames'], 'frame')}; {bytes_text(back)} came back over the bus, all scores would have been "
        f"{bytes_text(4 * report['scored'])}"
    )


def _made(settings: LoadoutSettings, pool: Any) -> Any:
    return loadout_graph(
        pool, settings.k, devices=settings.device_count, strategy=settings.strategy,
        max_src=min(partial_bound(pool), CAPACITY), max_dst=CAPACITY,
    )  # fmt: skip


def _sheet(settings: LoadoutSettings, relics: Any, high: float) -> tuple[Canvas, float]:
    canvas = Canvas(WIDTH, float(np.ceil(2 * MARGIN + 36 + high)))
    source = settings.file or f"generated, seed {settings.seed}"
    note = f"{len(relics):,} relics ({source}); {FILTERS[settings.sets]}; culled {settings.drop:.0%} of each slot"
    return canvas, heading(canvas, "Loadouts of six relics", note)


def _pool(settings: LoadoutSettings, relics: Any, pool: Any, counts: np.ndarray) -> Any:
    canvas, y = _sheet(settings, relics, 2 * SECTION + 6 * 26 + 2 * GAP + 190)
    y = section(
        canvas, y, "Cull", "a filled cell is a relic that is kept; the first three slots make a partial loadout"
    )
    colours = c.src_colours(len(ORDER))
    cell = min(26.0, (_INSIDE - 190) / max(pool.sizes))
    for slot, name in enumerate(ORDER):
        at = y + slot * 26
        kept = set(pool.kept(slot).tolist())
        lead = "" if slot < pool.leading else "spawned: "
        canvas.text(MARGIN, at + 16, f"{lead}{name} ({len(kept)} of {pool.sizes[slot]})", 11, width=180, smallest=8)
        x = MARGIN + 190 + np.arange(pool.sizes[slot]) * cell
        is_kept = np.array([item in kept for item in range(pool.sizes[slot])])
        if is_kept.any():
            canvas.rects(x[is_kept] + 1, at + 4, cell - 2, 16, colours[slot][None], edge=c.INK, line=0.7, gid="kept")
        if not is_kept.all():
            canvas.rects(x[~is_kept] + 1, at + 4, cell - 2, 16, c.IDLE, edge=c.RULE, line=0.7, gid="culled")
            canvas.hatch(x[~is_kept] + 1, at + 4, cell - 2, 16)
    y += 6 * 26 + GAP
    y = section(canvas, y, "Spawn", f"N of every partial loadout, in their order: {_counts_told(counts)}")
    _bars(canvas, y + 8, counts)
    rows = [(name, pool.sizes[slot], len(pool.kept(slot)), "leading" if slot < pool.leading else "spawned",
             float(pool.least[slot])) for slot, name in enumerate(ORDER)]  # fmt: skip
    return canvas, ("slot", "relics", "kept", "part", "least worth"), rows


def _bars(canvas: Canvas, y: float, counts: np.ndarray) -> None:
    """N of the partial loadouts; where there are more than fit, each bar is the largest of its neighbours."""
    high, left, wide = 150.0, MARGIN + 60, _INSIDE - 60
    canvas.lines([((left, y), (left, y + high), (left + wide, y + high))], c.MUTED, 1.0)
    if not len(counts) or not counts.max():
        canvas.text(left + 12, y + 24, "no partial loadout spawns anything", 12, colour=c.MUTED)
        return
    bars = min(_BARS, len(counts))
    edges = np.linspace(0, len(counts), bars + 1).astype(int)
    tops = np.maximum.reduceat(counts, edges[:-1]).astype(float)
    step = wide / bars
    tall = tops / tops.max() * (high - 12)
    x = left + np.arange(bars) * step
    shown = tall > 0
    canvas.rects(x[shown], (y + high - tall)[shown], max(0.8, step - (1 if step > 3 else 0)), tall[shown],
                 c.ACCENT, gid="spawned")  # fmt: skip
    canvas.text(left - 8, y + 18, f"{int(tops.max()):,}", 10, colour=c.MUTED, align="right")
    canvas.text(left - 8, y + high, "0", 10, colour=c.MUTED, align="right")
    canvas.text(left, y + high + 16, "0", 10, colour=c.MUTED)
    canvas.text(left + wide, y + high + 16, f"{len(counts):,} partial loadouts", 10, colour=c.MUTED, align="right")


def _graph(settings: LoadoutSettings, relics: Any, pool: Any, counts: np.ndarray) -> Any:
    plan = _made(settings, pool).graph.compile("dag")
    drawn = levels.prepare(plan, MARGIN, _INSIDE)
    canvas, y = _sheet(settings, relics, SECTION + 24 + drawn.height)
    y = section(
        canvas, y, "One frame", "cull, spawn, expand, score, select; on several devices the best of each are merged"
    )
    canvas.text(MARGIN, y + 16, words.headline(plan), 12, weight="bold", width=_INSIDE, smallest=9)
    levels.draw(canvas, MARGIN, y + 24, _INSIDE, drawn)
    rows = [(edge.producer, edge.consumer, plan.devices[edge.producer], plan.devices[edge.consumer],
             "; ".join(edge.reasons)) for edge in words.edges(plan)]  # fmt: skip
    return canvas, ("producer", "consumer", "device of the producer", "device of the consumer", "why"), rows


def _builds(settings: LoadoutSettings, relics: Any, pool: Any, counts: np.ndarray) -> Any:
    head = ("rank", "score", *SLOTS)
    found = settings.found
    if found is None:
        canvas, y = _sheet(settings, relics, SECTION + 40)
        y = section(canvas, y, "Builds", "nothing is searched yet: press Run")
        return canvas, head, []
    by_slot = relics.by_slot()
    rows = []
    for rank, (score, pick) in enumerate(zip(found["scores"], found["picks"], strict=True), 1):
        chosen = [by_slot[slot][item] for slot, item in zip(SLOTS, pick, strict=True)]
        rows.append((rank, round(float(score), 4), *(f"{item.set_name}, {item.main[0]}" for item in chosen)))
    shown = rows[:20]
    canvas, y = _sheet(settings, relics, 2 * SECTION + 26 * (len(shown) + 1) + 34 + GAP)
    y = section(canvas, y, "Cost", "; ".join(found["report"]["devices"]))
    canvas.text(MARGIN, y + 14, _told(settings), 11.5, width=_INSIDE, smallest=8)
    y = section(canvas, y + 34, "Builds", f"the best {len(shown)} of {len(rows)}: set and main stat of each relic")
    wide = (_INSIDE - 110) / len(SLOTS)
    for column, name in enumerate(SLOTS):
        canvas.text(MARGIN + 110 + column * wide, y + 16, name, 11, weight="bold", width=wide - 8, smallest=8)
    canvas.text(MARGIN + 96, y + 16, "score", 11, weight="bold", align="right")
    for number, row in enumerate(shown):
        at = y + 26 * (number + 1)
        canvas.lines([((MARGIN, at), (MARGIN + _INSIDE, at))], c.RULE, 0.7)
        canvas.text(MARGIN, at + 17, str(row[0]), 11, colour=c.MUTED)
        canvas.text(MARGIN + 96, at + 17, f"{row[1]:,.2f}", 11, align="right")
        for column, text in enumerate(row[2:]):
            canvas.text(MARGIN + 110 + column * wide, at + 17, text, 10.5, width=wide - 8, smallest=7)
    return canvas, head, rows


_VIEWS = {"pool": _pool, "graph": _graph, "builds": _builds}
