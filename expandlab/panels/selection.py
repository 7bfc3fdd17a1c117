"""The top-k panel: a method step by step, a stream bound by bound, and the bytes and times, with Run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from expandlab.figures.page import Page
from expandlab.measuring.selection import SelectionTimes, measure_methods
from expandlab.panels.base import first_settings
from expandlab.panels.browser import browser_device
from expandlab.panels.device_menu import device_menu
from expandlab.panels.pages import PagePanel, player, step_slider
from expandlab.panels.parts import group, labelled, shown
from expandlab.panels.running import RunBox
from expandlab.panels.silence import Silent
from expandlab.panels.sources import put
from expandlab.settings import TopKSettings
from expandlab.settings.selection import MOST_SCORES, VIEWS
from expandlab.topk import inputs, top_k_methods

# Views in which a control has a meaning; the others have one everywhere.
_SHOWN = {"pushes": ("stream",), "step": ("steps", "stream")}
_SIZES = [2**power for power in range(8, MOST_SCORES.bit_length())]
_KS = [2**power for power in range(17)]


class TopKControls(Silent):
    """Widgets for every field of `TopKSettings` by its name, in `own`.

    change: called whenever the user moves something. What was measured belongs to the settings that it was measured
    with: the step, the view and the method may change beside it, anything else ends it.
    """

    def __init__(self, settings: TopKSettings, change: Callable[[], None]):
        super().__init__()
        self._change = change
        self._measured: Any = None
        methods = [(f"{name} – {item.title}", name) for name, item in top_k_methods().items()]
        views = [(f"{name} – {text}", name) for name, text in VIEWS.items()]
        kinds = [(f"{name} – {text}", name) for name, text in inputs.kinds().items()]
        self.own: dict[str, widgets.Widget] = {
            "n": labelled(widgets.SelectionSlider, "n (scores)", "How many scores there are", options=_SIZES),
            "k": labelled(widgets.SelectionSlider, "k (results)", "How many of them are wanted", options=_KS),
            "kind": labelled(widgets.Dropdown, "scores", "How the scores are distributed", options=kinds),
            "seed": labelled(
                widgets.BoundedIntText, "seed", "Of the random stream; the same seed gives the same scores",
                min=0, max=2**53 - 1,
            ),
            "largest": labelled(
                widgets.ToggleButtons, "wanted", "Which end of the scores is wanted",
                options=[("Largest", True), ("Smallest", False)],
            ),
            "method": labelled(widgets.Dropdown, "method", "How the k best are found", options=methods),
            "view": labelled(widgets.Dropdown, "view", "What is shown", options=views),
            "pushes": labelled(
                widgets.IntSlider, "passes (stream)", "In how many passes the stream takes the scores", min=1, max=16
            ),
            "step": step_slider(),
        }  # fmt: skip
        self.own["largest"].add_class("xl-mode")
        self.play = player(self.own["step"])
        self.bar = [self.play]
        self.show(settings)
        for widget in self.own.values():
            widget.observe(self._moved, "value")

    def groups(self) -> tuple[widgets.VBox, ...]:
        """The scores, and how they are selected from and looked at."""
        scores = [self.own[name] for name in ("n", "k", "kind", "seed", "largest")]
        look = [self.own[name] for name in ("method", "view", "pushes")]
        return group("Scores", scores), group("Selection", look)

    def show(self, settings: TopKSettings) -> None:
        """Set every control to what `settings` say, without calling `change`."""
        with self.silence():
            self._measured = settings.measured
            for name, control in self.own.items():
                value = getattr(settings, name)
                if isinstance(control, widgets.SelectionSlider) and value not in control.options:
                    control.options = sorted({*control.options, value})
                put(control, value)
            self.reveal()

    def fields(self) -> dict[str, Any]:
        """The settings as the controls stand."""
        return {name: control.value for name, control in self.own.items()} | {"measured": self._measured}

    def reveal(self) -> None:
        """Show what the view takes, and hide the rest."""
        view = self.own["view"].value
        shown(self.own["pushes"], view in _SHOWN["pushes"])
        shown(self.play, view in _SHOWN["step"])

    def _moved(self, change: Any) -> None:
        if self.quiet:
            return
        owner = change["owner"]
        if owner not in (self.own["step"], self.own["view"], self.own["method"], self.own["pushes"]):
            self._measured = None
        if owner is not self.own["step"]:
            with self.silence():
                # Another story begins at its beginning.
                self.own["step"].value = 0
        self.reveal()
        self._change()


class _MethodsRun(RunBox):
    """Run for all methods; what it finds becomes a setting of the panel, and the view is that of the times."""

    def __init__(self, panel: TopKPanel):
        super().__init__(lambda: None, panel.alert)
        self.run.tooltip = "Measure all methods on the chosen device"
        self._panel = panel
        self._asked: TopKSettings | None = None

    def _measured(self, cancel: threading.Event) -> SelectionTimes:
        self._asked = asked = self._panel.settings
        return measure_methods(
            list(top_k_methods()), asked.scores(), asked.k, largest=asked.largest, device=self._panel.device.value,
            on_progress=self._news, cancel=cancel,
        )  # fmt: skip

    def _show(self, found: SelectionTimes) -> None:
        runs = sum(row.samples for row in found.rows)
        self.bar.value = self.bar.max
        self.bar.bar_style = "warning" if found.cancelled else "success"
        # Times of other scores than those that are shown by now would be a lie.
        now, asked = self._panel.settings, self._asked
        same = all(getattr(now, name) == getattr(asked, name) for name in ("n", "k", "kind", "seed", "largest"))
        if found.rows and same:
            self._panel.settings = now.replace(view="bus", measured=found.to_dict())
            self._panel.settle()
        self.text.say(f"{'cancelled' if found.cancelled else 'done'}: {runs} runs, {found.timer} on {found.device}")


class TopKPanel(PagePanel[TopKSettings]):
    """A top-k selection. device: the menu of where Run measures. running: Run and Cancel."""

    def __init__(self, settings: TopKSettings, *, name: str | None = None, error: str = ""):
        self.device = device_menu("Where Run measures")
        super().__init__(settings, name=name, error=error)

    def close(self) -> None:
        """Close the panel and its parts, and end what it is doing."""
        self.running.close()
        super().close()

    def _controls(self, settings: TopKSettings) -> TopKControls:
        return TopKControls(settings, self._changed)

    def _fit(self, page: Page) -> None:
        step = self.controls.own["step"]
        step.max = max(1, page.data["steps"] - 1, step.value)

    def _children(self) -> list[widgets.Widget]:
        self.running = _MethodsRun(self)
        grid, *rest = super()._children()
        *groups, _ = grid.children
        run = widgets.HBox([self.running.run, self.running.cancel])
        grid.children = [*groups, group("Measure and keep", [self.device, run, *self.saving.rows])]
        return [grid, browser_device(), self.running.progress, *rest]


def top_k(*, name: str | None = None, **settings: Any) -> TopKPanel:
    """A panel that shows how a method finds the k best of n scores, what comes back over the bus, and times on Run.

    settings: fields of `TopKSettings`, such as `n=65536, k=64, kind="shared_bits", method="delegate"`, `view="stream"`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(TopKSettings, settings)
    return TopKPanel(chosen, name=name, error=error)
