"""The look-back scan when nobody can be waited for, and when it runs again and again."""

from __future__ import annotations

import numpy as np
import pytest
from definition import assert_expands

import expandlab as xl
from expandlab.expansion.strategies import lookback_search

pytestmark = pytest.mark.gpu
COUNTS = (np.arange(20_000) * 7 % 4).astype(np.uint32)


@pytest.mark.parametrize("spins", [0, 1, 64])
def test_a_block_that_is_put_off_is_added_up_by_others(spins, gpu, monkeypatch):
    monkeypatch.setattr(lookback_search, "SPINS", spins)
    result = xl.expand(COUNTS, "lookback_search", device=gpu, workgroup_size=32)
    assert_expands(COUNTS, result.src, result.local)
    shader = result.graph.passes["lookback"].kernel.source.text
    assert f"const SPINS: u32 = {spins}u;" in shader


def test_every_run_starts_from_an_empty_spine(gpu):
    with xl.Expander("lookback_search", max_src=20_000, max_dst=40_000, device=gpu, workgroup_size=64) as prepared:
        for count in (20_000, 17, 9_000, 20_000, 0, 513):
            done = prepared.run(COUNTS[:count])
            assert_expands(COUNTS[:count], done.src, done.local)
