"""Settings of any panel from JSON: the field `panel` says which."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from expandlab.settings.base import PanelSettings, SettingsError, plain
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
from expandlab.settings.selection import TopKSettings
from expandlab.settings.timings import TimingSettings

_KINDS: tuple[type[PanelSettings], ...] = (
    ExpansionSettings, BucketSettings, SearchSettings, BalanceSettings, DistributionSettings, PathSettings,
    GraphSettings, DeviceSettings, LoadoutSettings, TopKSettings, TimingSettings,
)  # fmt: skip


def panels() -> dict[str, type[PanelSettings]]:
    """Name of a panel -> the class of its settings."""
    return {kind.panel: kind for kind in _KINDS}


def from_json(text: str | Mapping[str, Any] | Path) -> PanelSettings:
    """Settings of the panel that they name; of an expansion panel where they name none.

    text: JSON text, a mapping, or the path of a file. Raises SettingsError naming what is wrong.
    """
    found = plain(text)
    name = found.get("panel", ExpansionSettings.panel)
    known = panels()
    if not isinstance(name, str) or name not in known:
        raise SettingsError(f"panel={name!r}: use one of {', '.join(known)}", name="panel")
    return known[name].from_json(found)
