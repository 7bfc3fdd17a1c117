"""Devices: listing, opening, adopting, and the facts about them that have to be measured."""

from expandlab.gpu.adapters import DeviceInfo, DeviceList, devices
from expandlab.gpu.device import Device, adopt, open_device, resolve

__all__ = ["Device", "DeviceInfo", "DeviceList", "adopt", "devices", "open_device", "resolve"]
