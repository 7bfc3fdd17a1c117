"""Slots, stats and their sizes: what a relic can have.

Names of stats are those of the optimizer's save files; a trailing % means percent points of the base value. Sizes are
those of five-star relics: a main stat is base + step * level, a sub-stat roll is base + up to two steps.
Source of the sub-stat rolls: the game's data as published with the two file forms; main stats likewise.
"""

from __future__ import annotations

from typing import NamedTuple

SLOTS = ("Head", "Hands", "Body", "Feet", "PlanarSphere", "LinkRope")
ELEMENTS = ("Physical", "Fire", "Ice", "Lightning", "Wind", "Quantum", "Imaginary")


class Growth(NamedTuple):
    """A size at the start, and what each level or step adds."""

    base: float
    step: float


MAIN = {
    "HP": Growth(112.896, 39.5136),
    "ATK": Growth(56.448, 19.7568),
    "HP%": Growth(6.912, 2.4192),
    "ATK%": Growth(6.912, 2.4192),
    "DEF%": Growth(8.64, 3.024),
    "SPD": Growth(4.032, 1.4),
    "CRIT Rate": Growth(5.184, 1.8144),
    "CRIT DMG": Growth(10.368, 3.6288),
    "Effect Hit Rate": Growth(6.912, 2.4192),
    "Outgoing Healing Boost": Growth(5.5296, 1.9354),
    "Break Effect": Growth(10.368, 3.6288),
    "Energy Regeneration Rate": Growth(3.1104, 1.0886),
    **{f"{element} DMG Boost": Growth(6.2208, 2.1773) for element in ELEMENTS},
}
SUB = {
    "HP": Growth(33.87004, 4.233755),
    "ATK": Growth(16.935019, 2.116877),
    "DEF": Growth(16.935019, 2.116877),
    "HP%": Growth(3.456, 0.432),
    "ATK%": Growth(3.456, 0.432),
    "DEF%": Growth(4.32, 0.54),
    "SPD": Growth(2.0, 0.3),
    "CRIT Rate": Growth(2.592, 0.324),
    "CRIT DMG": Growth(5.184, 0.648),
    "Effect Hit Rate": Growth(3.456, 0.432),
    "Effect RES": Growth(3.456, 0.432),
    "Break Effect": Growth(5.184, 0.648),
}
STATS = tuple(dict.fromkeys([*SUB, *MAIN]))
MAIN_OF_SLOT = {
    "Head": ("HP",),
    "Hands": ("ATK",),
    "Body": ("HP%", "ATK%", "DEF%", "CRIT Rate", "CRIT DMG", "Effect Hit Rate", "Outgoing Healing Boost"),
    "Feet": ("HP%", "ATK%", "DEF%", "SPD"),
    "PlanarSphere": ("HP%", "ATK%", "DEF%", *(f"{element} DMG Boost" for element in ELEMENTS)),
    "LinkRope": ("HP%", "ATK%", "DEF%", "Break Effect", "Energy Regeneration Rate"),
}
# A relic of fewer stars has main stats in proportion, and fewer levels.
MOST_LEVELS = {5: 15, 4: 12, 3: 9, 2: 6}
# One roll to begin with and five upgrades at most, each of base + two steps; a little more for rounding in the files.
MOST_ROLLS = 6


def main_value(stat: str, rarity: int, level: int) -> float:
    """The size of a main stat."""
    growth = MAIN[stat]
    return (growth.base + growth.step * level) * rarity / 5


def largest_sub(stat: str) -> float:
    """The largest size that a sub-stat can have."""
    growth = SUB[stat]
    return MOST_ROLLS * (growth.base + 2 * growth.step)
