"""Sets of whole numbers kept as intervals, and the map from intervals to cells that hazards are read off."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

Interval = tuple[int, int]


class IntervalSet:
    """A set of numbers as disjoint intervals that do not touch; every change costs the intervals it meets."""

    def __init__(self) -> None:
        # low, high, low, high ... in rising order: an odd position is inside an interval.
        self._edges: list[int] = []

    def add(self, low: int, high: int) -> None:
        """Add low .. high, the end excluded."""
        if low < high:
            first, last = bisect_left(self._edges, low), bisect_right(self._edges, high)
            self._edges[first:last] = ([low] if first % 2 == 0 else []) + ([high] if last % 2 == 0 else [])

    def remove(self, low: int, high: int) -> None:
        """Remove low .. high, the end excluded."""
        if low < high:
            first, last = bisect_left(self._edges, low), bisect_right(self._edges, high)
            self._edges[first:last] = ([low] if first % 2 else []) + ([high] if last % 2 else [])

    def meets(self, low: int, high: int) -> bool:
        """Whether a number of low .. high is in the set."""
        if low >= high:
            return False
        first = bisect_right(self._edges, low)
        return first % 2 == 1 or (first < len(self._edges) and self._edges[first] < high)


class IntervalMap:
    """What is known about each number of 0 .. extent, in cells of equal knowledge."""

    def __init__(self, extent: int, initial: Any):
        self.starts = [0]
        self.cells = [initial]
        self._extent = extent

    def cut(self, low: int, high: int) -> tuple[int, int]:
        """Cut cells at `low` and `high`; returns the first cell between them and the one after the last."""
        return self._cut(low), self._cut(high)

    def spans(self, first: int, last: int) -> Iterator[tuple[int, int, Any]]:
        """(low, high, cell) of cells first .. last."""
        for place in range(first, last):
            high = self.starts[place + 1] if place + 1 < len(self.starts) else self._extent
            yield self.starts[place], high, self.cells[place]

    def replace(self, first: int, last: int, starts: list[int], cells: list[Any]) -> None:
        """Put other cells in the place of first .. last."""
        self.starts[first:last] = starts
        self.cells[first:last] = cells

    def _cut(self, at: int) -> int:
        if at >= self._extent:
            return len(self.starts)
        place = bisect_right(self.starts, at) - 1
        if self.starts[place] == at:
            return place
        self.starts.insert(place + 1, at)
        self.cells.insert(place + 1, self.cells[place])
        return place + 1


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The same numbers in as few intervals as possible, in rising order."""
    found: list[Interval] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1]:
            if high > found[-1][1]:
                found[-1] = (found[-1][0], high)
        elif low < high:
            found.append((low, high))
    return found
