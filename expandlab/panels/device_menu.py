"""The menu of devices that panels share: the kernel's, and the GPU of the page that shows the panel.

A panel puts `device_menu(...)` among its controls and `browser_device()` among its lines, which shows there what goes
on in the page and what is wrong. The menu's value goes to any call as `device=`, on a thread that is not the cell's.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import ipywidgets as widgets

from expandlab.gpu import BROWSER, devices
from expandlab.gpu.adapters import DeviceInfo
from expandlab.panels.browser import browser_device
from expandlab.panels.parts import labelled


def device_tokens() -> list[tuple[DeviceInfo, str]]:
    """The kernel's devices with the text that names each in settings: its name, or its row where several share one."""
    rows = list(devices())
    names = [row.name for row in rows]
    return [(row, row.name if names.count(row.name) == 1 else str(row.index)) for row in rows]


def device_options(tokens: list[tuple[DeviceInfo, str]] | None = None) -> list[tuple[str, str]]:
    """(text, token) of every device, the page's last."""
    found = device_tokens() if tokens is None else tokens
    return [*((row.label, token) for row, token in found), (browser_label(), BROWSER)]


def browser_label() -> str:
    """What the page's GPU is called in a menu."""
    link = browser_device().link
    if link.fault:
        return f"{BROWSER}: no WebGPU"
    return browser_device().info.label if link.adapter else f"{BROWSER}: has not answered yet"


def device_menu(
    tip: str, tokens: list[tuple[DeviceInfo, str]] | None = None, *, on_page_change: Callable[[], None] | None = None
) -> widgets.Dropdown:
    """A menu of devices; its value is what `device=` takes. The page's entry follows what the page says.

    tip: the explanation. tokens: the kernel's devices, where they are known already. on_page_change: a method, called
    when a page has come or gone, on the thread that hears it.
    """
    known = device_tokens() if tokens is None else tokens
    menu = labelled(widgets.Dropdown, "device", tip, options=device_options(known))
    act = weakref.WeakMethod(on_page_change) if hasattr(on_page_change, "__self__") else None

    def changed() -> None:
        relabel(menu, device_options(known))
        if act is not None and (tell := act()) is not None:
            tell()

    on_page(menu, changed)
    return menu


def on_page(widget: widgets.Widget, act: Callable[[], None]) -> None:
    """Have `act` called when a page has come or gone, on the thread that hears it, until `widget` is closed."""
    link = browser_device().link

    def changed() -> None:
        if widget.comm is None:
            with suppress(ValueError):
                link.on_page.remove(changed)
        else:
            act()

    link.on_page.append(changed)


def relabel(menu: widgets.Dropdown, wanted: list[tuple[str, Any]]) -> None:
    """Name the entries anew; what is chosen stays, and nobody is told of a change that is none."""
    if list(menu.options) == wanted:
        return
    # Assigning `options` would choose the first entry; here the entries stay and only a text changes.
    menu._options_full = tuple(wanted)
    menu._options_values = tuple(token for _, token in wanted)
    menu._trait_values["options"] = tuple(wanted)
    menu.set_trait("_options_labels", tuple(text for text, _ in wanted))
    if menu.index is not None:
        menu.label = wanted[menu.index][0]


def of_page(token: Any) -> bool:
    """Whether a device's token means the page's GPU."""
    return token == BROWSER
