"""The panel of plans on several devices: validity, copies, waits and timeline; and Run, which runs it for real."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np

from expandlab.graph.device_examples import DEVICE_EXAMPLES
from expandlab.graph.standin import inputs_of
from expandlab.graph.timing import TimedPlan, runnable, time_plan
from expandlab.panels.base import first_settings
from expandlab.panels.device_pairs import open_all, pair_options
from expandlab.panels.pages import PagePanel
from expandlab.panels.parts import group, labelled
from expandlab.panels.running import RunBox
from expandlab.panels.silence import Silent
from expandlab.settings.devices import BUFFER_SIZES, DEVICE_VIEWS, DeviceSettings

_NEWS_S = 0.15
_NO_PAGE = (
    "The GPU of this page is not among them: passes on several devices wait for each other, and a page does one thing "
    "after the other."
)


class OwnControls(Silent):
    """Controls by the name of their setting, in one group; what was measured goes when one of them moves.

    kept: settings that may move without that. result: the setting of what was measured.
    """

    def __init__(
        self,
        settings: Any,
        change: Callable[[], None],
        title: str,
        own: dict[str, widgets.Widget],
        kept: tuple[str, ...],
        result: str,
    ):
        super().__init__()
        self.own, self._change, self._title, self._kept, self._result = own, change, title, kept, result
        self._held: Any = None
        self.bar: list[widgets.Widget] = []
        self.show(settings)
        for widget in own.values():
            widget.observe(self._moved, "value")

    def groups(self) -> tuple[widgets.VBox, ...]:
        """One group."""
        return (group(self._title, list(self.own.values())),)

    def show(self, settings: Any) -> None:
        """Set every control to what `settings` say, without calling `change`."""
        with self.silence():
            self._held = getattr(settings, self._result)
            for name, control in self.own.items():
                value = getattr(settings, name)
                control.value = "" if value is None else value

    def fields(self) -> dict[str, Any]:
        """The settings as the controls stand."""
        found = {name: control.value for name, control in self.own.items()}
        return found | {self._result: self._held}

    def _moved(self, change: Any) -> None:
        if self.quiet:
            return
        if not any(change["owner"] is self.own[name] for name in self._kept if name in self.own):
            self._held = None
        self._change()


class ResultRun(RunBox):
    """Run on a worker thread, whose result becomes a setting of the panel. A panel's own class has `_measured`."""

    def __init__(self, panel: Any):
        super().__init__(lambda: None, panel.alert)
        self.panel = panel
        self.asked: Any = None

    def _tell(self, done: int, total: int, text: str) -> None:
        now = time.monotonic()
        if now - self._news_at >= _NEWS_S or done >= total:
            self._news_at = now
            self.bar.max, self.bar.value = max(1, total), done
            self.text.say(text)

    def _finish(self, settings: Any, cancelled: bool, text: str) -> None:
        self.bar.value = self.bar.max
        self.bar.bar_style = "warning" if cancelled else "success"
        # A result of other settings than those that are shown by now would be a lie.
        if self.panel.settings == self.asked:
            self.panel.settings = settings
            self.panel.settle()
        self.text.say(text)


class _TimedRun(ResultRun):
    def _measured(self, cancel: threading.Event) -> tuple[TimedPlan, bool]:
        self.asked = asked = self.panel.settings
        graph = asked.frame_graph()
        devices = dict(zip(graph.devices, open_all(self.panel.devices.value, len(graph.devices)), strict=True))
        self.text.say("finding out how long the passes' loops have to be")
        plan = runnable(graph, devices, asked.stretch).compile("dag")
        inputs = inputs_of(graph)
        found = time_plan(
            plan, devices, inputs, cancel=cancel,
            on_progress=lambda done, total: self._tell(done, total, f"{done} of {total} runs"),
        )  # fmt: skip
        several = plan.run(devices, inputs)
        alone = plan.run(next(iter(devices.values())), inputs)
        return found, all(np.array_equal(several[name], words) for name, words in alone.items())

    def _show(self, result: Any) -> None:
        found, equal = result
        plain = found.to_dict()
        kept = {name: plain[name] for name in ("devices", "costs_us", "measured_us", "spans", "software", "cancelled")}
        machine = {name: plain["machine"][name] for name in plain["machine"] if name != "peer_access"}
        settings = self.asked.replace(view="timeline", measured=kept | {"machine": machine, "equal": equal})
        self.asked = self.asked.replace(view=self.panel.settings.view)
        state = "cancelled" if found.cancelled else "done"
        same = "outputs equal those of one device" if equal else "OUTPUTS DIFFER from those of one device"
        self._finish(
            settings, found.cancelled, f"{state}: {found.makespan_us:,.0f} µs measured, "
            f"{found.simulated.makespan_us:,.0f} µs simulated ({found.difference:+.0%}); {same}",
        )  # fmt: skip


class DevicesPanel(PagePanel[DeviceSettings]):
    """A plan on several devices. devices: the menu of where Run runs it."""

    def __init__(self, settings: DeviceSettings, *, name: str | None = None, error: str = ""):
        self.devices = labelled(
            widgets.Dropdown, "devices", "Where Run runs the plan; a third device is the first one, opened once more",
            options=pair_options(),
        )  # fmt: skip
        super().__init__(settings, name=name, error=error)

    def close(self) -> None:
        """Close the panel and its parts, and end what it is doing."""
        self.running.close()
        super().close()

    def _controls(self, settings: DeviceSettings) -> OwnControls:
        own = {
            "example": labelled(
                widgets.Dropdown, "example", "Which graph",
                options=[(item.title, name) for name, item in DEVICE_EXAMPLES.items()],
            ),
            "view": labelled(widgets.ToggleButtons, "view", "What of the plan is shown", options=list(DEVICE_VIEWS)),
            "size": labelled(
                widgets.SelectionSlider, "buffer (bytes)", "Bytes of each buffer",
                options=[(f"{size:,}", size) for size in BUFFER_SIZES],
            ),
            "stretch": labelled(
                widgets.BoundedFloatText, "stretch", "When it runs: microseconds of a pass for each that it declares",
                min=1, max=10_000, step=10,
            ),
        }  # fmt: skip
        own["view"].add_class("xl-mode")
        return OwnControls(settings, self._changed, "Plan", own, ("view",), "measured")

    def _children(self) -> list[widgets.Widget]:
        self.running = _TimedRun(self)
        self.running.run.tooltip = "Run the plan on the chosen devices and measure it"
        grid, *rest = super()._children()
        *groups, _ = grid.children
        run = widgets.HBox([self.running.run, self.running.cancel])
        why = widgets.HTML(f"<div class='xl-remark'>{_NO_PAGE}</div>", layout=widgets.Layout(width="300px"))
        grid.children = [*groups, group("Run and keep", [self.devices, why, run, *self.saving.rows])]
        return [grid, self.running.progress, *rest]


def devices(*, name: str | None = None, **settings: Any) -> DevicesPanel:
    """A panel that shows what a plan on several devices needs: where bytes are valid, copies, waits, the timeline.

    settings: fields of `DeviceSettings`, such as `example="halves"`, `view="timeline"`. What is wrong with them shows
        in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(DeviceSettings, settings)
    return DevicesPanel(chosen, name=name, error=error)
