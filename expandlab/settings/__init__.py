"""The settings of the panels as data: canonical JSON in, the same canonical JSON out, and nothing else accepted."""

from expandlab.settings.base import MAX_PANEL_ITEMS, CountsSettings, PanelSettings, SettingsError
from expandlab.settings.devices import DeviceSettings, LoadoutSettings
from expandlab.settings.expansion import ExpansionSettings
from expandlab.settings.graphs import GraphSettings
from expandlab.settings.pages import (
    BalanceSettings,
    BucketSettings,
    DistributionSettings,
    PathSettings,
    SearchSettings,
)
from expandlab.settings.reading import from_json, panels
from expandlab.settings.selection import TopKSettings
from expandlab.settings.timings import TimingSettings

__all__ = [
    "MAX_PANEL_ITEMS",
    "BalanceSettings",
    "BucketSettings",
    "CountsSettings",
    "DeviceSettings",
    "DistributionSettings",
    "ExpansionSettings",
    "GraphSettings",
    "LoadoutSettings",
    "PanelSettings",
    "PathSettings",
    "SearchSettings",
    "SettingsError",
    "TimingSettings",
    "TopKSettings",
    "from_json",
    "panels",
]
