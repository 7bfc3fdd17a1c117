"""Dispatches that share a compute pass, because every beginning of one costs the device."""

from __future__ import annotations

from typing import Any


class Joined:
    """Dispatches one after the other in as few compute passes as they need: one, unless something else lies between.

    wgpu orders the dispatches of a pass by what they read and write, as it orders passes; but it makes a command buffer
    of the driver's for every pass, and those cost an NVIDIA device several microseconds each.

    stamps: wgpu's `timestamp_writes` of the one pass, for a span that reaches over all of it.
    """

    def __init__(self, encoder: Any, stamps: Any = None):
        self._encoder = encoder
        self._options = {"timestamp_writes": stamps} if stamps else {}
        self._open: Any = None

    def __enter__(self) -> Joined:
        return self

    def __exit__(self, *_: Any) -> None:
        self.end()

    def compute(self) -> Any:
        """The compute pass to dispatch in."""
        if self._open is None:
            self._open = self._encoder.begin_compute_pass(label="passes", **self._options)
        return self._open

    def end(self) -> Any:
        """End the compute pass, and return the encoder for what is not a dispatch."""
        if self._open is not None:
            self._open.end()
            self._open = None
        return self._encoder
