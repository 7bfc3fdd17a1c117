"""The best items of several runs, put together on the host."""

from __future__ import annotations

from copy import copy

import numpy as np

from expandlab.topk.keys import keys_of


class Best:
    """The k best items so far, with 64-bit indices: at most k, best first.

    Of equal score the lower index comes first, and of equal score and index the one that was added earlier.
    """

    def __init__(self, k: int, dtype: np.dtype, largest: bool):
        self.k = k
        self.largest = largest
        self.values = np.zeros(0, dtype)
        self.keys = np.zeros(0, np.uint32)
        self.indices = np.zeros(0, np.uint64)

    def copy(self) -> Best:
        """The same items, to which more may be added apart."""
        # Adding makes new arrays.
        return copy(self)

    def add(self, values: np.ndarray, indices: np.ndarray, base: int) -> None:
        """Add items with indices `base + i`."""
        values = np.concatenate([self.values, values])
        keys = np.concatenate([self.keys, keys_of(values[len(self.keys) :], self.largest)])
        indices = np.concatenate([self.indices, indices.astype(np.uint64) + np.uint64(base)])
        # Stable, so that what was there stays before what is equal to it.
        order = np.lexsort((indices, keys))[: self.k]
        self.values, self.keys, self.indices = values[order], keys[order], indices[order]

    def bound(self, base: int) -> tuple[int, int]:
        """The pair (key, index) before which an item of a run from `base` on has to be to matter.

        While there are fewer than k, every item does.
        """
        if len(self.keys) < self.k:
            return 0xFFFFFFFF, 0xFFFFFFFF
        key, index = int(self.keys[-1]), int(self.indices[-1])
        return key, min(max(0, index - base), 0xFFFFFFFF)
