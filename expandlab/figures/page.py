"""What a panel of one page shows, and what its export holds: one object for both."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from expandlab.figures import colours as c
from expandlab.figures.canvas import Canvas
from expandlab.settings import PanelSettings

WIDTH, MARGIN = 1080, 30
HEADING, SECTION, GAP = 36, 26, 20
_MODULES = {
    "api_paths": "paths",
    "balance": "balance",
    "buckets": "buckets",
    "devices": "graphs.devices",
    "distribution": "distribution",
    "frame_graph": "graphs.page",
    "search": "search",
    "search_loadouts": "loadouts",
    "top_k": "selection.page",
    "timings": "timings",
}


@dataclass(frozen=True)
class Page:
    """A picture with everything that goes with it.

    title, description: plain text, the latter is the alternative text. head, rows: the data table, which is the CSV
    file, too. data: what else the JSON file holds. counts: the N of every src; None where there are none. provenance:
    what an export says of its origin beside the settings' own.
    """

    title: str
    description: str
    figure: Figure
    counts: np.ndarray | None
    head: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    data: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)


def make(settings: PanelSettings) -> Page:
    """The page that `settings` describe: equal settings, an equal page.

    Raises what the counts and the models raise, and TooLargeToDraw.
    """
    module = importlib.import_module(f"expandlab.figures.{_MODULES[settings.panel]}")
    return module.page(settings)


def heading(canvas: Canvas, title: str, note: str) -> float:
    """Draw the page's first line; returns where the rest begins."""
    inside = WIDTH - 2 * MARGIN
    used = canvas.text(MARGIN, MARGIN + 14, title, 18, weight="bold", width=inside * 0.66, smallest=12)
    canvas.text(WIDTH - MARGIN, MARGIN + 14, note, 12, colour=c.MUTED, align="right", width=inside - used - 20,
                smallest=9.5)  # fmt: skip
    return MARGIN + HEADING


def section(canvas: Canvas, y: float, title: str, note: str) -> float:
    """Draw a section's heading: its title, and in grey how to read it; returns where the section begins."""
    canvas.lines([((MARGIN, y - 0.5), (WIDTH - MARGIN, y - 0.5))], c.RULE)
    used = canvas.text(MARGIN, y + 16, title, 13, weight="bold")
    canvas.text(MARGIN + used + 12, y + 16, note, 11, colour=c.MUTED, width=WIDTH - 2 * MARGIN - used - 12, smallest=9)
    return y + SECTION
