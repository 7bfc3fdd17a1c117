"""The expansion panel: counts, strategies and devices to choose, and the three linked strips that they lead to."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets as widgets

from expandlab.expansion import strategies
from expandlab.expansion.thread_map import ThreadMap
from expandlab.figures.colours import src_colours
from expandlab.gpu import devices
from expandlab.gpu.adapters import DeviceInfo
from expandlab.panels import registry
from expandlab.panels.canvas import ThreadMapCanvas
from expandlab.panels.controls import Controls
from expandlab.panels.latest import Latest
from expandlab.panels.maps import Maps, Picture
from expandlab.panels.parts import Message, close_all, explain, group, table
from expandlab.panels.routing import follow_the_page
from expandlab.panels.running import RunBox
from expandlab.panels.saving import SaveBox
from expandlab.settings import ExpansionSettings, SettingsError

# Steps in the data table; an export has them all.
_LISTED = 60
NO_FILE = "Give the path of a .npy, .csv, .json or .parquet file with one N a row in the box named file."
NO_GPU = (
    "No GPU or software adapter was found: maps come from the model and Run times the NumPy reference; "
    "only recording needs an adapter (panels.machine() says what to install)."
)


class ExpansionPanel(widgets.VBox):
    """Controls, strips, Run and Export on one set of settings.

    settings: the settings shown, step and pinned thread included; assign `ExpansionSettings` to change them.
    error: the text of the error line, empty where all is well. picture: what is drawn. canvas, controls, running,
    saving: its parts. `settle` waits until everything asked for is drawn. `close` closes the parts too.
    """

    def __init__(self, settings: ExpansionSettings | None = None, *, name: str | None = None, error: str = ""):
        self._start = settings or ExpansionSettings()
        self._settings = self._start
        self._turn = threading.RLock()
        # What is wrong with the controls as they stand; a picture of earlier settings must not wipe it away.
        self._complaint = ""
        self._maps = Maps()
        self.picture: Picture | None = None
        found = _device_tokens()
        self.canvas = ThreadMapCanvas()
        self._navigate(self._settings)
        self.controls = Controls(self._settings, found, self._changed)
        self.alert = Message("alert")
        self.remark = Message("status")
        self.running = RunBox(self._measured, self.alert.say)
        self.saving = SaveBox(self)
        self.tables = widgets.ToggleButton(
            description="Data tables", tooltip="The picture in numbers", layout=widgets.Layout(width="auto")
        )
        self.about = widgets.HTML()
        self._latest = Latest(self._render)
        super().__init__(self._children(found))
        self.add_class("xl-panel")
        self.canvas.observe(self._navigated, ["step", "thread"])
        self.tables.observe(lambda _: self._latest.ask(), "value")
        self._render()
        if error:
            self.alert.say(error)
        follow_the_page(self)
        registry.register(self, name)

    @property
    def settings(self) -> ExpansionSettings:
        """The settings shown."""
        return self._settings

    @settings.setter
    def settings(self, wanted: ExpansionSettings) -> None:
        with self._turn:
            self._settings = wanted
            self._complaint = ""
            self.controls.show(wanted)
        self._navigate(wanted)
        self._latest.ask()

    @property
    def error(self) -> str:
        """The text of the error line."""
        return self.alert.text

    def settle(self, timeout: float | None = 30.0) -> bool:
        """Wait until what the controls ask for is drawn; False after `timeout` seconds."""
        return self._latest.wait(timeout)

    def reset(self) -> None:
        """Go back to the settings that the panel was opened with."""
        self.settings = self._start

    def close(self) -> None:
        """Close the panel and its parts, and end what it is doing."""
        self._latest.close()
        self.running.close()
        self.canvas.unobserve_all()
        if self.comm is not None:
            close_all(self)

    def _children(self, found: list[tuple[DeviceInfo, str]]) -> list[widgets.Widget]:
        has_gpu = any(row.kind != "reference" for row, _ in found)
        self.remark.say("" if has_gpu else NO_GPU)
        self.controls.mode.disabled = not has_gpu
        run = widgets.HBox([self.running.run, self.running.cancel])
        third = group("Measure and keep", [run, *self.saving.rows])
        grid = widgets.HBox([*self.controls.groups(), third])
        grid.add_class("xl-controls")
        lines = [self.alert, self.remark, self.running.progress]
        return [grid, *lines, self.canvas, self.running.results, self.tables, self.about]

    def _changed(self) -> None:
        """A control moved: take the settings as they stand, or say what is wrong with them."""
        with self._turn:
            now = self._settings
            try:
                self._settings = now.replace(**self.controls.fields())
            except SettingsError as error:
                self._complaint = NO_FILE if error.name == "file" else explain(error)
                self.alert.say(self._complaint)
                return
            self._complaint = ""
        self._latest.ask()

    def _navigated(self, change: Any) -> None:
        value = change["new"]
        with self._turn:
            self._settings = self._settings.replace(**{change["name"]: None if value < 0 else value})

    def _navigate(self, wanted: ExpansionSettings) -> None:
        self.canvas.step = -1 if wanted.step is None else wanted.step
        self.canvas.thread = -1 if wanted.thread is None else wanted.thread

    def _render(self) -> None:
        """Draw the settings as they are; whatever goes wrong shows in the error line, and the picture stays."""
        settings = self._settings
        try:
            picture = self._maps.picture(settings)
            self.controls.show_items(len(picture.counts))
            self.canvas.show(picture.counts, src_colours(len(picture.counts)), picture.maps)
            self.picture = picture
            if settings is self._settings:
                self._keep_inside(picture)
            self._tabulate()
            if settings.device is not None or picture.remark:
                self.remark.say(picture.remark)
            elif self.remark.text != NO_GPU:
                self.remark.say("")
            self.alert.say(self._complaint)
        except Exception as error:
            self.alert.say(explain(error))

    def _tabulate(self) -> None:
        # Only while it is wanted: a slider should not pay for a table that nobody sees.
        self.about.value = _about(self.picture) if self.tables.value and self.picture else ""

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
        return self._maps.counts(settings), names, self.controls.device.value, settings.workgroup_size


def expansion(*, name: str | None = None, **settings: Any) -> ExpansionPanel:
    """An expansion panel.

    settings: fields of `ExpansionSettings`, such as `strategy="append"`, `compare="po2_merged"`, `source="zipf"`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    try:
        return ExpansionPanel(ExpansionSettings(**settings), name=name)
    except (SettingsError, TypeError) as error:
        return ExpansionPanel(name=name, error=str(error).replace("ExpansionSettings.__init__() got an", "an"))


def _device_tokens() -> list[tuple[DeviceInfo, str]]:
    """The devices with the text that names each in settings: its name, or its row where several share one."""
    rows = list(devices())
    names = [row.name for row in rows]
    return [(row, row.name if names.count(row.name) == 1 else str(row.index)) for row in rows]


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
