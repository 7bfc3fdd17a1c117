"""What a build is wanted for: weights of stats, minimums, bonuses of sets; as WGSL, and by the definition in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab.relics.model import Relics
from expandlab.relics.stats import ELEMENTS, SLOTS, STATS
from expandlab.results import Result

# What a build that misses a minimum scores: finite, because WGSL may assume that infinity does not exist.
MISSED = float(np.float32(-3.0e38))


@dataclass(frozen=True)
class SetBonus(Result):
    """What `pieces` or more relics of a set add: `amount` to `stat`, a name of STATS."""

    set_name: str
    pieces: int
    stat: str
    amount: float


# Two pieces of each set that the generator makes, as far as they add to a stat of relics.
KNOWN_BONUSES = (
    SetBonus("Musketeer of Wild Wheat", 2, "ATK%", 12.0),
    SetBonus("Genius of Brilliant Stars", 2, "Quantum DMG Boost", 10.0),
    SetBonus("Eagle of Twilight Line", 2, "Wind DMG Boost", 10.0),
    SetBonus("Hunter of Glacial Forest", 2, "Ice DMG Boost", 10.0),
    SetBonus("Champion of Streetwise Boxing", 2, "Physical DMG Boost", 10.0),
    SetBonus("Space Sealing Station", 2, "ATK%", 12.0),
    SetBonus("Inert Salsotto", 2, "CRIT Rate", 8.0),
    SetBonus("Rutilant Arena", 2, "CRIT Rate", 8.0),
    SetBonus("Sprightly Vonwacq", 2, "Energy Regeneration Rate", 5.0),
)


@dataclass(frozen=True)
class Goal(Result):
    """A score for builds: the sum of weight x stat over what the six relics and their sets add up to.

    weights: {stat: weight}. minimums: {stat: least sum}; a build below one is none. bonuses: of sets.
    Raises ValueError naming the argument.
    """

    weights: Mapping[str, float]
    minimums: Mapping[str, float] = field(default_factory=dict)
    bonuses: Sequence[SetBonus] = KNOWN_BONUSES

    def __post_init__(self) -> None:
        if not self.weights:
            raise ValueError("weights: there are none; give at least one, such as {'CRIT Rate': 2.0}")
        for what in ("weights", "minimums"):
            for stat, value in getattr(self, what).items():
                _known(what, stat)
                if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e30:
                    raise ValueError(f"{what}[{stat!r}]={value!r}: give a finite number")
        for bonus in self.bonuses:
            _known("bonuses", bonus.stat)
            if not 1 <= bonus.pieces <= len(SLOTS):
                raise ValueError(f"bonuses: {bonus!r} wants {bonus.pieces} pieces of {len(SLOTS)}")

    @property
    def stats(self) -> tuple[str, ...]:
        """The stats that matter, in the order of STATS."""
        return tuple(stat for stat in STATS if stat in self.weights or stat in self.minimums)

    def buffers(self, relics: Relics) -> dict[str, np.ndarray]:
        """The score's buffers: `stats`, float32 for each relic of each slot, and `sets`, uint32."""
        columns = [STATS.index(stat) for stat in self.stats]
        rows = [relic for items in relics.by_slot().values() for relic in items]
        numbers = {name: number for number, name in enumerate(relics.sets)}
        stats = np.array([relic.stats()[columns] for relic in rows], np.float32)
        sets = np.array([numbers[relic.set_name] for relic in rows], np.uint32)
        return {"stats": stats.reshape(-1), "sets": sets}

    def wgsl(self, relics: Relics) -> str:
        """`fn score(pick: array<u32, 6>) -> f32` over these relics."""
        count, firsts = len(self.stats), np.cumsum([0, *relics.space[:-1]])
        slots = "\n".join(
            f"    add(&sum, &owned, {slot}u, {first}u + pick[{slot}]);" for slot, first in enumerate(firsts)
        )
        bonuses = "\n".join(self._bonus(bonus, relics) for bonus in self._in_play(relics))
        fails = "\n".join(
            f"    if (sum[{self.stats.index(stat)}] < {_f32(least)}) {{ return {_f32(MISSED)}; }}"
            for stat, least in self.minimums.items()
        )
        terms = " + ".join(f"{_f32(weight)} * sum[{self.stats.index(stat)}]" for stat, weight in self.weights.items())
        return f"""
const COUNT: u32 = {count}u;

fn add(sum: ptr<function, array<f32, COUNT>>, owned: ptr<function, array<u32, 6>>, slot: u32, relic: u32) {{
    for (var i = 0u; i < COUNT; i++) {{
        (*sum)[i] += stats[relic * COUNT + i];
    }}
    (*owned)[slot] = sets[relic];
}}

fn pieces(owned: ptr<function, array<u32, 6>>, wanted: u32) -> u32 {{
    var found = 0u;
    for (var slot = 0u; slot < 6u; slot++) {{
        found += u32((*owned)[slot] == wanted);
    }}
    return found;
}}

fn score(pick: array<u32, 6>) -> f32 {{
    var sum: array<f32, COUNT>;
    var owned: array<u32, 6>;
{slots}
{bonuses}
{fails}
    return {terms};
}}
"""

    def score(self, relics: Relics, picks: np.ndarray) -> np.ndarray:
        """The scores of builds, from the definition: float64 (builds,), -inf for one that misses a minimum.

        picks: (builds, 6) places in each slot.
        """
        slots = list(relics.by_slot().values())
        sums = np.zeros((len(picks), len(STATS)))
        sets = np.empty((len(picks), len(SLOTS)), object)
        for slot, items in enumerate(slots):
            table = np.array([relic.stats() for relic in items], np.float64).reshape(-1, len(STATS))
            sums += table[picks[:, slot]]
            sets[:, slot] = np.array([relic.set_name for relic in items], object)[picks[:, slot]]
        for bonus in self.bonuses:
            has = (sets == bonus.set_name).sum(axis=1) >= bonus.pieces
            sums[:, STATS.index(bonus.stat)] += np.where(has, bonus.amount, 0.0)
        found = sum(weight * sums[:, STATS.index(stat)] for stat, weight in self.weights.items())
        for stat, least in self.minimums.items():
            found = np.where(sums[:, STATS.index(stat)] < least, -np.inf, found)
        return found

    def _in_play(self, relics: Relics) -> list[SetBonus]:
        return [bonus for bonus in self.bonuses if bonus.set_name in relics.sets and bonus.stat in self.stats]

    def _bonus(self, bonus: SetBonus, relics: Relics) -> str:
        stat, wanted = self.stats.index(bonus.stat), relics.sets.index(bonus.set_name)
        return f"    if (pieces(&owned, {wanted}u) >= {bonus.pieces}u) {{ sum[{stat}] += {_f32(bonus.amount)}; }}"


def _known(what: str, stat: Any) -> None:
    if stat not in STATS:
        raise ValueError(f"{what}: {stat!r} is no stat; use one of {', '.join(STATS)}")


def _f32(value: float) -> str:
    """A number as WGSL writes it: exactly the nearest float32."""
    return f"{float(np.float32(value)).hex()}f" if value else "0.0f"


DAMAGE_WEIGHTS = {"CRIT Rate": 2.0, "CRIT DMG": 1.0, "ATK%": 1.0, **{f"{name} DMG Boost": 1.0 for name in ELEMENTS}}
