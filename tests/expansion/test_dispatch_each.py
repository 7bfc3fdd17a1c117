"""`dispatch_each`: a launch for every src, its cap, and what a dispatch is told."""

from __future__ import annotations

import numpy as np
import pytest
from definition import assert_expands

import expandlab as xl
from expandlab.expansion.strategies.dispatch_each import MAX_SRC


@pytest.mark.gpu
def test_the_most_src_expand_and_one_more_is_refused(lavapipe):
    counts = np.arange(MAX_SRC, dtype=np.uint32) % 3
    result = xl.expand(counts, "dispatch_each", device=lavapipe)
    assert_expands(counts, result.src, result.local)
    with pytest.raises(xl.UnsupportedError, match=r"at most 10,000 src, and there are 10,001.*'prefix_search'"):
        xl.expand(np.zeros(MAX_SRC + 1, np.uint32), "dispatch_each", device=lavapipe)
    with pytest.raises(xl.UnsupportedError, match=r"max_src=10,001.*at most 10,000.*'prefix_search'"):
        xl.Expander("dispatch_each", max_src=MAX_SRC + 1, max_dst=1, device=lavapipe)


def test_auto_passes_over_it_where_there_are_too_many_src():
    assert xl.expand(np.ones(MAX_SRC + 1, np.uint32), device="reference").report.strategy != "dispatch_each"


@pytest.mark.gpu
def test_src_without_items_launch_nothing(every_device):
    result = xl.expand([0, 5, 0, 0, 300, 0], "dispatch_each", device=every_device, workgroup_size=64)
    each = result.report.passes[-1]
    assert each.threads_launched == 64 + 320 and each.workgroups == (6, 1, 1)


@pytest.mark.gpu
@pytest.mark.parametrize("groups", [65534, 65535, 65536])
def test_one_src_around_the_limit_of_a_dimension(groups, gpu):
    counts = [3, groups * 32 - 1, 1]
    result = xl.expand(counts, "dispatch_each", device=gpu, workgroup_size=32)
    assert_expands(counts, result.src, result.local)


def test_the_model_rounds_every_dispatch_up_by_itself():
    m = xl.thread_map([1, 0, 65, 64], "dispatch_each", workgroup_size=64)
    assert np.bincount(m.dispatch).tolist() == [64, 0, 128, 64]
    assert m.utilisation == 130 / 256
