"""Terms of an account: events of one kind, and how they count at a lower clock and together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

# How the time of an event follows that of a short fill as the clock falls, as a power of it. A short fill is mostly the
# front end's time, so what the front end does for a pass follows it one to one. Work of lanes slows down more: of the
# powers 1.0 to 1.6, 1.2 and 1.4 leave the least error on inputs of an H200 that were left out of the fit, and 1.2 ranks
# them better. A dispatch whose arguments lie in memory slows down less, most likely because it waits for memory, whose
# clock stays: `po2_buckets`, which is 32 of them, takes 2.5 times as long on an H200 where a fill takes 3.2 times.
FRONT_POWER, WORK_POWER, LAUNCH_POWER = 1.0, 1.2, 0.8


@dataclass(frozen=True)
class Term:
    """So many events of one kind. says: what they are, completing `x % of its time goes into ...`.

    power: of the clock, see above.
    """

    name: str
    events: float
    says: str
    power: float = WORK_POWER

    def at(self, clock: float, per_launch: float = math.inf) -> float:
        """The events as they count at a clock where a fill takes `clock` times as long as at the full one.

        per_launch: threads whose work takes as long as the front end takes to take up one launch, at the full clock.
        """
        return self.events * clock**self.power


@dataclass(frozen=True)
class Launches(Term):
    """Launches that the front end takes up one by one, and the work of their threads.

    events: all launches. threads: of those that have some. overlap: whether the next launch is taken up while the lanes
    work on the one before, so that each takes the longer of the two times; else, where the API keeps them apart, their
    sum. per_launch: as of `at`, where it is known for every device; None where the device's own costs say so.
    """

    threads: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    overlap: bool = False
    per_launch: float | None = None

    def at(self, clock: float, per_launch: float = math.inf) -> float:
        """In launches without work."""
        launch = clock**self.power
        work = self.threads / (per_launch if self.per_launch is None else self.per_launch) * clock**WORK_POWER
        if not self.overlap:
            return self.events * launch + float(work.sum())
        return (self.events - len(work)) * launch + float(np.maximum(launch, work).sum())
