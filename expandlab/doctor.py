"""What this machine has, and what to install where something is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from expandlab.errors import ExpandlabError
from expandlab.gpu import DeviceInfo, devices, open_device
from expandlab.gpu.drivers import icd_files, loader_library
from expandlab.results import Result

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PACKAGES = ("expandlab", "wgpu", "numpy", "jupyterlab", "ipykernel", "ipywidgets", "anywidget", "matplotlib")


@dataclass(frozen=True)
class DeviceHealth(Result):
    """A row of `devices()` and how it behaves when opened; `problem` says why it could not be."""

    info: DeviceInfo
    default: bool
    subgroup_size: int | None = None
    timestamp_period_ns: float | None = None
    works: bool = False
    problem: str | None = None

    @property
    def timer(self) -> str:
        """What times can be taken with."""
        return "wall clock" if self.timestamp_period_ns is None else f"timestamps, {self.timestamp_period_ns:g} ns"


@dataclass(frozen=True)
class Health(Result):
    """What `expandlab doctor` found; `advice` has one line for each thing that is worth doing."""

    python: str
    system: str
    packages: dict[str, str | None]
    vulkan_loader: str | None
    driver_files: list[str]
    browser: str | None
    devices: list[DeviceHealth]
    advice: list[str] = field(default_factory=list)


def examine() -> Health:
    """Look at the machine; opens every device and runs a small expansion on it."""
    rows = list(devices())
    default = _default(rows)
    found = [_open(row, row.index == default) for row in rows]
    loader, browser = loader_library(), _browser()
    return Health(
        python=sys.version.split()[0],
        system=f"{platform.system()} {platform.machine()}",
        packages={name: _version(name) for name in _PACKAGES},
        vulkan_loader=loader,
        driver_files=icd_files(),
        browser=browser,
        devices=found,
        advice=_advice(rows, loader, browser, found),
    )


def _default(rows: list[DeviceInfo]) -> int | None:
    from expandlab.gpu.adapters import choose

    try:
        return choose(os.environ.get("EXPANDLAB_DEVICE") or None, rows).index
    except ExpandlabError:
        return None


def _open(row: DeviceInfo, default: bool) -> DeviceHealth:
    from expandlab.expansion import expand

    try:
        device = open_device(row.index)
        works = expand([3, 0, 2], "prefix_search", device=device).src.tolist() == [0, 0, 0, 2, 2]
        return DeviceHealth(row, default, device.subgroup_size, device.timestamp_period_ns, works)
    except ExpandlabError as error:
        return DeviceHealth(row, default, problem=str(error))


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _browser() -> str | None:
    named = os.environ.get("EXPANDLAB_CHROMIUM")
    if named and Path(named).exists():
        return named
    return next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def _advice(rows: list[DeviceInfo], loader: str | None, browser: str | None, found: list[DeviceHealth]) -> list[str]:
    lines = []
    if len(rows) == 1:
        if sys.platform.startswith("linux"):
            what = "libvulkan1 mesa-vulkan-drivers" if loader is None else "mesa-vulkan-drivers"
            lines.append(f"No adapter: install a Vulkan driver (Debian, Ubuntu: apt-get install {what}).")
        else:
            lines.append("No adapter: install the graphics driver of your system. The reference device still teaches.")
    elif all(row.is_software for row in rows):
        lines.append("Only software adapters: everything runs, and times measure the CPU.")
    if browser is None:
        lines.append("No Chromium: only the browser tests need it (Debian: apt-get install chromium).")
    if _version("jupyterlab") is None:
        lines.append("No JupyterLab: pip install 'expandlab[lab]' for the notebooks.")
    if os.environ.get("EXPANDLAB_DEVICE") and not any(item.default for item in found):
        lines.append(f"EXPANDLAB_DEVICE={os.environ['EXPANDLAB_DEVICE']!r} names no device that is here; unset it.")
    lines += [f"Device {item.info.index}: {item.problem}" for item in found if item.problem]
    lines += [
        f"Device {item.info.index} ({item.info.name}) gives wrong results: use another one, and update its driver."
        for item in found
        if not item.works and not item.problem
    ]
    return lines
