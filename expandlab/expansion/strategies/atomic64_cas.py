"""Packed 64-bit counter by compare-exchange: the source document's loop, to see why one addition is better.

Wins nowhere. Loses with the square of P1: each round one thread gets its value in and all others start again, so P1 src
on one address take up to P1 rounds each. On an H200, 2^14 src took 31 ms where the addition took 31 us. Its input is
capped for that reason.
Source: solution 2.5 of "Efficient GPU Work Expansion".
"""

from __future__ import annotations

import numpy as np

from expandlab.expansion import atomic64
from expandlab.expansion.strategy import Strategy
from expandlab.expansion.thread_map import Lanes, MapBuilder
from expandlab.wgsl import anchor

_COUNT = "expansion/atomic64_cas/count.wgsl"


def _count_steps(m: MapBuilder, lanes: Lanes, counts: np.ndarray) -> None:
    m.step("count", "take N", anchor(_COUNT, "load"), lanes.first(len(counts)))
    # The worst case on one address: lanes that read the same value win one by one, in every subgroup at a time.
    rank = np.zeros(lanes.launched, np.int64)
    rank[: len(counts)] = counts > 0
    rank = rank.reshape(lanes.subgroups, lanes.subgroup_size)
    rank = (np.cumsum(rank, axis=1) * rank).ravel()
    m.rounds("count", "try to exchange", anchor(_COUNT, "exchange"), lanes, rank[: len(counts)])


STRATEGY = Strategy(
    name="atomic64_cas",
    title="64-bit counter, compare-exchange loop",
    solution="2.5",
    summary="Count and sum in one 64-bit word, written by a compare-exchange loop: each round only one thread gets in.",
    memory_formula="12 * P1",
    needs=atomic64.NEEDS,
    # 2^14 src on one address took 31 ms on an H200, and twice as many take two to three times as long.
    max_src=16384,
    passes=atomic64.passes,
    model=atomic64.model("atomic64_cas", _count_steps),
    memory=atomic64.memory,
    memory_buffers=("entries", "packed"),
    atomic_order=True,
)
