"""Delegates: pieces, the narrower bound, and scores that lie badly for them."""

from __future__ import annotations

import numpy as np
import pytest

import expandlab as xl
from expandlab.topk.keys import FORMATS, words_of
from expandlab.topk.method import Sizes
from expandlab.topk.methods.delegate import LANES, groups_of
from expandlab.topk.prepared import Prepared, build

DELEGATE = xl.top_k_methods()["delegate"]
N, K = 2**20, 200


def scores(kind: str, sizes: Sizes) -> np.ndarray:
    """Scores of which a few pieces hold the best ones, so that too many pass the first bound."""
    rng = np.random.default_rng(4)
    values = rng.random(N, dtype=np.float32)
    pieces = LANES * groups_of(sizes)
    best = np.arange(N) // 4 % pieces < K // 8
    values[best] += 5.0
    if kind == "ties":
        values[best] = 7.0
    if kind == "outliers":
        values[[3, 12345]] = 3e38, np.inf
    return values


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["different", "ties", "outliers"])
def test_what_does_not_fit_the_list_is_bounded_once_more(kind, any_device):
    # As on a CPU, whose lists are shorter.
    sizes = Sizes(N, K, FORMATS["float32"], True, software=True)
    values = scores(kind, sizes)
    with Prepared(DELEGATE, build(DELEGATE, sizes), any_device) as prepared:
        assert "finish" in prepared.built.graph.passes
        ran = prepared.program.run(prepared.inputs(words_of(values), N))
        passed = ran.arrays["status"][2]
        assert passed > sizes.list_room
        found = prepared.run(words_of(values), N)
    assert found.indices.tolist() == np.lexsort((np.arange(N), -values))[:K].tolist()


def test_ordered_scores_are_spread_over_the_pieces():
    for values in (np.arange(N, dtype=np.float32), np.full(N, 2.0, np.float32)):
        sizes = Sizes(N, K, FORMATS["float32"], True)
        built = build(DELEGATE, sizes)
        with Prepared(DELEGATE, built, xl.device("reference")) as prepared:
            prepared.run(words_of(values), N)
        passed = next(step for step in built.steps if step.what == "survivors")
        assert K <= passed.data["count"] <= 4 * (K + 32)


@pytest.mark.gpu
def test_large_k_takes_the_digit_rounds(any_device):
    sizes = Sizes(2**16, 9000, FORMATS["float32"], True)
    values = np.random.default_rng(2).integers(0, 5000, 2**16).astype(np.float32)
    with Prepared(DELEGATE, build(DELEGATE, sizes), any_device) as prepared:
        assert "finish" not in prepared.built.graph.passes
        found = prepared.run(words_of(values), 2**16)
    assert found.indices.tolist() == np.lexsort((np.arange(2**16), -values))[:9000].tolist()
