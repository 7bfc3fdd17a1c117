"""Delegates: the best item of every piece says which pieces to read again.

Wins where k is small beside n: one read of all scores without any atomics, then a bound from a few thousand items, and
only the pieces that reach it are read again, an eighth of the scores or less. A piece takes every so-manieth quad, so
that ordered and equal scores are spread over the pieces as random ones are. Loses where so many items pass the bound
that they do not fit the list (scores with the period of the pieces): one workgroup then looks for a narrower bound.
For k near n every piece is read.
Source: A. Gaihre and others, "Dr. Top-k: Delegate-Centric Top-k on GPUs" (2021), with pieces of neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.topk.keys import NO_ITEM, pairs_of, split
from expandlab.topk.method import (
    BINS,
    BOUND,
    COUNT_FOUND,
    COUNT_LISTED,
    COUNT_PICKED,
    HISTOGRAMS,
    RANKED,
    WORKGROUP,
    Method,
    Selection,
    Sizes,
    bound_of,
    every_item,
    items_of,
    read_pairs,
    write_pairs,
)
from expandlab.topk.radix import add_last, add_rounds, rounds_of

# Pieces of a workgroup, in shaders/topk/delegate/pieces.wgsl.
LANES = 32
# Eight pieces for each result: most of them then hold none. No fewer than two workgroups for each part of a large GPU.
FOR_EACH, FEWEST_GROUPS = 8, 255
# From so many scores on the second look takes longer than a bound from twice as many pieces.
_MANY = 1 << 25
# Bins of a range of keys, and the last index, in shaders/topk/delegate/narrow.wgsl.
_NARROW, _LAST = 2048, 0xFFFFFFFF


def passes(p: Selection) -> None:
    """maxima -> bound -> again -> finish, mostly idle -> rank; with digit rounds for `finish` where k is large."""
    pieces = LANES * groups_of(p.sizes)
    finishes = _surely_kept(p.sizes, pieces) and p.sizes.list_room <= RANKED
    p.words("work", HISTOGRAMS + (0 if finishes else rounds_of(p.sizes) * BINS))
    p.words("best", 2 * pieces)
    p.words("picked", pieces)
    p.words("kept", 2 * p.sizes.kept_room)
    p.add(
        "maxima", groups=pieces // LANES, useful=lambda n: n, twin=_maxima, overwrites=("best", "work"),
    )  # fmt: skip
    p.add("bound", groups=1, useful=lambda n: WORKGROUP, twin=_bound, overwrites=("picked",))
    p.add(
        "again", groups=p.sizes.readers, useful=lambda n: n, twin=_again, overwrites=("kept",),
        rename={"gathered": "kept"},
    )  # fmt: skip
    if finishes:
        p.add("finish", groups=1, useful=lambda n: WORKGROUP, twin=_finish)
        add_last(p, "kept")
    else:
        add_rounds(p, found=True)
        add_last(p)


def _surely_kept(sizes: Sizes, pieces: int) -> bool:
    """Whether everything that can pass the bound fits `kept`, whatever the scores."""
    each = 4 * sizes.form.per_word
    of_a_piece = each * -(-sizes.quads // pieces)
    return pieces >= sizes.k and (sizes.k + _enough(sizes.k)) * of_a_piece <= sizes.kept_room


def _enough(k: int) -> int:
    """How many pieces may be picked beyond k, so that the bound need not be the k-th best of the pieces itself."""
    return max(32, k // 8)


def groups_of(sizes: Sizes) -> int:
    """Workgroups of the first pass: an odd number, so that no power of two is the period of the pieces."""
    fewest = FEWEST_GROUPS if sizes.max_n < _MANY else 2 * FEWEST_GROUPS
    wanted = max(fewest, (FOR_EACH * min(sizes.k, 1 << 24) // LANES - 1) | 1)
    return min(wanted, max(1, -(-sizes.quads // WORKGROUP)))


def _maxima(b: Any) -> None:
    b.work[:] = 0
    each = 4 * b.sizes.form.per_word
    pieces = len(b.best) // 2
    rows = -(-int(b.params[0]) // (each * pieces))
    items = every_item(b, max(1, rows) * pieces * each)
    best = items.reshape(-1, pieces, each).min(axis=(0, 2))
    write_pairs(b.best, best)
    b.log("maxima", keys=split(best)[0], length=max(1, rows) * each)


def _bound(b: Any) -> None:
    pieces = len(b.best) // 2
    table = b.best.reshape(-1, 2)
    best = pairs_of(table[:, 0], table[:, 1])
    limit = min(_limit(best[best != NO_ITEM], b.sizes.k, _enough(b.sizes.k)), int(bound_of(b)))
    picked = np.flatnonzero((best <= np.uint64(limit)) & (best != NO_ITEM))
    b.work[BOUND : BOUND + 2] = limit >> 32, limit & 0xFFFFFFFF
    b.work[COUNT_PICKED] = len(picked)
    b.picked[: len(picked)] = picked
    b.log("bound", key=limit >> 32, index=limit & 0xFFFFFFFF, picked=picked, pieces=pieces)


def _limit(best: np.ndarray, k: int, enough: int) -> int:
    """A pair up to which k to k + enough lie, as shaders/topk/delegate/narrow.wgsl finds it."""
    if len(best) < k:
        return int(NO_ITEM)
    keys, indices = (part.astype(np.int64) for part in split(best))
    values, low, high, need, key = keys, int(keys.min()), int(keys.max()), k, None
    while True:
        shift = max(0, (high - low).bit_length() - 11)
        bins = (values[(values >= low) & (values <= high)] - low) >> shift
        counts = np.bincount(bins, minlength=_NARROW)
        chosen = int(np.searchsorted(np.cumsum(counts), need))
        need -= int(counts[:chosen].sum())
        inside = int(counts[chosen])
        low += chosen << shift
        high = low + min((1 << shift) - 1, high - low)
        if inside - need <= enough:
            break
        if key is None and low == high:
            key, values, low, high = low, indices[keys == low], 0, _LAST
    return (high << 32 | 0xFFFFFFFF) if key is None else (key << 32 | high)


def _again(b: Any) -> None:
    items = items_of(b)
    indices = split(items)[1]
    quads = indices // (4 * b.sizes.form.per_word)
    limit = np.uint64(int(b.work[BOUND]) << 32 | int(b.work[BOUND + 1]))
    picked = np.isin(quads % len(b.picked), b.picked[: b.work[COUNT_PICKED]])
    found = items[picked & (items <= limit)]
    b.work[COUNT_FOUND] = len(found)
    write_pairs(b.gathered, found)
    b.log("survivors", count=len(found), indices=split(found)[1])


def _finish(b: Any) -> None:
    found = int(b.work[COUNT_FOUND])
    b.work[COUNT_LISTED] = found
    if found > b.sizes.list_room:
        items = read_pairs(b.kept, found)
        limit = _limit(items, b.sizes.k, b.sizes.list_room - b.sizes.k)
        left = items[items <= np.uint64(limit)]
        write_pairs(b.kept, left)
        b.work[COUNT_LISTED] = len(left)
        b.log("bound", key=limit >> 32, index=limit & 0xFFFFFFFF, picked=np.arange(0), pieces=0)
        b.log("survivors", count=len(left), indices=split(left)[1])


METHOD = Method(
    name="delegate",
    title="Delegates",
    solution=None,
    summary="The best of every piece gives a bound; only pieces that reach it are read again. The fastest for small k.",
    passes=passes,
)
