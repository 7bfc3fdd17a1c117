"""What a setting may be: each check returns what is wrong with a value, or None."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

# Far more than a document of ours needs.
DEEPEST = 32
_MOST = sys.float_info.max
Check = Callable[[Any], str | None]


def _is_whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high


def whole(low: int, high: int, *, optional: bool = False) -> Check:
    """A whole number from low to high; None too where it is optional."""

    def check(value: Any) -> str | None:
        if (value is None and optional) or _is_whole(value, low, high):
            return None
        return f"use a whole number from {low} to {high}" + (" or null" if optional else "")

    return check


def one_of(names: Callable[[], list[Any]], *, optional: bool = False) -> Check:
    """One of the names, of their type; None too where it is optional."""

    def check(value: Any) -> str | None:
        allowed = names()
        if (value is None and optional) or (isinstance(value, type(allowed[0])) and value in allowed):
            return None
        return "use one of " + ", ".join(map(str, allowed)) + (" or null" if optional else "")

    return check


def some_of(names: Callable[[], list[str]], most: int) -> Check:
    """A list of names, one to `most`, each once."""

    def check(value: Any) -> str | None:
        allowed = names()
        listed = isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
        if listed and 0 < len(value) <= most and len(set(value)) == len(value) and set(value) <= set(allowed):
            return None
        return f"use a list of one to {most} of " + ", ".join(allowed) + ", each once"

    return check


def whole_numbers(high: int, most: int) -> Check:
    """A list of at most `most` whole numbers from 0 to high, or None."""

    def check(value: Any) -> str | None:
        if value is None:
            return None
        listed = isinstance(value, Sequence) and not isinstance(value, str) and len(value) <= most
        if listed and all(_is_whole(item, 0, high) for item in value):
            return None
        return f"use a list of at most {most} whole numbers from 0 to {high}, or null"

    return check


def number(low: float, high: float) -> Check:
    """A number from low to high."""

    def check(value: Any) -> str | None:
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        return None if plain and low <= value <= high else f"use a number from {low:g} to {high:g}"

    return check


def text(value: Any) -> str | None:
    """Text or None."""
    return None if value is None or isinstance(value, str) else "use text or null"


def flag(value: Any) -> str | None:
    """True or False."""
    return None if isinstance(value, bool) else "use true or false"


def mean(value: Any) -> str | None:
    """A mean of N."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if number and 0 <= value <= 2**32 - 1 else "use a number from 0 to 2^32 - 1"


def shape(value: Any) -> str | None:
    """Shape parameters of a distribution."""
    good = isinstance(value, Mapping) and all(
        isinstance(k, str) and isinstance(v, (int, float)) and not isinstance(v, bool) and abs(v) <= _MOST
        for k, v in value.items()
    )
    return None if good else 'use an object of numbers, such as {} or {"exponent": 1.5}'


def document(value: Any) -> str | None:
    """A JSON object or None. What stands in it is for its reader to judge."""
    if value is not None and not (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)):
        return "use a JSON object, or null"
    return None if within(value) else f"it is nested deeper than {DEEPEST} levels"


def within(value: Any, depth: int = DEEPEST) -> bool:
    """Whether lists and objects lie in each other at most `depth` deep: whatever copies or prints them recurs."""
    if not isinstance(value, (Mapping, list, tuple)):
        return True
    parts = value.values() if isinstance(value, Mapping) else value
    return depth > 0 and all(within(part, depth - 1) for part in parts)


def strategy_names() -> list[str]:
    """The names of all strategies."""
    from expandlab.expansion import strategies

    return list(strategies())
