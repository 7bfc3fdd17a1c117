"""What the twins write down agrees with the scores."""

from __future__ import annotations

import numpy as np
import pytest
from topk_definition import order_of

import expandlab as xl
from expandlab.topk import trace

VALUES = np.random.default_rng(7).standard_normal(9000).astype(np.float32)


@pytest.mark.parametrize("method", xl.top_k_methods())
def test_every_method_says_what_it_did_in_the_order_of_its_passes(method):
    found, steps = trace(VALUES, 50, method)
    best = order_of(VALUES, True)[:50]
    assert found.indices.tolist() == best.tolist()
    ran = [item.name for item in found.report.passes]
    places = [ran.index(step.pass_name) for step in steps]
    assert places == sorted(places)
    for step in steps:
        if step.what == "survivors":
            assert set(best.tolist()) <= set(step.data["indices"].tolist())
            assert step.data["count"] == len(step.data["indices"])
    if method != "readback_heap":
        assert steps[-1].what == "result" and steps[-1].data["indices"].tolist() == best.tolist()


def test_the_first_histogram_counts_every_score():
    _, steps = trace(VALUES, 50, "radix_select")
    histogram = next(step for step in steps if step.what == "histogram")
    assert histogram.data["counts"].sum() == len(VALUES) and len(histogram.data["counts"]) == 2048
    bucket = next(step for step in steps if step.what == "bucket")
    assert bucket.data["taken"] < 50 <= bucket.data["taken"] + bucket.data["inside"]
    assert bucket.to_dict()["data"]["digit"] == bucket.data["digit"]


def test_the_bound_of_the_delegates_is_the_kth_best_piece():
    _, steps = trace(np.arange(2**17, dtype=np.float32), 3, "delegate")
    maxima, bound = (next(step for step in steps if step.what == what) for what in ("maxima", "bound"))
    assert bound.data["key"] == np.sort(maxima.data["keys"])[2]
    # Ascending scores: the last pieces.
    pieces = len(maxima.data["keys"])
    assert bound.data["picked"].tolist() == [pieces - 3, pieces - 2, pieces - 1]


def test_nothing_cannot_be_traced():
    with pytest.raises(ValueError, match="k=0"):
        trace(VALUES, 0)
