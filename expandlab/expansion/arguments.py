"""Checks of the arguments that the public calls share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import UnsupportedError

if TYPE_CHECKING:
    from expandlab.expansion.strategy import Strategy
    from expandlab.gpu import Device


def power_of_two(name: str, value: Any, low: int, high: int) -> int:
    """`value` as an int, a power of two from low to high; ValueError naming the argument otherwise."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not low <= value <= high or value & (value - 1):
        allowed = ", ".join(str(1 << bit) for bit in range(low.bit_length() - 1, high.bit_length()))
        raise ValueError(f"{name}={value!r}: use a power of two, one of {allowed}")
    return int(value)


def true_or_false(name: str, value: Any) -> bool:
    """`value` as a bool; TypeError naming the argument for anything else, because `"no"` would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}={value!r}: give True or False")
    return bool(value)


def pick_strategy(name: str, counts: np.ndarray, device: Device | None, *, body: bool = False) -> Strategy:
    """The strategy called `name`, checked against the counts' caps and the device's features.

    `"auto"` is one that runs: where the mapping is only written down (`body=False`), the usual winner on such a device.
    `device=None` asks for the model, which needs no features.
    """
    from expandlab.expansion.strategies import strategies

    known = strategies()
    if name == "auto":
        return known[_automatic(device, body)]
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"strategy={name!r}: use 'auto' or one of {', '.join(known)}")
    why_not = obstacle(known[name], counts, device)
    if why_not:
        raise UnsupportedError(f"strategy={name!r}: {why_not}. Nearest one that runs: {_ALWAYS!r}")
    return known[name]


def pick_prepared(name: str, max_src: int, max_dst: int, device: Device, *, body: bool = False) -> Strategy:
    """The strategy called `name` for counts that are not known yet, only their number and their sum at most."""
    if name == "auto" and 8 * max_src > device.limits["max_storage_buffer_binding_size"]:
        # Nothing of it is cut in chunks, and an entry of 8 bytes for each src would not fit.
        name = _ALWAYS
    chosen = pick_strategy(name, np.zeros(0, np.uint32), device, body=body)
    for what, asked, cap in (("max_src", max_src, chosen.max_src), ("max_dst", max_dst, chosen.max_dst)):
        if cap is not None and asked > cap:
            raise UnsupportedError(
                f"{what}={asked:,}: {chosen.name!r} takes at most {cap:,}. Nearest one that runs: {_ALWAYS!r}"
            )
    return chosen


def runs(name: str, counts: np.ndarray, device: Device) -> bool:
    """Whether the strategy takes these counts on the device."""
    from expandlab.expansion.strategies import strategies

    return obstacle(strategies()[name], counts, device) is None


# None of the three needs a feature or caps anything. `prefix_search` keeps least, and gives every item a thread of its
# own, which is what a body with much to do wants; the others win where the mapping is all that is asked for.
_ALWAYS = "prefix_search"


def _automatic(device: Device | None, body: bool) -> str:
    if body or device is None or device.is_reference:
        return _ALWAYS
    return "serial_merge" if device.info.kind == "cpu" else "tile_search"


def obstacle(strategy: Strategy, counts: np.ndarray, device: Device | None) -> str | None:
    """Why the strategy does not take these counts on the device, or None."""
    if device is None:
        return None
    if strategy.modelled:
        return "it is modelled only; `thread_map` shows it"
    missing = [feature for feature in strategy.needs if feature not in device.features]
    if missing and not device.is_reference:
        return f"{device.info.name} lacks {', '.join(missing)}"
    if strategy.max_src is not None and len(counts) > strategy.max_src:
        return f"it takes at most {strategy.max_src:,} src, and there are {len(counts):,}"
    total = int(counts.sum(dtype=np.uint64))
    if strategy.max_dst is not None and total > strategy.max_dst:
        return f"it takes at most {strategy.max_dst:,} dst items, and there are {total:,}"
    return strategy.refuses(counts)
