"""Fitting: what one event of each kind costs on a device, and how far the fit can be trusted.

Least squares on relative errors with costs that are never negative (each term is work that takes time), repeated with
smaller weights for samples far off (Huber 1964). The spread is taken from leave-one-out residuals, r / (1 - h) with the
leverage h, so that a fit with as many terms as samples does not look perfect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from expandlab.results import Result

# No device repeats itself better than this, so no fit is believed to be better.
LEAST_SPREAD = 0.03
# No launch has more threads.
MOST_THREADS = 2.0**32
# Residuals beyond so many spreads count less.
_HUBER = 1.5
_ROUNDS, _SWEEPS = 4, 400


@dataclass(frozen=True)
class Fit(Result):
    """Costs of one strategy's terms.

    names: of the terms. ms: cost of one event each. spread: standard deviation of log(measured / predicted).
    inverse: of the weighted normal matrix: how far the costs can move together. samples: that it was fitted to.
    per_launch: threads whose work takes as long as taking up one launch; as many as can be where nothing says how many.
    """

    names: tuple[str, ...]
    ms: tuple[float, ...]
    spread: float
    inverse: tuple[tuple[float, ...], ...]
    samples: int
    per_launch: float = MOST_THREADS

    def parts(self, events: Sequence[float]) -> np.ndarray:
        """ms of each term."""
        return np.asarray(events, float) * np.asarray(self.ms)

    def deviation(self, events: Sequence[float]) -> float:
        """Standard deviation of log(measured / predicted) at these events: more where they are unlike the samples."""
        total = float(self.parts(events).sum())
        if not total > 0:
            return 1.0
        x = np.asarray(events, float) / total
        leverage = float(x @ np.asarray(self.inverse) @ x)
        return self.spread * math.sqrt(1.0 + min(max(leverage, 0.0), 25.0))


@dataclass(frozen=True)
class Residuals:
    """Leave-one-out log(measured / predicted) of a fit, by sample."""

    values: np.ndarray = field(repr=False)


def fit(
    names: Sequence[str], events: np.ndarray, ms: np.ndarray, trust: np.ndarray | None = None
) -> tuple[Fit, Residuals]:
    """Costs of terms from samples. events: (samples, terms). ms: measured, above 0. trust: weights of the samples."""
    measured = np.asarray(ms, float)
    rows = np.asarray(events, float) / measured[:, None]
    trusted = np.ones(len(measured)) if trust is None else np.asarray(trust, float)
    weight = trusted
    for _ in range(_ROUNDS):
        costs = non_negative(rows * weight[:, None], weight)
        off = np.abs(np.log(np.maximum(rows @ costs, 1e-9)))
        typical = max(1.4826 * float(np.median(off)), LEAST_SPREAD)
        weight = trusted * np.sqrt(np.minimum(1.0, _HUBER * typical / np.maximum(off, 1e-12)))
    used = np.flatnonzero(costs > 0)
    design = rows[:, used] * weight[:, None]
    # A little of the identity keeps terms that always come together from being told apart at any price.
    scale = np.maximum(np.linalg.norm(design, axis=0), 1e-300)
    normal = (design / scale).T @ (design / scale) + 1e-6 * np.eye(len(used))
    inverse = np.zeros((len(names), len(names)))
    inverse[np.ix_(used, used)] = np.linalg.inv(normal) / np.outer(scale, scale)
    leverage = np.clip(np.einsum("ij,jk,ik->i", rows * weight[:, None], inverse, rows * weight[:, None]), 0.0, 0.9)
    residuals = -np.log(np.maximum(rows @ costs, 1e-9)) / (1.0 - leverage)
    spread = max(LEAST_SPREAD, _robust_spread(residuals * trusted))
    found = Fit(tuple(names), tuple(costs.tolist()), spread, tuple(map(tuple, inverse.tolist())), len(measured))
    return found, Residuals(residuals)


def _robust_spread(residuals: np.ndarray) -> float:
    """Between the median's spread, which outliers do not move, and the standard deviation, which they do."""
    middle = 1.4826 * float(np.median(np.abs(residuals)))
    return math.sqrt(middle * float(np.sqrt(np.mean(np.minimum(residuals**2, 1.0)))))


def non_negative(rows: np.ndarray, target: np.ndarray) -> np.ndarray:
    """x >= 0 that minimises |rows x - target|, by coordinate descent on scaled columns."""
    scale = np.linalg.norm(rows, axis=0)
    scale[scale == 0] = 1.0
    columns = rows / scale
    gram, pull = columns.T @ columns, columns.T @ target
    x = np.zeros(rows.shape[1])
    for _ in range(_SWEEPS):
        before = x.copy()
        for at in range(len(x)):
            if gram[at, at] > 0:
                x[at] = max(0.0, x[at] + (pull[at] - gram[at] @ x) / gram[at, at])
        if np.abs(x - before).max(initial=0.0) < 1e-9:
            break
    return x / scale


def probability_of_first(logs: np.ndarray, spreads: np.ndarray, within: float = 1.1) -> float:
    """Probability that the one predicted fastest is within a factor of the truly fastest.

    logs: predicted log times; spreads: standard deviations of their errors, taken as normal and independent. Integrated
    over the first one's error; no random numbers.
    """
    if len(logs) < 2:
        return 1.0
    first = int(np.argmin(logs))
    others = np.delete(np.arange(len(logs)), first)
    z = np.linspace(-4.0, 4.0, 161)
    density = np.exp(-0.5 * z**2)
    density /= density.sum()
    own = logs[first] + z * spreads[first]
    # The first is right where no other is faster than it by more than the factor.
    gaps = (logs[others][None, :] - (own[:, None] - math.log(within))) / np.maximum(spreads[others], 1e-9)[None, :]
    return float((density * np.prod(_normal_above(-gaps), axis=1)).sum())


def _normal_above(values: np.ndarray) -> np.ndarray:
    """P(Z > values)."""
    return 0.5 * np.vectorize(math.erfc)(values / math.sqrt(2.0))


def calibrate(cases: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], within: float = 1.1) -> float:
    """The factor on all spreads that makes stated probabilities come true.

    cases: (predicted log times, spreads, measured log times), predictions made without the case. The factor with the
    least logarithmic loss, held near 1 where the cases are few.
    """
    best, least = 1.0, math.inf
    for factor in np.geomspace(0.6, 4.0, 24):
        loss = 0.5 * math.log(factor) ** 2
        for logs, spreads, measured in cases:
            p = min(max(probability_of_first(logs, spreads * factor, within), 1e-3), 1 - 1e-3)
            right = measured[int(np.argmin(logs))] <= measured.min() + math.log(within)
            loss -= math.log(p if right else 1 - p)
        if loss < least:
            best, least = float(factor), loss
    return best
