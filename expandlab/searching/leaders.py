"""The k best picks so far, with numbers of any size."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import numpy as np

from expandlab.topk.keys import keys_of

# What every score is before: no bound yet. Not 0, which is a score like any other.
NO_BOUND = (0xFFFFFFFF, 0xFFFFFFFF)
_LARGEST_PLACE = 0xFFFFFFFF


class Leaders:
    """At most k items (key, number, bits of the score), best first. Several threads may add to it."""

    def __init__(self, k: int, items: Iterable[tuple[int, int, int]] = ()):
        self.k = k
        self._lock = threading.Lock()
        self._items: list[tuple[int, int, int]] = []
        self.merge(items)

    def add(self, bits: np.ndarray, places: np.ndarray, base: int) -> None:
        """Add scores, as bits, of picks `base + place`; those that are there already are not added twice."""
        keys = keys_of(np.ascontiguousarray(bits).view(np.float32), True)
        self.merge(
            (int(key), base + int(place), int(word)) for key, place, word in zip(keys, places, bits, strict=True)
        )

    def merge(self, items: Iterable[tuple[int, int, int]]) -> None:
        """Add what another search has found; items that are there already are not added twice."""
        with self._lock:
            # By number: a pick that a second device scored again may have another last bit there.
            found: dict[int, tuple[int, int, int]] = {}
            for item in sorted({tuple(item) for item in items}.union(self._items)):
                found.setdefault(item[1], item)
            self._items = list(found.values())[: self.k]

    def bound(self, base: int) -> tuple[int, int]:
        """The pair (key, place in a pass from `base` on) before which a score has to be to matter."""
        with self._lock:
            if len(self._items) < self.k:
                return NO_BOUND
            key, number, _ = self._items[-1]
        return key, min(max(0, number - base), _LARGEST_PLACE)

    @property
    def items(self) -> list[tuple[int, int, int]]:
        """(key, number, bits), best first."""
        with self._lock:
            return list(self._items)

    def scores(self) -> np.ndarray:
        """The scores, float32, best first."""
        return np.array([bits for _, _, bits in self.items], np.uint32).view(np.float32)

    def numbers(self) -> np.ndarray:
        """The numbers of the picks, best first: uint64, or Python integers in an object array where they do not fit."""
        numbers = [number for _, number, _ in self.items]
        if any(number >= 2**64 for number in numbers):
            found = np.empty(len(numbers), object)
            found[:] = numbers
            return found
        return np.array(numbers, np.uint64)
