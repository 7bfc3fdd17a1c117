"""Waiting for a device that may never answer: an interrupt or too long a run leaves the work behind, not the kernel.

Only the host stops waiting; nothing can stop what a device has begun. Until that ends, whatever waits for the device
inside its library cannot be interrupted (destroying a buffer does, in wgpu), so buffers are kept for later and new
work is refused with an error.
"""

from __future__ import annotations

import os
import threading
from typing import Any

# The longest that one submission may take before it is called stuck. Chunks, batches and the parts of a search are
# submissions of their own; the slowest of them take seconds on a software adapter.
PATIENCE_S = 300.0
# For a device that was given up already.
_GLANCE_S = 0.2
# For a run that was interrupted: it mostly ends soon.
_AFTER_INTERRUPT_S = 10.0


class NoAnswer(Exception):
    """The device did not answer in time; the text says what to do."""


def patience_s() -> float:
    """EXPANDLAB_PATIENCE_S, where it is a number above 0, else `PATIENCE_S`."""
    try:
        given = float(os.environ.get("EXPANDLAB_PATIENCE_S", ""))
    except ValueError:
        return PATIENCE_S
    # An hour is waited in one piece by no lock of Python's; nor is "nan" a time.
    return min(given, threading.TIMEOUT_MAX) if given > 0 else PATIENCE_S


class Waiting:
    """What one device is still busy with although nobody waits for it, and the buffers kept until it is done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: list[tuple[Any, bool]] = []
        self._kept: list[Any] = []

    @property
    def busy(self) -> bool:
        """Whether there is work left behind that has not ended."""
        with self._lock:
            self._left = [(promise, patient) for promise, patient in self._left if not _ended(promise)]
            return bool(self._left)

    def wait(self, promise: Any) -> None:
        """Wait for a promise of the device's. Raises NoAnswer after `patience_s()`; an interrupt ends it as well."""
        try:
            answered = _wait(promise, patience_s())
        except BaseException:
            self._leave(promise, True)
            raise
        if not answered:
            self._leave(promise, False)
            raise NoAnswer(f"no answer for {patience_s():g} s. {_ADVICE}")
        promise.sync_wait()

    def check(self) -> None:
        """Before new work: wait for what an interrupt left behind; raise NoAnswer where the device stays busy."""
        while self.busy:
            with self._lock:
                promise, patient = self._left[0] if self._left else (None, False)
            if promise is None or _wait(promise, _AFTER_INTERRUPT_S if patient else _GLANCE_S):
                continue
            with self._lock:
                self._left = [(item, False) for item, _ in self._left]
            raise NoAnswer(f"the device is busy with an earlier run that does not end. {_ADVICE}")
        with self._lock:
            kept, self._kept = self._kept, []
        for item in kept:
            item.destroy()

    def destroy(self, *items: Any) -> None:
        """Destroy buffers and query sets now, or once the device has ended what it is busy with."""
        if self.busy:
            with self._lock:
                self._kept.extend(items)
            return
        for item in items:
            item.destroy()

    def _leave(self, promise: Any, patient: bool) -> None:
        with self._lock:
            self._left.append((promise, patient))


_ADVICE = (
    "A shader with a loop that does not end does this: bound its loops, or give it less work. The device can be used "
    "again when the run ends; until then use another row of expandlab.devices(), or restart the kernel. "
    "Where runs are meant to take longer, set EXPANDLAB_PATIENCE_S"
)


def _wait(promise: Any, seconds: float) -> bool:
    """Whether the promise was settled within that time."""
    # wgpu-py settles its promises on a thread of its own; other implementations (Dawn) only while somebody waits, in
    # a wait of theirs that knows no time but can be interrupted.
    event = getattr(promise, "_thread_event", None)
    if event is None or not type(promise).__module__.startswith("wgpu."):
        return True
    return event.wait(seconds)


def _ended(promise: Any) -> bool:
    return _wait(promise, 0)
