"""The same work by NumPy on the host, timed by its clock: what there is without a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import DeviceError
from expandlab.measuring.contender import Runs, Sample
from expandlab.measuring.peers import Peer
from expandlab.measuring.verify import wrong_items

if TYPE_CHECKING:
    from expandlab.measuring.selections import Selections
    from expandlab.measuring.workloads import Workload


class _Numpy(Peer):
    """Times a function of the host."""

    def __init__(self, name: str, once: Callable[[], Any], right: Callable[[Any], bool]):
        self.name = f"numpy {name}"
        self._once, self._right = once, right

    def prepare(self) -> None:
        """Everything is there."""

    def check(self) -> str:
        """Compare with the definition."""
        if not self._right(self._once()):
            raise DeviceError(f"{self.name} gave a wrong result, so it is not timed")
        return "host"

    def most_runs(self) -> int:
        """Runs that one batch may have."""
        return 64

    def sample(self, runs: int) -> Sample:
        """`runs` runs after each other; the arrays of one are freed before the next."""
        start = time.perf_counter()
        for _ in range(runs):
            self._once()
        return Sample(None, (time.perf_counter() - start) * 1e3 / runs, ())

    def close(self) -> None:
        """Nothing is kept."""


def expansion_by_numpy(work: Workload) -> list[Runs]:
    """`numpy.repeat` and the local index in uint32: gathered by src, or from the starts repeated as well."""
    counts, total = work.values, work.total
    src = np.arange(len(counts), dtype=np.uint32)
    starts = (np.cumsum(counts, dtype=np.uint64) - counts).astype(np.uint32)

    def gather() -> tuple[np.ndarray, np.ndarray]:
        owner = np.repeat(src, counts)
        return owner, np.arange(total, dtype=np.uint32) - starts[owner]

    def offsets() -> tuple[np.ndarray, np.ndarray]:
        return np.repeat(src, counts), np.arange(total, dtype=np.uint32) - np.repeat(starts, counts)

    def right(found: tuple[np.ndarray, np.ndarray]) -> bool:
        return not wrong_items(counts, *found)

    return [_Numpy("gather", gather, right), _Numpy("offsets", offsets, right)]


def selection_by_numpy(work: Selections) -> list[Runs]:
    """`numpy.argpartition` and a sort of the k, on the keys: NumPy knows no largest, and its NaN stands elsewhere."""
    keys, k = work.keys, work.k

    def select() -> np.ndarray:
        some = np.argpartition(keys, k - 1)[:k]
        return some[np.argsort(keys[some])]

    def right(found: np.ndarray) -> bool:
        return np.array_equal(keys[found], np.sort(keys)[:k])

    return [_Numpy("argpartition", select, right)]
