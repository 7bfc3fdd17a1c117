"""Terms of an account: events of one kind, and how they count at a lower clock and beside the front end's work."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

# How the time of an event follows that of a short fill as the clock falls, as a power of it. A short fill is mostly the
# front end's time, so what the front end does for a pass follows it one to one. Work of lanes slows down more: of the
# powers 1.0 to 1.6, 1.2 and 1.4 leave the least error on inputs of an H200 that were left out of the fit, and 1.2 ranks
# them better. A dispatch whose arguments lie in memory slows down less, for it waits for memory, whose clock stays: of
# the powers 0.6 to 1.0, 0.75 leaves `po2_buckets`, which is 32 such dispatches, the least error on the inputs that the
# H200's model is fitted to.
FRONT_POWER, WORK_POWER, LAUNCH_POWER = 1.0, 1.2, 0.75


@dataclass(frozen=True)
class Term:
    """So many events of one kind. says: what they are, completing `x % of its time goes into ...`.

    power: of the clock, see above.
    """

    name: str
    events: float
    says: str
    power: float = WORK_POWER

    def at(self, clock: float, hidden: float = math.inf) -> float:
        """The events as they count at a clock where a fill takes `clock` times as long as at the full one.

        hidden: threads whose work takes as long as the front end takes to take up one launch, at the full clock.
        """
        return self.events * clock**self.power


@dataclass(frozen=True)
class Launches(Term):
    """Launches that the front end takes up one by one while the lanes work on the one before: each takes the longer of
    the two times.

    events: all launches. threads: of those that have some. hidden: threads whose work takes as long as taking one up,
    where that is known for every device; None where the device's own costs say so.
    """

    threads: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    hidden: float | None = None

    def at(self, clock: float, hidden: float = math.inf) -> float:
        """In launches without work."""
        launch = clock**self.power
        work = self.threads / (hidden if self.hidden is None else self.hidden) * clock**WORK_POWER
        return (self.events - len(work)) * launch + float(np.maximum(launch, work).sum())
