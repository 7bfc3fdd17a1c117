"""`head_scan`: heads that meet, and a scan over more blocks than one workgroup takes at once."""

from __future__ import annotations

import numpy as np
import pytest
from definition import pairs

import expandlab as xl
from expandlab.expansion.scan import ROW

BLOCK = 32 * ROW


@pytest.mark.gpu
@pytest.mark.parametrize(
    "counts",
    [
        [0] * 5000 + [1] + [0] * 5000 + [2],
        [BLOCK] * 3,
        [BLOCK - 1, 0, 0, 1, BLOCK + 1],
        [1] * BLOCK * 33,
        [BLOCK * 32 + 1],
    ],
    ids=["deserts", "a block each", "around a block", "more blocks than threads", "one src over all"],
)
def test_items_come_in_the_order_of_the_src(counts, any_device):
    result = xl.expand(counts, "head_scan", device=any_device, workgroup_size=32)
    expected = pairs(counts)
    assert np.array_equal(result.src, expected[:, 0]) and np.array_equal(result.local, expected[:, 1])


def test_the_heads_take_four_bytes_for_every_item():
    m = xl.thread_map([3, 0, 1, 2], "head_scan")
    assert m.memory[0].used_bytes == 4 * 6
    assert m.memory[0].rows[0].src.tolist() == [0, 0, 0, 2, 3, 3]
