"""Packed 64-bit counter, one addition for each workgroup: a local scan first, then one atomic for all of its src.

Wins over `atomic64_add` as soon as src compete for the counter: P1 / workgroup size atomics instead of P1. Loses a
little against it for a few src, because of the scans. Source: solution 2.5 of "Efficient GPU Work Expansion", with
aggregated atomics.
"""

from __future__ import annotations

import numpy as np

from expandlab.expansion import atomic64
from expandlab.expansion.strategy import Strategy
from expandlab.expansion.thread_map import Lanes, MapBuilder
from expandlab.wgsl import anchor

_COUNT = "expansion/atomic64_aggregated/count.wgsl"


def _count_steps(m: MapBuilder, lanes: Lanes, counts: np.ndarray) -> None:
    per_group = lanes.workgroup_size // lanes.subgroup_size
    first = np.zeros(lanes.subgroups, np.int32)
    first[::per_group] = 1
    m.step("count", "take N", anchor(_COUNT, "load"), lanes.first(len(counts)))
    m.step("count", "scan entries and items of the workgroup", anchor(_COUNT, "scan"), lanes.first(lanes.launched), 2)
    m.step("count", "one thread adds for all", anchor(_COUNT, "add"), first)


STRATEGY = Strategy(
    name="atomic64_aggregated",
    title="64-bit counter, one addition for each workgroup",
    solution=None,
    summary="As the 64-bit addition, but a workgroup scans its src first and adds once for all of them.",
    memory_formula="12 * P1",
    needs=atomic64.NEEDS,
    passes=atomic64.passes,
    model=atomic64.model("atomic64_aggregated", _count_steps),
    memory=atomic64.memory,
    memory_buffers=("entries", "packed"),
    atomic_order=True,
)
