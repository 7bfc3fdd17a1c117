"""`draw_indirect_count`: vertices are threads, and a device that has no such draws says what it lacks."""

from __future__ import annotations

import numpy as np
import pytest
from definition import assert_expands
from drivers import driver

import expandlab as xl

NEEDS = xl.strategies()["draw_indirect_count"].needs


@pytest.fixture
def drawing(gpu):
    """A device that can do it."""
    if set(NEEDS) - set(gpu.features):
        pytest.skip("the device lacks a feature")
    return gpu


@pytest.mark.gpu
def test_a_device_without_such_draws_names_what_it_lacks():
    dawn = driver("dawn")
    with pytest.raises(xl.UnsupportedError, match=r"lacks .*vertex-writable-storage.*'prefix_search'"):
        xl.expand([3, 1, 2], "draw_indirect_count", device=dawn)
    with pytest.raises(xl.UnsupportedError, match=r"lacks .*vertex-writable-storage.*'prefix_search'"):
        xl.Expander("draw_indirect_count", max_src=3, max_dst=9, device=dawn)


@pytest.mark.gpu
def test_no_vertex_is_drawn_twice_and_none_without_an_item(drawing):
    counts = xl.counts.make("zipf", 20_000, mean=5.0, max_n=3000, seed=3)
    body = "fn work(src: u32, local: u32, dst: u32) { atomicAdd(&seen[dst], 1u); atomicAdd(&calls[src], 1u); }"
    buffers = {"seen": xl.atomic(np.zeros(int(counts.sum()), np.uint32)), "calls": xl.atomic(np.zeros_like(counts))}
    result = xl.expand(counts, "draw_indirect_count", body=body, buffers=buffers, device=drawing)
    assert (result.buffers["seen"] == 1).all() and np.array_equal(result.buffers["calls"], counts)
    vertices = result.report.passes[-1]
    assert (vertices.threads_launched, vertices.threads_idle) == (counts.sum(), 0)


@pytest.mark.gpu
def test_more_draws_than_a_dimension_has_workgroups(drawing):
    counts = np.ones(70_001, np.uint32)
    result = xl.expand(counts, "draw_indirect_count", device=drawing)
    assert_expands(counts, result.src, result.local)


def test_a_draw_begins_a_subgroup_of_its_own():
    m = xl.thread_map([1, 0, 33, 70], "draw_indirect_count", workgroup_size=64, subgroup_size=32)
    assert np.bincount(m.dispatch).tolist() == [32, 0, 64, 96]
    assert m.utilisation == 104 / 192
    rows = m.memory[0].rows[0]
    assert rows.src.tolist() == [0, 2, 3] and m.memory[0].used_bytes == 3 * 16
    assert m.entry[m.active].tolist() == [0] + [1] * 33 + [2] * 70
