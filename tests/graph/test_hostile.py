"""Documents that nobody would write: whatever stands in them is planned, or explained by an error of ours."""

import copy
import json
import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from expandlab import DeviceError, FrameGraph, GraphError, Kernel, UnknownNameError
from expandlab.errors import ExpandlabError
from expandlab.export import picture
from expandlab.figures.graphs.page import sketch
from expandlab.gpu import resolve
from expandlab.graph import documents
from expandlab.graph.examples import EXAMPLES
from expandlab.panels.parts import table
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


WRITE = {"resource": "b", "mode": "write"}
ODD = [
    True, -1, 1.5, float("nan"), 10**30, 10**400, "x", b"x", [], {}, (1,), [None], object(), np.float32(2),
    np.array([1, 2]), np.array(3), set(), "\ud800",
]  # fmt: skip
WGSL = """@group(0) @binding(0) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) at: vec3<u32>) { b[at.x] += 1u; }"""


def small(**options):
    graph = FrameGraph()
    graph.buffer("b", 64, imported=True)
    graph.add_pass("p", [("b", "read_write")], **options)
    graph.output("b")
    return graph


def runnable(**changed):
    def twin(own):
        own.b += 1

    given = {"wgsl": WGSL, "entry": "main", "bindings": ["b"], "workgroups": (1, 1, 1), "twin": twin, **changed}
    return small(kernel=Kernel(**given)).compile()


