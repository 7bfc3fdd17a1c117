"""Traces: what the shaders of the searching strategies do word by word, as data."""

from __future__ import annotations

import numpy as np

from expandlab.expansion.traces import find, lookback, packed, scan
from expandlab.expansion.traces.trace import Moment, Trace, Words

__all__ = ["VIEWS", "Moment", "Trace", "Words", "make"]

# View -> what a menu calls it.
VIEWS = {
    "workgroup": "prefix sum in a workgroup",
    "passes": "prefix sum in three passes",
    "binary": "binary search of one thread",
    "linear": "linear search of one thread",
    "add64": "64-bit add",
    "cas64": "64-bit compare-exchange",
    "lookback": "look-back, a single pass",
}
# View -> the strategy whose shaders it follows.
STRATEGIES = {
    "workgroup": "workgroup_scan",
    "passes": "prefix_search",
    "binary": "prefix_search",
    "linear": "linear_search",
    "add64": "atomic64_add",
    "cas64": "atomic64_cas",
    "lookback": "lookback_search",
}


def make(view: str, counts: np.ndarray, *, threads: int, thread: int, order: int, put_off: bool) -> Trace:
    """The trace of a view.

    counts: uint32 (P1,). threads: of a workgroup. thread: that searches. order: in which atomics are served, or
    workgroups take turns; 0 = in order, else a seed. put_off: look-back only, the first workgroup is held up.
    """
    if view == "workgroup":
        return scan.workgroup_scan(counts, threads)
    if view == "passes":
        return scan.three_passes(counts, threads)
    if view == "binary":
        return find.binary_search(counts, thread)
    if view == "linear":
        return find.linear_search(counts, thread)
    if view == "lookback":
        return lookback.lookback(counts, threads, order, put_off)
    return {"add64": packed.add, "cas64": packed.compare_exchange}[view](counts, order)
