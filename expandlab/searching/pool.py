"""The pool that loadouts are made of: items by slot, their worth and sets, and what is allowed to go together.

`allowed` is the definition: which loadouts a frame graph has to find, one by one, in order of their numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab.searching.space import check_space

NONE = 0xFFFFFFFF
# Words of the frame's task in front of the pool: first and end of the partial loadouts of each device.
TASK = 16
MOST_DEVICES = 4
MOST_SLOTS = 12


@dataclass(frozen=True, eq=False)
class Pool:
    """Items by slot, in the order in which loadouts are numbered: the last slot varies fastest.

    sizes: items of each slot. leading: so many slots make a partial loadout, the rest is what it spawns.
    worth: float32, one for each item, slot by slot; an item whose worth is below its slot's `least` is culled.
    sets: uint32 set of each item, or None. matches: {slot: an earlier leading slot whose item's set it must have}.
    score: WGSL that defines `fn score(pick: array<u32, D>) -> f32`, as of `expandlab.search`; buffers: its arrays.
    score_twin: the same in NumPy, (picks,) -> float32, for the reference device; None = GPU only.

    Raises ValueError and TypeError naming the argument.
    """

    sizes: Sequence[int]
    leading: int
    worth: np.ndarray
    score: str
    sets: np.ndarray | None = None
    least: Sequence[float] = ()
    matches: Mapping[int, int] = field(default_factory=dict)
    buffers: Mapping[str, Any] = field(default_factory=dict)
    score_twin: Any = None

    def __post_init__(self) -> None:
        sizes = check_space(self.sizes)
        object.__setattr__(self, "sizes", sizes)
        if not 2 <= len(sizes) <= MOST_SLOTS:
            raise ValueError(f"sizes: {len(sizes)} slots; a loadout here has 2 to {MOST_SLOTS}")
        if isinstance(self.leading, bool) or not isinstance(self.leading, int) or not 1 <= self.leading < len(sizes):
            raise ValueError(
                f"leading={self.leading!r}: give how many slots a partial loadout has, 1 to {len(sizes) - 1}"
            )
        for what, part in (("partial loadouts", sizes[: self.leading]), ("what one spawns", sizes[self.leading :])):
            if math.prod(part) >= 2**32:
                raise ValueError(f"sizes: {what}: {math.prod(part):,} do not fit 32 bits; take fewer slots or items")
        items = sum(sizes)
        sets = np.zeros(items, np.uint32) if self.sets is None else np.asarray(self.sets)
        worth = np.asarray(self.worth, np.float32)
        least = np.full(len(sizes), -np.inf, np.float32) if len(self.least) == 0 else np.asarray(self.least, np.float32)
        for what, array, count in (("worth", worth, items), ("sets", sets, items), ("least", least, len(sizes))):
            if array.shape != (count,):
                raise ValueError(f"{what}: shape {array.shape}; give {count} numbers")
        if items and not (np.all(sets >= 0) and np.all(sets < 4096)):
            raise ValueError("sets: number them from 0, below 4096")
        for slot, other in self.matches.items():
            if not (0 <= other < min(slot, self.leading) and slot < len(sizes)):
                raise ValueError(f"matches: slot {slot} cannot match slot {other}; it must be an earlier, leading one")
        # WGSL may assume that infinity does not exist.
        object.__setattr__(self, "least", np.maximum(least, np.float32(-3.4e38)))
        object.__setattr__(self, "worth", worth)
        object.__setattr__(self, "sets", sets.astype(np.uint32))

    @property
    def set_count(self) -> int:
        """One more than the largest set's number."""
        return int(self.sets.max()) + 1 if len(self.sets) else 1

    @property
    def firsts(self) -> np.ndarray:
        """The place of each slot's first item among all."""
        return np.cumsum([0, *self.sizes[:-1]])

    def kept(self, slot: int) -> np.ndarray:
        """The items of a slot that are not culled."""
        first = int(self.firsts[slot])
        return np.flatnonzero(self.worth[first : first + self.sizes[slot]] >= self.least[slot])

    def words(self, ranges: Sequence[tuple[int, int]]) -> np.ndarray:
        """The buffer `pool` of the shaders; ranges: (first, end) partial loadouts of each device."""
        task = np.zeros(TASK, np.uint32)
        task[: 2 * len(ranges)] = np.ravel(ranges)
        table = [
            [int(self.firsts[slot]), size, self.matches.get(slot, NONE), int(self.least[slot].view(np.uint32))]
            for slot, size in enumerate(self.sizes)
        ]
        return np.concatenate([task, np.ravel(table).astype(np.uint32), self.sets, self.worth.view(np.uint32)])

    def allowed(self) -> Iterator[tuple[int, ...]]:
        """Every loadout that is looked for, as the items of its slots, in order of the numbers."""
        for pick in itertools.product(*(self.kept(slot).tolist() for slot in range(len(self.sizes)))):
            mine = [self.sets[first + item] for first, item in zip(self.firsts, pick, strict=True)]
            if all(mine[slot] == mine[other] for slot, other in self.matches.items()):
                yield pick

    def number(self, pick: Sequence[int]) -> int:
        """The number of a loadout among all of the pool, culled ones too."""
        number = 0
        for size, item in zip(self.sizes, pick, strict=True):
            number = number * size + int(item)
        return number
