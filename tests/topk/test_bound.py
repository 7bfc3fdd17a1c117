"""The carried bound: every method counts only the items before it, decided by key and index."""

from __future__ import annotations

import numpy as np
import pytest

import expandlab as xl
from expandlab.topk import trace
from expandlab.topk.keys import FORMATS, keys_of, words_of
from expandlab.topk.method import Sizes
from expandlab.topk.prepared import Prepared, build

N, K = 9000, 50
METHODS = xl.top_k_methods()


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["different", "ties", "all equal"])
@pytest.mark.parametrize("method", METHODS)
def test_only_what_is_before_the_bound_counts(method, kind, any_device):
    rng = np.random.default_rng(3)
    values = {
        "different": rng.permutation(N), "ties": rng.integers(0, 40, N), "all equal": np.full(N, 7),
    }[kind].astype(np.float32)  # fmt: skip
    keys = keys_of(values, True)
    order = np.lexsort((np.arange(N), keys))
    sizes = Sizes(N, K, FORMATS["float32"], True)
    with Prepared(METHODS[method], build(METHODS[method], sizes), any_device) as prepared:
        for place in (0, 1, K - 1, K, K + 1, 4000, N - 1):
            bound = (int(keys[order[place]]), int(order[place]))
            found = prepared.run(words_of(values), N, bound)
            assert found.indices.tolist() == order[:place][:K].tolist()
            assert np.array_equal(found.values, values[order[:place][:K]])


def test_delegates_without_anything_that_counts_are_not_read_again():
    values = np.random.default_rng(1).permutation(2**17).astype(np.float32)
    _, steps = trace(values, 20, "delegate")
    everything = next(step for step in steps if step.what == "bound")
    assert 20 <= len(everything.data["picked"]) <= 20 + 32
    sizes = Sizes(2**17, 20, FORMATS["float32"], True)
    built = build(METHODS["delegate"], sizes)
    with Prepared(METHODS["delegate"], built, xl.device("reference")) as prepared:
        prepared.run(words_of(values), 2**17, (int(keys_of(values, True).min()) + 1, 0))
    bound = next(step for step in built.steps if step.what == "bound")
    assert len(bound.data["picked"]) == 1
