"""Threshold and append: what reaches a bound goes to the end of a buffer.

Wins where a good bound is known before, as in a stream after its first pushes: one read of the scores, and little is
appended. Loses without one: the bound is then the k-th best of the first scores, at most 65 536 of them, and of n
scores about k * n / 65 536 pass. Where they do not fit the buffer (ascending scores: every one of them passes) the
digit rounds of `radix_select` start again from the scores.
Source: "Top-k selection" of the source document, the carried bound; filtering before select as in Faiss's GPU index.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.topk.keys import split
from expandlab.topk.method import (
    BOUND,
    COUNT_FOUND,
    WORKGROUP,
    Method,
    Selection,
    every_item,
    items_of,
    write_pairs,
)
from expandlab.topk.radix import add_last, add_rounds, rounds_of

# shaders/topk/threshold_append/head.wgsl has the same.
FEWEST, MOST = 4096, 65536


def passes(p: Selection) -> None:
    """reset -> head -> append -> the digit rounds over what was appended -> collect -> the last step."""
    p.reset(histograms=rounds_of(p.sizes))
    p.words("kept", 2 * p.sizes.kept_room)
    p.add("head", groups=1, useful=lambda n: WORKGROUP, twin=_head)
    p.add(
        "append", groups=p.sizes.readers, useful=lambda n: n, twin=_append, overwrites=("kept",),
        rename={"gathered": "kept"},
    )  # fmt: skip
    add_rounds(p, found=True)
    add_last(p)


def _head(b: Any) -> None:
    n = int(b.params[0])
    first = min(n, max(FEWEST, min(n // 16, MOST)))
    keys = split(every_item(b, n)[:first])[0]
    limit = np.uint32(0xFFFFFFFF) if first < b.sizes.k else np.partition(keys, b.sizes.k - 1)[b.sizes.k - 1]
    b.work[BOUND] = limit
    b.log("bound", key=int(limit), of=first)


def _append(b: Any) -> None:
    items = items_of(b)
    found = items[split(items)[0] <= b.work[BOUND]]
    b.work[COUNT_FOUND] = len(found)
    write_pairs(b.gathered, found)
    b.log("survivors", count=len(found), indices=split(found)[1])


METHOD = Method(
    name="threshold_append",
    title="Threshold and append",
    solution="top-k selection",
    summary="Appends what reaches a bound to a buffer, one atomic for a workgroup's tile, and selects from that.",
    passes=passes,
)
