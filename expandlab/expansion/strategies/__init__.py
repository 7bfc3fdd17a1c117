"""The strategies, in the order in which they are taught. A new one is a module, its shaders, and a line here."""

from __future__ import annotations

from collections import OrderedDict

from expandlab.expansion.strategies import (
    append,
    flat,
    po2_buckets,
    po2_merged,
    po2_range,
    prefix_search,
)
from expandlab.expansion.strategy import Strategy

_ALL = (
    flat.STRATEGY,
    append.STRATEGY,
    prefix_search.STRATEGY,
    po2_buckets.STRATEGY,
    po2_merged.STRATEGY,
    po2_range.STRATEGY,
)


def strategies() -> OrderedDict[str, Strategy]:
    """Ordered dict name -> `Strategy`, in the order in which they are taught."""
    return OrderedDict((strategy.name, strategy) for strategy in _ALL)
