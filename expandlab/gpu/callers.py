"""Encoders and buffers that the caller's program hands over: faults that wgpu would tell late, or without a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from expandlab.gpu.device import Device

# How often numbers may be recorded before a submission: each call keeps its own in a slot.
_SLOTS = 1024


class RecordedNumbers:
    """Where recorded calls read a number from: the caller's buffer, or a slot that holds what the caller named.

    name: the argument. whose: who records, for the messages.
    """

    def __init__(self, device: Device, name: str, whose: str):
        self._device, self._name, self._whose = device, name, whose
        self._slots: Any = None
        self._next = 0

    def given(self, source: tuple[Any, Any]) -> tuple[Any, int]:
        """The caller's (buffer, offset). Raises TypeError and ValueError naming what is wrong with it."""
        if len(source) != 2:
            raise ValueError(f"{self._name}: {len(source)} items; give a number, or (buffer, offset)")
        buffer, offset = source
        check_buffer(self._device, f"{self._name}=(buffer, offset): buffer", buffer, "COPY_SRC", self._whose)
        whole = isinstance(offset, (int, np.integer))
        if not whole or offset % 4 or not 0 <= offset <= buffer.size - 4:
            raise ValueError(f"{self._name}=(buffer, {offset!r}): give a multiple of 4 bytes inside the buffer")
        return buffer, int(offset)

    def kept(self, number: int) -> tuple[Any, int]:
        """(buffer, offset) of a slot that holds `number`."""
        if self._slots is None:
            self._slots = self._device.buffer(4 * _SLOTS, "COPY_SRC|COPY_DST", "recorded numbers")
        offset = 4 * (self._next % _SLOTS)
        self._next += 1
        self._device.gpu.queue.write_buffer(self._slots, offset, np.array([number], np.uint32))
        return self._slots, offset

    def close(self) -> None:
        """Give the slots' memory back."""
        if self._slots is not None:
            self._device.destroy(self._slots)
            self._slots = None


def check_encoder(device: Device, encoder: Any, whose: str) -> None:
    """Raise TypeError or ValueError for what is no command encoder of the device.

    whose: who records, for the message.
    """
    if not (hasattr(encoder, "begin_compute_pass") and hasattr(encoder, "copy_buffer_to_buffer")):
        raise TypeError(f"encoder={encoder!r}: give a wgpu.GPUCommandEncoder of the {whose}'s device")
    _check_owner(device, "encoder", encoder, whose)


def check_buffer(device: Device, name: str, buffer: Any, usages: str, whose: str) -> None:
    """Raise TypeError or ValueError naming a buffer that is none of the device's, or lacks a usage.

    usages: names that it needs, with | between them. whose: who takes it, for the message.
    """
    if not hasattr(buffer, "usage"):
        raise TypeError(f"{name} is a {type(buffer).__name__}; give a wgpu.GPUBuffer of the {whose}'s device")
    _check_owner(device, name, buffer, whose)
    for usage in usages.split("|"):
        if not buffer.usage & getattr(device.api.BufferUsage, usage):
            raise ValueError(f"{name} lacks the usage {usage}; create it with that one too")


def _check_owner(device: Device, name: str, item: Any, whose: str) -> None:
    # wgpu-py has no public way from an object to its device, and it tells of a wrong one only when the encoder is
    # finished. Where this is not to be had, that is when the caller learns of it.
    owner = getattr(item, "_device", None)
    if owner is not None and owner is not device.gpu:
        raise ValueError(f"{name} belongs to another device than the {whose}, which runs on {device.info.name}")
