"""How far a measurement is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a measurement is: `done` of `total` steps, what is done now, and the time left in seconds."""

    done: int
    total: int
    text: str
    seconds_left: float


class Clock:
    """Counts the steps and guesses the time left from those that are done."""

    def __init__(self, total: int, on_progress: Callable[[Progress], None] | None):
        self._total = total
        self._on_progress = on_progress
        self._done = 0
        self._start = time.perf_counter()

    def tick(self, text: str) -> None:
        """Say that the next step begins."""
        if self._on_progress is not None:
            spent = time.perf_counter() - self._start
            left = spent / self._done * (self._total - self._done) if self._done else 0.0
            self._on_progress(Progress(self._done, self._total, text, left))
        self._done += 1
