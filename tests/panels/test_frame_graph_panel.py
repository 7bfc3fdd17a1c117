"""The frame-graph panel without a browser: every control, the editor, errors that name the pass, Export, settings."""

import json
import sys
import threading

import ipywidgets as widgets
import pytest

from expandlab import FrameGraph, export, panels
from expandlab import settings as s
from expandlab.figures.graphs.page import sketch
from expandlab.figures.page import make

MOVES = {
    "example": "injected", "view": "barriers", "mode": "chain", "tags": False, "schedule": "list", "barrier_us": 2.5,
    "wait_us": 3.0, "copy_us": 1.0, "copy_gb_per_s": 8.0, "pass_us": 4.0, "peer_access": True,
}  # fmt: skip
# One pass says no cost, two queues wait, two devices copy, one queue has a barrier: every cost moves its timeline.
COSTLY = {
    "devices": {"gpu0": ["compute", "async"], "gpu1": ["compute"]},
    "resources": {name: {"kind": "buffer", "size": 65536} for name in "abc"},
    "passes": [
        {"name": "make", "accesses": [{"resource": "a", "mode": "write", "independent": "t"}]},
        {"name": "make_too", "accesses": [{"resource": "a", "mode": "write", "independent": "t"}]},
        {"name": "read", "queue": "async", "cost_us": 5,
         "accesses": [{"resource": "a", "mode": "read"}, {"resource": "b", "mode": "write"}]},
        {"name": "away", "device": "gpu1", "cost_us": 5,
         "accesses": [{"resource": "a", "mode": "read"}, {"resource": "c", "mode": "write"}]},
        {"name": "end", "cost_us": 5,
         "accesses": [{"resource": "b", "mode": "read"}, {"resource": "c", "mode": "read_write"}]},
    ],
    "outputs": ["c"],
}  # fmt: skip


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens a panel in a folder of its own, closed after the test."""
    monkeypatch.chdir(tmp_path)
    found = []

    def open_one(*args, **settings):
        found.append(panels.frame_graph(*args, **settings))
        assert found[-1].settle()
        return found[-1]

    yield open_one
    for panel in found:
        panel.close()


def check_shown(panel):
    assert panel.settle() and panel.error == ""
    assert panel.view.scene == sketch(panel.settings).scene
    assert panel.view.alt == make(panel.settings).description


def names(panel):
    return [item["name"] for item in panel.settings.document["passes"]]


@pytest.mark.parametrize("setting", MOVES)
def test_a_control_changes_its_setting_and_the_picture(opened, setting):
    panel = opened(COSTLY, view="graph" if setting in ("example", "view", "mode", "tags") else "timeline", mode="dag")
    before = panel.view.scene
    control = panel.controls.own[setting]
    assert control.tooltip and control.description
    control.value = MOVES[setting]
    check_shown(panel)
    assert getattr(panel.settings, setting) == MOVES[setting]
    assert panel.view.scene != before


def test_every_setting_has_a_control():
    assert set(MOVES) | {"panel", "graph"} == set(s.GraphSettings().to_dict())


def test_an_injected_pass_is_planned_anew(opened):
    panel = opened(example="two_readers", mode="dag")
    part = panel.controls.editor.passes
    part.chosen.value = "produce"
    part.buttons["Inject after"].click()
    check_shown(panel)
    assert panel.settings.example == "own" and names(panel) == ["produce", "inject", "left", "right"]
    assert part.chosen.value == "inject"
    edges = {(row[1], row[2]) for row in panel.page.rows}
    assert edges == {("produce", "inject"), ("inject", "left"), ("inject", "right")}
    part.buttons["Later"].click()
    assert names(panel) == ["produce", "left", "inject", "right"] and part.chosen.value == "inject"
    part.buttons["Earlier"].click()
    part.buttons["Remove pass"].click()
    check_shown(panel)
    assert {(row[1], row[2]) for row in panel.page.rows} == {("produce", "left"), ("produce", "right")}


def test_a_pass_and_its_accesses_are_edited(opened):
    panel = opened(example="two_writers", mode="dag")
    passes, accesses = panel.controls.editor.passes, panel.controls.editor.accesses
    passes.chosen.value = "fill_high"
    assert (passes.fields["queue"].value, accesses.fields["range"].value) == ("async", "2048 .. 4096")
    passes.fields["queue"].value = "compute"
    passes.fields["cost_us"].value = 7.0
    accesses.fields["range"].value = "1024, 4096"
    check_shown(panel)
    changed = panel.settings.document["passes"][1]
    assert changed["queue"] == "compute" and changed["cost_us"] == 7.0
    assert changed["accesses"][0]["range"] == [1024, 4096]
    # The ranges overlap now: one write after the other.
    assert any(row[1:4] == ("fill_low", "fill_high", "WAW") for row in panel.page.rows)
    for name in ("fill_low", "fill_high"):
        passes.chosen.value = name
        accesses.fields["independent"].value = "disjoint members"
    check_shown(panel)
    assert all(row[1:3] != ("fill_low", "fill_high") for row in panel.page.rows)
    passes.fields["after"].value = "fill_low"
    check_shown(panel)
    assert any(row[1:4] == ("fill_low", "fill_high", "explicit") for row in panel.page.rows)
    passes.fields["after"].value = ""
    passes.fields["before"].value = "use"
    passes.fields["side_effect"].value = True
    passes.fields["name"].value = "fill_top"
    check_shown(panel)
    changed = panel.settings.document["passes"][1]
    assert (changed["name"], changed["before"], changed["side_effect"]) == ("fill_top", ["use"], True)
    assert "after" not in changed and passes.chosen.value == "fill_top"
    accesses.buttons["Add access"].click()
    assert accesses.chosen.value == 1
    accesses.fields["resource"].value = "sum"
    accesses.fields["mode"].value = "write"
    check_shown(panel)
    assert panel.settings.document["passes"][1]["accesses"][1] == {"resource": "sum", "mode": "write"}
    accesses.buttons["Remove access"].click()
    check_shown(panel)
    assert len(panel.settings.document["passes"][1]["accesses"]) == 1


def test_resources_devices_and_image_ranges_are_edited(opened):
    panel = opened(example="two_readers", mode="dag")
    editor = panel.controls.editor
    resources, accesses, passes = editor.resources, editor.accesses, editor.passes
    resources.buttons["New image"].click()
    assert resources.name == "image_1"
    for key, value in (("mips", 4), ("layers", 3), ("aspects", 2)):
        resources.fields[key].value = value
    resources.fields["name"].value = "shadow"
    resources.fields["imported"].value = True
    resources.fields["output"].value = True
    check_shown(panel)
    document = panel.settings.document
    assert document["resources"]["shadow"] == {"kind": "image", "mips": 4, "layers": 3, "aspects": 2, "imported": True}
    assert document["outputs"] == ["left_out", "right_out", "shadow"]
    passes.chosen.value = "left"
    accesses.buttons["Add access"].click()
    accesses.fields["resource"].value = "shadow"
    accesses.fields["mode"].value = "write"
    accesses.fields["usage"].value = "depth"
    for key, text in (("mips", "1..3"), ("layers", "0 2"), ("aspects", "0, 1")):
        accesses.fields[key].value = text
    check_shown(panel)
    assert panel.settings.document["passes"][1]["accesses"][2] == {
        "resource": "shadow", "mode": "write", "usage": "depth", "mips": [1, 3], "layers": [0, 2], "aspects": [0, 1],
    }  # fmt: skip
    resources.buttons["New buffer"].click()
    resources.fields["size"].value = 64
    assert panel.settings.document["resources"]["buffer_1"] == {"kind": "buffer", "size": 64}
    resources.buttons["Remove resource"].click()
    assert "buffer_1" not in panel.settings.document["resources"]
    editor.devices.fields["devices"].value = "gpu0: compute, async\nother: compute"
    passes.fields["device"].value = "other"
    check_shown(panel)
    assert panel.page.plans[0].devices["left"] == "other" and len(panel.page.plans[0].copies) == 1
    passes.fields["device"].value = passes.fields["device"].options[-1][1]
    check_shown(panel)
    assert panel.settings.document["passes"][1]["device"] == ["gpu0", "other"]


def complaints(panel):
    return {part.title: part.complaint for part in panel.controls.editor._parts if part.complaint}


def test_what_the_planner_refuses_stands_at_its_place_and_the_picture_stays(opened):
    panel = opened(example="two_readers")
    editor, before = panel.controls.editor, panel.view.scene
    passes, accesses = editor.passes, editor.accesses
    passes.chosen.value = "produce"
    accesses.fields["mode"].value = "read"
    assert panel.settle()
    # Nobody wants what produce reads, so it is culled; left has nothing to read.
    assert "pass 'left' reads 'data'" in panel.error and complaints(panel) == {"Access of the pass": panel.error}
    assert panel.view.scene == before and panel.view.wrong == ["left"]
    assert editor.goto.layout.display is None
    editor.goto.click()
    assert panel.settle() and passes.name == "left" and editor.goto.layout.display == "none"
    passes.chosen.value = "produce"
    accesses.fields["mode"].value = "write"
    check_shown(panel)
    assert complaints(panel) == {} and panel.view.wrong == []
    accesses.fields["range"].value = "0 .. 99999"
    assert panel.settle()
    assert "'produce'" in panel.error and "0 .. 4096" in panel.error
    assert complaints(panel) == {"Access of the pass": panel.error}
    assert "xl-wrong" in accesses.fields["range"]._dom_classes
    accesses.fields["range"].value = ""
    check_shown(panel)
    assert "xl-wrong" not in accesses.fields["range"]._dom_classes
    passes.fields["after"].value = "nobody"
    assert panel.settle() and complaints(panel) == {"Pass": panel.error} and "nobody" in panel.error
    assert "xl-wrong" in passes.fields["after"]._dom_classes
    passes.fields["after"].value = "left"
    assert panel.settle() and "cycle" in panel.error and set(panel.view.wrong) == {"produce", "left"}
    passes.fields["after"].value = ""
    editor.devices.fields["devices"].value = "gpu0"
    assert panel.settle() and complaints(panel) == {"Devices and queues": panel.error}
    editor.devices.fields["devices"].value = ""
    # left and right ask for a queue that the default device does not have.
    assert panel.settle() and complaints(panel) == {"Pass": panel.error} and "async" in panel.error


def test_the_graph_is_typed_as_json(opened):
    panel = opened()
    text = panel.controls.editor.text.text
    text.value = "{ nothing"
    assert panel.settle() and "not JSON" in panel.error and "Graph as JSON" in complaints(panel)
    text.value = "[1]"
    assert panel.settle() and "object" in panel.error
    text.value = '{"passes": [{"name": "a", "cost_us": NaN, "accesses": []}]}'
    assert panel.settle() and "NaN" in panel.error
    text.value = json.dumps({"passes": [{"name": 5}], "resources": []})
    assert panel.settle() and panel.error
    graph = FrameGraph()
    graph.buffer("b", 16)
    graph.add_pass("only", [("b", "write")])
    graph.output("b")
    text.value = graph.to_json()
    check_shown(panel)
    assert names(panel) == ["only"] and complaints(panel) == {}


def test_slots_are_shown_and_turned_into_accesses(opened):
    panel = opened(example="slots", view="connections", mode="dag")
    editor = panel.controls.editor
    assert [(row[1], row[2], row[4], row[6]) for row in panel.page.rows] == [
        ("CP1.data", "CP2.data", "yes", "none"), ("CP2.data", "CP3.data", "yes", "RAW"),
        ("CP3.picture", "interface.picture", "yes", "RAW"), ("CP1", "CP3", "no", "RAW"),
    ]  # fmt: skip
    assert editor.passes.buttons["Inject after"].disabled and editor.passes.fields["name"].disabled
    edges = panel.page.plans[0].edges
    editor.to_accesses.click()
    check_shown(panel)
    assert not editor.passes.buttons["Inject after"].disabled and panel.page.plans[0].edges == edges
    assert "connections" not in panel.settings.document and panel.page.rows == []


def test_what_is_pointed_at_says_why_it_stands(opened):
    panel = opened(example="tagged_writers")
    targets = {target["id"]: target for target in panel.view.scene["targets"]}
    assert targets["graph:edge:count_right:rank"]["says"] == [
        "count_right → rank (graph)",
        "RAW on histogram, bytes 0..1,024: count_right reads and writes [tag atomic add], rank reads "
        "(from the accesses)",
        "from gpu0.async to gpu0.compute",
    ]
    assert "no hazard asks for it" in " ".join(targets["chain:edge:count_left:count_right"]["says"])
    assert targets["graph:pass:rank"]["near"] == ["graph:edge:count_left:rank", "graph:edge:count_right:rank"]
    known = set(targets)
    assert all(set(target["near"]) <= known for target in targets.values())
    panel.view.chosen = "rank"
    assert panel.controls.editor.passes.name == "rank"


def test_the_plans_are_offered_as_dot(opened, monkeypatch):
    panel = opened()
    offered = []
    monkeypatch.setattr(panel.desk, "offer", lambda *args: offered.append(args))
    panel.dot.click()
    ((name, _, content),) = offered
    assert name.endswith(".dot") and content.decode().count("digraph") == 2


def test_a_graph_is_given_and_an_example_is_chosen_again(opened):
    graph = FrameGraph()
    graph.buffer("b", 16)
    graph.add_pass("only", [("b", "write")])
    graph.output("b")
    panel = opened(graph)
    assert names(panel) == ["only"] and panel.settings.example == "own"
    panel.controls.own["example"].value = "two_readers"
    check_shown(panel)
    assert names(panel) == ["produce", "left", "right"]
    panel.controls.own["example"].value = "own"
    check_shown(panel)
    assert names(panel) == ["only"]


def test_settings_are_copied_loaded_and_reset_and_exported(opened):
    panel = opened(example="injected")
    first = panel.settings
    panel.controls.editor.passes.buttons["Inject before"].click()
    panel.controls.own["view"].value = "timeline"
    check_shown(panel)
    panel.saving.copy_settings()
    text, moved = panel.saving.text.value, panel.settings
    panel.reset()
    assert panel.settle() and panel.settings == first
    panel.saving.text.value = text
    panel.saving.load_settings()
    check_shown(panel)
    assert panel.settings == moved
    panel.saving.format.value = "svg"
    panel.saving.start()
    assert panel.saving.wait(60) and panel.error == ""
    assert panel.saving.exported.read_bytes() == export.picture(moved, "svg")


def test_first_settings_that_are_wrong_show_in_the_panel(opened):
    assert "view='nothing'" in opened(view="nothing").error
    assert "graph=5" in opened(5).error


def test_an_edit_sends_the_picture_first_and_then_each_control_once(opened, monkeypatch):
    panel = opened(example="two_readers", mode="dag")
    editor = panel.controls.editor
    # However slow the machine is.
    panel._latest._inline = 60.0
    # The first picture after the opening is drawn by a thread, as nobody knows how long it takes.
    editor.passes.chosen.value = "produce"
    panel.controls.own["tags"].value = False
    assert panel.settle()
    sent = []
    monkeypatch.setattr(widgets.Widget, "_send", lambda self, *_, **__: sent.append(self))
    editor.passes.buttons["Inject after"].click()
    assert panel.settle()
    # The menus of the whole editor; what stands outside it, as the example's, is told when it changes.
    held = {id(one) for part in editor._parts for one in part.controls()} | {id(panel.view)}
    sent = [one for one in sent if id(one) in held]
    assert sent[0] is panel.view and sent.count(panel.view) == 1
    assert len(sent) > 3 and len({id(one) for one in sent}) == len(sent)


@pytest.fixture
def held_up(monkeypatch):
    """Pictures that wait until a test lets them go: (one is under way, let it go on)."""
    under_way, go_on = threading.Event(), threading.Event()

    def slow(settings):
        under_way.set()
        assert go_on.wait(30)
        return sketch(settings)

    def start():
        monkeypatch.setattr(sys.modules["expandlab.panels.frame_graph"], "sketch", slow)
        return under_way, go_on

    yield start
    go_on.set()


def test_what_is_wrong_with_an_older_document_is_not_told(opened, held_up):
    panel = opened(example="two_readers", mode="dag")
    editor, told = panel.controls.editor, []
    panel._latest._inline = 0.0
    for one in (panel.alert, *(part.place for part in editor._parts)):
        one.observe(lambda event: told.append(event["new"]), "value")
    panel.view.observe(lambda event: told.append(event["new"]), "wrong")
    under_way, go_on = held_up()
    editor.passes.chosen.value = "produce"
    editor.accesses.fields["mode"].value = "read"
    assert under_way.wait(30)
    editor.accesses.fields["mode"].value = "write"
    editor.passes.buttons["Inject after"].click()
    go_on.set()
    check_shown(panel)
    assert told == [] and names(panel) == ["produce", "inject", "left", "right"]


def test_an_older_picture_does_not_take_a_newer_error_away(opened, held_up):
    panel = opened(example="two_readers", mode="dag")
    editor, told = panel.controls.editor, []
    panel._latest._inline = 0.0
    under_way, go_on = held_up()
    editor.passes.chosen.value = "produce"
    editor.passes.buttons["Inject after"].click()
    assert under_way.wait(30)
    editor.text.text.value = "{ nothing"
    panel.alert.observe(lambda event: told.append(event["new"]), "value")
    go_on.set()
    assert panel.settle() and "not JSON" in panel.error and told == []
    assert complaints(panel) == {"Graph as JSON": panel.error}
