"""Readback and heap: all scores go back to the host, which keeps the k best in a heap.

Wins nowhere but in simplicity; it is what the source document's program did before. Loses the time of the bus: n
words come back instead of 2k, and one CPU thread looks at all of them. Its last step is the host's, so it cannot be
recorded.
Source: "The problem" of the source document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from expandlab.topk.heap import blocks_of, keep_best
from expandlab.topk.keys import keys_of, pairs_of, scores_of, split
from expandlab.topk.method import READERS, WORKGROUP, Method, Selection, Sizes

# Scores that the host compares with the heap's worst at once.
_BLOCK = 1 << 14
# Times that a trace tells of the heap.
_NOTED = 16


def passes(p: Selection) -> None:
    """keys, all of them an output."""
    p.graph.buffer("keys", 4 * p.sizes.max_n)
    p.graph.output("keys")
    p.add(
        "keys", entry="keys_out", groups=min(8 * READERS, -(-p.sizes.max_n // WORKGROUP)), useful=lambda n: n,
        twin=_keys, overwrites=("keys",),
    )  # fmt: skip


def finish(
    arrays: dict[str, np.ndarray], n: int, sizes: Sizes, bound: tuple[int, int],
    log: Callable[..., None] | None = None,
) -> np.ndarray:  # fmt: skip
    """The indices of the k best, best first, by a heap with the worst of them on top. log: as of `keep_best`."""
    keys = arrays["keys"][:n]
    limit = np.uint64(bound[0] << 32 | bound[1])

    def blocks() -> Iterator[tuple[int, np.ndarray]]:
        for first, end in blocks_of(n, _BLOCK, _NOTED if log else None):
            pairs = pairs_of(keys[first:end], np.arange(first, end, dtype=np.uint64))
            yield end - first, pairs[pairs < limit]

    return split(keep_best(blocks(), sizes.k, log))[1]


def _keys(b: Any) -> None:
    n = int(b.params[0])
    b.keys[:n] = keys_of(scores_of(b.values, b.sizes.form, n), b.sizes.largest)
    b.log("readback", words=n)


METHOD = Method(
    name="readback_heap",
    title="Readback and heap",
    solution="the problem",
    summary="Brings every score back and keeps the k best in a heap on the host. What there is to be better than.",
    passes=passes,
    finish=finish,
)
