"""The controls of where the N come from, which every panel has: settings in, changed settings out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from expandlab import counts as _counts
from expandlab.panels.parts import group, labelled, shown
from expandlab.panels.routing import follow_the_page
from expandlab.panels.silence import Silent
from expandlab.settings import CountsSettings

REAL = {
    "standard_library": "standard_library – real line counts",
    "file": "file – counts of your own",
    "list": "list – type every N",
}
# Sliders end where a picture is still one; loaded settings beyond them stretch the slider.
ITEMS, MEAN, MAX_N = 1024, 64.0, 1024
# What a list holds before anything is typed: the document's own example.
EXAMPLE = "3, 1, 2"


class SourceControls(Silent):
    """Widgets for every field of `CountsSettings`.

    change: called whenever the user moves something. most_items: where the slider of items ends.
    """

    def __init__(self, settings: CountsSettings, change: Callable[[], None], *, most_items: int = ITEMS):
        self._change = change
        super().__init__()
        self._all_items = settings.items is None
        self._shape: dict[str, float] = {}
        self._shape_kind: str | None = None
        sources = [*((kind, kind) for kind in _counts.kinds()), *((text, name) for name, text in REAL.items())]
        self.source = labelled(widgets.Dropdown, "source of N", "Where the N of every src come from", options=sources)
        self.items = labelled(
            widgets.IntSlider, "items (src)", "How many src; of real data, the first so many", min=0, max=most_items
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
        self.values = labelled(
            widgets.Text, "N of each src", "The N of every src, whole numbers with commas between them",
            placeholder=EXAMPLE, continuous_update=False,
        )  # fmt: skip

    def start(self, settings: CountsSettings) -> None:
        """Show `settings`, and from now on call `change`."""
        self.show(settings)
        for widget in self.watched():
            widget.observe(self._moved, "value")

    def groups(self) -> tuple[widgets.VBox, ...]:
        """The groups of controls, left to right."""
        return (
            group(
                "Sources",
                [self.source, self.items, self.mean, self.max_row, self.shape_box, self.seed, self.file, self.column,
                 self.values],
            ),
        )  # fmt: skip

    def show(self, settings: CountsSettings) -> None:
        """Set every control to what `settings` say, without calling `change`."""
        with self.silence():
            self._all_items = settings.items is None
            self.source.value = settings.source
            if settings.items is not None:
                put(self.items, settings.items)
            put(self.mean, settings.mean)
            self.limited.value = settings.max_n is not None
            if settings.max_n is not None:
                put(self.max_n, settings.max_n)
            put(self.seed, settings.seed)
            self.file.value = settings.file or ""
            self.column.value = settings.column or ""
            self.values.value = EXAMPLE if settings.values is None else ", ".join(map(str, settings.values))
            self._build_shape(settings.source, settings.shape)
            self.reveal()

    def show_items(self, count: int) -> None:
        """Where all items are taken: show how many that are."""
        if self._all_items:
            with self.silence():
                put(self.items, count)

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
            "values": _numbers(self.values.value) if kind == "list" else None,
        }

    def watched(self) -> list[widgets.Widget]:
        """The controls that change a setting."""
        return [
            self.source, self.items, self.mean, self.limited, self.max_n, self.seed, self.file, self.column, self.values
        ]  # fmt: skip

    def reveal(self) -> None:
        """Show what the source takes, and hide the rest."""
        kind = self.source.value
        made = kind not in REAL
        shown(self.items, kind != "list")
        for widget in (self.mean, self.max_row, self.seed, self.shape_box):
            shown(widget, made)
        for widget in (self.file, self.column):
            shown(widget, kind == "file")
        shown(self.values, kind == "list")
        self.max_n.disabled = not self.limited.value

    def _moved(self, change: Any) -> None:
        if self.quiet:
            return
        owner = change["owner"]
        if owner is self.items:
            self._all_items = False
        if owner is self.source:
            # A distribution has no "all".
            self._all_items = self._all_items and self.source.value in REAL
            with self.silence():
                self._build_shape(self.source.value, {})
        self.reveal()
        self._change()

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
            if not self.quiet:
                self._shape = {**self._shape, item.name: change["new"]}
                self._change()

        slider.observe(moved, "value")
        return slider


def _numbers(text: str) -> Any:
    """The whole numbers of a list as typed; the text itself where it is no such list, for the error to name."""
    parts = [part for part in re.split(r"[,;\s]+", text.strip(" ,;[]()")) if part]
    return tuple(map(int, parts)) if all(re.fullmatch(r"\d{1,12}", part) for part in parts) else text


def put(control: widgets.Widget, value: Any) -> None:
    """Set a control, a bounded one stretched where the value lies outside."""
    if hasattr(control, "max"):
        if value > control.max:
            control.max = value
        if value < control.min:
            control.min = value
    if isinstance(control, widgets.FloatSlider):
        control.step = _step(value, control.min, 0.5)
    control.value = value


def _step(value: float, low: float, usual: float) -> float:
    """The step that can show `value`: the page moves a slider to its nearest step, and would change the settings."""
    finer = (usual, *(step for step in (0.1, 0.05, 0.01, 0.001, 1e-4, 1e-6) if step < usual))
    return next((step for step in finer if abs((value - low) / step - round((value - low) / step)) < 1e-6), 1e-9)
