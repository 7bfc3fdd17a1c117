"""Spans of time on a device, from timestamps at the beginnings and ends of its passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.gpu import Device


class Stopwatch:
    """Times `spans` spans of one submission. A span may reach over many passes: only its first and last carry stamps,
    so that the device is free to do in between what it likes.

    Whole passes are stamped: a timestamp inside a pass can land before a barrier. Needs `timestamp-query`.
    """

    def __init__(self, device: Device, spans: int):
        self._device = device
        self._count = 2 * spans
        self._queries = device.gpu.create_query_set(type="timestamp", count=self._count)
        self._ticks = device.buffer(8 * self._count, "QUERY_RESOLVE|COPY_SRC", "ticks")

    def stamps(self, *, begins: int | None = None, ends: int | None = None) -> dict[str, Any] | None:
        """`timestamp_writes` of a pass that begins one span, ends one, or both."""
        found: dict[str, Any] = {}
        if begins is not None:
            found["beginning_of_pass_write_index"] = 2 * begins
        if ends is not None:
            found["end_of_pass_write_index"] = 2 * ends + 1
        return {"query_set": self._queries, **found} if found else None

    def resolve(self, encoder: Any, first: int = 0) -> None:
        """Record the end of the measurement. Every span from `first` on must have been stamped: copying a query that
        was never written may wait for ever."""
        encoder.resolve_query_set(self._queries, 2 * first, self._count - 2 * first, self._ticks, 0)

    def read_ms(self, first: int = 0) -> np.ndarray:
        """Wait for the device, and return begin and end of the spans from `first` on, in ms since the first begin:
        float64 (spans, 2)."""
        words = self._device.read(self._ticks, 0, 8 * (self._count - 2 * first))
        ticks = words.view(np.uint64).reshape(-1, 2)
        since = (ticks - ticks.min()).astype(float)
        return since * (self._device.timestamp_period_ns or 0.0) * 1e-6

    def close(self) -> None:
        """Give the device's memory back."""
        self._device.destroy(self._queries, self._ticks)
