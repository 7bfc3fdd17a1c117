"""The timings panel: times measured elsewhere to be browsed, and Run, which measures the same view on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np

from expandlab import counts as _counts
from expandlab.expansion import strategies
from expandlab.figures.sweeps import KINDS
from expandlab.measuring import Measurements
from expandlab.measuring.packed import pack
from expandlab.measuring.views import SMALLEST, VIEWS, measure_view
from expandlab.panels.base import first_settings
from expandlab.panels.browser import browser_device
from expandlab.panels.device_menu import device_menu
from expandlab.panels.pages import PagePanel
from expandlab.panels.parts import group, labelled, table
from expandlab.panels.running import RunBox
from expandlab.panels.silence import Silent
from expandlab.settings import TimingSettings
from expandlab.settings.timings import LARGEST, MEANS, OWN, sources

# What a menu shows for None.
_ALL = "all"
_TITLES = {OWN: "own – measured here by Run"}


class TimingControls(Silent):
    """Widgets for every field of `TimingSettings` but `measured`, which Run sets. own: by the name of their setting.

    change: called whenever the user moves something.
    """

    def __init__(self, settings: TimingSettings, change: Callable[[], None]):
        super().__init__()
        self._change = change
        self._measured: Any = None
        self.own: dict[str, widgets.Widget] = {
            "data": labelled(
                widgets.Dropdown, "times of", "Measured elsewhere and shipped with the package, or here by Run",
                options=[(_TITLES.get(name, f"{name} – shipped"), name) for name in sources()],
            ),
            "view": labelled(
                widgets.Dropdown, "view", "What is drawn, and what Run measures for it",
                options=[(KINDS[name].title, name) for name in VIEWS],
            ),
            "kind": labelled(
                widgets.Dropdown, "kind of N", "Which distribution; Run measures uniform for all",
                options=[_ALL, *_counts.kinds(), "standard_library"],
            ),
            "mean": labelled(
                widgets.Combobox, "mean N (dst)", "Mean number of items of a src, or all; Run measures 8 for all",
                options=[_ALL, *(f"{value:g}" for value in MEANS)], continuous_update=False,
            ),
            "p2": labelled(
                widgets.IntSlider, "P2 = 2^", "Power of two of the number of items; Run measures up to it",
                min=SMALLEST, max=LARGEST,
            ),
            "shown": labelled(
                widgets.SelectMultiple, "strategies", "Which strategies; hold Ctrl or Shift to choose several",
                options=[name for name, item in strategies().items() if not item.modelled], rows=8,
            ),
            "peers": widgets.Checkbox(
                description="other libraries", tooltip="PyTorch's times, where they were taken in the same rounds",
                indent=False, layout=widgets.Layout(margin="0 0 0 112px", width="auto"),
            ),
            "seed": labelled(widgets.BoundedIntText, "seed", "Of the counts that Run makes", min=0, max=2**53 - 1),
        }  # fmt: skip
        self.bar: list[widgets.Widget] = []
        self._all_p2 = False
        self.show(settings)
        for widget in self.own.values():
            widget.observe(self._moved, "value")

    def groups(self) -> tuple[widgets.VBox, ...]:
        """What is shown, and of which strategies."""
        return (
            group("Times", [self.own[name] for name in ("data", "view", "kind", "mean", "p2", "seed")]),
            group("Strategies", [self.own[name] for name in ("shown", "peers")]),
        )

    def show(self, settings: TimingSettings) -> None:
        """Set every control to what `settings` say, without calling `change`."""
        with self.silence():
            self._measured, self._all_p2 = settings.measured, settings.p2 is None
            for name, control in self.own.items():
                value = getattr(settings, name)
                if name == "mean":
                    control.value = _ALL if value is None else f"{value:g}"
                elif name == "kind":
                    control.value = _ALL if value is None else value
                elif name != "p2" or value is not None:
                    control.value = value

    def fields(self) -> dict[str, Any]:
        """The settings as the controls stand. Measured times stay while their source is shown."""
        found = {name: control.value for name, control in self.own.items()}
        found["kind"] = None if found["kind"] == _ALL else found["kind"]
        found["mean"] = _number(found["mean"])
        found["p2"] = None if self._all_p2 else found["p2"]
        found["measured"] = self._measured if found["data"] == OWN else None
        return found

    def _moved(self, change: Any) -> None:
        if self.quiet:
            return
        if change["owner"] is self.own["p2"]:
            self._all_p2 = False
        self._change()


def _number(text: str) -> Any:
    """A number as typed, None for all; the text itself where it is neither, for the error to name."""
    if text.strip().lower() in ("", _ALL):
        return None
    try:
        return float(text)
    except ValueError:
        return text


class _ViewRun(RunBox):
    """Run for a whole view; what it finds becomes a setting of the panel."""

    def __init__(self, panel: TimingPanel):
        super().__init__(lambda: None, panel.alert)
        self._panel = panel
        self._asked: TimingSettings | None = None

    def _measured(self, cancel: threading.Event) -> list[Measurements]:
        self._asked = self._panel.settings
        device = self._panel.device.value
        return measure_view(
            self._asked.choice, device=device, seed=self._asked.seed, on_progress=self._news, cancel=cancel,
            predict=_predictor(device) if self._asked.view == "predicted" else None,
        )  # fmt: skip

    def _show(self, found: list[Measurements]) -> None:
        cut = self._cancel.is_set() or not found
        self.bar.value = self.bar.max
        self.bar.bar_style = "warning" if cut else "success"
        samples = sum(len(one.gpu_ms) for item in found for one in item.of_role("contender"))
        # Times of another view than the one shown by now would be a surprise.
        if found and self._panel.settings.choice == self._asked.choice:
            self._panel.settings = self._asked.replace(data=OWN, measured=pack(found))
            self._panel.settle()
        out = {name: why for item in found for name, why in item.left_out.items()}
        self._panel.remark.say("; ".join(f"{name} was left out: {why}" for name, why in out.items()))
        where = f", {found[0].timer} on {found[0].device}" if found else ""
        self.text.say(f"{'cancelled' if cut else 'done'}: {len(found)} inputs, {samples} samples{where}")


def _predictor(device: str) -> Callable[[np.ndarray], dict[str, float]]:
    from expandlab.advice import advise

    return lambda counts: {item.strategy: item.predicted_ms for item in advise(counts, device=device).choices}


class TimingPanel(PagePanel[TimingSettings]):
    """Times to browse and to take. device: the menu of where Run measures. running: Run, Cancel and the progress."""

    def __init__(self, settings: TimingSettings, *, name: str | None = None, error: str = ""):
        self.device = device_menu("Where Run measures")
        super().__init__(settings, name=name, error=error)

    def close(self) -> None:
        """Close the panel and its parts, and end what it is doing."""
        self.running.close()
        super().close()

    def _controls(self, settings: TimingSettings) -> TimingControls:
        return TimingControls(settings, self._changed)

    def _children(self) -> list[widgets.Widget]:
        self.running = _ViewRun(self)
        grid, *rest = super()._children()
        *groups, _ = grid.children
        run = widgets.HBox([self.running.run, self.running.cancel])
        grid.children = [*groups, group("Measure and keep", [self.device, run, *self.saving.rows])]
        return [grid, browser_device(), self.running.progress, *rest]

    def _tabulated(self) -> str:
        about = self.page.data.get("about") if self.page else None
        rows = [(name.replace("_", " "), str(value)) for name, value in (about or {}).items()]
        return super()._tabulated() + (table(("where the times come from", ""), rows) if rows else "")


def timings(*, name: str | None = None, **settings: Any) -> TimingPanel:
    """A panel of measured times: those that the package carries, and what Run measures here or in the page.

    settings: fields of `TimingSettings`, such as `view="win_map"`, `view="memory", kind="zipf", p2=20`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(TimingSettings, settings)
    return TimingPanel(chosen, name=name, error=error)
