"""What arguments of a graph have to be; each check returns the value or raises GraphError with the argument's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from expandlab.errors import GraphError


def span(what: str, value: Any, limit: int, unit: str) -> tuple[int, int]:
    """Two whole numbers within 0 .. limit, the end excluded."""
    try:
        low, high = value
        low, high = whole(what, low, 0), whole(what, high, 0)
    except (TypeError, ValueError):
        raise GraphError(f"{what}={value!r}; give two whole numbers, the end excluded") from None
    if not low <= high <= limit:
        raise GraphError(f"{what}={value!r} does not lie within 0 .. {limit} {unit}")
    return low, high


def text(what: str, value: Any) -> str:
    """`value` as a name."""
    if not isinstance(value, str) or not value:
        raise GraphError(f"{what}={short(value)}: give a name, as text")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise GraphError(f"{what}={value!r}: half of a surrogate pair is no character, and no file can hold it")
    return value


def flag(what: str, value: Any) -> bool:
    """`value` as true or false."""
    if not isinstance(value, (bool, np.bool_)):
        raise GraphError(f"{what}={short(value)}: give true or false")
    return bool(value)


def short(value: Any) -> str:
    """What stands for a value in an error, cut where it is long."""
    told = repr(value)
    return told if len(told) <= 60 else told[:57] + "..."


def names(what: str, value: Any) -> tuple[str, ...]:
    """One name, or a list of them."""
    if isinstance(value, str):
        return (value,)
    try:
        return tuple(text(what, name) for name in value)
    except TypeError:
        raise GraphError(f"{what}={value!r}: give names as a list") from None


def listed(what: str, value: Any, of: str) -> list[Any]:
    """The members of a list or of anything else that has some, texts and mappings aside."""
    if not isinstance(value, (str, bytes, Mapping)):
        try:
            return list(value)
        except TypeError:
            pass
    raise GraphError(f"{what}={short(value)}: give a list of {of}")


def whole(what: str, value: Any, least: int, most: int | None = None) -> int:
    """`value` as a whole number within the two bounds."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = value.__index__()
    except (AttributeError, TypeError):
        raise GraphError(f"{what}={value!r}: give a whole number") from None
    if number < least:
        raise GraphError(f"{what}={value!r}: give {least} or more")
    if most is not None and number > most:
        raise GraphError(f"{what}={value!r}: give {most:,} or less; no device has as much")
    return number
