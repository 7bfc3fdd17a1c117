"""The machine panel: every adapter, what it can do, and what to install where there is none."""

from __future__ import annotations

from html import escape

import ipywidgets as widgets

from expandlab.errors import ExpandlabError
from expandlab.gpu import BROWSER, devices, resolve
from expandlab.gpu.adapters import DeviceInfo
from expandlab.gpu.drivers import loader_library
from expandlab.panels.browser import browser_device
from expandlab.panels.device_menu import on_page
from expandlab.panels.parts import explain, table

_HEAD = ("", "name", "kind", "driver", "subgroup", "timer", "features that matter", "limits that matter", "state")
_FEATURES = {
    "subgroups": "subgroups",
    "timestamp-query": "timestamps",
    "shader-int64": "64-bit integers",
    "shader-int64-atomic-all-ops": "64-bit atomics",
    "shader-f16": "f16",
    "multi-draw-indirect-count": "indirect count",
}


def machine() -> widgets.VBox:
    """A table of this machine's devices: kind, driver, features, limits, measured subgroup size and timer.

    A device that cannot be opened says why in its row. Where there is no adapter, what to install stands below. The
    last row is the GPU of the page that shows the panel, as soon as the page has answered.
    """
    rows = devices()
    body = [_row(info) for info in rows]
    parts = [_Table(body)]
    if len(rows) == 1:
        parts.append(widgets.HTML(f"<div role='status' class='xl-remark'>{escape(_advice())}</div>"))
    panel = widgets.VBox([_styles(), *parts])
    panel.add_class("xl-panel")
    return panel


class _Table(widgets.HTML):
    """The table, whose last row follows what the page says."""

    def __init__(self, body: list[list[str]]):
        super().__init__()
        self._body = body
        self._draw()
        on_page(self, self._draw)

    def _draw(self) -> None:
        self.value = f"<div class='xl-machine'>{table(_HEAD, [*self._body, _page_row()])}</div>"


def _page_row() -> list[str]:
    """The page's GPU."""
    link = browser_device().link
    if not link.adapter:
        return ["", BROWSER, "browser", "", "?", "?", "?", "?", link.fault or "has not answered yet"]
    info = browser_device().info
    has = [text for name, text in _FEATURES.items() if name in info.features]
    step = f", in steps of {link.step_ns:g} ns" if link.step_ns else ", coarse"
    timer = f"page{step}" if "timestamp-query" in info.features else "wall clock"
    return [
        "", info.name, info.kind + " (software)" * info.is_software, info.driver,
        "counted at the first run" if "subgroups" in info.features else "none", timer, ", ".join(has) or "none",
        _limits(info), "works" if link.here else "its page is gone",
    ]  # fmt: skip


def _limits(info: DeviceInfo) -> str:
    limits = info.limits
    binding = limits.get("max_storage_buffer_binding_size", 0)
    shared = limits.get("max_compute_workgroup_storage_size", 0)
    return f"binding {_bytes(binding)}, workgroup memory {_bytes(shared)}"


def _row(info: DeviceInfo) -> list[str]:
    has = [text for name, text in _FEATURES.items() if name in info.features]
    subgroup, timer, state = _measured(info)
    return [
        str(info.index), info.name, info.kind + (" (software)" if info.kind == "cpu" else ""), info.driver,
        subgroup, timer, ", ".join(has) or "none", _limits(info), state,
    ]  # fmt: skip


def _measured(info: DeviceInfo) -> tuple[str, str, str]:
    """(subgroup size, timer, state) of an opened device."""
    try:
        device = resolve(info.index)
        lanes = device.subgroup_size
        period = device.timestamp_period_ns
    except (ExpandlabError, RuntimeError, OSError) as error:
        return "?", "?", f"does not open: {explain(error)}"
    if device.is_reference:
        return f"{lanes} (model)", "wall clock", "works, without a GPU"
    return str(lanes or "none"), f"{period:g} ns" if period else "wall clock", "works"


def _bytes(count: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


def _advice() -> str:
    if loader_library() is None:
        return (
            "No Vulkan loader was found, so only the NumPy reference is there. On Debian or Ubuntu: "
            "apt-get install libvulkan1 mesa-vulkan-drivers; on Windows and macOS the graphics driver brings it."
        )
    return (
        "No adapter was found, so only the NumPy reference is there. Install your GPU's driver, or a software one: "
        "on Debian or Ubuntu, apt-get install mesa-vulkan-drivers. `expandlab doctor` tells more."
    )


def _styles() -> widgets.HTML:
    from expandlab.panels.desk import style

    return widgets.HTML(f"<style>{style()}</style>", layout=widgets.Layout(display="none"))
