"""Interactive panels for notebooks. Each function returns a widget; show it as the last line of a cell."""

from expandlab.panels.balance import BalancePanel, balance
from expandlab.panels.beside import BesidePanel, beside
from expandlab.panels.buckets import BucketPanel, buckets
from expandlab.panels.devices import DevicesPanel, devices
from expandlab.panels.distribution import DistributionPanel, distribution
from expandlab.panels.expansion import ExpansionPanel, expansion
from expandlab.panels.frame_graph import FrameGraphPanel, frame_graph
from expandlab.panels.loadouts import LoadoutPanel, search_loadouts
from expandlab.panels.machine import machine
from expandlab.panels.paths import PathPanel, api_paths
from expandlab.panels.search import SearchPanel, search
from expandlab.panels.selection import TopKPanel, top_k
from expandlab.panels.timings import TimingPanel, timings

__all__ = [
    "BalancePanel",
    "BesidePanel",
    "BucketPanel",
    "DevicesPanel",
    "DistributionPanel",
    "ExpansionPanel",
    "FrameGraphPanel",
    "LoadoutPanel",
    "PathPanel",
    "SearchPanel",
    "TimingPanel",
    "TopKPanel",
    "api_paths",
    "balance",
    "beside",
    "buckets",
    "devices",
    "distribution",
    "expansion",
    "frame_graph",
    "machine",
    "search",
    "search_loadouts",
    "timings",
    "top_k",
]
