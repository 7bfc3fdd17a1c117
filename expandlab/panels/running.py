"""Run: times strategies on a worker thread, with progress, Cancel, a chart and its data table."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
import numpy as np

from expandlab.measuring import Measurements, Progress, measure
from expandlab.panels.browser import browser_device
from expandlab.panels.parts import Message, button, explain, shown, table

# Progress is news about five times a second; more would only keep the page busy.
_NEWS_S = 0.15
# A cancelled measurement ends with its sample and keeps the others; a page that does not finish its own is left then.
_GRACE_S = 2.0


class _Overdue:
    """Is set once `cancel` has been for a while."""

    def __init__(self, cancel: threading.Event):
        self._cancel, self._since = cancel, 0.0

    def is_set(self) -> bool:
        if not self._cancel.is_set():
            return False
        self._since = self._since or time.monotonic()
        return time.monotonic() - self._since > _GRACE_S


class RunBox:
    """The Run and Cancel buttons, the progress line, and the results.

    ask: called when Run is pressed; returns (counts, strategies, device, workgroup size). alert: the error line.
    `timings` is the last result, partial ones included.
    """

    def __init__(self, ask: Callable[[], tuple[np.ndarray, Sequence[str], str, int]], alert: Message):
        self._ask, self._alert = ask, alert
        # What the last run said was wrong; the next one takes it back, and nothing else that stands there.
        self._wrong = ""
        self._cancel = threading.Event()
        self._thread: threading.Thread | None = None
        self._news_at = 0.0
        self._offered, self._busy = True, False
        self.timings: Measurements | None = None
        self.run = button("Run", "Measure the chosen strategies on the chosen device", self.start)
        self.run.button_style = "primary"
        self.cancel = button("Cancel", "Stop measuring and keep what is measured", self.stop, disabled=True)
        self.bar = widgets.IntProgress(min=0, max=1, layout=widgets.Layout(width="180px", margin="0 8px"))
        self.bar.tooltip = "Progress of the measurement"
        self.text = Message("status")
        self.progress = widgets.HBox([self.bar, self.text])
        self.progress.add_class("xl-progress")
        # An <img> of our own: ipywidgets' Image has no alternative text.
        self.image = widgets.HTML()
        self.table = widgets.HTML()
        self.results = widgets.VBox([self.image, self.table])
        self.results.add_class("xl-results")
        shown(self.progress, False)
        shown(self.results, False)

    @property
    def running(self) -> bool:
        """Whether a measurement is under way."""
        return self._thread is not None and self._thread.is_alive()

    def offer(self, something: bool) -> None:
        """Whether there is something that can be measured; without it Run cannot be pressed."""
        self._offered = something
        self.run.disabled = self._busy or not something

    def start(self) -> None:
        """Start measuring, unless a measurement is under way."""
        if self.running:
            return
        self._cancel = threading.Event()
        self._busy = True
        self.run.disabled, self.cancel.disabled = True, False
        self.bar.value, self.bar.bar_style = 0, ""
        if self._alert.text == self._wrong:
            self._alert.say("")
        self.text.say("starting")
        shown(self.progress, True)
        self._thread = threading.Thread(target=self._work, args=(self._cancel,), name="expandlab run", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask the measurement to end; what it has measured is kept."""
        self._cancel.set()
        self.cancel.disabled = True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the measurement to end; False after `timeout` seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return not self.running

    def _work(self, cancel: threading.Event) -> None:
        try:
            with browser_device().link.watched(None, _Overdue(cancel)):
                self.timings = self._measured(cancel)
            self._show(self.timings)
        except Exception as error:
            self._wrong = explain(error)
            self._alert.say(self._wrong)
            self.text.say("stopped by an error")
            self.bar.bar_style = "danger"
        finally:
            self._busy = False
            self.run.disabled, self.cancel.disabled = not self._offered, True

    def _measured(self, cancel: threading.Event) -> Any:
        """What is measured."""
        counts, names, device, size = self._ask()
        return measure(names, counts, device=device, workgroup_size=size, on_progress=self._news, cancel=cancel)

    def _news(self, news: Progress) -> None:
        now = time.monotonic()
        if now - self._news_at < _NEWS_S:
            return
        self._news_at = now
        self.bar.max, self.bar.value = max(1, news.total), news.done
        left = f", about {max(1, round(news.seconds_left))} s left" if news.done else ""
        self.text.say(f"{news.text}{left}")

    def _show(self, found: Measurements) -> None:
        samples = sum(row.samples for row in found.totals)
        self.bar.max = max(1, found.repeats * sum(item.role == "contender" for item in found.contenders))
        self.bar.value = samples
        self.bar.bar_style = "warning" if found.cancelled else "success"
        if found.rows:
            from expandlab.figures import times

            picture = base64.b64encode(times.picture(found)).decode()
            alt = escape(times.alt(found), quote=True)
            self.image.value = f'<img class="xl-times" src="data:image/png;base64,{picture}" alt="{alt}">'
            self.table.value = timings_table(found)
        shown(self.results, bool(found.rows))
        # Last, so that who reads that it is done finds the results there.
        kept = f"cancelled: {samples} of {self.bar.max} runs kept" if found.cancelled else f"done: {samples} runs"
        self.text.say(f"{kept}, {found.timer} on {found.device}")

    def close(self) -> None:
        """End the measurement."""
        self._cancel.set()


def timings_table(found: Measurements) -> str:
    """The times as an HTML table."""
    rows: list[list[Any]] = [
        [row.name, row.pass_name, *(round(ms, 4) for ms in (row.median_ms, row.q1_ms, row.q3_ms)), row.samples]
        for row in (*found.rows, *found.totals)
    ]
    note = " (software adapter: the CPU is measured)" if found.software else ""
    caption = f"{found.device}{note}; {found.timer}; {found.src_count:,} src, {found.total:,} items"
    return table(("strategy", "pass", "median ms", "lower quartile", "upper quartile", "runs"), rows, caption)
