"""The definition of work expansion, written without any of the package's code."""

from __future__ import annotations

import numpy as np


def pairs(counts) -> np.ndarray:
    """Every (src, local), in src order, as an int64 array (P2, 2)."""
    counts = np.asarray(counts).astype(np.int64)
    src = np.repeat(np.arange(len(counts)), counts)
    local = np.concatenate([np.arange(n) for n in counts]) if len(counts) else np.zeros(0, np.int64)
    return np.stack([src, local], axis=1)


def assert_expands(counts, src, local) -> None:
    """(src, local) are the pairs of the definition, each exactly once, in any order."""
    counts = np.asarray(counts).astype(np.int64)
    total = int(counts.sum())
    assert src.shape == local.shape == (total,)
    assert src.dtype == local.dtype == np.uint32
    if total == 0:
        return
    assert int(src.max()) < len(counts)
    assert (local < counts[src]).all()
    starts = np.cumsum(counts) - counts
    # start + local numbers the pairs 0 .. P2-1: as many different ones as there are items means each exactly once.
    assert np.bincount(starts[src] + local, minlength=total).max() == 1
