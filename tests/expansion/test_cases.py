"""Every case of tests/cases/expand.json on every strategy and device."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from definition import assert_expands

import expandlab as xl

CASES = json.loads((Path(__file__).parent.parent / "cases" / "expand.json").read_text())["cases"]
RUNS = [name for name, strategy in xl.strategies().items() if not strategy.modelled]
ERRORS = {"OverflowError": OverflowError}
# Too many threads for NumPy to be worth waiting for.
SLOW_ON_REFERENCE = 100_000


def counts_of(case):
    given = case["counts"]
    if isinstance(given, dict):
        return eval(given["expr"], {"np": np, "rng": np.random.default_rng(case.get("seed", 0))})
    # Values that uint32 cannot hold are meant as they are.
    return np.array(given, np.uint32)


def strategies_of(case):
    named = case["call"]["strategies"]
    names = RUNS if named == "all" else [name for name in named if name in xl.strategies()]
    names = [name for name in names if name not in case["call"].get("except", [])]
    return names if case["id"] == "modelled-only" else [*names, "auto"]


def arguments(case):
    return {key: value for key, value in case["call"].items() if key not in ("strategies", "except")}


def combinations():
    for case in CASES:
        for strategy in strategies_of(case):
            yield pytest.param(case, strategy, id=f"{case['id']}-{strategy}")


@pytest.mark.gpu
@pytest.mark.parametrize(("case", "strategy"), list(combinations()))
def test_case(case, strategy, every_device):
    counts = counts_of(case)
    given = np.array(counts, copy=True)
    expect = case["expect"]
    if "total" in expect:
        assert int(np.asarray(counts).astype(object).sum()) == expect["total"], "the input was made wrongly"
        if every_device.is_reference and expect["total"] > SLOW_ON_REFERENCE:
            pytest.skip("the same twin runs on the smaller cases")
        try:
            result = xl.expand(counts, strategy, device=every_device, **arguments(case))
        except xl.UnsupportedError:
            assert strategy != "auto"
            assert len(counts) > 300 or expect["total"] > 5000
            return
        assert result.total == expect["total"]
        assert_expands(counts, result.src, result.local)
    else:
        kind = ERRORS.get(expect["error"]) or getattr(xl, expect["error"])
        with pytest.raises(kind) as caught:
            xl.expand(counts, strategy, device=every_device, **arguments(case))
        assert str(caught.value)
        if "required" in expect:
            assert caught.value.required == expect["required"]
        if "required" in expect and "capacity" in case["call"]:
            assert caught.value.capacity == case["call"]["capacity"]
        if "row" in expect:
            assert caught.value.row == expect["row"] and f"row {expect['row']}" in str(caught.value)
        modelled = strategy != "auto" and xl.strategies()[strategy].modelled
        after = xl.expand([2, 0, 3], "auto" if modelled else strategy, device=every_device)
        assert_expands([2, 0, 3], after.src, after.local)
    assert np.array_equal(counts, given, equal_nan=np.asarray(counts).dtype.kind == "f")


@pytest.mark.parametrize("case", [case for case in CASES if "row" in case["expect"]], ids=lambda case: case["id"])
def test_load_raises_the_same_error_as_expand(case):
    with pytest.raises(xl.CountsError) as caught:
        xl.counts.load(counts_of(case))
    assert caught.value.row == case["expect"]["row"]
