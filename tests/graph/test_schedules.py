"""Orders, simulated timelines, recording groups: what must hold whatever is chosen."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from graph.random_graphs import random_graph

import expandlab as xl
from expandlab.graph.simulate import Machine

SCHEDULES = ("depth", "list", "heft", "optimal")


def busy(seed, *, devices=2, queues=2, passes=8):
    """Passes of different costs over imported megabytes, many of which may run on any device."""
    rng = random.Random(seed)
    names = [f"q{number}" for number in range(queues)]
    graph = xl.FrameGraph({f"d{number}": names for number in range(devices)})
    for number in range(5):
        graph.buffer(f"b{number}", 2**20, imported=True)
    for number in range(passes):
        modes = [rng.choice(("read", "read", "write", "read_write")) for _ in range(2)]
        accesses = [(f"b{b}", mode) for b, mode in zip(rng.sample(range(5), 2), modes, strict=True)]
        graph.add_pass(
            f"p{number}", accesses, device=list(graph.devices) if rng.random() < 0.7 else "d0", queue=rng.choice(names),
            cost_us=rng.choice((1, 5, 20, 100)), side_effect=True,
        )  # fmt: skip
    return graph


def every_order(plan):
    """All orders along the edges."""
    for order in itertools.permutations(range(len(plan.order))):
        place = {name: order[at] for at, name in enumerate(plan.passes)}
        if all(place[a] < place[b] for a, b in plan.edges):
            yield sorted(range(len(order)), key=order.__getitem__)


@pytest.mark.parametrize("seed", range(12))
def test_the_optimal_schedule_is_never_longer_than_another(seed):
    graph = busy(seed)
    spans = {name: graph.compile(schedule=name).simulate().makespan_us for name in SCHEDULES}
    assert spans["optimal"] == min(spans.values())


@pytest.mark.parametrize("seed", range(8))
def test_no_order_on_one_device_is_shorter_than_the_optimal_one(seed):
    """Every order along the edges is put in the place of the plan's own."""
    graph = busy(seed, devices=1, queues=1 + seed % 2, passes=6)
    plan = graph.compile(schedule="optimal")
    shortest = plan.simulate().makespan_us
    names = list(plan.passes)
    for order in every_order(plan):
        other = graph.compile()
        other._take(type("Fixed", (), {"edges": other._edges, "order": order, "placed": other._placed}))
        assert other.simulate().makespan_us >= shortest - 1e-9, [names[number] for number in order]


def test_the_search_ends_where_lower_bounds_say_little():
    graph = xl.FrameGraph({"d0": ["q"], "d1": ["q"]})
    for number, cost in enumerate((3, 5, 7, 11, 13, 17, 19, 23, 29, 31)):
        graph.add_pass(f"p{number}", [], device=["d0", "d1"], cost_us=cost, side_effect=True)
    assert graph.compile(schedule="optimal").simulate().makespan_us == sum((3, 5, 7, 11, 13, 17, 19, 23, 29, 31)) / 2


def test_the_list_goes_by_the_longest_cost_to_the_end():
    graph = xl.FrameGraph()
    graph.buffer("x", 4)
    graph.add_pass("short", [], cost_us=5, side_effect=True)
    graph.add_pass("first", [("x", "write")], cost_us=1)
    graph.add_pass("second", [("x", "read")], cost_us=9, side_effect=True)
    assert graph.compile(schedule="list").order == ["first", "second", "short"]
    assert graph.compile().order == ["short", "first", "second"]


def test_heft_uses_a_second_device_where_the_copy_is_worth_it():
    def plan(size):
        graph = xl.FrameGraph({"d0": ["q"], "d1": ["q"]})
        graph.buffer("x", size)
        graph.add_pass("make", [("x", "write")], device="d0", cost_us=10)
        for name in ("a", "b"):
            graph.add_pass(name, [("x", "read")], device=["d0", "d1"], cost_us=200, side_effect=True)
        return graph.compile(schedule="heft")

    assert sorted(plan(4096).devices.values()) == ["d0", "d0", "d1"] and len(plan(4096).copies) == 1
    assert set(plan(2**30).devices.values()) == {"d0"}


def test_more_than_ten_passes_are_too_many_for_the_optimal_schedule():
    graph = xl.FrameGraph()
    for number in range(11):
        graph.add_pass(f"p{number}", [], side_effect=number < 10)
    assert len(graph.compile(schedule="optimal").order) == 10
    graph.add_pass("more", [], side_effect=True)
    with pytest.raises(xl.GraphError, match="11 passes are kept"):
        graph.compile(schedule="optimal")


