"""Plans of random graphs, and of every strategy's own graph, before a checker that shares no code with the planner."""

from __future__ import annotations

import random

import pytest
from graph.checker import faults, problems, shortest_cycle
from graph.random_graphs import random_graph, random_pipeline

import expandlab as xl

SEEDS = range(260)
# The parts of a plan that may be dropped one by one, and must be missed.
PARTS = ("hazards", "edges", "barriers", "waits", "copies", "memory", "layouts")
STRATEGIES = [name for name, strategy in xl.strategies().items() if not strategy.modelled]


def settings(seed):
    """A graph, how to compile it, and whether the scheduler has a device to choose."""
    rng = random.Random(seed + 10**9)
    make = random_graph if seed % 4 else random_pipeline
    graph = make(seed, stages=seed % 3 != 0)
    options = {
        "mode": rng.choice(("dag", "dag", "chain")),
        "tags": rng.random() < 0.8,
        "schedule": rng.choice(("depth", "depth", "list", "heft", "optimal")),
    }
    return graph, options, any(len(item.devices) > 1 for item in graph.passes.values())


def without(plan, part, at):
    """A problem list of the plan with one entry of a part left out."""
    whole = getattr(plan, part)
    vars(plan)[part] = [*whole[:at], *whole[at + 1 :]]
    try:
        return problems(plan.graph, plan)
    finally:
        vars(plan)[part] = whole


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_has_nothing_missing_and_nothing_to_spare(seed):
    graph, options, free = settings(seed)
    placed = {name: (item.devices or ("d0",))[0] for name, item in graph.passes.items()}
    deserved = faults(graph, placed, options["mode"], options["tags"])
    try:
        plan = graph.compile(options["mode"], schedule=options["schedule"], tags=options["tags"])
    except xl.GraphError as error:
        assert free or type(error).__name__ in deserved
        if isinstance(error, xl.CycleError) and not free:
            assert len(error.cycle) == shortest_cycle(graph, placed, options["mode"], options["tags"])
        return
    assert free or not deserved
    assert problems(graph, plan) == []


def test_the_random_graphs_reach_every_part_of_a_plan_and_every_error():
    reached = set()
    for seed in SEEDS:
        graph, options, _ = settings(seed)
        try:
            plan = graph.compile(options["mode"], schedule=options["schedule"], tags=options["tags"])
        except xl.GraphError as error:
            reached.add(type(error).__name__)
            continue
        reached |= {part for part in (*PARTS, "culled") if getattr(plan, part)}
        top = {p.device: max(q.offset + q.size for q in plan.memory if q.device == p.device) for p in plan.memory}
        if sum(p.size for p in plan.memory) > sum(top.values()):
            reached.add("shared memory")
    assert reached == {
        *PARTS, "culled", "shared memory", "UninitialisedReadError", "CycleError", "IndependenceError",
    }  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_whatever_is_dropped_from_a_plan_is_missed(part):
    dropped = 0
    for seed in range(80):
        graph, options, _ = settings(seed)
        try:
            plan = graph.compile(options["mode"], schedule=options["schedule"], tags=options["tags"])
        except xl.GraphError:
            continue
        for at in range(len(getattr(plan, part))):
            assert without(plan, part, at), (seed, part, at)
            dropped += 1
    assert dropped >= 5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategys_own_graph_needs_every_edge_it_has(strategy):
    graph = xl.expand([2, 0, 3], strategy, device="reference", workgroup_size=32).graph
    plan = graph.compile()
    assert problems(graph, plan) == []
    assert plan.edges and not plan.culled
    # A strategy with dozens of like passes would take long: the first edges, and the last.
    for at in range(len(plan.edges)) if len(plan.edges) <= 12 else (0, 1, 2, len(plan.edges) - 1):
        assert without(plan, "edges", at)


def test_the_chain_runs_a_strategy_in_one_line():
    graph = xl.expand([2, 0, 3], "po2_buckets", device="reference", workgroup_size=32).graph
    assert problems(graph, graph.compile("chain")) == []
