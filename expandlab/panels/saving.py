"""Export, Copy settings, Load settings and Reset."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import ipywidgets as widgets

from expandlab.panels.parts import Message, button, explain
from expandlab.settings import PanelSettings

if TYPE_CHECKING:
    from expandlab.panels.base import SettingsPanel

FORMATS = {
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "json": "application/json",
}
# Next to the notebook: Jupyter starts a kernel in its notebook's folder.
FOLDER = Path("exports")


class SaveBox:
    """The rows of buttons that take a panel's settings and picture elsewhere.

    exported: path of the last file written, or None.
    """

    def __init__(self, panel: SettingsPanel):
        self._panel = panel
        self._thread: threading.Thread | None = None
        self.exported: Path | None = None
        self.format = widgets.Dropdown(
            options=[(name.upper(), name) for name in FORMATS], tooltip="File format of the export",
            layout=widgets.Layout(width="76px", margin="2px"),
        )  # fmt: skip
        self.export = button("Export", "Save the picture under exports/ and offer it for download", self.start)
        self.copy = button("Copy settings", "Put the settings as JSON below and on the clipboard", self.copy_settings)
        self.load = button("Load settings", "Take over the JSON below", self.load_settings)
        self.reset = button("Reset", "Back to the settings that the panel was opened with", panel.reset)
        self.text = widgets.Textarea(
            placeholder="Settings as JSON: paste here, then Load settings",
            layout=widgets.Layout(width="100%", height="46px", margin="2px 0 0"),
        )
        self.text.tooltip = "Settings as JSON"
        self.said = Message("status")
        self.rows = [
            widgets.HBox([self.export, self.format]),
            widgets.HBox([self.copy, self.load, self.reset]),
            self.text,
            self.said,
        ]

    def copy_settings(self) -> None:
        """Show the settings as canonical JSON and put them on the clipboard."""
        text = self._panel.settings.to_json()
        self.text.value = text
        self._panel.desk.copy(text)
        self.said.say("settings copied")

    def load_settings(self) -> None:
        """Take over the settings in the text area."""
        try:
            wanted = type(self._panel.settings).from_json(self.text.value)
            # First: what is wrong with drawing them may be said before the next line is done.
            self._panel.alert.say("")
            self._panel.settings = wanted
            self.said.say("settings loaded")
        except Exception as error:
            self._panel.alert.say(explain(error))

    def start(self) -> None:
        """Write the export on a thread of its own."""
        if self._thread is not None and self._thread.is_alive():
            return
        self.export.disabled = True
        self.said.say("exporting …")
        arguments = (self._panel.settings, self.format.value)
        self._thread = threading.Thread(target=self._write, args=arguments, name="expandlab export", daemon=True)
        self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the export to end; False after `timeout` seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _write(self, settings: PanelSettings, kind: str) -> None:
        try:
            from expandlab import export

            FOLDER.mkdir(parents=True, exist_ok=True)
            path = export.save(FOLDER / file_name(settings, kind), settings)
            self.exported = path
            self._panel.desk.offer(path.name, FORMATS[kind], path.read_bytes())
            self.said.say(f"saved {path}")
        except Exception as error:
            self.said.say("")
            self._panel.alert.say(explain(error))
        finally:
            self.export.disabled = False


def file_name(settings: PanelSettings, kind: str) -> str:
    """The same settings, the same name: what is shown, and the first digits of the settings' digest."""
    digest = hashlib.sha256(settings.to_json().encode()).hexdigest()[:8]
    return f"{settings.stem}-{digest}.{kind}"
