"""Realistic relics: made as the game rolls them, in either form of file."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.relics.model import Relic, Relics
from expandlab.relics.stats import MAIN_OF_SLOT, SLOTS, SUB, main_value

CAVERN_SETS = (
    "Musketeer of Wild Wheat",
    "Genius of Brilliant Stars",
    "Eagle of Twilight Line",
    "Hunter of Glacial Forest",
    "Champion of Streetwise Boxing",
    "Messenger Traversing Hackerspace",
)
PLANAR_SETS = ("Space Sealing Station", "Inert Salsotto", "Rutilant Arena", "Sprightly Vonwacq")
_LEVEL, _RARITY = 15, 5


def make(relics: int | tuple[int, ...] = 60, *, seed: int = 0) -> Relics:
    """Five-star relics at level 15 with four sub-stats: the same arguments, the same relics.

    relics: how many of each slot, one number or six (Head, Hands, Body, Feet, PlanarSphere, LinkRope).
    seed: of the random stream.

    Three or four sub-stats to begin with, and one roll of base + 0, 1 or 2 steps on a random one every third level, as
    the game does; the main stat is never among them.
    """
    sizes = (relics,) * len(SLOTS) if isinstance(relics, (int, np.integer)) else tuple(relics)
    if len(sizes) != len(SLOTS) or any(size < 0 for size in sizes):
        raise ValueError(f"relics={relics!r}: give one whole number, or one for each of {', '.join(SLOTS)}")
    rng = np.random.Generator(np.random.PCG64(seed))
    made = [_relic(rng, slot, index) for slot, size in zip(SLOTS, sizes, strict=True) for index in range(size)]
    return Relics(tuple(made), f"generated, seed {seed}")


def _relic(rng: np.random.Generator, slot: str, index: int) -> Relic:
    sets = PLANAR_SETS if slot in ("PlanarSphere", "LinkRope") else CAVERN_SETS
    main = str(rng.choice(MAIN_OF_SLOT[slot]))
    stats = rng.choice([stat for stat in SUB if stat != main], 4, replace=False)
    upgrades = 4 + int(rng.random() < 0.2)
    rolls = np.ones(4, np.int64) + np.bincount(rng.integers(0, 4, upgrades), minlength=4)
    subs = tuple(
        (str(stat), _rolled(rng, SUB[str(stat)], int(count))) for stat, count in zip(stats, rolls, strict=True)
    )
    size = round(main_value(main, _RARITY, _LEVEL), 4)
    return Relic(slot, str(rng.choice(sets)), _RARITY, _LEVEL, (main, size), subs, f"{slot} {index}")


def _rolled(rng: np.random.Generator, growth: Any, rolls: int) -> float:
    return round(rolls * growth.base + int(rng.integers(0, 3, rolls).sum()) * growth.step, 4)


def to_scanner(relics: Relics) -> dict[str, Any]:
    """The relics as a scanner's export, version 4."""
    slots = {"PlanarSphere": "Planar Sphere", "LinkRope": "Link Rope"}
    entries = [
        {
            "set": item.set_name, "slot": slots.get(item.slot, item.slot), "rarity": item.rarity, "level": item.level,
            "mainstat": item.main[0].removesuffix("%"), "name": item.name, "_id": f"relic_{number}",
            "substats": [{"key": _scanned_key(stat), "value": size} for stat, size in item.subs],
            "location": "", "lock": False, "discard": False,
        }
        for number, item in enumerate(relics.relics)
    ]  # fmt: skip
    return {"source": "expandlab", "build": "generated", "version": 4, "metadata": {}, "relics": entries}


def to_optimizer(relics: Relics) -> dict[str, Any]:
    """The relics as an optimizer's save."""
    entries = [
        {
            "part": item.slot, "set": item.set_name, "enhance": item.level, "grade": item.rarity, "id": item.name,
            "main": {"stat": item.main[0], "value": item.main[1]}, "equippedBy": None,
            "substats": [{"stat": stat, "value": size} for stat, size in item.subs],
        }
        for item in relics.relics
    ]  # fmt: skip
    return {"relics": entries}


def _scanned_key(stat: str) -> str:
    return stat if stat in ("HP", "ATK", "DEF", "SPD") else f"{stat.removesuffix('%')}_"
