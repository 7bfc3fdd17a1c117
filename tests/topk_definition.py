"""The definition of top-k, written without any of the package's code."""

from __future__ import annotations

import numpy as np


def order_of(values, largest, indices=None) -> np.ndarray:
    """Places of all items, best first: NaN last, then the better value, then the lower index, then the earlier."""
    values = np.asarray(values)
    indices = np.arange(len(values), dtype=np.uint64) if indices is None else np.asarray(indices, np.uint64)
    nan = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    # Exact for every dtype that is selected from; -0.0 and 0.0 compare equal.
    exact = np.where(nan, 0, values).astype(np.float64)
    return np.lexsort((indices, -exact if largest else exact, nan))


def assert_top_k(values, k, largest, result, dtype=np.uint32) -> None:
    """`result` is the definition's."""
    values = np.asarray(values)
    expected = order_of(values, largest)[:k]
    assert result.indices.dtype == dtype
    assert result.indices.tolist() == expected.tolist()
    assert result.values.dtype == values.dtype
    assert np.array_equal(result.values, values[expected], equal_nan=values.dtype.kind == "f")
