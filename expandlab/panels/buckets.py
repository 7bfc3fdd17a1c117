"""The bucket panel: the bits of one N, the buckets in memory and among the threads, and what they cost."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from expandlab.expansion import strategies
from expandlab.figures.page import Page
from expandlab.panels.base import first_settings
from expandlab.panels.controls import subgroup_slider, workgroup_slider
from expandlab.panels.pages import PageControls, PagePanel
from expandlab.panels.parts import labelled
from expandlab.settings import BucketSettings
from expandlab.settings.pages import BUCKET_STRATEGIES


class BucketPanel(PagePanel[BucketSettings]):
    """Buckets of the power-of-two strategies."""

    def _controls(self, settings: BucketSettings) -> PageControls:
        known = strategies()
        titles = [(f"{name} – {known[name].title}", name) for name in BUCKET_STRATEGIES]
        own = {
            "strategy": labelled(widgets.Dropdown, "strategy", "Which buckets, and how they are run", options=titles),
            "src": labelled(widgets.IntSlider, "src (number)", "The src whose bits are shown", min=0, max=1),
            "room": labelled(
                widgets.IntSlider, "room (times)", "Buffers are sized for so many times the src and the items",
                min=1, max=32,
            ),
            "rounded": labelled(
                widgets.ToggleButtons, "buckets",
                "Rounded up to whole subgroups is what the shaders do; end to end shows what happens without",
                options=[("Rounded up", True), ("End to end", False)],
            ),
            "workgroup_size": workgroup_slider(),
            "subgroup_size": subgroup_slider(),
        }  # fmt: skip
        own["rounded"].add_class("xl-mode")
        return PageControls(settings, self._changed, "Buckets", own)

    def _fit(self, page: Page) -> None:
        src = self.controls.own["src"]
        # Never below its value: that would change the setting.
        src.max = max(1, len(page.counts) - 1, src.value)
        self.controls.own["rounded"].disabled = self._settings.strategy == "po2_buckets"


def buckets(*, name: str | None = None, **settings: Any) -> BucketPanel:
    """A panel that shows how N becomes entries in buckets of powers of two.

    settings: fields of `BucketSettings`, such as `source="list", values=[11]`, `strategy="po2_range"`, `room=4`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(BucketSettings, settings)
    return BucketPanel(chosen, name=name, error=error)
