"""Controls that can be set without their telling anybody."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import ipywidgets as widgets


class Silent:
    """Has `silence`: changes inside are the panel's own. Observers ask `quiet`.

    They run on the thread that sets the value, so each thread has its own silence.
    """

    def __init__(self) -> None:
        self._quiet = threading.local()

    @property
    def quiet(self) -> bool:
        """Whether this thread's changes are the panel's own."""
        return getattr(self._quiet, "on", False)

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Changes inside call nobody."""
        before = self.quiet
        self._quiet.on = True
        try:
            yield
        finally:
            self._quiet.on = before


@contextmanager
def together(controls: Iterable[widgets.Widget]) -> Iterator[None]:
    """What changes inside is told to the page at the end, in one message for each control."""
    with ExitStack() as stack:
        for control in controls:
            stack.enter_context(control.hold_sync())
        yield
