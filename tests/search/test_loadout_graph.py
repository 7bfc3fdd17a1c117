"""cull -> spawn -> expand -> score -> select as one frame graph, against brute force by the definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from drivers import driver
from loadout_definition import POOLS, brute_force, pool_of

import expandlab as xl
from expandlab.searching.graph import HEAD, loadout_graph
from expandlab.searching.pool import Pool


def read(made, words):
    """(picks, scores, kept, totals) of an output."""
    heads = words[: made.devices * HEAD].reshape(made.devices, HEAD)
    assert not heads[:, 1].any()
    rows = words[made.devices * HEAD :].reshape(-1, 1 + len(made.pool.sizes))
    count = min(made.k, int(heads[:, 0].sum()))
    scores = np.ascontiguousarray(rows[:count, 0]).view(np.float32)
    return rows[:count, 1:], scores, heads[0, 4 : 4 + len(made.pool.sizes)], heads[:, 0]


def split(made, pool):
    """All partial loadouts, in parts for the devices."""
    total = int(np.prod([len(pool.kept(slot)) for slot in range(pool.leading)]))
    cuts = np.linspace(0, total, made.devices + 1).astype(int).tolist()
    return list(pairwise(cuts))


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS.keys())
@pytest.mark.parametrize("devices", [1, 2, 3])
def test_the_reference_finds_what_brute_force_finds(pool, devices):
    made = loadout_graph(pool, 20, devices=devices, max_src=600, max_dst=4096)
    words = made.graph.compile("dag").run("reference", made.frame(split(made, pool)))[made.output]
    check(made, pool, words)


def check(made, pool, words):
    picks, scores, kept, totals = read(made, words)
    expected, best = brute_force(pool, made.k)
    assert np.array_equal(scores, best) and np.array_equal(picks, expected)
    assert kept.tolist() == [len(pool.kept(slot)) for slot in range(len(pool.sizes))]
    assert totals.sum() == len(list(pool.allowed()))


@pytest.mark.gpu
@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS.keys())
@pytest.mark.parametrize(
    "drivers", [("lavapipe",), ("swiftshader",), ("lavapipe", "lavapipe"), ("lavapipe", "swiftshader")]
)
def test_devices_find_what_brute_force_finds(pool, drivers):
    devices = [driver(name) for name in drivers]
    made = loadout_graph(pool, 20, devices=len(devices), max_src=600, max_dst=4096, software=True)
    plan = made.graph.compile("dag")
    opened = dict(zip(plan.graph.devices, devices, strict=True))
    words = plan.run(opened if len(devices) > 1 else devices[0], made.frame(split(made, pool)))[made.output]
    check(made, pool, words)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "strategy", ["tile_search", "workgroup_scan", "po2_merged", "append_aggregated", "size_classes"]
)
def test_any_strategy_expands_the_partial_loadouts(strategy, lavapipe):
    # Without ties, because strategies that order by atomics give equal scores any place.
    pool = pool_of((5, 6, 4, 5), 2, 8, matches={3: 0}, most=2**20)
    scores = brute_force(pool, 5000)[1]
    assert len(set(scores.tolist())) == len(scores)
    made = loadout_graph(pool, 30, strategy=strategy, max_src=64, max_dst=2048, subgroup_size=lavapipe.subgroup_size)
    words = made.graph.compile("dag").run(lavapipe, made.frame(split(made, pool)))[made.output]
    check(made, pool, words)


@pytest.mark.gpu
@pytest.mark.parametrize("method", [name for name, item in xl.top_k_methods().items() if item.finish is None])
def test_any_method_selects(method, lavapipe):
    pool = POOLS["many ties"]
    made = loadout_graph(pool, 12, method=method, max_src=64, max_dst=2048, software=True)
    check(made, pool, made.graph.compile("dag").run(lavapipe, made.frame(split(made, pool)))[made.output])


def test_the_plan_of_two_devices_copies_lists_and_winners_only():
    made = loadout_graph(POOLS["six slots"], 20, devices=2, max_src=64, max_dst=2048)
    plan = made.graph.compile("dag")
    assert {(copy.resource, copy.source, copy.destination) for copy in plan.copies} == {
        ("lists", "gpu0", "gpu1"),
        ("best_of_1", "gpu1", "gpu0"),
    }
    assert ("cull", "spawn_0") in plan.edges and ("cull", "spawn_1") in plan.edges
    assert not any({"spawn_0", "spawn_1"} == set(edge) for edge in plan.edges)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"leading": 0}, "leading=0"),
        ({"leading": 2}, "leading=2"),
        ({"sizes": (5,)}, "1 slots"),
        ({"worth": np.zeros(3)}, "worth: shape"),
        ({"sets": np.full(7, -1)}, "sets: number"),
        ({"least": [1.0]}, "least: shape"),
        ({"matches": {0: 1}}, "slot 0 cannot match slot 1"),
        ({"sizes": (2**20, 2**31), "worth": np.zeros(1)}, "shape"),
    ],
)
def test_a_pool_that_makes_no_sense_is_named(change, told):
    given = {"sizes": (3, 4), "leading": 1, "worth": np.zeros(7), "score": "fn score"} | change
    with pytest.raises(ValueError, match=told):
        Pool(**given)


def test_what_is_no_part_of_a_graph_is_refused():
    pool = POOLS["two slots"]
    for options in ({"method": "readback_heap"}, {"strategy": "work_graph"}):
        with pytest.raises(xl.UnsupportedError, match="no part of a graph"):
            loadout_graph(pool, 3, **options)
    for options in ({"method": "nothing"}, {"strategy": "nothing"}, {"devices": 9}):
        with pytest.raises(ValueError, match=r"nothing|devices=9"):
            loadout_graph(pool, 3, **options)
