"""Run in the frame-graph panel: the examples with real kernels on a device, dependent and independent, in turns."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from expandlab.measuring.independence import HEAD, Gains, measure_independence, table_rows
from expandlab.panels.expansion import device_tokens
from expandlab.panels.parts import button, labelled, shown, table
from expandlab.panels.running import RunBox

if TYPE_CHECKING:
    from expandlab.panels.frame_graph import FrameGraphPanel


class GainsRun(RunBox):
    """Measures what declaring independence gains. found: the last result, partial ones included."""

    def __init__(self, panel: FrameGraphPanel):
        super().__init__(lambda: None, panel.alert)
        self._panel = panel
        self.found: Gains | None = None
        self.run.tooltip = "Measure what declaring independence gains on the device, whatever graph is shown"
        tokens = device_tokens()
        self.device = labelled(
            widgets.Dropdown, "device", "Where Run measures", options=[(row.label, token) for row, token in tokens]
        )
        self._runs = any(row.kind != "reference" for row, _ in tokens)
        self.offer(self._runs)
        self.save = button("Save times", "Offer what was measured as JSON", self._offer)
        shown(self.save, False)

    def rows(self) -> list[widgets.Widget]:
        """The controls of the group."""
        told = "measured: the examples, each in two forms, on wgpu"
        if not self._runs:
            told = "the only device is the reference device, which runs no shaders: nothing is measured here"
        said = widgets.HTML(f"<div class='xl-remark'>{told}</div>")
        return [said, self.device, widgets.HBox([self.run, self.cancel, self.save])]

    def _measured(self, cancel: threading.Event) -> Gains:
        return measure_independence(self.device.value, on_progress=self._news, cancel=cancel)

    def _show(self, found: Any) -> None:
        self.found = found
        self.bar.value = self.bar.max
        self.bar.bar_style = "warning" if found.cancelled else "success"
        caption = f"Measured on {found.device} ({found.driver}), {found.timer}" + (
            "; a software adapter runs one dispatch after the other, so a gain is noise" if found.software else ""
        )
        self.table.value = f"<div class='xl-about-table'>{table(HEAD, table_rows(found), caption)}</div>"
        shown(self.results, True)
        shown(self.save, True)
        self.text.say(f"{'cancelled' if found.cancelled else 'done'}: {found.timer} on {found.device}")

    def _offer(self) -> None:
        if self.found is not None:
            text = json.dumps({**self.found.to_dict(), "gained_us": self.found.gained_us}, indent=1)
            self._panel.desk.offer("independence.json", "application/json", text.encode())
