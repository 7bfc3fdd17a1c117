"""The frame-graph panel without a browser: every control, the editor, errors that name the pass, Export, settings."""

import json

import pytest

from expandlab import FrameGraph, export, panels
from expandlab import settings as s
from expandlab.figures.page import make

MOVES = {"example": "injected", "view": "barriers", "mode": "chain", "tags": False, "schedule": "list"}


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
    assert panel.view.png.startswith(b"\x89PNG")
    assert panel.view.alt == make(panel.settings).description


def names(panel):
    return [item["name"] for item in panel.settings.document["passes"]]


@pytest.mark.parametrize("setting", MOVES)
def test_a_control_changes_its_setting_and_the_picture(opened, setting):
    panel = opened(example="tagged_writers")
    before = panel.view.png
    control = panel.controls.own[setting]
    assert control.tooltip and control.description
    control.value = MOVES[setting]
    check_shown(panel)
    assert getattr(panel.settings, setting) == MOVES[setting]
    assert panel.view.png != before


def test_every_setting_has_a_control():
    assert set(MOVES) | {"panel", "graph"} == set(s.GraphSettings().to_dict())


def test_an_injected_pass_is_planned_anew(opened):
    panel = opened(example="two_readers", mode="dag")
    editor = panel.controls.editor
    editor.chosen.value = "produce"
    editor.buttons["Inject after"].click()
    check_shown(panel)
    assert panel.settings.example == "own" and names(panel) == ["produce", "inject", "left", "right"]
    assert editor.chosen.value == "inject"
    edges = {(row[1], row[2]) for row in panel.page.rows}
    assert edges == {("produce", "inject"), ("inject", "left"), ("inject", "right")}
    editor.buttons["Remove pass"].click()
    check_shown(panel)
    assert {(row[1], row[2]) for row in panel.page.rows} == {("produce", "left"), ("produce", "right")}


def test_a_pass_and_its_accesses_are_edited(opened):
    panel = opened(example="two_writers", mode="dag")
    editor = panel.controls.editor
    editor.chosen.value = "fill_high"
    assert (editor.queue.value, editor.range.value) == ("async", "2048 .. 4096")
    editor.queue.value = "compute"
    editor.cost.value = 7.0
    editor.range.value = "1024, 4096"
    check_shown(panel)
    changed = panel.settings.document["passes"][1]
    assert changed["queue"] == "compute" and changed["cost_us"] == 7.0
    assert changed["accesses"][0]["range"] == [1024, 4096]
    # The ranges overlap now: one write after the other.
    assert any(row[1:4] == ("fill_low", "fill_high", "WAW") for row in panel.page.rows)
    for name in ("fill_low", "fill_high"):
        editor.chosen.value = name
        editor.tag.value = "disjoint members"
    check_shown(panel)
    assert all(row[1:3] != ("fill_low", "fill_high") for row in panel.page.rows)
    editor.buttons["Add access"].click()
    editor.access.value = 1
    editor.resource.value = "sum"
    editor.mode.value = "write"
    check_shown(panel)
    assert panel.settings.document["passes"][1]["accesses"][1] == {"resource": "sum", "mode": "write"}
    editor.access.value = 1
    editor.buttons["Remove access"].click()
    check_shown(panel)
    assert len(panel.settings.document["passes"][1]["accesses"]) == 1


def test_what_the_planner_refuses_names_the_pass_and_the_picture_stays(opened):
    panel = opened(example="two_readers")
    editor, before = panel.controls.editor, panel.view.png
    editor.chosen.value = "produce"
    editor.mode.value = "read"
    assert panel.settle()
    # Nobody wants what produce reads, so it is culled; left has nothing to read.
    assert "pass 'left' reads 'data'" in panel.error
    assert panel.view.png == before
    editor.mode.value = "write"
    check_shown(panel)
    editor.range.value = "0 .. 99999"
    assert panel.settle()
    assert "'produce'" in panel.error and "0 .. 4096" in panel.error


def test_the_graph_is_typed_as_json(opened):
    panel = opened()
    editor = panel.controls.editor
    editor.text.value = "{ nothing"
    assert panel.settle() and "not JSON" in panel.error
    editor.text.value = "[1]"
    assert panel.settle() and "object" in panel.error
    editor.text.value = json.dumps({"passes": [{"name": 5}], "resources": []})
    assert panel.settle() and panel.error
    graph = FrameGraph()
    graph.buffer("b", 16)
    graph.add_pass("only", [("b", "write")])
    graph.output("b")
    editor.text.value = graph.to_json()
    check_shown(panel)
    assert names(panel) == ["only"]


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
    panel.controls.editor.buttons["Inject before"].click()
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
