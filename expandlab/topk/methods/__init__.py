"""The methods, in the order in which they are taught. A new one is a module, its shaders, and a line here."""

from __future__ import annotations

from collections import OrderedDict

from expandlab.topk.method import Method
from expandlab.topk.methods import delegate, radix_select, sort_radix

_ALL = (sort_radix.METHOD, radix_select.METHOD, delegate.METHOD)


def top_k_methods() -> OrderedDict[str, Method]:
    """Ordered dict name -> `Method`, in the order in which they are taught."""
    return OrderedDict((method.name, method) for method in _ALL)
