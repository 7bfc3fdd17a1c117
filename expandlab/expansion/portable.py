"""A strategy as files for programs in other languages: its shaders, and how to run them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from expandlab.browser import EXAMPLE, PLAYER
from expandlab.errors import UnsupportedError
from expandlab.expansion.arguments import power_of_two
from expandlab.expansion.endings import store
from expandlab.expansion.passes import build
from expandlab.expansion.strategies import strategies
from expandlab.expansion.strategy import FAILED_CAPACITY, FAILED_LOOP, FAILED_OVERFLOW, FAILED_THREADS, Sizes
from expandlab.graph import portable

_FIELDS = ("src_count", "capacity", "align", "src_base", "local_base", "dst_base", "unused", "unused")


def export(
    name: str, out: str | Path, *, max_src: int = 65536, max_dst: int = 1048576, workgroup_size: int = 256
) -> dict[str, Any]:
    """Write a strategy's WGSL and `plan.json` into the folder `out`, with a player for browsers; returns the plan.

    name: of `strategies()`. max_src, max_dst: what the buffers are sized for. workgroup_size: as of `expand`.

    The shaders need no subgroups: where the strategy has a form with them, this is the one without. Raises ValueError
    naming the argument, UnsupportedError for a modelled strategy or sizes above its caps, ExportError where the folder
    cannot be written.
    """
    known = strategies()
    if name not in known:
        raise ValueError(f"name={name!r}: use one of {', '.join(known)}")
    strategy = known[name]
    power_of_two("workgroup_size", workgroup_size, 32, 256)
    for what, value, cap in (("max_src", max_src, strategy.max_src), ("max_dst", max_dst, strategy.max_dst)):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
            raise ValueError(f"{what}={value!r}: give a whole number from 0 to 2^32 - 1")
        if cap is not None and value > cap:
            raise UnsupportedError(f"{what}={value:,}: {name!r} takes at most {cap:,}; give that or less")
    if strategy.modelled:
        raise UnsupportedError(f"name={name!r}: is modelled, and no WebGPU stage runs it; there is nothing to export")
    # Without a subgroup size a strategy builds the form that runs anywhere.
    sizes = Sizes(max_src, max_dst, workgroup_size, None)
    built = build(strategy, sizes, store(max_dst))
    plan = {
        "name": name,
        "title": strategy.title,
        "summary": strategy.summary,
        "needs": list(strategy.needs),
        "max_src": max_src,
        "max_dst": max_dst,
        "workgroup_size": workgroup_size,
        "inputs": {
            "counts": "u32 for each src: its N",
            "params": {"fields": list(_FIELDS), "values": {"align": sizes.align, "src_base": 0, "local_base": 0,
                                                           "dst_base": 0, "unused": 0}},
        },
        "results": {
            "out_src": "u32 for each item: its src",
            "out_local": "u32 for each item: its index within the src",
            "state": "u32: items (0 on failure), failure bits, items required, one more for the strategy",
        },
        "failures": {"capacity": FAILED_CAPACITY, "sum of 2^32 or more": FAILED_OVERFLOW,
                     "too many threads": FAILED_THREADS, "an N too large": FAILED_LOOP},
        **portable.plan_of(built.graph, built.imported),
    }  # fmt: skip
    portable.write(out, plan, portable.sources_of(built.graph), (PLAYER, EXAMPLE))
    return plan
