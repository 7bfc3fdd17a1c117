"""At which clock something was measured, told by the fill that ran beside it in every round.

A GPU that waits lowers its clock and takes a while to raise it again: on an H200 the same fill of 200 kB took 2.1 us
and 6.2 us. A cost model is about the device at its full clock, so samples taken below it must not pass for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from expandlab.advice.fit import non_negative
from expandlab.measuring import Measurements
from expandlab.measuring.measurements import CLOCK_SPREAD

# A sample at another clock is worth less: how far its time follows the fill's differs between strategies, by so much in
# the power of it, beside what a fit is usually off by. At a third of the clock it so counts as four tenths of one.
POWER_SPREAD, USUAL_SPREAD = 0.1, 0.05
_ROUNDS = 8


@dataclass(frozen=True)
class FullFill:
    """ms of a fill at the full clock: fixed_ms + byte_ms * bytes."""

    fixed_ms: float
    byte_ms: float

    def slowdown(self, measured: Measurements) -> float:
        """How many times longer the fill beside a measurement took; 1.0 within the 10 % that a clock may move."""
        ms = _fill_ms(measured)
        full = self.fixed_ms + self.byte_ms * measured.output_bytes
        ratio = ms / full if ms is not None and full > 0 else 1.0
        return ratio if ratio > 1 + CLOCK_SPREAD else 1.0


def full_fill(measured: Iterable[Measurements]) -> FullFill:
    """The full clock of one device, from the fastest of the fills that ran on it.

    A software adapter has no clock of its own: there, and where nothing was filled, no sample is called slow.
    """
    points = {(item.output_bytes, ms) for item in measured if (ms := _fill_ms(item)) is not None and not item.software}
    if not points:
        return FullFill(0.0, 0.0)
    size, ms = np.array(sorted(points)).T
    line = _under(size, ms)
    for _ in range(_ROUNDS):
        near = np.flatnonzero(ms <= (1 + CLOCK_SPREAD) * (line[0] + line[1] * size))
        again = _through(size[near], ms[near])
        if np.allclose(again, line, rtol=1e-6, atol=0.0):
            break
        line = again
    return FullFill(float(line[0]), float(line[1]))


def _fill_ms(measured: Measurements) -> float | None:
    for item in measured.of_role("limit"):
        if item.name == "fill" and item.gpu.median > 0:
            return item.gpu.median
    return None


def _through(size: np.ndarray, ms: np.ndarray) -> np.ndarray:
    """Intercept and slope, neither negative, by relative errors."""
    return non_negative(np.stack([1 / ms, size / ms], axis=1), np.ones(len(ms)))


def _under(size: np.ndarray, ms: np.ndarray) -> np.ndarray:
    """The line below all points that comes closest to them by ratio; it lies on an edge of their lower hull."""
    hull: list[int] = []
    for at in range(len(size)):
        while len(hull) > 1 and _above(size, ms, hull[-2], hull[-1], at):
            hull.pop()
        if not hull or size[at] > size[hull[-1]]:
            hull.append(at)
    lines = [np.array([ms.min(), 0.0]), np.array([0.0, (ms / np.maximum(size, 1.0)).min()])]
    for a, b in pairwise(hull):
        slope = (ms[b] - ms[a]) / (size[b] - size[a])
        lines.append(np.array([ms[a] - slope * size[a], slope]))
    return max(
        (line for line in lines if line.min() >= 0), key=lambda line: float(np.mean((line[0] + line[1] * size) / ms))
    )


def _above(size: np.ndarray, ms: np.ndarray, a: int, b: int, c: int) -> bool:
    """Whether b lies on or above the line from a to c."""
    return (ms[b] - ms[a]) * (size[c] - size[a]) >= (ms[c] - ms[a]) * (size[b] - size[a])


def trust(clocks: Sequence[float]) -> np.ndarray:
    """Weights of samples: less for those further below the full clock."""
    return 1 / np.hypot(1.0, POWER_SPREAD / USUAL_SPREAD * np.log(np.asarray(clocks, float)))
