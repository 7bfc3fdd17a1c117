"""The front-end panel: what pass 2 asks for by each path of the API, and Run, which times growing numbers of src."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

from expandlab.expansion import strategies
from expandlab.measuring.front_end import Series, measure_series
from expandlab.panels.base import first_settings
from expandlab.panels.browser import browser_device
from expandlab.panels.controls import workgroup_slider
from expandlab.panels.device_menu import device_menu
from expandlab.panels.pages import PageControls, PagePanel
from expandlab.panels.parts import group, labelled
from expandlab.panels.running import RunBox
from expandlab.settings import PathSettings

MOST_ITEMS = 4096


class _Controls(PageControls):
    """As the others; what was measured belongs to the settings that it was measured with, and goes when they do."""

    def fields(self) -> dict[str, Any]:
        return super().fields() | {"measured": None}


class _SeriesRun(RunBox):
    """Run for a whole series; what it finds becomes a setting of the panel."""

    def __init__(self, panel: PathPanel):
        super().__init__(lambda: None, panel.alert)
        self._panel = panel
        self._asked: PathSettings | None = None

    def _measured(self, cancel: threading.Event) -> Series:
        self._asked = self._panel.settings
        known = strategies()
        names = [name for name in self._asked.shown if not known[name].modelled]
        return measure_series(
            names, self._asked.counts(), device=self._panel.device.value, workgroup_size=self._asked.workgroup_size,
            on_progress=self._news, cancel=cancel,
        )  # fmt: skip

    def _show(self, found: Series) -> None:
        runs = sum(row.samples for row in found.rows)
        self.bar.value = self.bar.max
        self.bar.bar_style = "warning" if found.cancelled else "success"
        # Times of other settings than those that are shown by now would be a lie.
        if found.rows and self._panel.settings == self._asked:
            self._panel.settings = self._asked.replace(measured=found.to_dict())
            self._panel.settle()
        self.text.say(f"{'cancelled' if found.cancelled else 'done'}: {runs} runs, {found.timer} on {found.device}")


class PathPanel(PagePanel[PathSettings]):
    """What the front end costs. device: the menu of where Run measures."""

    def __init__(self, settings: PathSettings, *, name: str | None = None, error: str = ""):
        self.device = device_menu("Where Run measures")
        super().__init__(settings, name=name, error=error)

    def close(self) -> None:
        """Close the panel and its parts, and end what it is doing."""
        self.running.close()
        super().close()

    def _controls(self, settings: PathSettings) -> PageControls:
        own: Mapping[str, widgets.Widget] = {
            "shown": labelled(
                widgets.SelectMultiple, "strategies", "One to six strategies; hold Ctrl or Shift to choose several",
                options=list(strategies()), rows=6,
            ),
            "workgroup_size": workgroup_slider(),
        }  # fmt: skip
        return _Controls(settings, self._changed, "Paths", own, most_items=MOST_ITEMS)

    def _children(self) -> list[widgets.Widget]:
        self.running = _SeriesRun(self)
        grid, *rest = super()._children()
        *groups, _ = grid.children
        run = widgets.HBox([self.running.run, self.running.cancel])
        grid.children = [*groups, group("Measure and keep", [self.device, run, *self.saving.rows])]
        return [grid, browser_device(), self.running.progress, *rest]


def api_paths(*, name: str | None = None, **settings: Any) -> PathPanel:
    """A panel that counts what each path of the graphics API asks the front end for, and measures what that takes.

    settings: fields of `PathSettings`, such as `items=2000, mean=8`, `shown=["dispatch_each", "prefix_search"]`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(PathSettings, settings)
    return PathPanel(chosen, name=name, error=error)
