"""Packed 64-bit counter by addition: one atomic gives a src its place in the list and the items before it.

Wins where building a prefix sum in several passes costs more than P1 atomics on one address. Loses with P1: on an H200
2^16 src of N = 8 take 0.22 ms, 0.1 ms more than with one addition for each workgroup. The document's compare-exchange
loop is not needed: (1, N) can be added.
Source: solution 2.5 of "Efficient GPU Work Expansion", with the loop replaced.
"""

from __future__ import annotations

import numpy as np

from expandlab.expansion import atomic64
from expandlab.expansion.strategy import Strategy
from expandlab.expansion.thread_map import Lanes, MapBuilder
from expandlab.wgsl import anchor

_COUNT = "expansion/atomic64_add/count.wgsl"


def _count_steps(m: MapBuilder, lanes: Lanes, counts: np.ndarray) -> None:
    m.step("count", "take N", anchor(_COUNT, "load"), lanes.first(len(counts)))
    m.step("count", "add (1, N) to the counter", anchor(_COUNT, "add"), lanes.active(counts > 0))


STRATEGY = Strategy(
    name="atomic64_add",
    title="64-bit counter, one addition",
    solution="2.5",
    summary="Count and sum in one 64-bit word; one atomic add for each src replaces the prefix sum.",
    memory_formula="12 * P1",
    needs=atomic64.NEEDS,
    passes=atomic64.passes,
    model=atomic64.model("atomic64_add", _count_steps),
    memory=atomic64.memory,
    memory_buffers=("entries", "packed"),
    atomic_order=True,
)
