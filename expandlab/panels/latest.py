"""Work that only matters in its newest form: asked for from any thread, done on one, the newest request last."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Latest:
    """Runs `work` on a thread of its own whenever asked; requests during a run become one more run after it.

    So a slider that sends a hundred values paints as many as it can and always the last one, and no callback waits.
    interval: shortest time between the starts of two runs on that thread, in seconds. inline: where the last run took
    less, in seconds, and none is under way, the thread that asks does the next one itself, before it goes on.
    """

    def __init__(self, work: Callable[[], None], interval: float = 0.015, inline: float = 0.0):
        self._work = work
        self._inline = inline
        self._took = float("inf")
        self._interval = interval
        self._state = threading.Condition()
        self._wanted = False
        self._running = False
        self._closed = False

    def ask(self, apart: bool = False) -> None:
        """Ask for a run with the state as it is now; `apart`: on the thread of its own, quick or not."""
        with self._state:
            if self._closed:
                return
            self._wanted = True
            if self._running:
                return
            self._running = True
        if self._took < self._inline and not apart:
            self._run()
            with self._state:
                if not self._wanted:
                    self._running = False
                    self._state.notify_all()
                    return
        threading.Thread(target=self._loop, name="expandlab panel", daemon=True).start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is asked for or running; False after `timeout` seconds."""
        with self._state:
            return self._state.wait_for(lambda: not (self._wanted or self._running), timeout)

    def close(self) -> None:
        """Drop what is asked for; a run under way ends by itself."""
        with self._state:
            self._closed = True
            self._wanted = False
            self._state.notify_all()

    def _loop(self) -> None:
        while self._run():
            left = self._interval - self._took
            if left > 0:
                time.sleep(left)

    def _run(self) -> bool:
        """One run, where one is wanted; False if that was all."""
        with self._state:
            if not self._wanted:
                self._running = False
                self._state.notify_all()
                return False
            self._wanted = False
        started = time.monotonic()
        try:
            self._work()
        except BaseException:
            with self._state:
                self._running = False
                self._state.notify_all()
            raise
        self._took = time.monotonic() - started
        return True
