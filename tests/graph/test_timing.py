"""Stand-in kernels by the definition, validity, and the measured timeline beside the simulated one."""

from __future__ import annotations

import re
import threading
from itertools import pairwise

import numpy as np
import pytest
from drivers import driver

import expandlab as xl
from expandlab.graph import timing
from expandlab.graph.device_examples import DEVICE_EXAMPLES
from expandlab.graph.standin import inputs_of, with_kernels

COPIES = {"readers": 1, "imported": 0, "halves": 1, "overwrite": 0, "ping_pong": 3, "broadcast": 2}
WAITS = {"readers": 1, "imported": 0, "halves": 1, "overwrite": 1, "ping_pong": 3, "broadcast": 2}


@pytest.fixture(scope="module")
def three():
    """Three devices on one software adapter."""
    driver("lavapipe")
    return [xl.device("lavapipe") for _ in range(3)]


def graph_of(name, size=1024):
    return xl.FrameGraph.from_json(DEVICE_EXAMPLES[name].document(size))


def defined(graph, rounds):
    """The outputs by the definition of a stand-in: passes in submission order, word by word, in Python's integers."""
    memory = {name: [0] * (item.size // 4) for name, item in graph.resources.items()}
    memory |= {name: array.tolist() for name, array in inputs_of(graph).items()}
    for number, item in enumerate(graph.passes.values()):
        spans = [(a, *(n // 4 for n in a.range or (0, graph.resources[a.resource].size))) for a in item.accesses]
        written = {a.resource for a in item.accesses if a.writes}
        for i in range(max(high - low for a, low, high in spans if a.writes)):
            acc = i + number + 1
            for a, low, high in spans:
                if a.resource not in written:
                    acc = (acc * 31 + memory[a.resource][low + i % (high - low)]) % 2**32
            for _ in range(rounds):
                acc = (acc * 1664525 + 1013904223) % 2**32
            for a, low, high in spans:
                if a.writes and i < high - low:
                    old = memory[a.resource][low + i]
                    new = acc + i * 2654435761 if a.mode == "write" else old * 3 + acc
                    memory[a.resource][low + i] = new % 2**32
    return {name: np.array(memory[name], np.uint32) for name in graph.outputs}


@pytest.mark.gpu
@pytest.mark.parametrize("name", DEVICE_EXAMPLES)
@pytest.mark.parametrize("where", ["one adapter", "two drivers", "with the reference"])
def test_examples_run_as_defined_wherever_they_run(name, where, three):
    graph = graph_of(name)
    plan = with_kernels(graph, dict.fromkeys(graph.passes, 5)).compile()
    others = {
        "one adapter": three[1],
        "two drivers": driver("swiftshader"),
        "with the reference": xl.device("reference"),
    }
    devices = [three[0], others[where], three[2]]
    expected = defined(graph, 5)
    for found in (plan.run(devices, inputs_of(graph)), plan.run("reference", inputs_of(graph))):
        assert found.keys() == expected.keys()
        for output, words in expected.items():
            assert np.array_equal(found[output], words), output


@pytest.mark.parametrize("name", DEVICE_EXAMPLES)
def test_examples_need_the_copies_that_they_are_there_to_show(name):
    plan = graph_of(name).compile()
    assert (len(plan.copies), len(plan.waits)) == (COPIES[name], WAITS[name])


@pytest.mark.parametrize("name", DEVICE_EXAMPLES)
def test_validity_is_that_of_a_byte_by_byte_account(name):
    graph = graph_of(name, 64)
    plan = graph.compile()
    used = {access.resource for item in plan.passes.values() for access in item.accesses}
    everywhere = set(plan.devices.values())
    valid = {n: [everywhere if r.imported else set() for _ in range(r.size)] for n, r in graph.resources.items()}
    for after in (None, *plan.order):
        if after is not None:
            for access in plan.passes[after].accesses:
                low, high = access.range or (0, graph.resources[access.resource].size)
                for at in range(low, high):
                    cell, mine = valid[access.resource][at], plan.devices[after]
                    if access.reads:
                        # What is not there is brought over before the pass.
                        cell = cell | {mine}
                    valid[access.resource][at] = {mine} if access.writes else cell
        rows = [row for row in plan.validity if row.after == after]
        assert {row.resource for row in rows} == used
        for resource in used:
            mine = [row for row in rows if row.resource == resource]
            found = [set(row.devices) for row in mine for _ in range(*row.range)]
            assert found == valid[resource]
            # As long as possible.
            assert all(a.devices != b.devices for a, b in pairwise(mine))


def test_what_cannot_be_stood_in_for_is_named():
    graph = xl.FrameGraph()
    graph.image("picture")
    graph.add_pass("draw", [xl.Access("picture", "write", usage="color")], side_effect=True)
    with pytest.raises(xl.GraphError, match="'draw' uses 'picture' as color"):
        with_kernels(graph, {})
    graph = xl.FrameGraph()
    graph.buffer("data", 64)
    graph.add_pass("part", [("data", "write", (0, 6))], side_effect=True)
    with pytest.raises(xl.GraphError, match=r"'part'.*no whole words"):
        with_kernels(graph, {})
    with pytest.raises(xl.GraphError, match="rounds of pass 'part'"):
        with_kernels(graph, {"part": -1})


def test_measured_costs_take_the_place_of_declared_ones():
    plan = graph_of("readers").compile()
    machine = {"barrier_us": 0, "wait_us": 0, "copy_us": 3, "copy_gb_per_s": 1e9}
    found = plan.simulate(measured_us={"produce": 100.0, "left": 7.0}, **machine)
    # produce, up, down, right as it declares itself.
    assert found.makespan_us == pytest.approx(100 + 2 * 3 + 80)
    assert plan.simulate(**machine).makespan_us == pytest.approx(20 + 6 + 80)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["readers", "halves", "imported"])
def test_a_plan_is_timed_and_simulated_with_what_was_measured(name, three):
    graph = graph_of(name)
    devices = dict(zip(graph.devices, [three[0], driver("swiftshader")], strict=False))
    plan = with_kernels(graph, dict.fromkeys(graph.passes, 100)).compile()
    news = []
    found = timing.time_plan(plan, devices, inputs_of(graph), repeats=3, on_progress=lambda *a: news.append(a))
    assert set(found.costs_us) == set(plan.order) and all(us > 0 for us in found.costs_us.values())
    assert len(found.measured_us) == 3 and list(found.measured_us) == sorted(found.measured_us)
    assert sorted(span.name for span in found.spans if span.kind == "pass") == sorted(plan.order)
    assert sum(span.kind == "copy" for span in found.spans) == len(plan.copies)
    assert max(span.end_us for span in found.spans) == pytest.approx(found.makespan_us)
    machine = found.machine
    assert found.simulated.makespan_us == plan.simulate(machine, measured_us=found.costs_us).makespan_us
    assert found.difference == pytest.approx(found.simulated.makespan_us / found.makespan_us - 1)
    assert machine.wait_us > 0 and machine.copy_us > 0 and machine.barrier_us == 0
    assert news[-1][0] <= news[-1][1] and [done for done, _ in news] == sorted(done for done, _ in news)


@pytest.mark.gpu
def test_a_cancelled_measurement_keeps_what_there_is(three):
    graph = graph_of("readers")
    plan = with_kernels(graph, {}).compile()
    devices = dict(zip(graph.devices, three, strict=False))
    cancel = threading.Event()
    cancel.set()
    found = timing.time_plan(plan, devices, {}, repeats=5, cancel=cancel)
    assert found.cancelled and len(found.measured_us) == 1


@pytest.mark.gpu
def test_stand_ins_last_as_long_as_they_are_told(three):
    graph = graph_of("readers", 4096)
    devices = dict(zip(graph.devices, three, strict=False))
    plan = timing.runnable(graph, devices, 50.0).compile()
    rounds = {name: int(re.search(r"(\d+)u - outer", plan.passes[name].kernel.wgsl)[1]) for name in plan.order}
    # `left` declares four times what `produce` does, on the same device.
    assert rounds["produce"] > 0 and rounds["left"] == pytest.approx(4 * rounds["produce"], abs=4)
