"""Strategies that are modelled only: their maps by the definition of their launches, and clear refusals of the rest."""

from __future__ import annotations

import numpy as np
import pytest

import expandlab as xl

MODELLED = [name for name, strategy in xl.strategies().items() if strategy.modelled]


@pytest.mark.parametrize("strategy", MODELLED)
@pytest.mark.parametrize(
    "use",
    [
        lambda name: xl.expand([3, 1, 2], name, device="reference"),
        lambda name: xl.expand([3, 1, 2], name, body="fn work(src: u32, local: u32, dst: u32) {}", device="reference"),
        lambda name: xl.Expander(name, max_src=3, max_dst=9, device="reference"),
    ],
    ids=["expand", "body", "Expander"],
)
def test_what_cannot_run_says_that_it_is_modelled_and_what_does(strategy, use):
    with pytest.raises(xl.UnsupportedError, match=r"modelled only; `thread_map` shows it.*'prefix_search'"):
        use(strategy)


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", MODELLED)
def test_nothing_is_recorded(strategy, lavapipe):
    with pytest.raises(xl.UnsupportedError, match="modelled only"):
        xl.record_map([3, 1, 2], strategy, device=lavapipe)


def test_they_are_marked_and_say_so():
    assert MODELLED == ["task_mesh", "work_graph"]
    for name in MODELLED:
        strategy = xl.strategies()[name]
        assert strategy.to_dict()["modelled"] and strategy.summary.startswith("Modelled:") and not strategy.needs


@pytest.mark.parametrize(("size", "mesh"), [(32, 32), (128, 128), (256, 128)])
def test_a_mesh_workgroup_works_for_one_src_and_a_task_workgroup_launches_those_of_its_own(size, mesh):
    counts = np.array([1, 0, mesh, mesh + 1] * mesh, np.uint32)
    m = xl.thread_map(counts, "task_mesh", workgroup_size=size)
    assert m.workgroup_size == mesh and len(m) % mesh == 0
    groups = m.src.reshape(-1, mesh)
    assert all(len(set(row[row >= 0].tolist())) == 1 for row in groups)
    assert len(groups) == 4 * mesh
    # As many src as a task workgroup has threads: each launches for a run of that many.
    assert np.array_equal(m.dispatch[m.active], m.src[m.active] // mesh)
    assert m.utilisation == counts.sum() / (4 * mesh * mesh)


def test_a_task_workgroup_that_launches_more_than_a_dimension_folds():
    counts = np.array([32 * 65535, 32], np.uint32)
    m = xl.thread_map(counts, "task_mesh", workgroup_size=32)
    assert len(m) == 65536 * 32 and m.utilisation == 1.0


def test_a_src_with_items_is_one_record_and_a_grid_of_its_own():
    m = xl.thread_map([1, 0, 65, 64], "work_graph", workgroup_size=64)
    assert np.bincount(m.dispatch).tolist() == [64, 0, 128, 64]
    (records,) = m.memory[0].rows
    assert records.src.tolist() == [0, 2, 3] and records.entry_bytes == 24
    taken = [step.repeats for step in m.steps if step.pass_name == "system"]
    assert taken == [3]


def test_the_launches_of_a_work_graph_are_those_that_dispatch_each_runs():
    counts = xl.counts.make("zipf", 300, mean=20.0, max_n=900, seed=2)
    graph, each = (xl.thread_map(counts, name) for name in ("work_graph", "dispatch_each"))
    for name in ("dispatch", "workgroup", "lane", "src", "local", "dst"):
        assert np.array_equal(getattr(graph, name), getattr(each, name)), name
