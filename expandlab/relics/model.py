"""A relic, and a collection of them by slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from expandlab.relics.stats import SLOTS, STATS
from expandlab.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Relic(Result):
    """One relic. `main` is (stat, size), `subs` up to four of them; sizes of percentages are in percent points."""

    slot: str
    set_name: str
    rarity: int
    level: int
    main: tuple[str, float]
    subs: tuple[tuple[str, float], ...]
    name: str = ""

    def stats(self) -> np.ndarray:
        """What it adds to every stat of `STATS`: float32."""
        sums = np.zeros(len(STATS), np.float32)
        for stat, size in (self.main, *self.subs):
            sums[STATS.index(stat)] += np.float32(size)
        return sums


@dataclass(frozen=True)
class Relics(Result):
    """Relics in the order of their file."""

    relics: tuple[Relic, ...]
    source: str = ""

    def __len__(self) -> int:
        return len(self.relics)

    def __repr__(self) -> str:
        sizes = " x ".join(str(len(items)) for items in self.by_slot().values())
        return f"<Relics: {len(self)} in {len(self.sets)} sets, {sizes} loadouts>"

    def by_slot(self) -> dict[str, list[Relic]]:
        """The relics of every slot, in the order of `SLOTS`."""
        return {slot: [relic for relic in self.relics if relic.slot == slot] for slot in SLOTS}

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets, sorted."""
        return tuple(sorted({relic.set_name for relic in self.relics}))

    @property
    def space(self) -> tuple[int, ...]:
        """How many relics each slot has: the sizes of a search over loadouts."""
        return tuple(len(items) for items in self.by_slot().values())

    def frame(self, picks: Sequence[Sequence[int]] | None = None) -> pd.DataFrame:
        """One row for each relic; with `picks` (builds, 6), the sums of stats of each build and its six relics."""
        import pandas as pd

        if picks is None:
            return pd.DataFrame([relic.to_dict() for relic in self.relics])
        slots = self.by_slot()
        rows = []
        for pick in picks:
            build = [slots[slot][index] for slot, index in zip(SLOTS, pick, strict=True)]
            names = {slot: relic.name or relic.set_name for slot, relic in zip(SLOTS, build, strict=True)}
            sums = np.sum([relic.stats() for relic in build], axis=0)
            rows.append(names | {stat: float(size) for stat, size in zip(STATS, sums, strict=True) if size})
        return pd.DataFrame(rows)
