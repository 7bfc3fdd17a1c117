"""The strategies, in the order in which they are taught. A new one is a module, its shaders, and a line here."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from importlib import import_module

from expandlab.expansion.strategy import Strategy

# Names of modules of this folder; a strategy is called like its module.
_IN_ORDER = (
    "flat",
    "append",
    "append_aggregated",
    "linear_search",
    "prefix_search",
    "atomic64_cas",
    "atomic64_add",
    "atomic64_aggregated",
    "lookback_search",
    "po2_buckets",
    "po2_merged",
    "po2_buckets_stored",
    "po2_merged_stored",
    "po2_range",
    "workgroup_scan",
    "tile_search",
    "serial_merge",
    "head_scan",
    "size_classes",
    "dispatch_each",
    "draw_indirect_count",
    "task_mesh",
    "work_graph",
)


@cache
def _all() -> tuple[Strategy, ...]:
    return tuple(import_module(f"{__name__}.{name}").STRATEGY for name in _IN_ORDER)


def strategies() -> OrderedDict[str, Strategy]:
    """Ordered dict name -> `Strategy`, in the order in which they are taught."""
    return OrderedDict((strategy.name, strategy) for strategy in _all())
