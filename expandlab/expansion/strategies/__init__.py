"""The strategies, in the order in which they are taught. A new one is a module, its shaders, and a line here."""

from __future__ import annotations

from collections import OrderedDict

from expandlab.expansion.strategies import (
    append,
    append_aggregated,
    atomic64_add,
    atomic64_aggregated,
    atomic64_cas,
    flat,
    head_scan,
    linear_search,
    lookback_search,
    po2_buckets,
    po2_merged,
    po2_range,
    prefix_search,
    size_classes,
    tile_search,
    workgroup_scan,
)
from expandlab.expansion.strategy import Strategy

_ALL = (
    flat.STRATEGY,
    append.STRATEGY,
    append_aggregated.STRATEGY,
    linear_search.STRATEGY,
    prefix_search.STRATEGY,
    atomic64_cas.STRATEGY,
    atomic64_add.STRATEGY,
    atomic64_aggregated.STRATEGY,
    lookback_search.STRATEGY,
    po2_buckets.STRATEGY,
    po2_merged.STRATEGY,
    po2_range.STRATEGY,
    workgroup_scan.STRATEGY,
    tile_search.STRATEGY,
    head_scan.STRATEGY,
    size_classes.STRATEGY,
)


def strategies() -> OrderedDict[str, Strategy]:
    """Ordered dict name -> `Strategy`, in the order in which they are taught."""
    return OrderedDict((strategy.name, strategy) for strategy in _ALL)
