"""The panel of loadouts: cull, expand, score and select in one frame graph, on one device or several."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets as widgets

from expandlab.figures.loadouts import CAPACITY, GOAL
from expandlab.panels.base import first_settings
from expandlab.panels.browser import browser_device
from expandlab.panels.device_menu import on_page, relabel
from expandlab.panels.device_pairs import open_all, pair_options
from expandlab.panels.devices import OwnControls, ResultRun
from expandlab.panels.pages import PagePanel
from expandlab.panels.parts import button, group, labelled
from expandlab.relics.loadouts import FILTERS, RelicLoadouts, best_loadouts
from expandlab.settings.devices import LOADOUT_VIEWS, MOST_ITEMS, MOST_K, LoadoutSettings


class _Controls(OwnControls):
    def fields(self) -> dict[str, Any]:
        found = super().fields()
        return found | {"file": found["file"].strip() or None}


class _LoadoutRun(ResultRun):
    """Run and Resume. tokens: what a cancelled search goes on with, and the settings that it belongs to."""

    def __init__(self, panel: LoadoutPanel):
        super().__init__(panel)
        self._token: tuple[Any, dict[str, Any]] | None = None
        self._resume = False
        self.resume = button("Resume", "Go on with a search that was cancelled", self.go_on, disabled=True)
        self.run.tooltip = "Search on the chosen devices"
        self.cancel.tooltip = "Stop; the best so far are kept, and Resume goes on"

    def go_on(self) -> None:
        """Go on with the search that was cancelled."""
        self._resume = True
        self.start()

    def _key(self, settings: LoadoutSettings) -> Any:
        return settings.replace(found=None, view="pool", strategy="prefix_search", device_count=1)

    def _measured(self, cancel: threading.Event) -> RelicLoadouts:
        self.asked = asked = self.panel.settings
        resuming, self._resume = self._resume, False
        token = None
        if resuming and self._token is not None and self._token[0] == self._key(asked):
            token = self._token[1]
        tokens = self.panel.devices.value

        def told(news: Any) -> None:
            left = f", about {max(1, round(news.seconds_left))} s left" if news.done < news.total else ""
            self._tell(news.done, news.total, f"{news.done:,} of {news.total:,} partial loadouts{left}")

        return best_loadouts(
            asked.relics(), GOAL, asked.k, sets=asked.sets, drop=asked.drop, strategy=asked.strategy,
            devices=open_all(tokens, len(tokens)), capacity=self.panel.capacity, cancel=cancel, resume=token,
            on_progress=told,
        )  # fmt: skip

    def _show(self, done: RelicLoadouts) -> None:
        report = done.found.report
        found = {
            "picks": done.picks.tolist(), "scores": [float(score) for score in done.scores],
            "report": report.to_dict(),
        }  # fmt: skip
        self._token = (self._key(self.asked), done.found.token) if report.cancelled else None
        self.resume.disabled = self._token is None
        settings = self.asked.replace(view="builds", found=found)
        self.asked = self.asked.replace(view=self.panel.settings.view)
        state = "cancelled, Resume goes on" if report.cancelled else "done"
        self._finish(
            settings, report.cancelled, f"{state}: {report.scored:,} loadouts, {report.loadouts_per_second:,.0f} "
            f"a second, {4 * report.words_back_per_frame:,} B back over the bus in each of {report.frames:,} frames",
        )  # fmt: skip


class LoadoutPanel(PagePanel[LoadoutSettings]):
    """A search for loadouts. devices: the menu of where Run searches. capacity: loadouts of a frame on each device."""

    capacity = CAPACITY

    def __init__(self, settings: LoadoutSettings, *, name: str | None = None, error: str = ""):
        options = pair_options(single=True)
        self.devices = labelled(widgets.Dropdown, "devices", "Where Run searches", options=options)
        mine = [tokens for _, tokens in options if len(tokens) == settings.device_count]
        if mine:
            self.devices.value = mine[0]
        self.devices.observe(self._count_devices, "value")
        menu = self.devices
        on_page(menu, lambda: relabel(menu, pair_options(single=True)))
        super().__init__(settings, name=name, error=error)

    def close(self) -> None:
        """Close the panel and its parts, and end what it is doing."""
        self.running.close()
        super().close()

    def _count_devices(self, change: Any) -> None:
        self.controls.own["device_count"].value = len(change["new"])

    def _controls(self, settings: LoadoutSettings) -> _Controls:
        from expandlab.expansion import strategies

        known = [name for name, item in strategies().items() if not item.modelled]
        own = {
            "view": labelled(widgets.ToggleButtons, "view", "What is shown", options=list(LOADOUT_VIEWS)),
            "items": labelled(
                widgets.IntSlider, "relics (a slot)", "Relics of each slot; of a file the first ones",
                min=1, max=MOST_ITEMS,
            ),
            "seed": labelled(widgets.BoundedIntText, "seed", "Of the generated relics", min=0, max=2**31 - 1),
            "file": labelled(
                widgets.Text, "file", "A scanner's export or an optimizer's save; empty: generated",
                continuous_update=False,
            ),
            "sets": labelled(
                widgets.Dropdown, "filter", "Which sets have to go together",
                options=[(text, name) for name, text in FILTERS.items()],
            ),
            "drop": labelled(
                widgets.FloatSlider, "cull (share)", "Of each slot, the relics that the goal weighs least",
                min=0, max=0.95, step=0.05,
            ),
            "k": labelled(widgets.IntSlider, "k (builds)", "How many builds", min=1, max=MOST_K),
            "device_count": labelled(
                widgets.IntSlider, "devices", "How many devices the graph is drawn for; the menu sets it, too",
                min=1, max=4,
            ),
            "strategy": labelled(
                widgets.Dropdown, "strategy", "How the partial loadouts are expanded", options=known
            ),
        }  # fmt: skip
        own["view"].add_class("xl-mode")
        return _Controls(settings, self._changed, "Search", own, ("view",), "found")

    def _children(self) -> list[widgets.Widget]:
        self.running = _LoadoutRun(self)
        grid, *rest = super()._children()
        *groups, _ = grid.children
        run = widgets.HBox([self.running.run, self.running.cancel, self.running.resume])
        grid.children = [*groups, group("Run and keep", [self.devices, run, *self.saving.rows])]
        return [grid, browser_device(), self.running.progress, *rest]


def search_loadouts(*, name: str | None = None, **settings: Any) -> LoadoutPanel:
    """A panel that searches the best loadouts of relics: cull, expand, score and select as one frame graph.

    settings: fields of `LoadoutSettings`, such as `items=12, sets="pair", k=20`. What is wrong with them shows in the
        panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(LoadoutSettings, settings)
    return LoadoutPanel(chosen, name=name, error=error)
