"""Append with one atomic for each subgroup: the lanes add up their N first, and one of them reserves for all.

Wins over `append` wherever many src compete for the one counter: an atomic for each subgroup instead of one for each
src. It loops over N as `append` does and loses where that loses. Where the device has no subgroup operations the
workgroup takes the subgroup's place. Source: warp-aggregated atomics (A. Adinets, "CUDA Pro Tip: Optimized Filtering
with Warp-Aggregated Atomics", 2014).
"""

from __future__ import annotations

import numpy as np

from expandlab.expansion.strategies import append
from expandlab.expansion.strategy import Passes, Sizes, Strategy
from expandlab.expansion.thread_map import MapBuilder, ThreadMap
from expandlab.wgsl import anchor


def _pass_1(sizes: Sizes) -> str:
    return "by_workgroup" if sizes.subgroup_size is None else "by_subgroup"


def passes(p: Passes) -> None:
    """reset -> by_subgroup or by_workgroup -> setup -> consume."""
    name = _pass_1(p.sizes)
    append.add_passes(p, name, f"expansion/append_aggregated/{name}.wgsl")


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Thread t reads info t. The model's atomics serve the subgroups in order; a device's may not."""
    m = MapBuilder("append_aggregated", sizes)
    name = _pass_1(sizes)
    file = f"expansion/append_aggregated/{name}.wgsl"
    one = m.lanes(len(counts))
    m.step(name, "take N", anchor(file, "load"), one.first(len(counts)))
    m.step(name, "add up the lanes before", anchor(file, "sum"), one.first(one.launched))
    m.step(name, "one lane reserves for all", anchor(file, "reserve"), np.ones(one.subgroups, np.int32))
    m.rounds(name, "write one info", anchor(append.INFOS, "write"), one, counts)
    return append.finish(m, counts, sizes)


STRATEGY = Strategy(
    name="append_aggregated",
    title="Append, one atomic for each subgroup",
    solution=None,
    summary="As append, but the lanes of a subgroup reserve their infos together. Good when every N is small.",
    memory_formula="8 * P2",
    passes=passes,
    model=model,
    memory=append.memory,
    memory_buffers=("infos",),
    refuses=append.refuses,
    atomic_order=True,
)