CALLS = {
    "devices": lambda odd: FrameGraph(odd),
    "name of a device": lambda odd: FrameGraph().device(odd),
    "queues": lambda odd: FrameGraph().device("d", odd),
    "name of a buffer": lambda odd: FrameGraph().buffer(odd, 4),
    "bytes": lambda odd: FrameGraph().buffer("c", odd),
    "imported": lambda odd: FrameGraph().buffer("c", 4, imported=odd),
    **{
        key: lambda odd, key=key: FrameGraph().image("i", **{key: odd}) for key in ("mips", "layers", "format", "size")
    },
    "output": lambda odd: small().output(odd),
    "name of a pass": lambda odd: small().add_pass(odd, []),
    "accesses": lambda odd: small().add_pass("q", odd),
    "access": lambda odd: small().add_pass("q", [odd]),
    "mode of an access": lambda odd: small().add_pass("q", [("b", odd)]),
    "range": lambda odd: small().add_pass("q", [("b", "read", odd)]),
    "end of a range": lambda odd: small().add_pass("q", [("b", "read", (0, odd))]),
    **{
        f"{key} of an access": lambda odd, key=key: small().add_pass("q", [{**WRITE, key: odd}])
        for key in ("usage", "independent", "mips", "unheard-of")
    },
    **{
        key: lambda odd, key=key: small().add_pass("q", [], **{key: odd})
        for key in ("device", "queue", "after", "before", "side_effect", "cost_us", "kernel")
    },
    "at_after": lambda odd: small().insert("q", [], at_after=odd),
    "mode": lambda odd: small().compile(odd),
    "schedule": lambda odd: small().compile(schedule=odd),
    "tags": lambda odd: small().compile(tags=odd),
    "document": FrameGraph.from_json,
    "slots": FrameGraph.from_slots,
    "outputs of slots": lambda odd: FrameGraph.from_slots({"passes": [], "outputs": odd}),
    "machine": lambda odd: small().compile().simulate(odd),
    "measured_us": lambda odd: small().compile().simulate(measured_us=odd),
    "a measured time": lambda odd: small().compile().simulate(measured_us={"p": odd}),
    **{key: lambda odd, key=key: small().compile().simulate(**{key: odd}) for key in ("wait_us", "peer_access")},
    "parts": lambda odd: small().compile().recording_groups(odd),
    **{key: lambda odd, key=key: runnable(**{key: odd}) for key in ("wgsl", "entry", "bindings", "workgroups", "twin")},
    "inputs": lambda odd: runnable().run("reference", odd),
    "an input": lambda odd: runnable().run("reference", {"b": odd}),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_an_argument_of_any_type_is_taken_or_explained(call):
    explained = 0
    for odd in ODD:
        try:
            CALLS[call](odd)
        except ExpandlabError as error:
            explained += 1
            assert len(str(error)) > 20
    assert explained >= 3


@pytest.mark.parametrize(
    "act, named",
    [
        (lambda: small().compile().simulate(measured_us={"nobody": 1.0}), "measured_us.'nobody'"),
        (lambda: small().compile().simulate(wait_us=float("nan")), "wait_us=nan"),
        (lambda: small().insert("q", [], at_after="nobody"), "at_after='nobody'"),
        (lambda: small().insert("q", [], at_after="p", at_before="p"), "give exactly one"),
        (lambda: small().add_pass("p", []), "'p': the graph has a pass of that name"),
        (lambda: small().buffer("b", 4), "'b': the graph has a resource of that name"),
        (lambda: small(device="gpu7"), "device='gpu7' of pass 'p'"),
        (lambda: runnable().run("reference", {"b": np.zeros(17, np.uint32)}), r"inputs\['b'\] has 68 bytes .uint32."),
        (lambda: runnable().run("reference", {"b": np.zeros(2)}), r"inputs\['b'\] has dtype float64"),
        (lambda: runnable().run("reference", {"c": np.zeros(2)}), r"inputs\['c'\].*imported: b"),
        (lambda: runnable(workgroups=(65536, 1, 1)).run("reference"), "pass 'p': workgroups.*65,535"),
        (lambda: runnable(workgroups="b").run("reference"), "workgroups='b' is an indirect buffer"),
        (lambda: small().compile().run("reference"), "pass 'p' has no kernel"),
        (lambda: runnable().run(["nothing like it"]), "nothing like it"),
        (lambda: runnable().run({"gpu5": "reference"}), "gpu5"),
        (lambda: documents.loads('{"a": 1, "a": 2}'), "'a' is there twice"),
    ],
)
def test_what_makes_no_sense_is_named(act, named):
    with pytest.raises(ExpandlabError, match=named):
        act()


def test_a_plan_runs_again_and_a_closed_one_says_so():
    plan = runnable()
    given = np.arange(16, dtype=np.uint32)
    for array in (given, given.reshape(4, 4), given.astype(">u4")):
        assert plan.run("reference", {"b": array})["b"].tolist() == list(range(1, 17))
    assert plan.run("reference", {"b": given[:2]})["b"].tolist() == [1, 2] + [1] * 14
    with plan.program(resolve("reference")) as program:
        program.run({"b": given})
    for act in (lambda: program.run({}), lambda: program.upload({"b": given}), program.sample):
        with pytest.raises(DeviceError, match="closed"):
            act()


def test_a_plan_without_a_pass_runs(any_device):
    assert FrameGraph().compile().run(any_device) == {}
    graph = FrameGraph()
    graph.buffer("b", 8, imported=True)
    graph.output("b")
    given = np.array([3, 4], np.uint32)
    assert graph.compile().run(any_device, {"b": given})["b"].tolist() == [3, 4]


def test_names_are_text_wherever_they_are_shown():
    name, other = '</script><img src=x onerror="alert(1)">&\\ "quoted" \u202e漢\nline', "copy_0"
    graph = FrameGraph({"gpu0": ["compute"], "gpu1": ["compute"]})
    for part in (name, other):
        graph.buffer(part, 16)
    graph.add_pass(name, [(name, "write")])
    graph.add_pass(other, [(name, "read"), (other, "write")], device="gpu1")
    graph.output(other)
    plan = graph.compile()
    dot = plan.to_dot()
    # Outside quoted texts nothing is left of the name, and no line ends in the middle of one.
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', "", dot)
    assert "script" not in bare and bare.count('"') == 0
    # The copy's own node is another one than the pass that is called like it.
    assert len(plan.copies) == 1 and re.search(r"^  copy__0 \[shape=oval", dot, re.M)
    for view in VIEWS:
        settings = GraphSettings(example="own", graph=graph.to_dict(), view=view)
        svg = picture(settings, "svg").decode()
        ElementTree.fromstring(svg)
        assert "<img" not in svg
        page = sketch(settings)
        assert "<img" not in table(page.head, page.rows)
