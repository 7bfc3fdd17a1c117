"""What the twins write down agrees with the scores."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from topk_definition import order_of

import expandlab as xl
from expandlab.topk import trace, trace_stream
from expandlab.topk.inputs import defined, kinds, scores
from expandlab.topk.keys import keys_of
from expandlab.topk.steps import HOST

VALUES = np.random.default_rng(7).standard_normal(9000).astype(np.float32)


@pytest.mark.parametrize("method", xl.top_k_methods())
def test_every_method_says_what_it_did_in_the_order_of_its_passes(method):
    found, steps = trace(VALUES, 50, method)
    best = order_of(VALUES, True)[:50]
    assert found.indices.tolist() == best.tolist()
    ran = [*(item.name for item in found.report.passes), HOST]
    places = [ran.index(step.pass_name) for step in steps]
    assert places == sorted(places)
    for step in steps:
        if step.what == "survivors":
            assert set(best.tolist()) <= set(step.data["indices"].tolist())
            assert step.data["count"] == len(step.data["indices"])
        if step.what in ("runs", "order"):
            assert set(best.tolist()) <= set(step.data["indices"].tolist())
    if method == "readback_heap":
        assert steps[-1].pass_name == HOST and set(steps[-1].data["indices"].tolist()) == set(best.tolist())
    else:
        assert steps[-1].what == "result" and steps[-1].data["indices"].tolist() == best.tolist()


def test_the_first_histogram_counts_every_score():
    _, steps = trace(VALUES, 50, "radix_select")
    histogram = next(step for step in steps if step.what == "histogram")
    assert histogram.data["counts"].sum() == len(VALUES) and len(histogram.data["counts"]) == 2048
    bucket = next(step for step in steps if step.what == "bucket")
    assert bucket.data["taken"] < 50 <= bucket.data["taken"] + bucket.data["inside"]
    assert bucket.to_dict()["data"]["digit"] == bucket.data["digit"]


def test_the_bound_of_the_delegates_holds_k_pieces_and_few_more():
    values = np.random.default_rng(8).permutation(2**17).astype(np.float32)
    _, steps = trace(values, 300, "delegate")
    maxima, bound = (next(step for step in steps if step.what == what) for what in ("maxima", "bound"))
    reached = np.flatnonzero(maxima.data["keys"] <= bound.data["key"])
    assert np.array_equal(bound.data["picked"], reached)
    assert 300 <= len(reached) <= 300 + 300 // 8


def test_nothing_cannot_be_traced():
    with pytest.raises(ValueError, match="k=0"):
        trace(VALUES, 0)


@pytest.mark.parametrize("method", ["readback_heap", "atomic_heap"])
def test_a_heap_is_told_of_as_it_lies_with_its_worst_on_top(method):
    values = np.arange(300, dtype=np.float32)
    _, steps = trace(values, 7, method)
    heaps = [step.data for step in steps if step.what == "heap"]
    assert len(heaps) > 8 and heaps[-1]["seen"] == 300 and heaps[-1]["inserted"] == 300
    for held in heaps:
        assert sorted(held["indices"].tolist()) == list(range(held["seen"] - 7, held["seen"]))
        at = held["indices"].astype(int).tolist()
        assert all(at[(place - 1) // 2] < at[place] for place in range(1, len(at)))


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("largest", [True, False])
def test_a_stream_carries_its_bound_from_pass_to_pass(kind, largest):
    values = scores(kind, 5000, seed=3)
    best, told = trace_stream(values, 40, 7, largest=largest)
    assert best.tolist() == order_of(values, largest)[:40].tolist() == defined(values, 40, largest).tolist()
    assert sum(item.scores for item in told) == 5000 and told[0].bound is None
    keys = keys_of(values, largest)
    for before, now in itertools.pairwise(told):
        sofar = order_of(values[: now.base], largest)[39]
        assert now.bound == (int(keys[sofar]), int(sofar)) == before.bound_after
        # What passes is better than the carried bound; what enters is among the best after it.
        mine = np.arange(now.base, now.base + now.scores)
        better = (keys[mine] < now.bound[0]) | ((keys[mine] == now.bound[0]) & (mine < now.bound[1]))
        assert now.passed == better.sum()
        assert now.entered == (order_of(values[: now.base + now.scores], largest)[:40] >= now.base).sum()


def test_scores_of_every_kind_are_what_they_are_called():
    made = {kind: scores(kind, 9000, seed=1) for kind in kinds()}
    assert all(np.array_equal(made[kind].view("u4"), scores(kind, 9000, seed=1).view("u4")) for kind in made)
    assert (np.diff(made["ascending"]) > 0).all() and len(set(made["all_equal"])) == 1
    bits = made["shared_bits"].view(np.uint32)
    assert len(set((bits >> 8).tolist())) == 1 and len(set(bits.tolist())) > 200
    special = made["nan_inf"]
    assert np.isnan(special).sum() > 2000 and (special == np.inf).any() and (special == -np.inf).any()
    with pytest.raises(ValueError, match="kind='none'"):
        scores("none", 3)
