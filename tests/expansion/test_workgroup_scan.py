"""`workgroup_scan`: large blocks call helpers, and nobody takes more rounds than it should."""

from __future__ import annotations

import numpy as np
import pytest
from definition import assert_expands
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl
from expandlab.expansion.strategies.workgroup_scan import ROUNDS

PART = 32 * ROUNDS


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ([PART - 1], [0]),
        ([PART], [-1, 0]),
        ([PART + 1], [0, 0]),
        ([3 * PART + 5], [0, 0, 0, 0]),
        ([1] * 32 + [2 * PART - 1, 1], [0, -1, 1, 1]),
        ([0] * 64 + [1], [-1, -1, 2]),
    ],
)
def test_a_block_has_its_own_workgroup_and_a_helper_for_every_whole_part(counts, groups):
    m = xl.thread_map(counts, "workgroup_scan", workgroup_size=32)
    owners = [m.entry[m.workgroup == group].max() for group in range(m.workgroup.max() + 1)]
    assert owners == groups
    rows = np.bincount(m.workgroup)
    assert rows.max() <= PART and rows.min() >= 32
    assert m.memory[1].rows[0].used == len(groups) - -(-len(counts) // 32)


@given(counts=st.lists(st.integers(0, 3000), max_size=100))
def test_no_workgroup_takes_more_than_its_rounds(counts):
    m = xl.thread_map(counts, "workgroup_scan", workgroup_size=32)
    assert np.bincount(m.workgroup, minlength=1).max() <= PART


@pytest.mark.gpu
@pytest.mark.parametrize("counts", [[PART - 1, 1, PART], [0] * 40 + [9 * PART + 3, 2], [PART] * 70])
def test_helpers_expand_by_the_definition(counts, any_device):
    result = xl.expand(counts, "workgroup_scan", device=any_device, workgroup_size=32)
    assert_expands(counts, result.src, result.local)
