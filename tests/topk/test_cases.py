"""Every case of tests/cases/topk.json on every method and device, and through streams."""

from __future__ import annotations

import numpy as np
import pytest
from topk_cases import CASES, scores
from topk_definition import order_of

import expandlab as xl

ERRORS = {"ValueError": ValueError, "TypeError": TypeError}
# Below these no method may cap its input.
N_FOR_ALL, K_FOR_ALL = 1000, 64


def combinations():
    for case in CASES:
        if "stream" in case:
            continue
        methods = case.get("methods") or [*xl.top_k_methods(), "auto"]
        for method in methods:
            if method == "auto" or method in xl.top_k_methods():
                yield pytest.param(case, method, id=f"{case['id']}-{method}")


def assert_is(result, values, expected, dtype):
    assert result.indices.dtype == dtype
    assert result.indices.tolist() == expected.tolist()
    assert result.values.dtype == values.dtype
    assert np.array_equal(result.values, values, equal_nan=values.dtype.kind == "f")


@pytest.mark.gpu
@pytest.mark.parametrize(("case", "method"), list(combinations()))
def test_case(case, method, every_device):
    values = scores(case["values"], case["dtype"], case.get("seed", 0))
    given = values.copy()
    expect = case["expect"]
    call = {"largest": case["largest"], "method": method, "device": every_device}
    if "error" in expect:
        with pytest.raises(ERRORS[expect["error"]], match=r"k=|values"):
            xl.top_k(values, case["k"], **call)
        return
    expected = order_of(values, case["largest"])[: case["k"]]
    if "indices" in expect:
        assert expected.tolist() == expect["indices"], "the definition and the case disagree"
    try:
        result = xl.top_k(values, case["k"], **call)
    except xl.UnsupportedError as error:
        assert method != "auto" and (len(values) > N_FOR_ALL or case["k"] > K_FOR_ALL)
        assert "Nearest one that runs" in str(error)
        return
    assert_is(result, values[expected], expected, np.uint32)
    assert values.tobytes() == given.tobytes()
