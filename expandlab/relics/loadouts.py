"""Loadouts of relics as a pool: which relics are worth keeping, and which sets have to go together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import RelicsError
from expandlab.relics.goal import MISSED, Goal
from expandlab.relics.model import Relics
from expandlab.relics.stats import SLOTS, STATS
from expandlab.results import Result
from expandlab.searching.loadouts import Loadouts, search_loadouts
from expandlab.searching.pool import Pool

if TYPE_CHECKING:
    import pandas as pd

# The order in which loadouts are numbered: the slots that others have to match stand first. Head, Hands and the sphere
# make a partial loadout; body, feet and the rope are what it spawns.
ORDER = ("Head", "Hands", "PlanarSphere", "Body", "Feet", "LinkRope")
LEADING = 3
FILTERS = {
    "any": "any six relics",
    "pair": "sphere and rope of one set",
    "four": "head, hands, body and feet of one set",
    "both": "four of one set, and sphere and rope of one",
}
_PAIR, _FOUR = {5: 2}, {1: 0, 3: 0, 4: 0}
_MATCHES = {"any": {}, "pair": _PAIR, "four": _FOUR, "both": _FOUR | _PAIR}


@dataclass(frozen=True, eq=False)
class RelicLoadouts(Result):
    """The best loadouts: `picks` (builds, 6) places in each slot in the order of SLOTS, `scores`, and the search."""

    picks: np.ndarray
    scores: np.ndarray
    found: Loadouts
    relics: Relics = field(repr=False)
    goal: Goal = field(repr=False)

    def frame(self) -> pd.DataFrame:
        """A table: score, the six relics by name, and the sums of their stats."""
        table = self.relics.frame(self.picks)
        table.insert(0, "score", self.scores.astype(float))
        return table


def relic_pool(relics: Relics, goal: Goal, *, sets: str = "any", drop: float = 0.0) -> Pool:
    """The pool of a collection.

    sets: a name of FILTERS. drop: the share of each slot's relics to cull, those that the goal weighs least, 0 to 1; of
    equal ones all are kept.
    Raises ValueError naming the argument, RelicsError for a slot without a relic.
    """
    if sets not in FILTERS:
        raise ValueError(f"sets={sets!r}: use one of {', '.join(FILTERS)}")
    if isinstance(drop, bool) or not isinstance(drop, (int, float)) or not 0 <= drop < 1:
        raise ValueError(f"drop={drop!r}: give the share of relics to leave out, from 0 to below 1")
    by_slot = relics.by_slot()
    worth, least = [], []
    for slot in ORDER:
        if not by_slot[slot]:
            raise RelicsError(f"there is no relic for {slot}; a build has one for each of the six slots")
        mine = worth_of(relics, goal, slot)
        worth.append(mine)
        least.append(np.sort(mine)[int(drop * len(mine))])
    numbers = {name: number for number, name in enumerate(relics.sets)}
    places = [SLOTS.index(slot) for slot in ORDER]
    return Pool(
        sizes=[len(by_slot[slot]) for slot in ORDER],
        leading=LEADING,
        worth=np.concatenate(worth),
        score=_in_order(goal.wgsl(relics)),
        sets=np.array([numbers[relic.set_name] for slot in ORDER for relic in by_slot[slot]], np.uint32),
        least=least,
        matches=_MATCHES[sets],
        buffers=goal.buffers(relics),
        score_twin=lambda picks: goal.score(relics, picks[:, np.argsort(places)]),
    )


def worth_of(relics: Relics, goal: Goal, slot: str) -> np.ndarray:
    """What the goal's weights make of each relic of a slot alone: float32."""
    weights = np.array([goal.weights.get(stat, 0.0) for stat in STATS])
    return np.array([float(relic.stats() @ weights) for relic in relics.by_slot()[slot]], np.float32)


def best_loadouts(
    relics: Relics, goal: Goal, k: int = 20, *, sets: str = "any", drop: float = 0.0, **options: Any
) -> RelicLoadouts:
    """The k best loadouts of relics as one frame graph: cull, expand, score, select.

    sets, drop: as of `relic_pool`. options: as of `search_loadouts`: devices, strategy, method, capacity, on_progress,
    cancel, resume.
    """
    found = search_loadouts(relic_pool(relics, goal, sets=sets, drop=drop), k, **options)
    good = found.values > MISSED
    return RelicLoadouts(in_slots(found.picks[good]), found.values[good], found, relics, goal)


def in_slots(picks: np.ndarray) -> np.ndarray:
    """Picks in the order of SLOTS instead of ORDER."""
    return picks[:, [ORDER.index(slot) for slot in SLOTS]]


def _in_order(text: str) -> str:
    """The goal's score, called with picks in ORDER."""
    moved = ", ".join(f"pick[{ORDER.index(slot)}]" for slot in SLOTS)
    text = text.replace("fn score(pick", "fn score_of_slots(pick")
    return f"{text}\nfn score(pick: array<u32, 6>) -> f32 {{\n    return score_of_slots(array<u32, 6>({moved}));\n}}\n"
