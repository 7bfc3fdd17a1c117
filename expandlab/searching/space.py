"""Mixed-radix spaces: numbers of picks, their digits, and the parts still to be searched. Exact at any size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

# A slot's choices are numbered in 32 bits.
LARGEST_SLOT = 2**32 - 1
MOST_SLOTS = 64


def check_space(space: Any) -> tuple[int, ...]:
    """`space` as a tuple of ints. Raises ValueError or TypeError naming it."""
    if isinstance(space, (str, bytes)) or not isinstance(space, (Sequence, np.ndarray)):
        raise TypeError(f"space={space!r}: give the number of choices of each slot, as a list")
    if not 1 <= len(space) <= MOST_SLOTS:
        raise ValueError(f"space: {len(space)} slots; give 1 to {MOST_SLOTS}")
    for slot, size in enumerate(space):
        if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)):
            raise TypeError(f"space[{slot}]={size!r}: give a whole number")
        if not 0 <= size <= LARGEST_SLOT:
            raise ValueError(f"space[{slot}]={size}: a slot has 0 to {LARGEST_SLOT:,} choices")
    return tuple(int(size) for size in space)


def product_of(space: Sequence[int]) -> int:
    """How many picks there are."""
    return math.prod(space)


def digits_of(index: int, space: Sequence[int]) -> list[int]:
    """The choice of every slot of pick `index`; the last slot varies fastest, as in itertools.product."""
    digits = []
    for size in reversed(space):
        index, digit = divmod(index, size)
        digits.append(digit)
    return digits[::-1]


def parts_of(total: int, done: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What of 0 .. total is not in `done`, ranges with their ends excluded."""
    parts, at = [], 0
    for begin, end in sorted(done):
        if begin > at:
            parts.append((at, begin))
        at = max(at, end)
    if at < total:
        parts.append((at, total))
    return parts


def joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same ranges, those that touch put together."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found
