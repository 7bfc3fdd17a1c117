"""What a strategy says of its memory, against the buffers that it declares."""

from __future__ import annotations

import pytest

import expandlab as xl
from expandlab.expansion.endings import store
from expandlab.expansion.passes import build
from expandlab.expansion.strategy import Sizes

RUNS = [name for name, strategy in xl.strategies().items() if not strategy.modelled]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(("p1", "p2"), [(0, 0), (1, 1), (3000, 5000), (3000, 2**20), (9000, 2**16 + 3), (200, 2**24)])
@pytest.mark.parametrize("size", [32, 256])
def test_the_formula_is_what_the_buffers_take(name, p1, p2, size):
    strategy = xl.strategies()[name]
    p1 = min(p1, strategy.max_src or p1)
    told = eval(strategy.memory_formula, {"P1": p1, "P2": p2, "WG": size, "sum": sum, "min": min, "range": range})
    taken = build(strategy, Sizes(p1, p2, size, 32), store(p2)).scratch_bytes
    # State, arguments and small tables come on top, and what is rounded up.
    assert told <= taken <= told + 2048
