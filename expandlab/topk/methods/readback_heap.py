"""Readback and heap: all scores go back to the host, which keeps the k best in a heap.

Wins nowhere but in simplicity; it is what the source document's program did before. Loses the time of the bus: n
words come back instead of 2k, and one CPU thread looks at all of them. Its last step is the host's, so it cannot be
recorded.
Source: "The problem" of the source document.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from expandlab.topk.keys import keys_of, scores_of
from expandlab.topk.method import READERS, WORKGROUP, Method, Selection, Sizes

# Scores that the host compares with the heap's worst at once.
_BLOCK = 1 << 14


def passes(p: Selection) -> None:
    """keys, all of them an output."""
    p.graph.buffer("keys", 4 * p.sizes.max_n)
    p.graph.output("keys")
    p.add(
        "keys", entry="keys_out", groups=min(8 * READERS, -(-p.sizes.max_n // WORKGROUP)), useful=lambda n: n,
        twin=_keys, overwrites=("keys",),
    )  # fmt: skip


def finish(arrays: dict[str, np.ndarray], n: int, sizes: Sizes, bound: tuple[int, int]) -> np.ndarray:
    """The indices of the k best, best first, by a heap with the worst of them on top."""
    keys = arrays["keys"][:n]
    # heapq keeps the smallest on top, so items are stored negated.
    heap: list[tuple[int, int]] = []
    for first in range(0, n, _BLOCK):
        block = keys[first : first + _BLOCK]
        worst = -heap[0][0] if len(heap) == sizes.k else 0xFFFFFFFF
        for i in np.flatnonzero(block <= worst).tolist():
            item = (-int(block[i]), -(first + i))
            if (-item[0], -item[1]) >= bound:
                continue
            if len(heap) < sizes.k:
                heapq.heappush(heap, item)
            elif item > heap[0]:
                heapq.heapreplace(heap, item)
    return np.array([-index for _, index in sorted(heap, reverse=True)], np.uint32)


def _keys(b: Any) -> None:
    n = int(b.params[0])
    b.keys[:n] = keys_of(scores_of(b.values, b.sizes.form, n), b.sizes.largest)


METHOD = Method(
    name="readback_heap",
    title="Readback and heap",
    solution="the problem",
    summary="Brings every score back and keeps the k best in a heap on the host. What there is to be better than.",
    passes=passes,
    finish=finish,
)
