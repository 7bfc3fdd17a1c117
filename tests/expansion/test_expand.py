"""`expand` against the definition, over strategies, kinds, sizes and devices."""

from __future__ import annotations

import json

import numpy as np
import pytest
from definition import assert_expands, pairs
from drivers import DRIVERS, driver
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl

RUNS = [name for name, strategy in xl.strategies().items() if not strategy.modelled]
# Strategies whose pass-2 threads handle several items each.
SEVERAL_ITEMS = ("serial_merge", "workgroup_scan", "tile_search", "size_classes")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("strategy", RUNS)
@pytest.mark.parametrize("kind", xl.counts.kinds())
def test_every_kind_expands_by_the_definition(strategy, kind, any_device):
    counts = xl.counts.make(kind, 3000, mean=5.0, seed=3)
    result = xl.expand(counts, strategy, device=any_device)
    assert_expands(counts, result.src, result.local)


@pytest.mark.parametrize("strategy", RUNS)
@pytest.mark.parametrize("size", [32, 64, 128, 256])
@pytest.mark.parametrize("items", [1, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049])
def test_every_workgroup_size_at_the_edges_of_a_block(strategy, size, items, lavapipe):
    counts = (np.arange(items) * 7 % 5).astype(np.uint32)
    result = xl.expand(counts, strategy, device=lavapipe, workgroup_size=size)
    assert_expands(counts, result.src, result.local)


@pytest.mark.parametrize("strategy", RUNS)
@pytest.mark.parametrize("name", DRIVERS)
@given(
    counts=st.lists(st.one_of(st.integers(0, 3), st.integers(0, 300)), max_size=200), size=st.sampled_from([32, 256])
)
def test_any_counts_expand_by_the_definition(strategy, name, counts, size):
    result = xl.expand(np.array(counts, np.uint32), strategy, device=driver(name), workgroup_size=size)
    assert_expands(counts, result.src, result.local)


@pytest.mark.parametrize("strategy", RUNS)
def test_shaders_without_run_time_checks_give_the_same(strategy, gpu):
    counts = xl.counts.make("zipf", 3000, mean=6.0, max_n=5000, seed=4)
    result = xl.expand(counts, strategy, device=gpu, checked=False)
    assert_expands(counts, result.src, result.local)
    assert not any(item.kernel.checked for item in result.graph.passes.values())


def test_a_body_is_checked_always(lavapipe):
    body = "fn work(src: u32, local: u32, dst: u32) { out[dst + 1000000u] = 1u; }"
    result = xl.expand(
        [2], "append", body=body, buffers={"out": np.zeros(4, np.uint32)}, device=lavapipe, checked=False
    )  # fmt: skip
    assert result.graph.passes["consume"].kernel.checked and not result.graph.passes["append"].kernel.checked


@pytest.mark.parametrize("strategy", RUNS)
def test_the_standard_library_expands_exactly(strategy, gpu):
    counts = xl.counts.standard_library()
    try:
        result = xl.expand(counts, strategy, device=gpu)
    except xl.UnsupportedError as error:
        pytest.fail(f"the standard library is within every cap: {error}")
    assert result.total == int(counts.sum())
    assert_expands(counts, result.src, result.local)


@pytest.mark.parametrize("strategy", [name for name in RUNS if not xl.strategies()[name].atomic_order])
def test_strategies_without_atomics_keep_the_order_of_the_src(strategy, any_device):
    counts = xl.counts.make("geometric", 500, mean=4.0, seed=1)
    result = xl.expand(counts, strategy, device=any_device)
    if strategy in ("flat", "dispatch_each"):
        # Their output places come from atomics; within a src the items are contiguous and in order.
        first = np.flatnonzero(result.local == 0)
        assert (np.diff(result.src.astype(np.int64))[np.diff(result.local.astype(np.int64)) == 1] == 0).all()
        assert len(first) == np.count_nonzero(counts)
    else:
        assert np.array_equal(np.stack([result.src, result.local], axis=1), pairs(counts))


