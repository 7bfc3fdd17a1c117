"""Graphs as JSON: read strictly, written back, and every fault named."""

from __future__ import annotations

import json

import pytest

import expandlab as xl

BUFFER = {"kind": "buffer", "size": 64}
IMAGE = {"kind": "image", "mips": 2, "layers": 3}


def document(*passes, **more):
    return {"resources": {"x": BUFFER, "i": IMAGE}, "passes": list(passes), "outputs": [], **more}


def one(**access):
    return document({"name": "p", "accesses": [{"resource": "x", "mode": "write", **access}]})


FULL = {
    "devices": {"d0": ["graphics", "compute"], "d1": ["compute"]},
    "resources": {
        "x": {"kind": "buffer", "size": 64, "imported": True},
        "i": {"kind": "image", "mips": 2, "layers": 3, "aspects": 2, "format": "r8unorm", "size": [4, 4]},
    },
    "passes": [
        {
            "name": "p", "device": ["d0", "d1"], "queue": "compute", "cost_us": 2.5,
            "accesses": [
                {"resource": "x", "mode": "read_write", "range": [0, 8], "usage": "copy", "independent": "t"},
                {"resource": "i", "mode": "write", "mips": [0, 1], "layers": [1, 2], "aspects": [0, 1]},
            ],
            "before": ["q"],
        },
        {"name": "q", "device": "d1", "accesses": [], "after": ["p"], "side_effect": True},
    ],
    "outputs": ["x"],
}  # fmt: skip


def test_a_graph_comes_back_from_its_json_unchanged():
    graph = xl.FrameGraph.from_json(FULL)
    assert json.loads(graph.to_json()) == graph.to_dict() == FULL
    again = xl.FrameGraph.from_json(graph.to_json())
    assert again.passes == graph.passes and again.resources == graph.resources and again.devices == graph.devices


def test_only_names_kinds_sizes_and_modes_are_needed():
    plan = xl.FrameGraph.from_json(one()).compile()
    assert plan.culled == ["p"]
    graph = xl.FrameGraph.from_json({**one(), "outputs": ["x"]})
    assert graph.compile().devices == {"p": "gpu0"} and graph.compile().queues == {"p": "compute"}


def test_the_first_device_takes_the_place_of_the_default():
    graph = xl.FrameGraph.from_json({**one(), "devices": {"a": ["copy", "graphics"]}, "outputs": ["x"]})
    assert (graph.compile().devices["p"], graph.compile().queues["p"]) == ("a", "copy")


def test_nulls_stand_for_what_is_left_out():
    graph = xl.FrameGraph.from_json(one(range=None, independent=None))
    assert graph.passes["p"].accesses[0] == xl.Access("x", "write")


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ("{", "GraphError", "JSON"),
        ("[]", "GraphError", "object"),
        ({"passes": {}}, "GraphError", "passes"),
        ({"nodes": []}, "GraphError", "'nodes'"),
        (document({"accesses": []}), "GraphError", "'name' is missing"),
        (document({"name": "p", "color": 1}), "GraphError", "'color'"),
        (document({"name": "p"}, {"name": "p"}), "GraphError", "name='p'"),
        (document({"name": "p", "device": "d9"}), "UnknownNameError", "device='d9'"),
        (document({"name": "p", "queue": "copy"}), "UnknownNameError", "queue='copy'"),
        (document({"name": "p", "cost_us": -1}), "GraphError", "cost_us=-1"),
        (document({"name": "p", "side_effect": "no"}), "GraphError", "side_effect"),
        (document({"name": "p", "after": "q"}), "GraphError", "after"),
        (document(outputs=["z"]), "UnknownNameError", "output='z'"),
        ({"resources": {"x": {"kind": "texture"}}}, "GraphError", "kind='texture'"),
        ({"resources": {"x": {"kind": "buffer"}}}, "GraphError", "'size' is missing"),
        ({"resources": {"x": {"kind": "buffer", "size": "64"}}}, "GraphError", "size"),
        ({"resources": {"x": {"kind": "buffer", "size": -1}}}, "GraphError", "size"),
        ({"resources": {"x": {"kind": "image", "mips": 1}}}, "GraphError", "'layers' is missing"),
        ({"resources": {"x": {**BUFFER, "imported": 1}}}, "GraphError", "imported"),
        ({"devices": {}}, "GraphError", "devices"),
        ({"devices": {"d": []}}, "GraphError", "queues"),
        ({"devices": {"d": ["q", "q"]}}, "GraphError", "queues"),
        (one(resource="z"), "UnknownNameError", "'z'"),
        (one(mode="erase"), "GraphError", "mode='erase'"),
        (one(usage="uniform"), "GraphError", "usage='uniform'"),
        (one(usage="sampled"), "GraphError", "usage='sampled'"),
        (one(range=[0, 65]), "GraphError", "range"),
        (one(range=[0.5, 2]), "GraphError", "range"),
        (one(range=3), "GraphError", "range"),
        (one(independent=3), "GraphError", "independent"),
        (one(mips=[0, 1]), "GraphError", "mips"),
        (one(resource="i", range=[0, 1]), "GraphError", "range"),
        (one(resource="i", layers=[0, 4]), "GraphError", "layers"),
        (one(resource="i", usage="index", mode="read"), "GraphError", "usage='index'"),
        (one(stride=4), "GraphError", "'stride'"),
    ],
)
def test_a_fault_is_named(given, error, text):
    with pytest.raises(getattr(xl, error), match=text):
        xl.FrameGraph.from_json(given)


@pytest.mark.parametrize(
    ("where", "error", "text"),
    [
        ({}, "GraphError", "at_before"),
        ({"at_before": "a", "at_after": "a"}, "GraphError", "exactly one"),
        ({"at_before": "z"}, "UnknownNameError", "at_before='z'"),
        ({"at_after": "z"}, "UnknownNameError", "at_after='z'"),
    ],
)
def test_an_injection_needs_one_place_that_is_there(where, error, text):
    graph = xl.FrameGraph()
    graph.add_pass("a", [])
    with pytest.raises(getattr(xl, error), match=text):
        graph.insert("b", [], **where)
    assert list(graph.passes) == ["a"]


def test_an_injection_stands_where_it_was_put():
    graph = xl.FrameGraph()
    for name in "ad":
        graph.add_pass(name, [])
    graph.insert("b", [], at_after="a")
    graph.insert("c", [], at_before="d", after=["a"])
    assert list(graph.passes) == ["a", "b", "c", "d"] and graph.passes["c"].after == ("a",)