@pytest.mark.parametrize("seed", range(40))
def test_a_timeline_respects_edges_lanes_and_costs(seed):
    graph = random_graph(seed)
    try:
        plan = graph.compile(schedule=SCHEDULES[seed % 4])
    except xl.GraphError:
        return
    timeline = plan.simulate(peer_access=seed % 2 == 0)
    spans = {s.name: s for lane in timeline.lanes for s in lane.spans if s.kind == "pass"}
    assert sorted(spans) == sorted(plan.order)
    for lane in timeline.lanes:
        for first, second in itertools.pairwise(lane.spans):
            assert first.end_us <= second.start_us + 1e-9
    for first, second in plan.edges:
        apart = (plan.devices[first], plan.queues[first]) != (plan.devices[second], plan.queues[second])
        assert spans[first].end_us + (Machine().wait_us if apart else 0) <= spans[second].start_us + 1e-9
    for name, span in spans.items():
        cost = plan.passes[name].cost_us
        assert span.end_us - span.start_us == pytest.approx(Machine().pass_us if cost is None else cost)
    assert timeline.makespan_us == max([span.end_us for span in spans.values()], default=0.0)
    if spans:
        assert spans[timeline.critical_path[-1]].end_us == timeline.makespan_us
    assert json.loads(json.dumps(timeline.to_dict()))["makespan_us"] == timeline.makespan_us


def test_barriers_waits_and_copies_cost_what_the_machine_says():
    graph = xl.FrameGraph({"d0": ["q"], "d1": ["q"], "d2": ["q"]})
    graph.buffer("x", 10**6)
    graph.add_pass("a", [("x", "write")], device="d0", cost_us=10)
    graph.add_pass("b", [("x", "read_write")], device="d0", cost_us=10)
    for name in ("d1", "d2"):
        graph.add_pass(name, [("x", "read")], device=name, cost_us=5, side_effect=True)
    costs = {"barrier_us": 2, "wait_us": 3, "copy_us": 4, "copy_gb_per_s": 10}
    plan = graph.compile()
    # 10, barrier 2, 10, wait 3, copy 4 + 100, wait 3, 5
    assert plan.simulate(peer_access=True, **costs).makespan_us == pytest.approx(137)
    # By way of the host the copy is made twice, and only once up for both readers.
    through = plan.simulate(**costs)
    assert through.makespan_us == pytest.approx(137 + 104)
    assert sorted(lane.name for lane in through.lanes if lane.queue is None) == [
        "d0 -> host", "host -> d1", "host -> d2",
    ]  # fmt: skip
    assert through.critical_path[:2] == ("a", "b") and through.critical_path[-1] in ("d1", "d2")


@pytest.mark.parametrize("given", [{"wait_us": -1}, {"copy_gb_per_s": 0}, {"barrier_us": "1"}, {"speed": 3}])
def test_a_cost_that_makes_no_sense_is_named(given):
    graph = xl.FrameGraph()
    graph.add_pass("a", [], side_effect=True)
    with pytest.raises(xl.GraphError, match=next(iter(given))):
        graph.compile().simulate(**given)


def test_recording_groups_cut_the_order_into_parts_of_like_cost():
    graph = xl.FrameGraph()
    for number, cost in enumerate((1, 1, 1, 1, 4, 2, 2)):
        graph.add_pass(f"p{number}", [], cost_us=cost, side_effect=True)
    plan = graph.compile()
    assert plan.recording_groups(3) == [["p0", "p1", "p2", "p3"], ["p4"], ["p5", "p6"]]
    for parts in range(1, 12):
        groups = plan.recording_groups(parts)
        assert len(groups) == min(parts, 7) and all(groups)
        assert [name for group in groups for name in group] == plan.order


def test_the_costliest_recording_group_is_as_cheap_as_can_be():
    rng = random.Random(3)
    for _ in range(50):
        costs = [rng.choice((0.5, 1.0, 2.0, 7.0)) for _ in range(rng.randint(1, 8))]
        graph = xl.FrameGraph()
        for number, cost in enumerate(costs):
            graph.add_pass(f"p{number}", [], cost_us=cost, side_effect=True)
        parts = rng.randint(1, len(costs))
        groups = graph.compile().recording_groups(parts)
        found = max(sum(costs[int(name[1:])] for name in group) for group in groups)
        cuts = itertools.combinations(range(1, len(costs)), parts - 1)
        best = min(max(sum(costs[a:b]) for a, b in itertools.pairwise([0, *cut, len(costs)])) for cut in cuts)
        assert found == best


@pytest.mark.parametrize("parts", [0, -1, 1.5, True])
def test_a_number_of_parts_that_makes_no_sense_is_named(parts):
    with pytest.raises(xl.GraphError, match="parts"):
        xl.FrameGraph().compile().recording_groups(parts)


def test_an_empty_graph_has_an_empty_plan():
    for schedule in SCHEDULES:
        plan = xl.FrameGraph().compile(schedule=schedule)
        assert plan.order == [] and plan.simulate().makespan_us == 0 and plan.recording_groups(2) == []
        assert plan.to_dot().startswith("digraph")
