"""Standings: how contenders stand against the best of each input."""

from __future__ import annotations

from dataclasses import replace

import pytest
from measured import contender, measurements

from expandlab.measuring import Measurements


def one(kind, **ms):
    """Measurements of one input: three samples for each contender, around its median."""
    found = measurements(*(contender(name, (0.9 * v, v, 1.2 * v)) for name, v in ms.items() if v))
    return replace(found, input={**found.input, "kind": kind})


def test_a_contender_stands_against_the_best_of_each_input():
    limit = contender("fill", (0.1, 0.1, 0.1), role="limit")
    first = one("uniform", a=1.0, b=1.1, c=4.0)
    given = [
        replace(first, contenders=(*first.contenders, limit)),
        one("zipf", a=6.0, b=2.0),
        one("ramp", a=3.0, b=3.0),
    ]
    found = Measurements.standings(iter(given))
    assert list(found.index) == ["b", "a", "c"] and "fill" not in found.index
    assert found["inputs"].to_dict() == {"b": 3, "a": 3, "c": 1}
    # Those that share the first place both have it.
    assert found["first"].to_dict() == {"b": 2, "a": 2, "c": 0}
    assert found["within_10"].to_dict() == {"b": 3, "a": 2, "c": 0}
    assert found["median"].to_dict() == pytest.approx({"b": 1.0, "a": 1.0, "c": 4.0})
    assert found["worst"].to_dict() == pytest.approx({"b": 1.1, "a": 3.0, "c": 4.0})
    assert found.loc["a", "worst_at"] == "zipf, mean 6, 48 src, 288 items"
    assert found.loc["b", "worst_at"].startswith("uniform")


def test_the_measurements_of_the_package_have_standings():
    measured = Measurements.shipped("h200")
    found = Measurements.standings(measured)
    assert found["inputs"].max() == len(measured) and found["first"].sum() >= len(measured)
    assert (found["worst"] >= found["median"]).all() and (found["median"] >= 1).all()
    some = measured[7]
    ms = {each.name: each.gpu.median for each in some.of_role("contender") if each.gpu_ms}
    alone = Measurements.standings([some])
    assert alone["median"].to_dict() == pytest.approx({name: value / min(ms.values()) for name, value in ms.items()})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([], "no time"),
        ([measurements(contender("a", ()))], "no time"),
        ([one("zipf", a=1.0), replace(one("zipf", a=1.0), device="another")], "2 devices .another, llvmpipe."),
    ],
)
def test_what_has_no_standings_is_told(given, text):
    with pytest.raises(ValueError, match=text):
        Measurements.standings(given)


@pytest.mark.parametrize("given", [None, one("zipf", a=1.0), [1]])
def test_standings_of_something_else_name_the_argument(given):
    with pytest.raises(TypeError, match="measured"):
        Measurements.standings(given)


def test_a_name_of_no_measurements_is_told():
    with pytest.raises(ValueError, match="name='a100': use one of h200, h200_large"):
        Measurements.shipped("a100")
