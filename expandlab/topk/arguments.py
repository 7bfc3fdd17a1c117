"""Checks of the arguments that the public calls share, and the choice of a method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import UnsupportedError
from expandlab.expansion.arguments import true_or_false
from expandlab.topk.keys import Format, format_of

if TYPE_CHECKING:
    from expandlab.gpu import Device
    from expandlab.topk.method import Method

# Fewer scores than this are read again faster than a bound is found.
_FEW = 2**16
# With more of them the bound of the delegates comes from too many pieces for one workgroup.
_DELEGATED = 4096
# Pieces have at least 128 scores, and a bound from fewer than four of them for each of the k lets too much pass.
_SHARE = 512


def check_scores(values: Any) -> tuple[np.ndarray, Format]:
    """`values` as a contiguous array of native byte order, and its format.

    Raises TypeError for a dtype that is not selected from, ValueError for anything but one row, and for masked scores.
    """
    if np.ma.is_masked(values):
        raise ValueError("values: some are masked; give values.filled(NUMBER), or values.compressed() without them")
    array = np.asarray(values)
    form = format_of(array.dtype)
    if array.ndim != 1:
        raise ValueError(f"values: {array.ndim} dimensions, shape {array.shape}; give one row of scores")
    if len(array) >= 2**32:
        raise ValueError(f"values: {len(array):,} scores, and indices have 32 bits; push them into a TopKStream")
    return np.ascontiguousarray(array, form.dtype), form


def whole(name: str, value: Any, low: int = 0) -> int:
    """`value` as an int of at least `low`. TypeError for what is not a whole number, ValueError for a smaller one."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}={value!r}: give a whole number")
    if value < low:
        raise ValueError(f"{name}={value}: give {low} or more")
    return int(value)


def check_k(k: Any, n: int, what: str = "values has", items: str = "scores") -> int:
    """`k` as an int from 0 to n, the number of `items` that there are."""
    k = whole("k", k)
    if k > n == 0:
        raise ValueError(f"k={k:,}: {what} no {items}, so only k=0 can be had")
    if k > n:
        raise ValueError(f"k={k:,}: {what} {n:,} {items if n > 1 else items[:-1]}; give k from 0 to {n}")
    return k


def check_largest(largest: Any) -> bool:
    """`largest` as a bool."""
    return true_or_false("largest", largest)


def pick_method(name: str, n: int, k: int, device: Device) -> Method:
    """The method called `name`, checked against its caps and the device's features; `"auto"` is one that runs."""
    from expandlab.topk.methods import top_k_methods

    known = top_k_methods()
    if name == "auto":
        return known[preferred(n, k, device)]
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"method={name!r}: use 'auto' or one of {', '.join(known)}")
    obstacle = _obstacle(known[name], n, k, device)
    if obstacle:
        raise UnsupportedError(f"method={name!r}: {obstacle}. Nearest one that runs: {preferred(n, k, device)!r}")
    return known[name]


def preferred(n: int, k: int, device: Device) -> str:
    """What `"auto"` runs: a method that needs no feature and caps nothing."""
    if 4 * k > n > 2**13:
        return "sort_radix"
    if n >= _FEW and k <= _DELEGATED and _SHARE * k <= n and not device.is_reference:
        return "delegate"
    return "radix_select"


def _obstacle(method: Method, n: int, k: int, device: Device) -> str | None:
    missing = [feature for feature in method.needs if feature not in device.features]
    if missing and not device.is_reference:
        return f"{device.info.name} lacks {', '.join(missing)}"
    if method.max_k is not None and k > method.max_k:
        return f"it selects at most max_k={method.max_k:,}, and k={k:,}"
    if method.max_src is not None and n > method.max_src:
        return f"it takes at most {method.max_src:,} scores, and there are {n:,}"
    return None
