"""The balance panel: lanes at work step by step, in several strategies at once."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from expandlab.expansion import strategies
from expandlab.figures.page import Page
from expandlab.panels.base import first_settings
from expandlab.panels.controls import subgroup_slider, workgroup_slider
from expandlab.panels.pages import PageControls, PagePanel, step_slider
from expandlab.panels.parts import labelled
from expandlab.settings import BalanceSettings


class BalancePanel(PagePanel[BalanceSettings]):
    """Lanes at work in several strategies."""

    def _controls(self, settings: BalanceSettings) -> PageControls:
        own = {
            "shown": labelled(
                widgets.SelectMultiple, "strategies", "One to six strategies; hold Ctrl or Shift to choose several",
                options=list(strategies()), rows=6,
            ),
            "workgroup_size": workgroup_slider(),
            "subgroup_size": subgroup_slider(),
            "step": step_slider(),
        }  # fmt: skip
        return PageControls(settings, self._changed, "Strategies", own, wide="step")

    def _fit(self, page: Page) -> None:
        step = self.controls.own["step"]
        # One beyond the last shows all of them finished.
        step.max = max(1, page.data["steps"], step.value)


def balance(*, name: str | None = None, **settings: Any) -> BalancePanel:
    """A panel that shows in which steps which lanes work, for several strategies on the same counts.

    settings: fields of `BalanceSettings`, such as `shown=["tile_search", "append"]`, `source="one_giant"`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(BalanceSettings, settings)
    return BalancePanel(chosen, name=name, error=error)
