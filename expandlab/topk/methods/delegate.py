"""Delegates: the best score of every piece says which pieces to read again.

Wins where k is small beside n: one read of all scores without any atomics, then a bound from a few thousand numbers,
and only the pieces that reach it are read again, an eighth of the scores or less. Loses where the k best lie together
(scores in ascending order: every picked piece is full of them) or many scores tie with the bound: what passes then
does not fit its buffer, and the digit rounds of `radix_select` read the scores once more. For k near n every piece is
read.
Source: A. Gaihre and others, "Dr. Top-k: Delegate-Centric Top-k on GPUs" (2021).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.topk.keys import split
from expandlab.topk.method import (
    BOUND,
    COUNT_FOUND,
    COUNT_PICKED,
    WORKGROUP,
    Method,
    Selection,
    Sizes,
    every_item,
    items_of,
    write_pairs,
)
from expandlab.topk.radix import add_last, add_rounds, rounds_of

# shaders/topk/delegate/pieces.wgsl has the same and says why.
TEAM, FEWEST, FOR_EACH = 32, 4096, 8
# Teams are short of registers before the device is short of workgroups.
_GROUPS = 4096
_FEW_GROUPS = 256


def passes(p: Selection) -> None:
    """reset -> maxima -> bound -> again -> the digit rounds, mostly idle -> collect -> the last step."""
    p.reset(histograms=rounds_of(p.sizes))
    pieces = most_pieces(p.sizes)
    most = _FEW_GROUPS if p.sizes.software else _GROUPS
    p.words("best", pieces)
    p.words("picked", pieces)
    p.words("kept", 2 * p.sizes.kept_room)
    p.add(
        "maxima", groups=min(most, -(-pieces * TEAM // WORKGROUP)), useful=lambda n: n, twin=_maxima,
        overwrites=("best",),
    )  # fmt: skip
    p.add("bound", groups=1, useful=lambda n: WORKGROUP, twin=_bound, overwrites=("picked",))
    p.add(
        "again", groups=p.sizes.readers, useful=lambda n: n, twin=_again, overwrites=("kept",),
        rename={"gathered": "kept"},
    )  # fmt: skip
    add_rounds(p, found=True)
    add_last(p)


def length_of(quads: int, k: int) -> int:
    """Quads of a piece."""
    length = TEAM
    while 2 * length <= quads // max(FEWEST, FOR_EACH * min(k, 1 << 24)):
        length *= 2
    return length


def most_pieces(sizes: Sizes) -> int:
    """Room for the pieces of any number of scores up to `max_n`."""
    return min(-(-sizes.quads // TEAM), 2 * max(FEWEST, FOR_EACH * sizes.k) + 1)


def _length(b: Any) -> int:
    """Scores of a piece."""
    each = 4 * b.sizes.form.per_word
    return each * length_of(-(-int(b.params[0]) // each), b.sizes.k)


def _maxima(b: Any) -> None:
    length = _length(b)
    pieces = -(-int(b.params[0]) // length)
    keys = split(every_item(b, pieces * length))[0]
    b.best[:pieces] = keys.reshape(-1, length).min(axis=1)
    b.log("maxima", keys=b.best[:pieces].copy(), length=length)


def _bound(b: Any) -> None:
    pieces = -(-int(b.params[0]) // _length(b))
    best = b.best[:pieces]
    limit = np.uint32(0xFFFFFFFF) if pieces < b.sizes.k else np.partition(best, b.sizes.k - 1)[b.sizes.k - 1]
    limit = min(limit, b.params[1])
    picked = np.flatnonzero(best <= limit)
    b.work[BOUND], b.work[COUNT_PICKED] = limit, len(picked)
    b.picked[: len(picked)] = picked
    b.log("bound", key=int(limit), picked=picked)


def _again(b: Any) -> None:
    items = items_of(b)
    keys, indices = split(items)
    picked = np.isin(indices // _length(b), b.picked[: b.work[COUNT_PICKED]])
    found = items[picked & (keys <= b.work[BOUND])]
    b.work[COUNT_FOUND] = len(found)
    write_pairs(b.gathered, found)
    b.log("survivors", count=len(found), indices=split(found)[1])


METHOD = Method(
    name="delegate",
    title="Delegates",
    solution=None,
    summary="The best of every piece gives a bound; only pieces that reach it are read again. The fastest for small k.",
    passes=passes,
)
