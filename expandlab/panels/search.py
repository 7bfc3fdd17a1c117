"""The search panel: a prefix sum, a search or a counter, step by step, with the shader line beside it."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from expandlab.expansion import traces
from expandlab.figures.page import Page
from expandlab.figures.search import MOST_SRC
from expandlab.panels.base import first_settings
from expandlab.panels.pages import PageControls, PagePanel, step_slider
from expandlab.panels.parts import labelled, shown
from expandlab.settings import SearchSettings
from expandlab.settings.pages import TRACE_THREADS

# Views in which a control has a meaning.
_SHOWN = {
    "threads": ("workgroup", "passes", "lookback"),
    "thread": ("binary", "linear"),
    "order": ("add64", "cas64", "lookback"),
    "put_off": ("lookback",),
}


class SearchPanel(PagePanel[SearchSettings]):
    """Traces of the searching strategies."""

    def _controls(self, settings: SearchSettings) -> PageControls:
        views = [(f"{name} – {text}", name) for name, text in traces.VIEWS.items()]
        own = {
            "view": labelled(widgets.Dropdown, "view", "What is followed step by step", options=views),
            "threads": labelled(
                widgets.SelectionSlider, "workgroup (thr.)",
                "Threads in a workgroup; the shaders run with 32 to 256, fewer fit a page", options=TRACE_THREADS,
            ),
            "thread": labelled(
                widgets.IntSlider, "thread (number)", "The thread of pass 2 that searches", min=0, max=1
            ),
            "order": labelled(
                widgets.IntSlider, "order (seed)",
                "In which the atomics are served and workgroups take turns: 0 = in order, else a random one",
                min=0, max=20,
            ),
            "put_off": labelled(
                widgets.ToggleButtons, "first group", "Whether the workgroup with the first ticket is held up",
                options=[("Runs", False), ("Is put off", True)],
            ),
            "step": step_slider(),
        }  # fmt: skip
        own["put_off"].add_class("xl-mode")
        return PageControls(settings, self._changed, "What to follow", own, most_items=MOST_SRC, wide="step")

    def _fit(self, page: Page) -> None:
        own, view = self.controls.own, self._settings.view
        own["step"].max = max(1, page.data["steps"] - 1, own["step"].value)
        own["thread"].max = max(1, int(page.counts.sum(dtype="uint64")) - 1, own["thread"].value)
        for name, views in _SHOWN.items():
            shown(own[name], view in views)


def search(*, name: str | None = None, **settings: Any) -> SearchPanel:
    """A panel that plays a prefix sum, a search or a packed counter step by step.

    settings: fields of `SearchSettings`, such as `view="binary", thread=4`, `source="list", values=[3, 1, 2]`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(SearchSettings, settings)
    return SearchPanel(chosen, name=name, error=error)
