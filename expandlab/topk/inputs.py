"""Rows of scores to try the methods on: random ones, and those that are hard for one method or another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Bits in which scores of `shared_bits` differ.
_OWN_BITS = 8


def kinds() -> dict[str, str]:
    """Name -> what the scores are."""
    return {name: text for name, (text, _) in _KINDS.items()}


def scores(kind: str, n: int, *, seed: int = 0) -> np.ndarray:
    """`n` scores: float32 `(n,)`; the same arguments give the same array.

    kind: a name of `kinds()`. Raises ValueError for another.
    """
    if kind not in _KINDS:
        raise ValueError(f"kind={kind!r}: use one of {', '.join(_KINDS)}")
    return _KINDS[kind][1](n, np.random.default_rng(seed))


def defined(values: np.ndarray, k: int, largest: bool = True) -> np.ndarray:
    """Indices of the k best by the definition, best first: NaN last, then the better score, then the lower index.

    values: float32 or float64 (n,). One stable sort of NumPy's, which puts NaN last and holds -0.0 equal to 0.0.
    """
    return np.argsort(-values if largest else values, kind="stable")[:k]


def _random(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal(n).astype(np.float32)


def _ascending(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n, dtype=np.float32)


def _all_equal(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.full(n, 1.5, np.float32)


def _shared_bits(n: int, rng: np.random.Generator) -> np.ndarray:
    own = rng.integers(0, 1 << _OWN_BITS, n, dtype=np.uint32)
    return (np.float32(1.5).view(np.uint32) | own).view(np.float32)


def _special(n: int, rng: np.random.Generator) -> np.ndarray:
    """A third NaN of several payloads and both signs, a few infinities, zeros of both signs, the rest normal."""
    values = rng.standard_normal(n).astype(np.float32)
    drawn = rng.random(n)
    payloads = rng.integers(1, 1 << 22, n, dtype=np.uint32) | np.uint32(0x7F800000)
    signs = rng.integers(0, 2, n, dtype=np.uint32) << np.uint32(31)
    values.view(np.uint32)[drawn < 1 / 3] = (payloads | signs)[drawn < 1 / 3]
    for low, high, value in ((0.4, 0.4005, np.inf), (0.45, 0.46, -np.inf), (0.5, 0.55, 0.0), (0.55, 0.6, -0.0)):
        values[(low <= drawn) & (drawn < high)] = value
    return values


_KINDS: dict[str, tuple[str, Callable[[int, np.random.Generator], np.ndarray]]] = {
    "random": ("normal, in random order", _random),
    "ascending": ("each better than all before it, where the largest are wanted", _ascending),
    "all_equal": ("ties alone: the indices decide", _all_equal),
    "shared_bits": (f"the leading {32 - _OWN_BITS} bits are the same in all", _shared_bits),
    "nan_inf": ("a third NaN, infinities, zeros of both signs, the rest normal", _special),
}
