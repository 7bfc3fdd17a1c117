"""The synthetic distributions: the same arguments give the same array, and the mean is honoured."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl

KINDS = ["constant", "uniform", "poisson", "geometric", "zipf", "lognormal", "bimodal", "sparse", "ramp", "sawtooth",
         "one_giant", "zeros", "meshlets"]  # fmt: skip
SHA256 = {
    "constant": "eac2445ca8394bddac7bee1927cbdb19d66030ab123318e2253e578378224722",
    "uniform": "4c220d798a34327f38dacd655f3f68172ef5514bc2b2756da91c809f2335311a",
    "poisson": "1ac34e5edb62a9a84b9425af34beaca386f335d20ae957c1a3bd5a0ad54697c8",
    "geometric": "fc51024ae9ddadfb38e686d6500c6d019392728277efd4aff97a6bc6126056a5",
    "zipf": "f185a75bd9a4e999e4d70f2608bd8888808271063660b399074bd04a1eda564f",
    "lognormal": "d3a279353d544ddaf10433021753118020e2bd69ad4b45c76cc93f1be145f6c2",
    "bimodal": "d06b1f7fe166b94b0d44896d53fb0e18c3c7e801a10e0f02ced05e22b4115f3d",
    "sparse": "4cb8a37edbdcba8f1c113cef374e88605c3c3e0b3954174808623990bf3edbe2",
    "ramp": "8d6237400705d6b17a35fe9b09d61dd9f962497a8eded5e76dd3f52971ddee8f",
    "sawtooth": "85e4fc83cb2109ab3e21b9a2d8cfee6824df62c92f70bfb0d156b5c697c4bd90",
    "one_giant": "e4138cacec31d3eaeeb62c7855ee35c73ab62c419693a5c25179590c13fb06a6",
    "zeros": "e7e2dcff542de95352682dc186432e98f0188084896773f1973276b0577d5305",
    "meshlets": "36ad28a50e02068cac5864fdc467b17173742066f96cbb7e19f3fdb9debf5151",
}


def test_the_kinds_are_those_of_the_contract():
    assert xl.counts.kinds() == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_the_same_array_everywhere(kind):
    counts = xl.counts.make(kind, 10_000)
    assert counts.dtype == np.uint32 and counts.shape == (10_000,)
    assert hashlib.sha256(counts.astype("<u4").tobytes()).hexdigest() == SHA256[kind]
    assert np.array_equal(counts, xl.counts.make(kind, 10_000, mean=8.0, max_n=None, seed=0))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("constant", "ramp", "sawtooth", "zeros")])
def test_another_seed_is_another_array(kind):
    assert not np.array_equal(xl.counts.make(kind, 1000, seed=1), xl.counts.make(kind, 1000, seed=2))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "zeros"])
@pytest.mark.parametrize("mean", [0, 0.1, 0.5, 1, 8, 63.7, 1000])
@pytest.mark.parametrize("seed", [0, 5])
def test_the_mean_is_honoured(kind, mean, seed):
    counts = xl.counts.make(kind, 10_000, mean=mean, seed=seed).astype(np.int64)
    if kind == "constant":
        assert (counts == round(mean)).all()
    elif kind in ("ramp", "sawtooth"):
        assert abs(counts.mean() - mean) <= 0.001 * mean + 1e-4
    else:
        assert counts.sum() == round(mean * 10_000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cap", [0, 1, 9, 100])
def test_no_count_exceeds_max_n_and_the_mean_is_kept_where_it_allows(kind, cap):
    counts = xl.counts.make(kind, 10_000, mean=8.0, max_n=cap, seed=3)
    assert counts.max() <= cap
    if kind not in ("zeros", "sparse", "constant", "ramp", "sawtooth"):
        assert int(counts.sum()) == 10_000 * min(8, cap)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("items", [0, 1, 2, 3, 31])
def test_few_items_work(kind, items):
    assert xl.counts.make(kind, items, mean=5.0).shape == (items,)


@given(
    kind=st.sampled_from(KINDS), items=st.integers(0, 200), mean=st.floats(0, 1e5), seed=st.integers(0, 2**63),
    cap=st.none() | st.integers(0, 1000),
)  # fmt: skip
def test_any_arguments_give_counts_in_range(kind, items, mean, seed, cap):
    counts = xl.counts.make(kind, items, mean=mean, max_n=cap, seed=seed)
    assert counts.dtype == np.uint32 and len(counts) == items
    assert cap is None or counts.max(initial=0) <= cap


def test_the_largest_means_do_not_wrap():
    for kind in KINDS:
        counts = xl.counts.make(kind, 5, mean=2.0**32 - 1)
        assert kind in ("zeros", "sparse") or counts.astype(np.int64).mean() >= 2**31


def test_kinds_look_like_their_names():
    make = xl.counts.make
    assert np.count_nonzero(make("sparse", 10_000)) <= 200
    assert np.all(np.diff(make("ramp", 1000, mean=500.0).astype(int)) >= 0)
    assert np.count_nonzero(make("one_giant", 1000) > 1) == 1
    assert set(np.round(make("bimodal", 10_000, mean=100.0) / 4.1).astype(int)) <= set(range(5, 8)) | set(
        range(180, 210)
    )
    tooth = make("sawtooth", 320, mean=310.0, period=32).astype(int)
    assert np.abs(tooth[:32] - tooth[32:64]).max() <= 1
    poisson = make("poisson", 100_000, mean=8.0).astype(float)
    assert abs(poisson.var() - 8.0) < 0.2
    geometric = make("geometric", 100_000, mean=8.0).astype(float)
    assert abs(geometric.var() - 72.0) < 3.0
    meshlets = make("meshlets", 10_000, mean=8.0)
    assert meshlets.min() >= 1


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"kind": "normal"}, ValueError, "kind='normal'.*zipf"),
        ({"items": -1}, ValueError, "items=-1"),
        ({"items": 2.5}, ValueError, "items=2.5"),
        ({"items": True}, ValueError, "items=True"),
        ({"mean": -1.0}, ValueError, "mean=-1.0"),
        ({"mean": float("nan")}, ValueError, "mean=nan"),
        ({"mean": "8"}, ValueError, "mean='8'"),
        ({"max_n": -1}, ValueError, "max_n=-1"),
        ({"max_n": 2**32}, ValueError, "max_n="),
        ({"seed": -1}, ValueError, "seed=-1"),
        ({"exponent": 1.0}, ValueError, "exponent=1.0"),
        ({"sigma": 1.0}, TypeError, "sigma=1.0.*exponent"),
    ],
)
def test_a_bad_argument_is_named(arguments, error, text):
    with pytest.raises(error, match=text):
        xl.counts.make(**{"kind": "zipf", "items": 10, **arguments})


@pytest.mark.parametrize("kind", KINDS)
def test_every_shape_parameter_is_described_and_taken(kind):
    for shape in xl.counts.shapes(kind):
        assert shape.low <= shape.default <= shape.high and shape.what
        for value in (shape.low, shape.default, shape.high):
            assert len(xl.counts.make(kind, 100, **{shape.name: value})) == 100
