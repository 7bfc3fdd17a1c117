"""Synthetic distributions of N.

All draws go through `Generator.random`, whose stream NumPy keeps, and through arithmetic that does not hang on the
last bit of a logarithm: the same arguments give the same array under any NumPy 2 on any CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

LARGEST = 2**32 - 1
TRIANGLES_PER_MESHLET = 124


@dataclass(frozen=True)
class Shape:
    """A shape parameter of a kind: its name, default, range (both ends allowed) and meaning.

    Only whole numbers are taken where the default is an `int`.
    """

    name: str
    default: float
    low: float
    high: float
    what: str


@dataclass
class _Draw:
    """What a kind is drawn from: the wanted mean and sum, the largest N, and the random stream."""

    items: int
    mean: float
    cap: int
    rng: np.random.Generator
    shape: dict[str, float] = field(default_factory=dict)

    @property
    def target(self) -> int:
        """The sum that a kind aims for: mean * items, or what the cap allows."""
        return min(round(self.mean * self.items), self.cap * self.items)

    def normal(self) -> np.ndarray:
        """Standard normal values (Box and Muller 1958)."""
        radius = np.sqrt(-2.0 * np.log1p(-self.rng.random(self.items)))
        return radius * np.cos(2.0 * np.pi * self.rng.random(self.items))


def _quantised(values: np.ndarray) -> np.ndarray:
    """`values` without their last bits, in which processors' logarithms and powers differ."""
    return np.round(values * 65536.0) / 65536.0


def _total(values: np.ndarray) -> float:
    # cumsum adds from left to right everywhere; sum's order depends on the processor.
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _scaled(d: _Draw, values: np.ndarray) -> np.ndarray:
    """`values` times one factor, none above the cap, so that they add up to the target as nearly as that allows."""
    factor, target = 1.0, d.target
    for _ in range(64):
        scaled = np.minimum(values * factor, d.cap)
        total = _total(scaled)
        if total <= 0.0 or abs(total - target) <= 1e-9 * target + 0.5:
            return scaled
        factor *= target / total
    return scaled


def _rounded(d: _Draw, values: np.ndarray, eligible: np.ndarray | None = None) -> np.ndarray:
    """Whole numbers: each value rounded up with the probability of its fraction, then a few moved to meet the sum."""
    whole = np.floor(values + d.rng.random(len(values))).astype(np.int64)
    whole = np.where(values > 0, np.minimum(whole, d.cap), 0)
    return _settled(d, whole, d.target, eligible)


