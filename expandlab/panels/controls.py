"""The controls of the expansion panel: settings in, changed settings out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from expandlab import counts as _counts
from expandlab.expansion import strategies
from expandlab.gpu.adapters import DeviceInfo
from expandlab.panels.parts import group, labelled, shown
from expandlab.panels.routing import follow_the_page
from expandlab.settings import ExpansionSettings

REAL = {"standard_library": "standard_library – real line counts", "file": "file – counts of your own"}
# Sliders end where a picture is still one; loaded settings beyond them stretch the slider.
ITEMS, MEAN, MAX_N = 1024, 64.0, 1024
# A menu takes the value None for "nothing chosen" and shows a blank.
_NONE = ""


class Controls:
    """Widgets for every field of `ExpansionSettings`, in two groups.

    change: called with the fields and their new values whenever the user moves something.
    """

    def __init__(self, settings: ExpansionSettings, devices: list[tuple[DeviceInfo, str]], change: Callable[..., None]):
        self._change = change
        self._quiet = threading.local()
        self._all_items = settings.items is None
        self._shape: dict[str, float] = {}
        self._shape_kind: str | None = None
        names = strategies()
        titles = [(f"{name} – {item.title}", name) for name, item in names.items()]
        sources = [*((kind, kind) for kind in _counts.kinds()), *((text, name) for name, text in REAL.items())]
        self.source = labelled(widgets.Dropdown, "source of N", "Where the N of every src come from", options=sources)
        self.items = labelled(
            widgets.IntSlider, "items (src)", "How many src; of real data, the first so many", min=0, max=ITEMS
        )
        self.mean = labelled(
            widgets.FloatSlider, "mean N (dst)", "Mean number of items that a src spawns",
            min=0, max=MEAN, step=0.5, readout_format=".1f",
        )  # fmt: skip
        self.limited = widgets.Checkbox(
            description="max N", tooltip="Cut every N off at the value beside it", indent=False,
            layout=widgets.Layout(width="112px", margin="0"),
        )  # fmt: skip
        self.limited.add_class("xl-limit")
        self.max_n = widgets.IntSlider(
            min=0, max=MAX_N, value=64, tooltip="Largest N (dst)", layout=widgets.Layout(flex="1 1 auto", margin="0")
        )
        self.max_row = widgets.HBox([self.limited, self.max_n])
        self.seed = labelled(
            widgets.BoundedIntText, "seed", "Of the random stream; the same seed gives the same N", min=0, max=2**53 - 1
        )
        self.shape_box = widgets.VBox()
        self.file = labelled(
            widgets.Text, "file", "Path of a .npy, .csv, .json or .parquet file", placeholder="counts.csv",
            continuous_update=False,
        )  # fmt: skip
        self.column = labelled(
            widgets.Text, "column", "Column of the file, where it has several", placeholder="(the only one)",
            continuous_update=False,
        )  # fmt: skip
        self.strategy = labelled(widgets.Dropdown, "strategy", "How items find their threads", options=titles)
        self.compare = labelled(
            widgets.Dropdown, "compare with", "A second strategy beside it, on the same N",
            options=[("none", _NONE), *titles],
        )  # fmt: skip
        self.workgroup_size = labelled(
            widgets.SelectionSlider, "workgroup (thr.)", "Threads in a workgroup", options=[32, 64, 128, 256]
        )
        self.subgroup_size = labelled(
            widgets.SelectionSlider, "subgroup (lanes)", "Lanes of a subgroup in the model; a device has its own",
            options=[4, 8, 16, 32, 64],
        )  # fmt: skip
        self.mode = labelled(
            widgets.ToggleButtons, "threads",
            "The model computes who works on what; a recording is what the device's own threads noted",
            options=[("Model", "model"), ("Recorded on the GPU", "recorded")],
        )  # fmt: skip
        self.device = labelled(
            widgets.Dropdown, "device", "Where maps are recorded and times are taken",
            options=[(row.label, token) for row, token in devices],
        )  # fmt: skip
        self.mode.add_class("xl-mode")
        self._device_names = [token for _, token in devices]
        self.show(settings)
        for widget in self._watched():
            widget.observe(self._moved, "value")

    def groups(self) -> tuple[widgets.VBox, widgets.VBox]:
        """What is expanded, and how and where."""
        return (
            group(
                "Sources",
                [self.source, self.items, self.mean, self.max_row, self.shape_box, self.seed, self.file, self.column],
            ),
            group(
                "Strategy and device",
                [self.strategy, self.compare, self.workgroup_size, self.subgroup_size, self.mode, self.device],
            ),
        )

    def show(self, settings: ExpansionSettings) -> None:
        """Set every control to what `settings` say, without calling `change`."""
        with self._silence():
            self._all_items = settings.items is None
            self.source.value = settings.source
            if settings.items is not None:
                _set(self.items, settings.items)
            _set(self.mean, settings.mean)
            self.limited.value = settings.max_n is not None
            if settings.max_n is not None:
                _set(self.max_n, settings.max_n)
            _set(self.seed, settings.seed)
            self.file.value = settings.file or ""
            self.column.value = settings.column or ""
            self._build_shape(settings.source, settings.shape)
            self.strategy.value = settings.strategy
            self.compare.value = settings.compare or _NONE
            self.workgroup_size.value = settings.workgroup_size
            self.subgroup_size.value = settings.subgroup_size
            self.mode.value = "model" if settings.device is None else "recorded"
            if settings.device in self._device_names:
                self.device.value = settings.device
            self._reveal()

    def show_items(self, count: int) -> None:
        """Where all items are taken: show how many that are."""
        if self._all_items:
            with self._silence():
                _set(self.items, count)

    def fields(self) -> dict[str, Any]:
        """The settings as the controls stand."""
        kind = self.source.value
        return {
            "source": kind,
            "items": None if self._all_items else self.items.value,
            "mean": self.mean.value,
            "max_n": self.max_n.value if self.limited.value else None,
            "seed": self.seed.value,
            "shape": dict(self._shape) if kind not in REAL else {},
            "file": self.file.value.strip() or None,
            "column": self.column.value.strip() or None,
            "strategy": self.strategy.value,
            "compare": self.compare.value or None,
            "workgroup_size": self.workgroup_size.value,
            "subgroup_size": self.subgroup_size.value,
            "device": self.device.value if self.mode.value == "recorded" else None,
        }

    def _watched(self) -> list[widgets.Widget]:
        return [
            self.source, self.items, self.mean, self.limited, self.max_n, self.seed, self.file, self.column,
            self.strategy, self.compare, self.workgroup_size, self.subgroup_size, self.mode, self.device,
        ]  # fmt: skip

    def _moved(self, change: Any) -> None:
        if getattr(self._quiet, "on", False):
            return
        owner = change["owner"]
        if owner is self.items:
            self._all_items = False
        if owner is self.source:
            with self._silence():
                self._build_shape(self.source.value, {})
        self._reveal()
        self._change()

    def _reveal(self) -> None:
        """Show what the source takes, and hide the rest."""
        kind = self.source.value
        made = kind not in REAL
        for widget in (self.mean, self.max_row, self.seed, self.shape_box):
            shown(widget, made)
        for widget in (self.file, self.column):
            shown(widget, kind == "file")
        self.max_n.disabled = not self.limited.value
        self.subgroup_size.disabled = self.mode.value == "recorded"

    def _build_shape(self, kind: str, values: Mapping[str, float]) -> None:
        known = () if kind in REAL else _counts.shapes(kind)
        self._shape = {item.name: values[item.name] for item in known if item.name in values}
        if kind == self._shape_kind and not values and not known:
            return
        self._shape_kind = kind
        old = self.shape_box.children
        self.shape_box.children = [self._shape_slider(item) for item in known]
        follow_the_page(self.shape_box)
        for widget in old:
            widget.close()

    def _shape_slider(self, item: Any) -> widgets.Widget:
        value = self._shape.get(item.name, item.default)
        whole = isinstance(item.default, int)
        # A range of many decades is cut where pictures stop to differ; loaded values stretch it again.
        high = max(value, min(item.high, 256 if whole or item.high > 100 else item.high))
        kind = widgets.IntSlider if whole else widgets.FloatSlider
        step = 1 if whole else _step(value, item.low, 0.05 if high < 10 else 0.5)
        slider = labelled(kind, item.name, item.what, min=item.low, max=high, step=step, value=value)

        def moved(change: Any) -> None:
            if not getattr(self._quiet, "on", False):
                self._shape = {**self._shape, item.name: change["new"]}
                self._change()

        slider.observe(moved, "value")
        return slider

    @contextmanager
    def _silence(self) -> Iterator[None]:
        # Observers run on the thread that sets the value, so each thread has its own silence.
        before = getattr(self._quiet, "on", False)
        self._quiet.on = True
        try:
            yield
        finally:
            self._quiet.on = before


def _set(slider: widgets.Widget, value: float) -> None:
    """Set a bounded control, stretched where the value lies outside."""
    if value > slider.max:
        slider.max = value
    if value < slider.min:
        slider.min = value
    if isinstance(slider, widgets.FloatSlider):
        slider.step = _step(value, slider.min, 0.5)
    slider.value = value


def _step(value: float, low: float, usual: float) -> float:
    """The step that can show `value`: the page moves a slider to its nearest step, and would change the settings."""
    finer = (usual, *(step for step in (0.1, 0.05, 0.01, 0.001, 1e-4, 1e-6) if step < usual))
    return next((step for step in finer if abs((value - low) / step - round((value - low) / step)) < 1e-6), 1e-9)
