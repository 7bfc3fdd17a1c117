"""What this machine has, and what to install where something is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from expandlab.errors import ExpandlabError
from expandlab.gpu import DeviceInfo, devices, open_device
from expandlab.gpu.drivers import icd_files, loader_library
from expandlab.results import Result

if TYPE_CHECKING:
    from expandlab.expansion import Expansion

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


def show(health: Health) -> None:
    """Print what was found."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(title="Devices (* = the default)", title_justify="left")
    for name in ("", "name", "kind", "backend", "subgroup", "timer", "binding limit", "64-bit atomics", "works"):
        table.add_column(name, overflow="fold")
    for item in health.devices:
        info = item.info
        table.add_row(
            f"{info.index}{'*' if item.default else ''}",
            Text(info.name),
            info.kind,
            info.backend,
            str(item.subgroup_size or "-"),
            item.timer if not item.problem else "-",
            f"{info.limits['max_storage_buffer_binding_size'] >> 20} MiB",
            "yes" if "shader-int64-atomic-all-ops" in info.features else "no",
            "yes" if item.works else "no",
        )
    console.print(table)
    console.print(Text(f"Python {health.python} on {health.system}"))
    console.print(Text(", ".join(f"{name} {version or '(missing)'}" for name, version in health.packages.items())))
    console.print(Text(f"Vulkan loader: {health.vulkan_loader or 'none'}; browser: {health.browser or 'none'}"))
    for line in health.advice:
        console.print(Text(f"- {line}"))


def show_report(src_count: int, done: Expansion) -> None:
    """Print an expansion's report."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    report = done.report
    note = ", software adapter: times measure the CPU" if report.software else ""
    table = Table("pass", "workgroups", "threads", "idle", "GPU time")
    for item in report.passes:
        time: Any = "no timer" if item.gpu_ms is None else f"{item.gpu_ms:.3f} ms"
        groups = " x ".join(str(n) for n in item.workgroups)
        table.add_row(item.name, groups, f"{item.threads_launched:,}", f"{item.threads_idle:,}", time)
    console = Console()
    console.print(Text(f"{src_count:,} src -> {done.total:,} dst by {report.strategy} on {report.device}{note}"))
    console.print(table)
    total = "no timer" if report.gpu_ms is None else f"{report.gpu_ms:.3f} ms"
    console.print(Text(f"GPU {total}, wall {report.wall_ms:.3f} ms, scratch {report.scratch_bytes:,} bytes"))