def _settled(d: _Draw, whole: np.ndarray, target: int, eligible: np.ndarray | None = None) -> np.ndarray:
    """`whole` with ones added or taken, evenly over the eligible items, until the sum is the target."""
    allowed = np.ones(len(whole), bool) if eligible is None else eligible
    while missing := target - int(whole.sum()):
        room = np.flatnonzero(allowed & (whole < d.cap if missing > 0 else whole > 0))
        if len(room) == 0:
            break
        step, take = divmod(abs(missing), len(room))
        if step:
            # Far from the sum: every one moves by the same amount, as far as its range allows.
            whole[room] += np.clip(step if missing > 0 else -step, -whole[room], d.cap - whole[room])
            continue
        start = int(d.rng.random() * len(room))
        whole[room[(start + np.arange(take) * len(room) // take) % len(room)]] += 1 if missing > 0 else -1
    return whole


def _diffused(d: _Draw, values: np.ndarray) -> np.ndarray:
    """Whole numbers whose running sum stays within one half of the values', and which add up to the target."""
    running = np.cumsum(values)
    if running[-1] <= 0.0:
        return np.zeros(d.items, np.int64)
    ends = np.round(running * (d.target / running[-1]))
    return _settled(d, np.clip(np.diff(ends, prepend=0.0).astype(np.int64), 0, d.cap), d.target)


def _rising(d: _Draw, steps: np.ndarray) -> np.ndarray:
    """Whole numbers that rise in a straight line with `steps` (0 to 1): from 0, or up to the cap where that is low."""
    total = _total(steps)
    if total > 0.0 and float(steps.max()) * (d.target / total) <= d.cap:
        return _diffused(d, steps * (d.target / total))
    below = 1.0 - steps
    lacking = d.cap * d.items - d.target
    return _diffused(d, np.maximum(d.cap - below * (lacking / _total(below)), 0.0))


def _constant(d: _Draw) -> np.ndarray:
    """Every src alike: no imbalance at all, the best case of `flat`."""
    return np.full(d.items, min(round(d.mean), d.cap), np.int64)


def _uniform(d: _Draw) -> np.ndarray:
    """Discrete uniform on 0 .. 2 mean (Johnson, Kemp and Kotz, Univariate Discrete Distributions, 2005, 6.10.1).

    Where 2 mean is not whole, the ranges that end below and above it are mixed. Where 2 mean is above the cap, the
    range ends at the cap and begins above 0.
    """
    from_top = 2.0 * d.mean > d.cap
    mean = max(d.cap - d.mean, 0.0) if from_top else d.mean
    end = math.floor(2.0 * mean)
    wider = d.rng.random(d.items) < 2.0 * mean - end
    drawn = np.floor(d.rng.random(d.items) * (end + 1 + wider)).astype(np.int64)
    target = d.cap * d.items - d.target if from_top else d.target
    settled = _settled(replace(d, cap=math.ceil(2.0 * mean)), drawn, target)
    return d.cap - settled if from_top else settled


def _poisson(d: _Draw) -> np.ndarray:
    """Independent arrivals: P(n) = mean^n e^-mean / n! (Poisson 1837), drawn by inversion of the running sum."""
    if d.mean > 1e6:
        # Beyond a million the normal limit is closer than a table of probabilities.
        values = np.maximum(d.mean + math.sqrt(d.mean) * d.normal(), 0.0)
        return _rounded(d, _scaled(d, _quantised(values)))
    reach = 12.0 * math.sqrt(d.mean) + 24.0
    low, high = max(0, math.floor(d.mean - reach)), math.ceil(d.mean + reach)
    log_mean = math.log(d.mean) if d.mean > 0 else -math.inf
    chances = [math.exp(k * log_mean - d.mean - math.lgamma(k + 1)) if d.mean > 0 else float(k == 0)
               for k in range(low, high + 1)]  # fmt: skip
    drawn = low + np.searchsorted(np.cumsum(chances), d.rng.random(d.items)).astype(np.int64)
    return _settled(d, np.minimum(drawn, d.cap), d.target)


def _geometric(d: _Draw) -> np.ndarray:
    """Failures before the first success: P(n) = p (1 - p)^n, p = 1 / (1 + mean) (Devroye 1986, X.2: inversion)."""
    if d.mean == 0:
        return np.zeros(d.items, np.int64)
    # log(1 - p) = -log1p(1 / mean); the difference of two logarithms would lose digits at large means.
    failures = np.log1p(-d.rng.random(d.items)) / -math.log1p(1.0 / d.mean)
    return _settled(d, np.minimum(np.floor(failures), d.cap).astype(np.int64), d.target)


def _zipf(d: _Draw) -> np.ndarray:
    """A power-law tail, P(N > n) ~ n^(1 - exponent) (Zipf 1949; Clauset, Shalizi and Newman 2009): degrees of a web
    graph, sizes of files. A Pareto variable is scaled to the mean and rounded."""
    tail = (1.0 - d.rng.random(d.items)) ** (-1.0 / (d.shape["exponent"] - 1.0))
    return _rounded(d, _scaled(d, _quantised(np.minimum(tail, 2.0**40))))


def _lognormal(d: _Draw) -> np.ndarray:
    """The exponential of a normal variable (Galton 1879; Limpert, Stahel and Abbt 2001): a product of many chances."""
    return _rounded(d, _scaled(d, _quantised(np.exp(d.shape["sigma"] * d.normal()))))


def _bimodal(d: _Draw) -> np.ndarray:
    """Two sorts of src, small and large, in random order: what makes a subgroup wait for its one large src."""
    large = d.rng.random(d.items) < d.shape["share"]
    return _rounded(d, _scaled(d, np.where(large, d.shape["ratio"], 1.0)))


def _sparse(d: _Draw) -> np.ndarray:
    """Nearly every src is empty, as after culling; the others are exponential. More of them are filled where the cap
    would keep that few from the mean."""
    busy = max(1, round(d.shape["fraction"] * d.items))
    if d.cap:
        busy = max(busy, -(-d.target // d.cap))
    filled = _lowest(d.rng.random(d.items), min(busy, d.items))
    weights = np.where(filled, _quantised(0.5 - np.log1p(-d.rng.random(d.items))), 0.0)
    return _rounded(d, _scaled(d, weights), eligible=filled)


def _lowest(values: np.ndarray, how_many: int) -> np.ndarray:
    """A mask of the lowest values; of equal ones the first."""
    border = np.partition(values, how_many - 1)[how_many - 1]
    mask = values < border
    mask[np.flatnonzero(values == border)[: how_many - int(mask.sum())]] = True
    return mask


def _ramp(d: _Draw) -> np.ndarray:
    """From 0 to 2 mean in order: neighbours are alike, the two ends are not."""
    return _rising(d, np.arange(d.items) / (d.items - 1) if d.items > 1 else np.full(1, 0.5))


def _sawtooth(d: _Draw) -> np.ndarray:
    """A ramp again and again: every subgroup has the same spread of N."""
    period = int(d.shape["period"])
    return _rising(d, (np.arange(d.items) % period) / (period - 1))


def _one_giant(d: _Draw) -> np.ndarray:
    """One src has nearly everything: the worst case of a loop per src and of `flat`."""
    place = int(d.rng.random() * d.items)
    whole = np.full(d.items, min(1, math.floor(d.mean), d.cap), np.int64)
    whole[place] = min(d.target - (int(whole.sum()) - int(whole[place])), d.cap)
    # Where max_n cuts the giant short, the others share what it cannot take.
    others = np.ones(d.items, bool)
    others[place] = False
    return _settled(d, whole, d.target, others)


def _zeros(d: _Draw) -> np.ndarray:
    """No src has any item: P2 = 0."""
    return np.zeros(d.items, np.int64)


def _meshlets(d: _Draw) -> np.ndarray:
    """A scene: lognormal triangles per mesh, ceil(triangles / 124) meshlets of each.

    124 triangles fill a meshlet in NVIDIA's recommendation for mesh shaders (Kubisch 2018, "Introduction to Turing Mesh
    Shaders": at most 126, and 124 with meshoptimizer's multiple of four). Triangles are scaled until the meshlets have
    the mean, so that every mesh has at least one; below a mean of 1 the rest are culled.
    """
    triangles = _quantised(np.exp(d.shape["sigma"] * d.normal()) * 1000.0)
    pieces = np.empty_like(triangles)

    def split(factor: float) -> np.ndarray:
        np.multiply(triangles, factor / TRIANGLES_PER_MESHLET, out=pieces)
        return np.minimum(np.ceil(pieces, out=pieces), d.cap, out=pieces)

    # Whole numbers add up exactly in any order while the sum has 53 bits, and the quick sum may be taken.
    add = np.sum if d.target < 2**52 else _total
    low, high = 0.0, LARGEST * 1.0
    for _ in range(48):
        middle = (low + high) / 2.0 if low else high / 2.0**16
        total = add(split(middle))
        if total == d.target:
            low = middle
            break
        low, high = (middle, high) if total < d.target else (low, middle)
    return _settled(d, split(low or high).astype(np.int64), d.target)


_KINDS: dict[str, tuple[Callable[[_Draw], np.ndarray], tuple[Shape, ...]]] = {
    "constant": (_constant, ()),
    "uniform": (_uniform, ()),
    "poisson": (_poisson, ()),
    "geometric": (_geometric, ()),
    "zipf": (_zipf, (Shape("exponent", 2.2, 1.1, 8.0, "tail: P(N > n) falls as n^(1 - exponent)"),)),
    "lognormal": (_lognormal, (Shape("sigma", 1.0, 0.0, 4.0, "standard deviation of log N"),)),
    "bimodal": (
        _bimodal,
        (
            Shape("share", 0.1, 0.0, 1.0, "share of src in the large mode"),
            Shape("ratio", 32.0, 1.0, 1e6, "large N over small N"),
        ),
    ),
    "sparse": (
        _sparse,
        (Shape("fraction", 0.02, 0.0, 1.0, "share of src with any items; more where max_n asks for it"),),
    ),
    "ramp": (_ramp, ()),
    "sawtooth": (_sawtooth, (Shape("period", 32, 2, 2**20, "src in one tooth"),)),
    "one_giant": (_one_giant, ()),
    "zeros": (_zeros, ()),
    "meshlets": (_meshlets, (Shape("sigma", 1.5, 0.0, 4.0, "standard deviation of log(triangles of a mesh)"),)),
}


def kinds() -> list[str]:
    """Names of the synthetic distributions."""
    return list(_KINDS)


def shapes(kind: str) -> tuple[Shape, ...]:
    """The shape parameters that a kind takes. Raises ValueError for an unknown kind."""
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"kind={kind!r}: use one of {', '.join(_KINDS)}")
    return _KINDS[kind][1]


def make(
    kind: str, items: int, *, mean: float = 8.0, max_n: int | None = None, seed: int = 0, **shape: float
) -> np.ndarray:
    """Counts of a synthetic distribution: uint32 (items,). The same arguments give the same array.

    kind: a name of `kinds()`.
        constant: round(mean), halves to even. uniform: 0 .. 2 mean. poisson. geometric: failures before a success.
        zipf: power-law tail (Zipf, Pareto). lognormal. bimodal: two values. sparse: most are 0, the others
        exponential. ramp: 0 to 2 mean in order. sawtooth: the same in teeth. one_giant: all 1 (0 below a mean of 1)
        but one, which has the rest. zeros. meshlets: a scene, ceil(triangles / 124) of lognormal meshes.
    items: how many src, 0 or more.
    mean: of the counts. The sum is exactly round(mean * items) for all kinds but `constant` (rounded) and `zeros`, or
        max_n * items where that is less: heavy tails are rescaled, and the few ones that rounding leaves over are
        spread evenly.
    max_n: largest N, None for 2^32 - 1. What it cuts off is given to the other src.
    seed: of the random stream, 0 or more.
    shape: parameters of the kind, see `shapes`.

    Raises ValueError naming the argument, TypeError for a shape parameter that the kind does not take.
    """
    taken = shapes(kind)
    draw = _Draw(
        items=_whole("items", items, 2**31),
        mean=_number("mean", mean, 0.0, float(LARGEST)),
        cap=LARGEST if max_n is None else _whole("max_n", max_n, LARGEST),
        rng=np.random.Generator(np.random.PCG64(_whole("seed", seed, 2**64 - 1))),
        shape=_shape(kind, taken, shape),
    )
    if draw.items == 0:
        return np.zeros(0, np.uint32)
    return _KINDS[kind][0](draw).astype(np.uint32)


def _shape(kind: str, taken: tuple[Shape, ...], given: dict[str, Any]) -> dict[str, float]:
    names = [item.name for item in taken]
    for name in given:
        if name not in names:
            told = ", ".join(f"{each}=" for each in names) or "no shape parameters"
            raise TypeError(f"{name}={given[name]!r}: {kind!r} takes {told}")
    return {item.name: _shape_value(item, given.get(item.name, item.default)) for item in taken}


def _shape_value(item: Shape, value: Any) -> float:
    number = _number(item.name, value, item.low, item.high)
    if isinstance(item.default, int) and number != int(number):
        raise ValueError(f"{item.name}={value!r}: use a whole number from {item.low:g} to {item.high:g}")
    return number


def _whole(name: str, value: Any, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= high:
        raise ValueError(f"{name}={value!r}: use a whole number from 0 to {high}")
    return int(value)


def _number(name: str, value: Any, low: float, high: float) -> float:
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name}={value!r}: use a number from {low:g} to {high:g}")
    return float(value)
