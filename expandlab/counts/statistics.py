"""What decides how hard some counts are to expand: a few numbers, each with a meaning for threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.counts.checking import check
from expandlab.results import Result

# Lanes of the subgroups in `append`: those of most GPUs.
LANES = 32


@dataclass(frozen=True)
class Statistics(Result):
    """Numbers about the N of every src.

    src, items: P1 and P2. mean, median, largest, deviation: of N. zeros: share of the src with N = 0. gini: 0 where all
    N are equal, towards 1 where one src has all. top: share of the items that the largest 1 % of the src have (at least
    one src). flat: mean / largest, the share of `flat`'s threads that work. append: share of the lanes at work in the
    loop of `append`, in subgroups of 32 src in order. bits: mean number of set bits, which is entries for each src in
    the power-of-two buckets.
    """

    src: int
    items: int
    mean: float
    median: float
    largest: int
    deviation: float
    zeros: float
    gini: float
    top: float
    flat: float
    append: float
    bits: float


def statistics(counts: Any) -> Statistics:
    """Statistics of some counts.

    counts: the N of every src, checked as `load` checks an array. Without src, or without items, what cannot be said
    is 0, and shares of nothing are 1. Raises CountsError.
    """
    n = check(counts)
    total = int(n.sum(dtype=np.uint64))
    largest = int(n.max(initial=0))
    if not len(n):
        return Statistics(0, 0, 0.0, 0.0, 0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0)
    groups = np.maximum.reduceat(n, np.arange(0, len(n), LANES)).astype(np.int64)
    rounds = LANES * int(groups.sum())
    return Statistics(
        src=len(n),
        items=total,
        mean=total / len(n),
        median=float(np.median(n)),
        largest=largest,
        deviation=float(n.std(dtype=np.float64)),
        zeros=float(np.mean(n == 0)),
        gini=_gini(n, total),
        top=_top(n, total),
        flat=total / len(n) / largest if largest else 1.0,
        append=total / rounds if rounds else 1.0,
        bits=float(np.bitwise_count(n).mean()),
    )


def lorenz(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Lorenz curve: (share of the src, smallest first; share of the items that they have), each from 0 to 1."""
    n = np.sort(counts)
    sums = np.concatenate([[0.0], np.cumsum(n, dtype=np.float64)])
    share = sums / sums[-1] if sums[-1] else np.linspace(0.0, 1.0, len(sums))
    return np.linspace(0.0, 1.0, len(sums)), share


def _gini(n: np.ndarray, total: int) -> float:
    if not total:
        return 0.0
    rank = np.arange(1, len(n) + 1, dtype=np.float64)
    return float(2.0 * (rank @ np.sort(n).astype(np.float64)) / (len(n) * total) - (len(n) + 1) / len(n))


def _top(n: np.ndarray, total: int) -> float:
    few = max(1, len(n) // 100)
    return float(np.partition(n, len(n) - few)[len(n) - few :].sum(dtype=np.uint64)) / total if total else 0.0
