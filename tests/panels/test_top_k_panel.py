"""The top-k panel without a browser: every control, Run, Cancel, errors, Export, settings, Reset."""

import json
import threading

import pytest

import expandlab as xl
from expandlab import export, panels
from expandlab import settings as s
from expandlab.figures.page import make
from expandlab.measuring import selection
from expandlab.panels import selection as panel_module

MOVES = {
    "n": 16_384, "k": 16, "kind": "ascending", "seed": 4, "largest": False, "method": "delegate", "view": "stream",
    "pushes": 4, "step": 2,
}  # fmt: skip


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens a panel in a folder of its own, closed after the test."""
    monkeypatch.chdir(tmp_path)
    found = []

    def open_one(**settings):
        found.append(panels.top_k(**{"n": 8192, "k": 32, **settings}))
        assert found[-1].settle()
        return found[-1]

    yield open_one
    for panel in found:
        panel.close()


def check_shown(panel):
    assert panel.settle() and panel.error == ""
    assert panel.view.png.startswith(b"\x89PNG")
    assert panel.view.alt == make(panel.settings).description


def choose_reference(panel):
    panel.device.value = next(token for label, token in panel.device.options if label.startswith("reference"))


@pytest.mark.parametrize("setting", MOVES)
def test_a_control_changes_its_setting_and_the_picture(opened, setting):
    panel = opened(**({"view": "stream"} if setting == "pushes" else {}))
    before = panel.view.png
    control = panel.controls.own[setting]
    assert control.tooltip and control.description
    control.value = MOVES[setting]
    check_shown(panel)
    assert getattr(panel.settings, setting) == MOVES[setting]
    assert panel.view.png != before


def test_every_setting_has_a_control():
    # What was measured is a setting, and Run is its control.
    assert set(MOVES) | {"panel", "measured"} == set(s.TopKSettings().to_dict())


@pytest.mark.parametrize("method", xl.top_k_methods())
def test_the_step_slider_goes_through_the_steps_of_every_method(opened, method):
    panel = opened(method=method, n=4096)
    slider = panel.controls.own["step"]
    assert slider.max == panel.page.data["steps"] - 1 >= 1
    seen = set()
    for step in (1, slider.max):
        slider.value = step
        check_shown(panel)
        seen.add(panel.view.alt)
    assert len(seen) == len({1, slider.max}) and f"Step {slider.max + 1} of {slider.max + 1}" in panel.view.alt
    panel.controls.own["kind"].value = "all_equal"
    check_shown(panel)
    assert panel.settings.step == slider.value == 0


def test_what_cannot_be_shown_is_said_and_the_picture_stays(opened):
    panel = opened()
    before = panel.view.png
    panel.controls.own["k"].value = 16_384
    assert "k=16,384: there are only n=8,192" in panel.error and panel.view.png == before
    panel.controls.own["n"].value = 65_536
    check_shown(panel)
    panel.controls.own["method"].value = "workgroup_select"
    assert panel.settle() and "at most max_k=1,024" in panel.error
    panel.controls.own["k"].value = 32
    check_shown(panel)
    assert "colour" in opened(colour="red").error and "k=9000" in opened(k=9000, n=100).error.replace(",", "")


def test_run_measures_all_methods_and_what_it_found_goes_when_the_scores_change(opened):
    panel = opened()
    choose_reference(panel)
    panel.running.start()
    assert panel.running.wait(60)
    check_shown(panel)
    assert panel.running.text.text.startswith("done: ") and panel.settings.view == "bus"
    held = panel.settings.measured
    assert [row["method"] for row in held["rows"]] == list(xl.top_k_methods()) and not held["left_out"]
    assert {row["words_back"] for row in held["rows"]} == {8192, 2 * 32 + 4}
    panel.saving.copy_settings()
    assert s.from_json(panel.saving.text.value) == panel.settings
    panel.controls.own["method"].value = "bitonic"
    check_shown(panel)
    assert panel.settings.measured == held
    panel.controls.own["seed"].value = 9
    check_shown(panel)
    assert panel.settings.measured is None and "Not measured yet" in panel.view.alt


def test_a_cancelled_run_keeps_what_it_measured(opened, monkeypatch):
    panel = opened()
    choose_reference(panel)
    whole = panel_module.measure_methods

    def cancelled(*args, on_progress, **more):
        def news(told):
            on_progress(told)
            if "round 2" in told.text:
                panel.running.stop()

        return whole(*args, on_progress=news, **more)

    monkeypatch.setattr(panel_module, "measure_methods", cancelled)
    panel.running.start()
    assert panel.running.wait(60)
    check_shown(panel)
    assert panel.running.text.text.startswith("cancelled: ") and panel.settings.measured["cancelled"]
    assert len(panel.settings.measured["rows"]) == 9 and "cancelled: partial" in panel.view.alt
    assert {row["samples"] for row in panel.settings.measured["rows"]} == {1, 2}


def test_times_of_scores_that_are_gone_are_not_shown(opened, monkeypatch):
    panel = opened()
    choose_reference(panel)
    whole = panel_module.measure_methods

    def slow(*args, **more):
        found = whole(*args, **more)
        panel.controls.own["seed"].value = 6
        return found

    monkeypatch.setattr(panel_module, "measure_methods", slow)
    panel.running.start()
    assert panel.running.wait(60) and panel.settle()
    assert panel.settings.seed == 6 and panel.settings.measured is None and panel.settings.view == "steps"


def test_a_wrong_result_is_not_timed(monkeypatch):
    scores = s.TopKSettings(n=3000, k=9).scores()
    monkeypatch.setattr(selection, "defined", lambda values, k, largest: xl.top_k(values, k).indices[::-1])
    with pytest.raises(xl.DeviceError, match="a wrong selection, 8 of 9 indices differ"):
        selection.measure_methods(["delegate"], scores, 9, device="reference")


def test_a_method_that_cannot_run_is_left_out_with_the_reason():
    scores = s.TopKSettings(n=20_000, k=9).scores()
    told = []
    found = selection.measure_methods(
        ["atomic_heap", "radix_select"], scores, 9, device="reference", repeats=3, on_progress=told.append
    )
    assert [row.method for row in found.rows] == ["radix_select"] and "16,384" in found.left_out["atomic_heap"]
    assert found.rows[0].samples == 3 and found.rows[0].q1_ms <= found.rows[0].median_ms <= found.rows[0].q3_ms
    assert [item.done for item in told] == sorted(item.done for item in told) and told[-1].done < told[-1].total
    stopped = threading.Event()
    stopped.set()
    assert selection.measure_methods(["delegate"], scores, 9, device="reference", cancel=stopped).rows == ()


@pytest.mark.gpu
def test_a_device_is_measured(lavapipe):
    scores = s.TopKSettings(n=4096, k=9).scores()
    found = selection.measure_methods(["readback_heap", "radix_select"], scores, 9, device=lavapipe, repeats=2)
    assert [row.words_back for row in found.rows] == [4096, 22] and found.software and not found.cancelled


def test_settings_are_copied_loaded_and_reset(opened):
    panel = opened()
    first = panel.settings
    for name in ("n", "kind", "method"):
        panel.controls.own[name].value = MOVES[name]
    check_shown(panel)
    panel.saving.copy_settings()
    text, moved = panel.saving.text.value, panel.settings
    assert json.loads(text) == panel.settings.to_dict()
    panel.reset()
    check_shown(panel)
    assert panel.settings == first
    panel.saving.text.value = text
    panel.saving.load_settings()
    check_shown(panel)
    assert panel.settings == moved
    # Sizes that the sliders do not have are shown all the same.
    panel.saving.text.value = moved.replace(n=5000, k=77).to_json()
    panel.saving.load_settings()
    check_shown(panel)
    assert (panel.controls.own["n"].value, panel.controls.own["k"].value) == (5000, 77)


@pytest.mark.parametrize("kind", ["png", "csv"])
def test_an_export_is_saved_and_offered(opened, monkeypatch, kind):
    panel = opened(method="bitonic")
    offered = []
    monkeypatch.setattr(panel.view, "send", lambda content, buffers=None: offered.append((content, buffers)))
    panel.saving.format.value = kind
    panel.saving.start()
    assert panel.saving.wait(60) and panel.error == ""
    path = panel.saving.exported
    assert path.read_bytes() == export.picture(panel.settings, kind) == bytes(offered[0][1][0])
    assert path.name.startswith("top_k-bitonic-random-steps-")
    panel.tables.value = True
    assert panel.settle() and panel.about.value.count("<tr>") == len(panel.page.rows) + 1
