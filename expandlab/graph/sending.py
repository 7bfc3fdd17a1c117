"""Bytes on their way from a device to the host: asked for as soon as they exist, fetched when somebody needs them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from expandlab.gpu import Device


class Sent:
    """Bytes `low` .. `high` of a buffer as they are once everything that was submitted before is done.

    The copy to where the host can read is submitted at once, so that passes submitted later do not delay it.
    """

    def __init__(self, device: Device, buffer: Any, low: int, high: int, name: str):
        self._device, self._name = device, name
        self._lock = threading.Lock()
        self._words: np.ndarray | None = None
        if low == high:
            self._words = np.zeros(0, np.uint32)
        elif device.is_reference:
            self._words = buffer[low // 4 : high // 4].copy()
        else:
            with device.lock, device.errors(f"reading {name}"):
                self._staging = device.buffer(high - low, "MAP_READ|COPY_DST", "on its way")
                encoder = device.gpu.create_command_encoder()
                encoder.copy_buffer_to_buffer(buffer, low, self._staging, 0, high - low)
                device.gpu.queue.submit([encoder.finish()])

    def words(self) -> np.ndarray:
        """The bytes as uint32; whoever asks first waits for the device, outside its lock, others for him."""
        with self._lock:
            if self._words is None:
                with self._device.errors(f"reading {self._name}"):
                    self._words = self._device.take(self._staging)
            return self._words
