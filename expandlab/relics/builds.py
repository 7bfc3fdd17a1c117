"""The best builds of a collection: every loadout scored on the GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import RelicsError
from expandlab.relics.goal import MISSED, Goal
from expandlab.relics.model import Relics
from expandlab.results import Result
from expandlab.searching.report import SearchResult
from expandlab.searching.run import search

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Builds(Result):
    """The best builds, best first: `picks` (builds, 6) places in each slot, `scores` float32, and how they were found.

    Fewer than were asked for where fewer meet the minimums.
    """

    picks: np.ndarray
    scores: np.ndarray
    found: SearchResult
    relics: Relics = field(repr=False)
    goal: Goal = field(repr=False)

    def __repr__(self) -> str:
        best = f", best {self.scores[0]:.4g}" if len(self.scores) else ""
        return f"<Builds: {len(self.scores):,} of {self.found.report.total:,} loadouts{best}>"

    def frame(self) -> pd.DataFrame:
        """A table: score, the six relics by name, and the sums of their stats, sets' bonuses left out."""
        table = self.relics.frame(self.picks)
        table.insert(0, "score", self.scores.astype(float))
        return table

    def _repr_html_(self) -> str:
        return self.frame().head(20).to_html()


def best_builds(relics: Relics, goal: Goal, k: int = 20, **options: Any) -> Builds:
    """The k best loadouts of six relics, one of each slot.

    options: devices, cluster, on_progress, cancel and resume, as of `search`. Raises RelicsError where a slot has no
    relic, and what `search` raises.
    """
    if not len(relics):
        raise RelicsError("there are no relics; a build has one for each of the six slots")
    for slot, items in relics.by_slot().items():
        if not items:
            raise RelicsError(f"there is no relic for {slot}; a build has one for each of the six slots")
    total = int(np.prod([float(size) for size in relics.space]))
    found = search(relics.space, goal.wgsl(relics), min(k, total), buffers=goal.buffers(relics), **options)
    good = found.values > MISSED
    return Builds(found.picks[good], found.values[good], found, relics, goal)
