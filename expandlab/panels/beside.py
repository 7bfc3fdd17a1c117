"""The same expansion on a device of the kernel's and on the page's own GPU, side by side."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets as widgets
import numpy as np

from expandlab.errors import ExpandlabError
from expandlab.expansion import expand, record_map, strategies
from expandlab.gpu import BROWSER, resolve
from expandlab.measuring.protocol import step_text
from expandlab.measuring.verify import wrong_items
from expandlab.panels import registry
from expandlab.panels.base import first_settings
from expandlab.panels.browser import browser_device
from expandlab.panels.controls import workgroup_slider
from expandlab.panels.desk import style
from expandlab.panels.device_menu import device_menu
from expandlab.panels.maps import agreement
from expandlab.panels.parts import Message, button, close_all, explain, group, labelled, table
from expandlab.panels.routing import follow_the_page
from expandlab.settings import ExpansionSettings

_HEAD = ("", "kind", "subgroup (lanes)", "mapping", "threads that recorded themselves", "GPU (ms)", "transfer (ms)",
         "in all (ms)")  # fmt: skip


class BesidePanel(widgets.VBox):
    """One column of facts for each of two devices: whether both give the definition's mapping, and what it takes.

    results: of the last run, (device, Expansion) in the order shown. error: the text of the error line.
    """

    def __init__(self, settings: ExpansionSettings, *, name: str | None = None, error: str = ""):
        self._settings = settings
        self._thread: threading.Thread | None = None
        self.results: list[tuple[str, Any]] = []
        known = [(f"{key} – {item.title}", key) for key, item in strategies().items() if not item.modelled]
        self.strategy = labelled(
            widgets.Dropdown, "strategy", "How items find their threads", options=known, value=settings.strategy
        )
        self.workgroup_size = workgroup_slider()
        self.workgroup_size.value = settings.workgroup_size
        self.here = device_menu("On the machine of the kernel, or in this page")
        self.there = device_menu("The device beside it; at first the GPU of the page that you look at")
        self.there.value = BROWSER
        self.run = button("Run on both", "Expand the same counts on both devices", self.start, button_style="primary")
        self.alert, self.said, self.table = Message("alert"), Message("status"), widgets.HTML()
        grid = widgets.HBox([
            group("Expansion", [self.strategy, self.workgroup_size]),
            group("Devices", [self.here, self.there, self.run]),
        ])  # fmt: skip
        grid.add_class("xl-controls")
        sheet = widgets.HTML(f"<style>{style()}</style>", layout=widgets.Layout(display="none"))
        super().__init__([sheet, grid, self.alert, browser_device(), self.said, self.table])
        self.add_class("xl-panel")
        self.alert.say(error)
        follow_the_page(self)
        registry.register(self, name)

    @property
    def error(self) -> str:
        """The text of the error line."""
        return self.alert.text

    def start(self) -> None:
        """Run on both devices, on a thread of its own."""
        if self._thread is not None and self._thread.is_alive():
            return
        self.run.disabled = True
        self._thread = threading.Thread(target=self._work, name="expandlab beside", daemon=True)
        self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the run to end; False after `timeout` seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def close(self) -> None:
        """Close the panel and its parts."""
        if self.comm is not None:
            close_all(self)

    def _work(self) -> None:
        try:
            counts = self._settings.counts()
            self.alert.say("")
            self.said.say("running")
            rows, passes, self.results = [], [], []
            for token in (self.here.value, self.there.value):
                row, found = self._on(token, counts)
                rows.append(row)
                passes += [[row[0], item.name, item.threads_launched, item.threads_idle, _ms(item.gpu_ms)]
                           for item in found.report.passes]  # fmt: skip
                self.results.append((row[0], found))
            head = ("device", "pass", "threads", "idle", "GPU (ms)")
            self.table.value = table(_HEAD, rows) + table(head, passes, "Pass by pass")
            self.said.say(f"done: {int(counts.sum(dtype=np.uint64)):,} items on both{self._step()}")
        except Exception as error:
            self.alert.say(explain(error))
            self.said.say("stopped by an error")
        finally:
            self.run.disabled = False

    def _on(self, token: str, counts: np.ndarray) -> tuple[list[Any], Any]:
        device, name, size = resolve(token), self.strategy.value, self.workgroup_size.value
        found = expand(counts, name, device=device, workgroup_size=size)
        wrong = wrong_items(counts, found.src, found.local)
        try:
            noted = agreement(record_map(counts, name, device=device, workgroup_size=size), counts)
        except ExpandlabError as error:
            noted = str(error)
        report = found.report
        row = [
            device.info.label, device.info.kind, device.subgroup_size or "none",
            f"{wrong:,} items wrong" if wrong else "exact", noted, _ms(report.gpu_ms),
            "none" if report.transfer_ms is None else _ms(report.transfer_ms), _ms(report.wall_ms),
        ]  # fmt: skip
        return row, found

    def _step(self) -> str:
        told = dict.fromkeys(step_text(resolve(token)) for token in (self.here.value, self.there.value))
        return "".join(f"; the browser gives times{text}" for text in told if text)


def beside(*, name: str | None = None, **settings: Any) -> BesidePanel:
    """A panel that runs one expansion on a device of the kernel's and on the page's own GPU, and compares them.

    settings: fields of `ExpansionSettings`: the source of the N, `strategy` and `workgroup_size`.
        What is wrong with them shows in the panel's error line, and the defaults are used.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    chosen, error = first_settings(ExpansionSettings, settings)
    return BesidePanel(chosen, name=name, error=error)


def _ms(value: float | None) -> str | float:
    return "no timer" if value is None else round(value, 3)
