"""Relics of a game: files of them, a generator of realistic ones, and the best sets of six."""

from typing import Any

from expandlab.relics.files import load
from expandlab.relics.generate import make
from expandlab.relics.goal import Goal, SetBonus
from expandlab.relics.model import Relic, Relics
from expandlab.relics.stats import SLOTS, STATS

__all__ = ["SLOTS", "STATS", "Goal", "Relic", "Relics", "SetBonus", "best_builds", "best_loadouts", "load", "make"]


def __getattr__(name: str) -> Any:
    # The search needs a device's libraries; reading files does not.
    if name == "best_builds":
        from expandlab.relics.builds import best_builds

        return best_builds
    if name == "best_loadouts":
        from expandlab.relics.loadouts import best_loadouts

        return best_loadouts
    raise AttributeError(f"module 'expandlab.relics' has no attribute {name!r}")
