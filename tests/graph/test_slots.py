"""Graphs from slots and connections: the two examples of the source document, and what a connection is and is not."""

from __future__ import annotations

import json

import pytest

import expandlab as xl


def made(passes, *connections, **more):
    """passes: {name: {slot: (type, range)}}; connections as "a.out b.in", with "!" in front for no dependency."""
    document = {"passes": [], "connections": [], **more}
    for name, slots in passes.items():
        listed = [{"name": slot, "type": kind, "range": span} for slot, (kind, span) in slots.items()]
        document["passes"].append({"name": name, "slots": listed})
    for text in connections:
        first, second = text.lstrip("!").split()
        document["connections"].append({"from": first, "to": second, "dependency": not text.startswith("!")})
    return xl.FrameGraph.from_slots(json.dumps(document))


HALVES = {
    "cp1": {"out": ("Output", [0, 128])}, "cp2": {"out": ("Output", [128, 256])}, "cp3": {"in": ("Input", None)},
}  # fmt: skip


def told(plan):
    return {(c.source, c.target): (c.connected, c.kinds) for c in plan.connections}


def test_two_writers_of_halves_run_side_by_side_and_one_input_has_two_connections():
    plan = made(HALVES, "!cp1.out cp2.out", "cp1.out cp3.in", "cp2.out cp3.in").compile()
    assert plan.edges == [("cp1", "cp3"), ("cp2", "cp3")]
    assert told(plan) == {
        ("cp1.out", "cp2.out"): (True, ()),
        ("cp1.out", "cp3.in"): (True, ("RAW",)),
        ("cp2.out", "cp3.in"): (True, ("RAW",)),
    }


def test_an_injected_pass_makes_connections_without_and_hazards_beside_them():
    graph = made(
        {"make": {"out": ("Output", None)}, "left": {"in": ("Input", None)}, "right": {"in": ("Input", None)}},
        "make.out left.in", "make.out right.in",
    )  # fmt: skip
    graph.insert("injected", [("make.out", "read_write")], at_after="make")
    plan = graph.compile()
    assert told(plan) == {
        ("make.out", "left.in"): (True, ()), ("make.out", "right.in"): (True, ()),
        ("make", "injected"): (False, ("RAW",)), ("injected", "left"): (False, ("RAW",)),
        ("injected", "right"): (False, ("RAW",)),
    }  # fmt: skip


def test_a_hazard_needs_no_connection_between_the_two():
    plan = made(HALVES, "cp1.out cp2.out", "cp2.out cp3.in").compile()
    assert told(plan)["cp1", "cp3"] == (False, ("RAW",))
    assert told(plan)["cp1.out", "cp2.out"] == (True, ())


def test_writers_that_declare_no_dependency_get_one_tag_and_readers_none():
    passes = {
        name: {"io": (kind, None)} for name, kind in zip("abc", ("InputOutput", "InputOutput", "Input"), strict=True)
    }
    graph = made(passes, "!a.io b.io", "!b.io c.io")
    tags = [graph.passes[name].accesses[0].independent for name in "abc"]
    assert tags[0] == tags[1] is not None and tags[2] is None
    assert graph.compile().edges == [("a", "c"), ("b", "c")]


def test_a_resource_that_no_slot_outputs_comes_from_outside():
    graph = made({"a": {"io": ("InputOutput", None)}, "b": {"in": ("Input", None)}}, "a.io b.in")
    assert graph.resources["a.io"].imported
    assert not made({"a": {"out": ("Output", None)}}).resources["a.out"].imported


def test_without_outputs_everything_is_kept_and_with_them_only_what_they_need():
    passes = {"a": {"out": ("Output", None)}, "b": {"out": ("Output", None)}}
    assert made(passes).compile().culled == []
    assert made(passes, outputs=["b.out"]).compile().culled == ["a"]


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"connections": [{"from": "a.out", "to": "z.in"}]}, "UnknownNameError", "'z.in'"),
        ({"connections": [{"from": "a", "to": "b.in"}]}, "UnknownNameError", "from='a'"),
        ({"connections": [{"from": "a.out", "to": "a.out"}]}, "GraphError", "connect two passes"),
        ({"connections": [{"from": "a.out"}]}, "GraphError", "'to' is missing"),
        ({"connections": [{"from": "a.out", "to": "b.in", "dependency": 0}]}, "GraphError", "dependency"),
        ({"passes": [{"name": "a", "slots": [{"name": "s", "type": "Inout"}]}]}, "GraphError", "type='Inout'"),
        ({"passes": [{"name": "a"}, {"name": "a", "slots": [{"name": "s", "type": "Input"}]}]}, "GraphError", "'a'"),
        ({"passes": [{"name": "a", "slots": [{"name": "s", "type": "Input"}] * 2}]}, "GraphError", "'s' is"),
        ({"outputs": ["a.none"]}, "UnknownNameError", "a.none"),
        ({"slots": []}, "GraphError", "'slots'"),
    ],
)  # fmt: skip
def test_a_fault_is_named(change, error, text):
    slots = {"a": {"name": "out", "type": "Output"}, "b": {"name": "in", "type": "Input"}}
    document = {"passes": [{"name": name, "slots": [slot]} for name, slot in slots.items()], **change}
    with pytest.raises(getattr(xl, error), match=text):
        xl.FrameGraph.from_slots(document)
