"""The thread map on a canvas: sources, what pass 1 wrote, and the threads of pass 2, linked in the page itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from traitlets import Bytes, Dict, Int

from expandlab import wgsl
from expandlab.expansion.thread_map import ThreadMap
from expandlab.panels.desk import Desk, joined, style
from expandlab.panels.packing import pack

_SCRIPTS = (
    "downloads.js", "canvas_frame.js", "canvas_select.js", "canvas_draw.js", "canvas_steps.js", "canvas_parts.js",
    "canvas.js",
)  # fmt: skip
# A page that does not confirm a frame within this time is slow or gone; either way the newest frame is sent then.
LOST_AFTER_S = 1.0


def script() -> str:
    """The whole ES module."""
    return joined(_SCRIPTS)


class ThreadMapCanvas(Desk):
    """Three linked strips. `show` paints; everything after that, hover and steps included, happens in the page.

    step: the step shown, -1 for the finished map. thread: the pinned thread, -1 for none. painted: number of the last
    frame that the page has painted. Both `step` and `thread` may be set from either side.
    """

    _esm = script()
    _css = style()

    frame = Bytes().tag(sync=True)
    shaders = Dict().tag(sync=True)
    step = Int(-1).tag(sync=True)
    thread = Int(-1).tag(sync=True)
    painted = Int(0).tag(sync=True, echo_update=False)

    def __init__(self, **kwargs: Any):
        self._turn = threading.Lock()
        self._sequence = 0
        self._sent = 0
        self._sent_at = 0.0
        self._pending: tuple[np.ndarray, np.ndarray, Sequence[ThreadMap]] | None = None
        self._timer: threading.Timer | None = None
        super().__init__(**kwargs)
        self.observe(self._confirmed, "painted")

    def show(self, counts: np.ndarray, colours: np.ndarray, maps: Sequence[ThreadMap]) -> None:
        """Paint these maps. While the page still paints an earlier frame, only the newest one waits."""
        with self._turn:
            self._pending = (counts, colours, maps)
            if self._waits():
                self._watch()
                return
        self._send_pending()

    @property
    def settled(self) -> bool:
        """Whether everything shown has been sent."""
        with self._turn:
            return self._pending is None

    def close(self) -> None:
        """Stop waiting for the page, and close."""
        with self._turn:
            self._pending = None
            if self._timer:
                self._timer.cancel()
        super().close()

    def _waits(self) -> bool:
        # A page that never painted anything is not there yet: it will read the newest state when it comes.
        unconfirmed = 0 < self.painted < self._sent
        return unconfirmed and time.monotonic() - self._sent_at < LOST_AFTER_S

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(LOST_AFTER_S, self._lost)
            self._timer.daemon = True
            self._timer.start()

    def _lost(self) -> None:
        with self._turn:
            self._timer = None
            if self._pending is not None and self._waits():
                self._watch()
                return
        self._send_pending()

    def _confirmed(self, change: Any) -> None:
        with self._turn:
            if change["new"] < self._sent:
                return
        self._send_pending()

    def _send_pending(self) -> None:
        with self._turn:
            if self._pending is None:
                return
            counts, colours, maps = self._pending
            self._pending = None
            self._sequence += 1
            sequence = self._sequence
            self._sent, self._sent_at = sequence, time.monotonic()
            files = {step.line.file for item in maps for step in item.steps}
        if not files <= self.shaders.keys():
            self.shaders = {**self.shaders, **{file: wgsl.read(file) for file in sorted(files)}}
        self.frame = pack(counts, colours, maps, sequence)
