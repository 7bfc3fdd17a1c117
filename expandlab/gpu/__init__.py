"""Devices: listing, opening, adopting, and the facts about them that have to be measured."""

from expandlab.gpu.adapters import DeviceInfo, DeviceList, devices
from expandlab.gpu.device import BROWSER, Device, adopt, lend, open_device, resolve

__all__ = ["BROWSER", "Device", "DeviceInfo", "DeviceList", "adopt", "devices", "lend", "open_device", "resolve"]
