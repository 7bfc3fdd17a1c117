"""The timings panel without a browser: what it browses, what Run adds, Cancel, settings, Export."""

import json
import sys

import pytest

from expandlab import export, panels
from expandlab import settings as s
from expandlab.figures.page import make
from expandlab.figures.timings import EMPTY
from expandlab.measuring.packed import load_shipped, shipped
from expandlab.measuring.views import VIEWS
from expandlab.settings.timings import OWN

SHIPPED = next(iter(shipped()))
MOVES = {
    "data": OWN, "view": "memory", "kind": "uniform", "mean": "64", "p2": 17, "shown": ("prefix_search", "tile_search"),
    "peers": False, "seed": 4,
}  # fmt: skip
VALUES = {**MOVES, "mean": 64.0}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens the panel in a folder of its own, closed after the test."""
    monkeypatch.chdir(tmp_path)
    made = []

    def open_one(**settings):
        made.append(panels.timings(**settings))
        assert made[-1].settle()
        return made[-1]

    yield open_one
    for panel in made:
        panel.close()


def check_shown(panel):
    assert panel.error == ""
    assert panel.view.png.startswith(b"\x89PNG")
    assert panel.view.alt == make(panel.settings).description


def on_the_reference(panel):
    panel.device.value = next(token for label, token in panel.device.options if label.startswith("reference"))
    return panel


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_what_is_shipped_is_drawn_and_says_where_it_was_measured(opened, view):
    panel = opened(view=view)
    if view == "at_once" and {item.at_once for item in load_shipped(SHIPPED)} == {1}:
        assert "press Run" in panel.error
        return
    check_shown(panel)
    found = panel.page.provenance
    assert found["device"]["name"] in panel.view.alt and found["measured_by"]["versions"]
    assert panel.page.rows and all(len(row) == len(panel.page.head) for row in panel.page.rows)


@pytest.mark.parametrize("setting", MOVES)
def test_a_control_changes_its_setting(opened, setting):
    panel = opened(view="x_limit", kind="zipf", mean=8.0)
    before = panel.view.drawn
    control = panel.controls.own[setting]
    assert control.tooltip and control.description
    control.value = MOVES[setting]
    assert panel.settle()
    assert getattr(panel.settings, setting) == VALUES[setting]
    check_shown(panel)
    assert panel.view.drawn > before


def test_every_setting_has_a_control_and_all_stands_for_none(opened):
    panel = opened()
    assert set(panel.controls.own) == set(s.TimingSettings().to_dict()) - {"panel", "measured"} == set(MOVES)
    panel.controls.own["kind"].value = panel.controls.own["mean"].value = "all"
    assert panel.settle()
    assert panel.settings.kind is None and panel.settings.mean is None
    check_shown(panel)
    panel.settings = panel.settings.replace(p2=None)
    assert panel.settle()
    panel.controls.own["seed"].value = 9
    assert panel.settle() and panel.settings.p2 is None


@pytest.mark.parametrize("typed", ["many", "-3"])
def test_a_mean_that_is_none_is_told_of_and_the_picture_stays(opened, typed):
    panel = opened()
    before = panel.view.png
    panel.controls.own["mean"].value = typed
    assert panel.settle() and "mean=" in panel.error and panel.view.png == before


def test_a_kind_without_times_is_told_of(opened):
    panel = opened()
    panel.controls.own["kind"].value = "zeros"
    assert panel.settle() and "kind='zeros'" in panel.error and "uniform" in panel.error


@pytest.mark.parametrize("view", ["x_limit", "at_once", "win_map"])
def test_run_measures_the_view_and_what_it_found_is_a_setting(opened, view):
    panel = on_the_reference(opened(view=view, shown=["append", "flat"], p2=10, mean=4.0, kind="uniform"))
    panel.running.start()
    assert panel.running.wait(120) and panel.settle()
    assert panel.error == "" and panel.running.text.text.startswith("done: ")
    assert panel.settings.data == OWN and len(panel.settings.measured["measurements"]) > 2
    check_shown(panel)
    assert "reference" in panel.view.alt and EMPTY not in panel.view.alt
    panel.saving.copy_settings()
    again = s.from_json(panel.saving.text.value)
    assert again == panel.settings and export.picture(again, "svg") == export.picture(panel.settings, "svg")
    panel.controls.own["data"].value = SHIPPED
    assert panel.settle() and panel.settings.measured is None
    assert panel.error == "" or view == "at_once"


def test_what_run_found_stays_where_another_strategy_is_looked_at(opened):
    panel = on_the_reference(opened(view="time", shown=["append", "flat"], p2=10, kind="uniform"))
    panel.running.start()
    assert panel.running.wait(120) and panel.settle()
    panel.controls.own["shown"].value = ("append",)
    assert panel.settle()
    assert panel.settings.measured is not None and {row[0] for row in panel.page.rows} == {"append"}
    panel.controls.own["view"].value = "at_once"
    assert panel.settle() and EMPTY in panel.view.alt and panel.error == ""


def test_cancel_keeps_the_inputs_that_were_measured(opened, monkeypatch):
    panel = on_the_reference(opened(view="time", shown=["append"], p2=14, kind="uniform"))
    seen = panel.running._news

    def news(progress):
        seen(progress)
        if progress.done > progress.total // 2:
            panel.running.stop()

    monkeypatch.setattr(panel.running, "_news", news)
    panel.running.start()
    assert panel.running.wait(120) and panel.settle()
    assert panel.running.text.text.startswith("cancelled: ") and panel.error == ""
    assert 1 <= len(panel.settings.measured["measurements"]) < 4
    check_shown(panel)


def test_a_strategy_that_refuses_is_named_and_the_others_are_measured(opened):
    panel = on_the_reference(opened(view="time", shown=["append", "dispatch_each"], p2=20, mean=2.0, kind="constant"))
    panel.running.start()
    assert panel.running.wait(200) and panel.settle()
    assert "dispatch_each was left out: " in panel.remark.text and panel.error == ""


def test_times_of_settings_that_are_gone_are_not_shown(opened, monkeypatch):
    # The package's function has the module's name.
    timings = sys.modules["expandlab.panels.timings"]
    panel = on_the_reference(opened(view="time", shown=["append"], p2=8))
    whole = timings.measure_view

    def slow(choice, **more):
        found = whole(choice, **more)
        panel.controls.own["kind"].value = "uniform"
        return found

    monkeypatch.setattr(timings, "measure_view", slow)
    panel.running.start()
    assert panel.running.wait(60) and panel.settle()
    assert panel.settings.kind == "uniform" and panel.settings.measured is None


@pytest.mark.parametrize("kind", export.FORMATS)
def test_an_export_is_what_the_settings_mean_and_carries_where_the_times_come_from(opened, kind):
    panel = opened(view="memory", p2=20)
    panel.saving.format.value = kind
    panel.saving.start()
    assert panel.saving.wait(60) and panel.error == ""
    path = panel.saving.exported
    assert path.read_bytes() == export.picture(panel.settings, kind)
    found = export.read_provenance(path)
    assert found["device"]["driver"] and found["measured_by"]["versions"] and found["shader_sha256"]
    assert s.from_json(found["settings"]) == panel.settings


def test_the_data_table_has_the_rows_and_the_origin(opened):
    panel = opened(view="memory")
    panel.tables.value = True
    assert panel.settle()
    assert panel.about.value.count("<tr>") > len(panel.page.rows) + 1 and "command" in panel.about.value


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"view": "pie"}, "view='pie'"),
        ({"data": "nowhere"}, "data='nowhere'"),
        ({"shown": []}, "shown="),
        ({"kind": "normal"}, "kind='normal'"),
        ({"mean": 0}, "mean=0"),
        ({"p2": 99}, "p2=99"),
        ({"measured": {"format": "x"}}, "what Run measured"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_first_settings_that_are_wrong_show_in_the_panel(opened, given, text):
    panel = opened(**given)
    assert text in panel.error and panel.view.png


def test_measured_times_belong_to_own():
    from expandlab.measuring.packed import pack

    with pytest.raises(s.SettingsError, match="use 'own'"):
        s.TimingSettings(data=SHIPPED, measured=json.loads(json.dumps(pack([]))))
