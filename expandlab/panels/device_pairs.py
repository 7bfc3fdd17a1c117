"""Several devices for a panel: what a menu offers, and the devices opened for it."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from expandlab.gpu import BROWSER, Device, open_device, resolve
from expandlab.panels.device_menu import browser_label, device_tokens

_opened: dict[tuple[str, int], Device] = {}
_lock = threading.Lock()


def pair_options(*, single: bool = False) -> list[tuple[str, tuple[str, ...]]]:
    """(text, tokens) of a menu: each device twice, and each two of them; `single`: each alone in front.

    The page's GPU is listed alone, not among several: passes of several devices wait for each other, and a page does
    one thing after the other.
    """
    rows = [(row.name, token) for row, token in device_tokens()]
    alone = [*((name, (token,)) for name, token in rows), (browser_label(), (BROWSER,))] if single else []
    gpus = [row for row in rows if row[1] != "reference"] or rows
    twice = [(f"{name}, opened twice", (token, token)) for name, token in rows]
    pairs = [(f"{a} and {b}", (one, two)) for (a, one), (b, two) in itertools.combinations(gpus, 2)]
    return [*alone, *twice, *pairs]


def open_all(tokens: tuple[str, ...], count: int) -> list[Device]:
    """`count` devices of their own, by the tokens in turn. Each is opened once and kept. Raises DeviceError."""
    found, seen = [], dict.fromkeys(tokens, 0)
    for token, _ in zip(itertools.cycle(tokens), range(count), strict=False):
        number = seen[token]
        seen[token] += 1
        with _lock:
            key = (token, number)
            if key not in _opened or is_lost(_opened[key]):
                _opened[key] = resolve(token) if number == 0 else open_device(token)
            found.append(_opened[key])
    return found


def is_lost(device: Any) -> bool:
    """Whether a device takes no more work."""
    from expandlab.errors import DeviceError

    try:
        device.wait()
    except DeviceError:
        return True
    return False
