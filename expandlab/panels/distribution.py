"""The distribution panel: the N of every src as a histogram, sorted, added up, and in numbers."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from expandlab import counts as _counts
from expandlab.panels.base import first_settings
from expandlab.panels.pages import PageControls, PagePanel
from expandlab.panels.parts import labelled
from expandlab.settings import DistributionSettings

# Nothing here is drawn for each src, so there may be more of them than in the other panels.
MOST_ITEMS = 20_000


class DistributionPanel(PagePanel[DistributionSettings]):
    """Distributions of N."""

    def _controls(self, settings: DistributionSettings) -> PageControls:
        own = {
            "bins": labelled(
                widgets.ToggleButtons, "bins", "How N is sorted into the bars of the histogram",
                options=[("Powers of two", "powers"), ("Equal", "equal")],
            ),
            "compare": labelled(
                widgets.Dropdown, "compare with", "Another kind beside it, with as many src and the same mean",
                options=[("none", None), *((kind, kind) for kind in _counts.kinds())],
            ),
        }  # fmt: skip
        own["bins"].add_class("xl-mode")
        return PageControls(settings, self._changed, "Picture", own, most_items=MOST_ITEMS)


def distribution(*, name: str | None = None, **settings: Any) -> DistributionPanel:
    """A panel that shows how N is distributed over the src.

    settings: fields of `DistributionSettings`, such as `source="zipf", shape={"exponent": 2.5}`, `compare="uniform"`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(DistributionSettings, settings)
    return DistributionPanel(chosen, name=name, error=error)
