"""How work is spread over GPU threads: strategies for work expansion, shown, run and measured.

Everything public is named here and loads when it is first used, so that importing the package stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from expandlab import counts, panels, relics
    from expandlab.advice import Advice, advise
    from expandlab.errors import (
        CapacityError,
        CountsError,
        CycleError,
        DeviceError,
        DeviceLimitError,
        ExpandlabError,
        GraphError,
        IndependenceError,
        RelicsError,
        ShaderError,
        UninitialisedReadError,
        UnknownNameError,
        UnsupportedError,
    )
    from expandlab.expansion import (
        Expander,
        Expansion,
        Step,
        Strategy,
        ThreadMap,
        atomic,
        expand,
        read_only,
        record_map,
        strategies,
        thread_map,
    )
    from expandlab.gpu import Device, DeviceInfo, adopt, devices
    from expandlab.gpu import open_device as device
    from expandlab.graph import Access, FrameGraph, Kernel, Plan
    from expandlab.measuring import Measurements, Sweep, measure, sweep
    from expandlab.panels.browser import browser_device
    from expandlab.searching.run import search
    from expandlab.topk import Selector, TopK, TopKStream, top_k, top_k_methods

_HOME = {
    "expandlab.advice": "Advice advise",
    "expandlab.errors": (
        "CapacityError CountsError CycleError DeviceError DeviceLimitError ExpandlabError GraphError "
        "IndependenceError RelicsError ShaderError UninitialisedReadError UnknownNameError UnsupportedError"
    ),
    "expandlab.expansion": (
        "Expander Expansion Step Strategy ThreadMap atomic expand read_only record_map strategies thread_map"
    ),
    "expandlab.gpu": "Device DeviceInfo adopt devices",
    "expandlab.graph": "Access FrameGraph Kernel Plan",
    "expandlab.measuring": "Measurements Sweep measure sweep",
    "expandlab.topk": "Selector TopK TopKStream top_k top_k_methods",
}
_WHERE = {name: (module, name) for module, names in _HOME.items() for name in names.split()}
_WHERE["search"] = ("expandlab.searching.run", "search")
_WHERE["device"] = ("expandlab.gpu", "open_device")
_WHERE["browser_device"] = ("expandlab.panels.browser", "browser_device")
_MODULES = ("counts", "panels", "relics")

__all__ = [
    "Access",
    "Advice",
    "CapacityError",
    "CountsError",
    "CycleError",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceLimitError",
    "Expander",
    "ExpandlabError",
    "Expansion",
    "FrameGraph",
    "GraphError",
    "IndependenceError",
    "Kernel",
    "Measurements",
    "Plan",
    "RelicsError",
    "Selector",
    "ShaderError",
    "Step",
    "Strategy",
    "Sweep",
    "ThreadMap",
    "TopK",
    "TopKStream",
    "UninitialisedReadError",
    "UnknownNameError",
    "UnsupportedError",
    "adopt",
    "advise",
    "atomic",
    "browser_device",
    "counts",
    "device",
    "devices",
    "expand",
    "measure",
    "panels",
    "read_only",
    "record_map",
    "relics",
    "search",
    "strategies",
    "sweep",
    "thread_map",
    "top_k",
    "top_k_methods",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"expandlab.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'expandlab' has no attribute {name!r}")
    module, attribute = _WHERE[name]
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