def test_the_input_is_not_changed_and_may_be_read_only(any_device):
    counts = np.array([3, 1, 2], np.uint32)
    counts.flags.writeable = False
    result = xl.expand(counts, "append", device=any_device)
    assert_expands(counts, result.src, result.local)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"workgroup_size": 48}, "workgroup_size"),
        ({"workgroup_size": 512}, "workgroup_size"),
        ({"workgroup_size": True}, "workgroup_size"),
        ({"capacity": -1}, "capacity"),
        ({"capacity": 1.5}, "capacity"),
        ({"strategy": "nonsense"}, "strategy"),
        ({"strategy": None}, "strategy"),
    ],
)
def test_a_bad_argument_is_named(arguments, name):
    with pytest.raises(ValueError, match=f"{name}="):
        xl.expand([1, 2], **{"strategy": "flat", "device": "reference", **arguments})


def test_capacity_zero_accepts_nothing_but_nothing(any_device):
    assert xl.expand([0, 0], "prefix_search", device=any_device, capacity=0).total == 0
    with pytest.raises(xl.CapacityError) as caught:
        xl.expand([0, 1], "prefix_search", device=any_device, capacity=0)
    assert (caught.value.required, caught.value.capacity) == (1, 0)


def test_flat_refuses_more_threads_than_an_index_holds():
    counts = np.ones(70_000, np.uint32)
    counts[5] = 70_000
    with pytest.raises(xl.UnsupportedError, match="prefix_search"):
        xl.expand(counts, "flat", device="reference")


def test_append_writes_its_longest_loop_whole(gpu):
    result = xl.expand([65535, 3], "append", device=gpu)
    assert_expands([65535, 3], result.src, result.local)
    with pytest.raises(xl.UnsupportedError, match="65,535"):
        xl.expand([65536], "append", device=gpu)


@pytest.mark.parametrize("strategy", RUNS)
def test_the_report_accounts_for_every_pass_and_thread(strategy, any_device):
    counts = xl.counts.make("uniform", 1000, mean=6.0, seed=2)
    result = xl.expand(counts, strategy, device=any_device, workgroup_size=64)
    report = result.report
    assert [item.name for item in report.passes] == list(result.graph.passes)
    for item in report.passes:
        assert 0 <= item.threads_idle <= item.threads_launched
        assert (item.gpu_ms is None) == any_device.is_reference
    # Pass 2 is every dispatch that writes the result; a thread may handle several items there.
    writes = [item for item in report.passes if "out_src" in result.graph.passes[item.name].kernel.resources()]
    busy = sum(item.threads_launched - item.threads_idle for item in writes)
    assert busy == result.total or (strategy in SEVERAL_ITEMS and 0 < busy < result.total)
    assert report.scratch_bytes > 0 and report.wall_ms > 0
    assert report.software == any_device.info.is_software and report.device == any_device.info.label
    assert json.loads(json.dumps(result.to_dict()))["report"]["passes"][-1]["name"] == report.passes[-1].name


def test_a_result_has_a_short_repr_and_a_rich_view():
    result = xl.expand([3, 1, 2], "append", device="reference")
    assert len(repr(result)) < 120 and "6 items" in repr(result)
    assert "<table>" in result._repr_html_()
    with pytest.raises(AttributeError):
        result.total = 7


@pytest.mark.gpu
def test_auto_gives_each_item_a_thread_where_a_body_works_on_it(gpu, lavapipe):
    work = "fn work(src: u32, local: u32, dst: u32) { _ = src; }"
    assert xl.expand([3, 0, 2], device=gpu, body=work).report.strategy == "prefix_search"
    assert xl.expand([3, 0, 2], device="reference").report.strategy == "prefix_search"
    # Both drivers here are software adapters.
    assert xl.expand([3, 0, 2], device=gpu).report.strategy == "serial_merge"
    # Its entries would not fit one binding, and a prepared expansion is in one piece.
    too_many = lavapipe.limits["max_storage_buffer_binding_size"] // 8 + 1
    for src, name in ((1000, "serial_merge"), (too_many, "prefix_search")):
        with xl.Expander(max_src=src, max_dst=10, device=lavapipe) as prepared:
            assert prepared.strategy.name == name
