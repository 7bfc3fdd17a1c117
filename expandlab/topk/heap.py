"""A heap of the k best with the worst of them on top, on the host: a method's last step, and a twin."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

import numpy as np


def keep_best(
    blocks: Iterable[tuple[int, np.ndarray]], k: int, log: Callable[..., None] | None = None
) -> np.ndarray:  # fmt: skip
    """The k smallest pairs, smallest first: uint64.

    blocks: (scores that a block stands for, its pairs that count), in the order of the scores. log: told after every
    block what is in the heap, as it lies: `seen` scores, `inserted` items so far, `indices`.
    """
    # heapq has the smallest on top, so pairs are stored negated.
    heap: list[int] = []
    seen = inserted = 0
    for count, pairs in blocks:
        seen += count
        if len(heap) == k:
            pairs = pairs[pairs < np.uint64(-heap[0])]
        for pair in pairs.tolist():
            if len(heap) < k:
                heapq.heappush(heap, -pair)
            elif -pair > heap[0]:
                heapq.heapreplace(heap, -pair)
            else:
                continue
            inserted += 1
        if log is not None:
            log(
                "heap", seen=seen, inserted=inserted, indices=np.array([-pair & 0xFFFFFFFF for pair in heap], np.uint32)
            )
    return np.array(sorted(-pair for pair in heap), np.uint64)


def blocks_of(count: int, most: int, parts: int | None = None) -> list[tuple[int, int]]:
    """(first, end) of the blocks of `count` scores: `most` in each, or so few that there are about `parts` of them."""
    each = most if parts is None else max(1, min(most, -(-count // parts)))
    return [(first, min(count, first + each)) for first in range(0, count, each)]
