"""Encoders and buffers that the caller's program hands over: faults that wgpu would tell late, or without a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from expandlab.gpu.device import Device


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
