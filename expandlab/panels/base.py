"""What all panels with settings have: a turn for each change, an error line, a data table, Export, Load and Reset."""

from __future__ import annotations

import threading
from typing import Any, Generic, TypeVar

import ipywidgets as widgets

from expandlab.panels import registry
from expandlab.panels.browser import browser_device
from expandlab.panels.desk import Desk
from expandlab.panels.device_menu import of_page
from expandlab.panels.latest import Latest
from expandlab.panels.parts import Message, close_all, explain
from expandlab.panels.routing import follow_the_page
from expandlab.panels.saving import SaveBox
from expandlab.panels.sources import SourceControls
from expandlab.settings import PanelSettings, SettingsError

NO_FILE = "Give the path of a .npy, .csv, .json or .parquet file with one N a row in the box named file."
Settings = TypeVar("Settings", bound=PanelSettings)


class SettingsPanel(widgets.VBox, Generic[Settings]):
    """A panel whose picture follows from its settings.

    settings: the settings shown; assign others to change them. error: the text of the error line, empty where all is
    well. desk: the widget that offers files. controls, saving: its parts. `settle` waits until everything asked for is
    drawn. `close` closes the parts too.

    A panel's own class sets `desk` and `controls`, and has `_draw` and `_tabulated`.
    """

    desk: Desk
    controls: SourceControls
    # Seconds: a picture that takes less is drawn by the thread that changed a control, see `Latest`.
    inline = 0.0

    def __init__(self, settings: Settings):
        self._start = settings
        self._settings = settings
        self._turn = threading.RLock()
        # How often the settings were changed, and what that was for those that are drawn.
        self._changes = self._drawing = 0
        # What is wrong with the controls as they stand; a picture of earlier settings must not wipe it away.
        self._complaint = ""
        self.alert = Message("alert")
        self.remark = Message("status")
        self.saving = SaveBox(self)
        self.tables = widgets.ToggleButton(
            description="Data tables", tooltip="The picture in numbers", layout=widgets.Layout(width="auto")
        )
        self.about = widgets.HTML()
        self._latest = Latest(self._render, inline=self.inline)

    def _open(self, children: list[widgets.Widget], name: str | None, error: str) -> None:
        """Show the parts, draw for the first time, and close the panel that stood here before."""
        super().__init__(children)
        self.add_class("xl-panel")
        self.tables.observe(lambda _: self._ask(), "value")
        if of_page(getattr(self._settings, "device", None)):
            # Waiting for the page here would keep what it sends from being heard.
            self._ask()
        else:
            self._render()
        if error:
            self.alert.say(error)
        follow_the_page(self)
        registry.register(self, name)

    @property
    def settings(self) -> Settings:
        """The settings shown."""
        return self._settings

    @settings.setter
    def settings(self, wanted: Settings) -> None:
        with self._turn:
            self._settings = wanted
            self._changes += 1
            self._complaint = ""
            self.controls.show(wanted)
        self._navigate(wanted)
        self._ask()

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
        self.desk.unobserve_all()
        if self.comm is not None:
            close_all(self)

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
            self._changes += 1
            self._complaint = ""
        self._ask()

    def _ask(self) -> None:
        """Have the settings drawn; with a device, which may be the page's, never by the thread that hears the page."""
        self._latest.ask(apart=getattr(self._settings, "device", None) is not None)

    def _page_came(self) -> None:
        """A page has come or gone: draw what could not be drawn without it."""
        if self.error and of_page(getattr(self._settings, "device", None)) and browser_device().link.here:
            self._ask()

    def _navigate(self, wanted: Settings) -> None:
        """Follow settings that no control shows."""

    # Not abstract: widgets have a metaclass of their own.
    def _draw(self, settings: Settings) -> None:
        """Show the picture of `settings`; raises what is wrong with them."""
        raise NotImplementedError

    def _tabulated(self) -> str:
        """The picture in numbers, as HTML."""
        raise NotImplementedError

    def _render(self) -> None:
        """Draw the settings as they are; whatever goes wrong shows in the error line, and the picture stays."""
        wrong = ""
        with self._turn:
            settings, self._drawing = self._settings, self._changes
        try:
            self._draw(settings)
            # Only while it is wanted: a slider should not pay for a table that nobody sees.
            self.about.value = self._tabulated() if self.tables.value else ""
        except Exception as error:
            wrong = explain(error)
        with self._turn:
            if not self._stale:
                self.alert.say(self._complaint or wrong)

    @property
    def _stale(self) -> bool:
        """Whether the settings that are being drawn were changed meanwhile: what is wrong with them is not told."""
        return self._drawing != self._changes


def first_settings(kind: type[Settings], given: dict[str, Any]) -> tuple[Settings, str]:
    """The settings that a call gave; or the panel's own, and what is wrong with the given ones."""
    try:
        return kind(**given), ""
    except (SettingsError, TypeError) as error:
        return kind(), str(error).replace(f"{kind.__name__}.__init__() got an", "an")
