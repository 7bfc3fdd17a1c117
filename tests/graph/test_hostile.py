"""Documents that nobody would write: whatever stands in them is planned, or explained by an error of ours."""

import copy
import json
import random

import pytest

from expandlab import FrameGraph, GraphError, UnknownNameError
from expandlab.errors import ExpandlabError
from expandlab.figures.graphs.page import sketch
from expandlab.graph import documents
from expandlab.graph.examples import EXAMPLES
from expandlab.settings import GraphSettings, SettingsError
from expandlab.settings.graphs import VIEWS

NASTY = [
    None, True, 0, -1, 2, 10**30, 10**400, 2**63, 1.5, 1e308, "", "\0", "x" * 500, "$\\frac$", "<b>", "gpu0", "compute",
    "data", "read_write", "image", [], {}, [[]], [None], [1, 2], [2, 1], [0, 10**30], ["a", "a"], {"a": 1}, ["use"],
]  # fmt: skip
KEYS = [
    "after", "before", "device", "queue", "cost_us", "side_effect", "independent", "range", "mips", "layers", "usage",
    "size", "imported", "aspects", "format", "slots", "connections",
]  # fmt: skip


def places(value, path=()):
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from places(part, (*path, key))


def spoiled(document, rng):
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice((1, 1, 2))):
        path = rng.choice(list(places(document)))
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        part = holder[path[-1]]
        if isinstance(part, dict) and rng.random() < 0.4:
            part[rng.choice(KEYS)] = copy.deepcopy(rng.choice(NASTY))
        elif isinstance(holder, dict) and rng.random() < 0.2:
            del holder[path[-1]]
        else:
            holder[path[-1]] = copy.deepcopy(rng.choice(NASTY))
        if not list(places(document)):
            break
    return document


@pytest.mark.parametrize("seed", range(6))
def test_spoiled_documents_are_planned_or_explained(seed):
    rng = random.Random(seed)
    explained = 0
    for number in range(60):
        document = spoiled(rng.choice(list(EXAMPLES.values())).document, rng)
        try:
            shown = sketch(GraphSettings(example="own", graph=document, view=VIEWS[number % len(VIEWS)]))
            json.dumps(shown.scene, allow_nan=False)
            json.dumps([plan.to_dict() for plan in shown.plans])
        except ExpandlabError as error:
            explained += 1
            assert str(error)
    assert 10 < explained < 60


@pytest.mark.parametrize(
    "document, named",
    [
        ({"devices": {"gpu0": [["compute"]]}}, "queues of device 'gpu0'"),
        ({"resources": {"b": {"kind": "buffer", "size": 2**60}}}, "size of buffer 'b'"),
        ({"resources": {"i": {"kind": "image", "mips": 2, "layers": 10**9}}}, "layers=1000000000"),
        ({"resources": {"i": {"kind": "image", "mips": 1, "layers": 1, "size": 7}}}, "size=7"),
        ({"resources": {"i": {"kind": "image", "mips": 1, "layers": 1, "format": 7}}}, "format of image 'i'"),
        ({"passes": [{"name": "a", "cost_us": 10**400}]}, "cost_us"),
    ],
)
def test_what_no_device_has_is_named(document, named):
    with pytest.raises(GraphError, match=named):
        FrameGraph.from_json(document).compile()


def test_nesting_without_end_is_explained():
    with pytest.raises(GraphError, match="not valid JSON"):
        FrameGraph.from_json("[" * 100_000)
    deep = {}
    for _ in range(200):
        deep = {"passes": deep}
    with pytest.raises(SettingsError, match="nested"):
        GraphSettings(example="own", graph=deep)


def test_an_error_says_what_it_is_about():
    def where(document):
        with pytest.raises(GraphError) as caught:
            documents.read(document).compile()
        return dict(caught.value.where)

    buffer = {"b": {"kind": "buffer", "size": 16}}
    read = {"name": "r", "accesses": [{"resource": "b", "mode": "read"}], "side_effect": True}
    far = {"name": "w", "accesses": [{"resource": "b", "mode": "write"},
                                     {"resource": "b", "mode": "write", "range": [0, 17]}]}  # fmt: skip
    assert where({"resources": buffer, "passes": [read]}) == {"passes": ("r",), "resource": "b", "field": "mode"}
    assert where({"resources": buffer, "passes": [far]}) == {"passes": ("w",), "access": 1}
    assert where({"resources": {"b": {"kind": "thing"}}}) == {"resource": "b"}
    assert where({"devices": {"gpu0": []}}) == {"device": "gpu0"}
    a, b = ({"name": x, "after": [y], "side_effect": True} for x, y in ("ab", "ba"))
    assert set(where({"passes": [a, b]})["passes"]) == {"a", "b"}
    with pytest.raises(UnknownNameError) as caught:
        FrameGraph.from_json({"passes": [{"name": "a", "after": ["nobody"]}]}).compile()
    assert dict(caught.value.where) == {"passes": ("a",), "field": "after"}
