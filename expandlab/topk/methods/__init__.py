"""The methods, in the order in which they are taught. A new one is a module, its shaders, and a line here."""

from __future__ import annotations

from collections import OrderedDict

from expandlab.topk.method import Method
from expandlab.topk.methods import (
    atomic_heap,
    bitonic,
    delegate,
    radix_select,
    readback_heap,
    sample_select,
    sort_radix,
    threshold_append,
    workgroup_select,
)

_ALL = (
    readback_heap.METHOD,
    sort_radix.METHOD,
    bitonic.METHOD,
    atomic_heap.METHOD,
    threshold_append.METHOD,
    workgroup_select.METHOD,
    radix_select.METHOD,
    sample_select.METHOD,
    delegate.METHOD,
)


def top_k_methods() -> OrderedDict[str, Method]:
    """Ordered dict name -> `Method`, in the order in which they are taught."""
    return OrderedDict((method.name, method) for method in _ALL)
