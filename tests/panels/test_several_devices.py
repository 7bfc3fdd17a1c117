"""The panels that use several devices: every control, Run for real, Cancel and Resume, exports, settings."""

import json

import ipywidgets as widgets
import pytest

from expandlab import export, panels
from expandlab import settings as s
from expandlab.figures.page import make
from expandlab.graph.device_examples import DEVICE_EXAMPLES

MOVES = {"example": "halves", "view": "plan", "size": 4096, "stretch": 2.0}
SMALL = {"items": 3, "drop": 0.0, "sets": "any", "k": 5}
LOADOUT_MOVES = {
    "view": "graph", "items": 4, "seed": 3, "sets": "four", "drop": 0.5, "k": 7, "device_count": 2,
    "strategy": "append",
}  # fmt: skip


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens a panel in a folder of its own, closed after the test."""
    monkeypatch.chdir(tmp_path)
    found = []

    def open_one(kind, **settings):
        found.append(getattr(panels, kind)(**settings))
        assert found[-1].settle()
        return found[-1]

    yield open_one
    for panel in found:
        panel.close()


def check_shown(panel):
    assert panel.settle() and panel.error == ""
    assert panel.view.png.startswith(b"\x89PNG")
    assert panel.view.alt == make(panel.settings).description


def run(panel, act="start"):
    getattr(panel.running, act)()
    assert panel.running.wait(60) and panel.settle()


def texts(widget):
    """What a panel says in its HTML."""
    said = widget.value if isinstance(widget, widgets.HTML) else ""
    return said + "".join(texts(child) for child in getattr(widget, "children", ()))


def choose(panel, tokens):
    panel.devices.value = next(value for _, value in panel.devices.options if value == tokens)


@pytest.mark.parametrize("setting", MOVES)
def test_a_control_of_the_devices_changes_its_setting_and_the_picture(opened, setting):
    panel = opened("devices", view="validity" if setting != "stretch" else "timeline")
    before = panel.page.title, panel.page.rows, panel.view.png
    control = panel.controls.own[setting]
    assert control.tooltip and control.description
    control.value = MOVES[setting]
    check_shown(panel)
    assert getattr(panel.settings, setting) == MOVES[setting]
    # How long its passes last is a question of the run.
    assert (panel.view.png != before[2]) == (setting != "stretch")


@pytest.mark.parametrize("setting", LOADOUT_MOVES)
def test_a_control_of_the_loadouts_changes_its_setting_and_the_picture(opened, setting):
    view = "graph" if setting in ("k", "device_count", "strategy") else "pool"
    panel = opened("search_loadouts", **SMALL, view=view)
    before = panel.page
    panel.controls.own[setting].value = LOADOUT_MOVES[setting]
    check_shown(panel)
    assert getattr(panel.settings, setting) == LOADOUT_MOVES[setting]
    assert setting == "k" or (panel.page.title, panel.page.rows, panel.page.data) != (
        before.title, before.rows, before.data)  # fmt: skip


def test_every_setting_has_a_control(opened):
    assert set(MOVES) | {"panel", "measured"} == set(s.DeviceSettings().to_dict())
    assert set(LOADOUT_MOVES) | {"panel", "found", "file"} == set(s.LoadoutSettings().to_dict())
    assert opened("search_loadouts", **SMALL).controls.own["file"].tooltip


@pytest.mark.parametrize("example", DEVICE_EXAMPLES)
def test_run_measures_the_plan_and_its_outputs_are_right(opened, example):
    panel = opened("devices", example=example, size=4096)
    choose(panel, ("reference", "reference"))
    run(panel)
    check_shown(panel)
    found = panel.settings.measured
    assert panel.settings.view == "timeline" and found["equal"] and not found["cancelled"]
    assert "measured" in panel.running.text.text and "outputs equal" in panel.running.text.text
    passes = [span["name"] for span in found["spans"] if span["kind"] == "pass"]
    assert sorted(passes) == sorted(panel.settings.plan().order)
    # What was measured belongs to the settings that it was measured with; another view does not change them.
    panel.controls.own["view"].value = "validity"
    assert panel.settle() and panel.settings.measured == found
    panel.controls.own["size"].value = 16384
    assert panel.settle() and panel.settings.measured is None


def test_the_pages_gpu_searches_alone_and_the_panel_of_several_says_why_it_is_not_there(opened):
    several, alone = opened("devices", size=4096), opened("search_loadouts", **SMALL)
    assert not [text for text, _ in several.devices.options if "this browser" in text]
    assert "The GPU of this page is not among them" in texts(several)
    assert [tokens for text, tokens in alone.devices.options if "this browser" in text] == [("this browser",)]
    choose(alone, ("this browser",))
    alone.running.start()
    assert alone.running.wait(60) and "no page has answered yet" in alone.error


@pytest.mark.gpu
def test_run_on_a_software_adapter_opened_twice(opened, lavapipe):
    panel = opened("devices", size=4096, stretch=1.0)
    tokens = next(value for text, value in panel.devices.options if "llvmpipe" in text and "twice" in text)
    choose(panel, tokens)
    run(panel)
    check_shown(panel)
    assert panel.settings.measured["equal"] and panel.settings.measured["software"]
    assert "share the CPU" not in panel.error


def test_run_finds_builds_and_they_are_settings(opened):
    panel = opened("search_loadouts", **SMALL)
    choose(panel, ("reference", "reference"))
    assert panel.settings.device_count == 2
    run(panel)
    check_shown(panel)
    found = panel.settings.found
    assert panel.settings.view == "builds" and len(found["scores"]) == 5
    assert found["report"]["scored"] == 3**6 and len(panel.page.rows) == 5
    assert "over the bus" in panel.running.text.text and "a second" in panel.running.text.text
    assert found["scores"] == sorted(found["scores"], reverse=True)


def test_a_cancelled_search_is_resumed_to_the_same_builds(opened, monkeypatch):
    whole = opened("search_loadouts", name="whole", **SMALL)
    choose(whole, ("reference",))
    run(whole)
    panel = opened("search_loadouts", name="parts", **SMALL)
    choose(panel, ("reference",))
    panel.capacity = 27
    tell = panel.running._tell

    def cancels(done, total, text):
        tell(done, total, text)
        panel.running.stop()

    monkeypatch.setattr(panel.running, "_tell", cancels)
    run(panel)
    first = panel.settings.found
    assert first["report"]["cancelled"] and not panel.running.resume.disabled
    assert "Resume goes on" in panel.running.text.text
    monkeypatch.undo()
    run(panel, "go_on")
    check_shown(panel)
    last = panel.settings.found
    assert not last["report"]["cancelled"] and panel.running.resume.disabled
    assert first["report"]["scored"] + last["report"]["scored"] == 3**6
    assert (last["picks"], last["scores"]) == (whole.settings.found["picks"], whole.settings.found["scores"])


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("devices", {"example": "broadcast"}), ("search_loadouts", {**SMALL, "view": "pool"})],
)
@pytest.mark.parametrize("fmt", export.FORMATS)
def test_an_export_holds_its_settings_and_is_the_same_each_time(opened, kind, settings, fmt):
    panel = opened(kind, **settings)
    panel.saving.format.value = fmt
    panel.saving.start()
    assert panel.saving.wait(60)
    path = panel.saving.exported
    assert path.suffix == f".{fmt}" and path.read_bytes() == export.picture(panel.settings, fmt)
    stored = export.read_provenance(path)["settings"]
    assert s.from_json(json.dumps(stored)) == panel.settings


def test_copied_settings_load_again_and_reset_goes_back(opened):
    panel = opened("devices", example="halves", view="timeline", size=4096)
    choose(panel, ("reference", "reference"))
    run(panel)
    measured = panel.settings
    panel.saving.copy_settings()
    text = panel.saving.text.value
    panel.reset()
    check_shown(panel)
    assert panel.settings.measured is None
    panel.saving.text.value = text
    panel.saving.load_settings()
    check_shown(panel)
    assert panel.settings == measured


@pytest.mark.parametrize(
    ("kind", "bad", "told"),
    [
        (s.DeviceSettings, {"example": "no"}, "example='no'"),
        (s.DeviceSettings, {"size": 5}, "size=5"),
        (s.DeviceSettings, {"stretch": 0}, "stretch=0"),
        (s.DeviceSettings, {"measured": {}}, "what Run measured"),
        (s.LoadoutSettings, {"sets": "no"}, "sets='no'"),
        (s.LoadoutSettings, {"drop": 1}, "drop=1"),
        (s.LoadoutSettings, {"items": 0}, "items=0"),
        (s.LoadoutSettings, {"strategy": "work_graph"}, "strategy='work_graph'"),
        (s.LoadoutSettings, {"found": {"picks": []}}, "what Run found"),
    ],
)
def test_settings_that_make_no_sense_are_named(kind, bad, told):
    with pytest.raises(s.SettingsError, match=told):
        kind(**bad)


def test_a_file_that_is_no_file_of_relics_shows_in_the_error_line(opened, tmp_path):
    panel = opened("search_loadouts", **SMALL)
    panel.controls.own["file"].value = str(tmp_path / "nothing.json")
    assert panel.settle() and "nothing.json" in panel.error
    panel.controls.own["file"].value = ""
    check_shown(panel)
