"""The expansion panel: counts, strategies and devices to choose, and the three linked strips that they lead to."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from expandlab.expansion import strategies
from expandlab.expansion.thread_map import ThreadMap
from expandlab.figures.colours import src_colours
from expandlab.gpu.adapters import DeviceInfo
from expandlab.panels.base import SettingsPanel, first_settings
from expandlab.panels.browser import browser_device
from expandlab.panels.canvas import ThreadMapCanvas
from expandlab.panels.controls import Controls
from expandlab.panels.device_menu import device_tokens
from expandlab.panels.maps import Maps, Picture
from expandlab.panels.parts import group, table
from expandlab.panels.running import RunBox
from expandlab.settings import ExpansionSettings

# Steps in the data table; an export has them all.
_LISTED = 60
NO_GPU = (
    "No GPU or software adapter was found: maps come from the model and Run times the NumPy reference; "
    "only recording needs an adapter, here or in your browser (panels.machine() says what to install)."
)


class ExpansionPanel(SettingsPanel[ExpansionSettings]):
    """Controls, strips, Run and Export on one set of settings, step and pinned thread included.

    picture: what is drawn. canvas, running: its parts, besides those of every panel.
    """

    # A slider's picture goes out at once: another thread would first have to be given the interpreter.
    inline = 0.05

    def __init__(self, settings: ExpansionSettings | None = None, *, name: str | None = None, error: str = ""):
        super().__init__(settings or ExpansionSettings())
        self._maps = Maps()
        self.picture: Picture | None = None
        found = device_tokens()
        self.desk = self.canvas = ThreadMapCanvas()
        self._navigate(self._settings)
        self.controls = Controls(self._settings, found, self._changed, on_page=self._page_came)
        self.running = RunBox(self._measured, self.alert)
        self.canvas.observe(self._navigated, ["step", "thread"])
        self._open(self._children(found), name, error)

    def close(self) -> None:
        """Close the panel and its parts, and end what it is doing."""
        self.running.close()
        super().close()

    def _children(self, found: list[tuple[DeviceInfo, str]]) -> list[widgets.Widget]:
        self._has_gpu = any(row.kind != "reference" for row, _ in found)
        self._offer_recording()
        run = widgets.HBox([self.running.run, self.running.cancel])
        third = group("Measure and keep", [run, *self.saving.rows])
        grid = widgets.HBox([*self.controls.groups(), third])
        grid.add_class("xl-controls")
        lines = [self.alert, self.remark, browser_device(), self.running.progress]
        return [grid, *lines, self.canvas, self.running.results, self.tables, self.about]

    def _page_came(self) -> None:
        if not hasattr(self, "running"):
            return  # not built yet; it will look for the page itself
        self._offer_recording()
        super()._page_came()

    def _offer_recording(self) -> None:
        """Recording needs an adapter: the kernel's or the page's."""
        able = self._has_gpu or bool(browser_device().link.adapter)
        self.controls.mode.disabled = not able
        if not able:
            self.remark.say(NO_GPU)
        elif self.remark.text == NO_GPU:
            self.remark.say("")

    def _navigated(self, change: Any) -> None:
        value = change["new"]
        with self._turn:
            self._settings = self._settings.replace(**{change["name"]: None if value < 0 else value})

    def _navigate(self, wanted: ExpansionSettings) -> None:
        self.canvas.step = -1 if wanted.step is None else wanted.step
        self.canvas.thread = -1 if wanted.thread is None else wanted.thread

    def _draw(self, settings: ExpansionSettings) -> None:
        picture, known = self._maps.picture(settings), strategies()
        self.controls.show_items(len(picture.counts))
        self.canvas.show(picture.counts, src_colours(len(picture.counts)), picture.maps)
        self.picture = picture
        self.running.offer(any(not known[item.strategy].modelled for item in picture.maps))
        if settings is self._settings:
            self._keep_inside(picture)
        if settings.device is not None or picture.remark:
            self.remark.say(picture.remark)
        elif self.remark.text != NO_GPU:
            self.remark.say("")

    def _tabulated(self) -> str:
        return _about(self.picture) if self.picture else ""

    def _keep_inside(self, picture: Picture) -> None:
        """A step or thread that the new maps do not have is let go."""
        steps = max(len(item.steps) for item in picture.maps)
        if self.canvas.step >= steps:
            self.canvas.step = -1
        if self.canvas.thread >= len(picture.maps[0]):
            self.canvas.thread = -1

    def _measured(self) -> tuple[Any, list[str], str, int]:
        """What Run is to measure."""
        settings = self._settings
        names = [name for name in (settings.strategy, settings.compare) if name]
        # Beside a modelled one the other is measured; with nothing else the reason is shown.
        known = strategies()
        names = [name for name in names if not known[name].modelled] or names
        return self._maps.counts(settings), names, self.controls.device.value, settings.workgroup_size


def expansion(*, name: str | None = None, **settings: Any) -> ExpansionPanel:
    """An expansion panel.

    settings: fields of `ExpansionSettings`, such as `strategy="append"`, `compare="po2_merged"`, `source="zipf"`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(ExpansionSettings, settings)
    return ExpansionPanel(chosen, name=name, error=error)


def _about(picture: Picture) -> str:
    """The picture in numbers: a row for each map, and the steps of each."""
    known = strategies()
    rows = []
    for item in picture.maps:
        used = sum(memory.used_bytes for memory in item.memory)
        room = sum(memory.capacity_bytes for memory in item.memory)
        active = int(item.active.sum())
        rows.append(
            [known[item.strategy].title, item.recorded or "model", len(item), active, len(item) - active,
             f"{item.utilisation:.1%}", used, room - used, len(item.steps)]
        )  # fmt: skip
    head = ("strategy", "from", "threads", "active", "idle", "utilisation", "bytes written", "bytes free", "steps")
    return table(head, rows) + "".join(_steps(item) for item in picture.maps)


def _steps(item: ThreadMap) -> str:
    rows = []
    for number, step in enumerate(item.steps[:_LISTED], 1):
        lanes, room = int(step.active.sum()), len(step.active) * item.subgroup_size
        share = f"{lanes / room:.1%}" if room else ""
        rows.append([number, step.pass_name, step.label, str(step.line), step.repeats, lanes, room, share])
    more = f", the first {_LISTED} of {len(item.steps)}" if len(item.steps) > _LISTED else ""
    head = ("step", "pass", "what", "shader line", "times", "active lanes", "of", "utilisation")
    return table(head, rows, f"Steps of {item.strategy}{more}")
