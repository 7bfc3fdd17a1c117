"""The expansion panel without a browser: what every control does, and that nothing goes wrong out of sight."""

import gc
import importlib
import json
import threading
import weakref

import numpy as np
import pytest

import expandlab as xl
from expandlab import panels
from expandlab.figures.limits import MAX_DRAWN
from expandlab.panels import maps as maps_module
from expandlab.panels import registry, running
from expandlab.panels.packing import unpack
from expandlab.settings import ExpansionSettings

# The package has functions of these modules' names.
expansion_module = importlib.import_module("expandlab.panels.expansion")
menu_module = importlib.import_module("expandlab.panels.device_menu")
machine_module = importlib.import_module("expandlab.panels.machine")


def drawn(panel):
    """The header and arrays of what the page was sent last."""
    return unpack(panel.canvas.frame)


def move(panel, control, value):
    getattr(panel.controls, control).value = value
    assert panel.settle()


CONTROLS = {
    "source": ("uniform", {"source": "uniform"}),
    "items": (100, {"items": 100}),
    "mean": (12.5, {"mean": 12.5}),
    "limited": (True, {"max_n": 64}),
    "seed": (3, {"seed": 3}),
    "strategy": ("flat", {"strategy": "flat"}),
    "compare": ("append", {"compare": "append"}),
    "workgroup_size": (128, {"workgroup_size": 128}),
    "subgroup_size": (8, {"subgroup_size": 8}),
}


@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_changes_its_setting_and_the_picture(open_panel, control):
    panel = open_panel()
    before = panel.canvas.frame
    value, changed = CONTROLS[control]
    move(panel, control, value)
    assert panel.settings == ExpansionSettings(**changed)
    assert panel.error == ""
    assert panel.canvas.frame != before
    names = [name for name in (panel.settings.strategy, panel.settings.compare) if name]
    assert [item["strategy"] for item in drawn(panel)["maps"]] == names
    expected = panel.settings.counts()
    assert np.array_equal(drawn(panel)["counts"], expected)
    assert drawn(panel)["maps"][0]["workgroup_size"] == panel.settings.workgroup_size
    assert drawn(panel)["maps"][0]["subgroup_size"] == panel.settings.subgroup_size


def test_every_control_has_a_label_and_an_explanation(open_panel):
    controls = open_panel().controls
    for control in controls.watched():
        assert control.tooltip
        assert getattr(control, "description", "") or control is controls.max_n


@pytest.mark.parametrize("kind", xl.counts.kinds())
def test_every_kind_shows_its_shape_parameters(open_panel, kind):
    panel = open_panel()
    move(panel, "source", kind)
    sliders = panel.controls.shape_box.children
    shapes = xl.counts.shapes(kind)
    assert [slider.description for slider in sliders] == [shape.name for shape in shapes]
    for slider, shape in zip(sliders, shapes, strict=True):
        slider.value = min(slider.max, slider.value + slider.step)
        assert panel.settle()
        assert panel.settings.shape[shape.name] == slider.value
        assert panel.error == ""
    assert np.array_equal(drawn(panel)["counts"], panel.settings.counts())


def test_a_shape_parameter_does_not_outlive_its_kind(open_panel):
    panel = open_panel(source="lognormal", shape={"sigma": 0.5})
    assert panel.settings.shape == {"sigma": 0.5}
    move(panel, "source", "meshlets")
    assert panel.settings.shape == {}


def test_the_standard_library_is_a_source(open_panel):
    panel = open_panel(source="standard_library", items=20)
    assert np.array_equal(drawn(panel)["counts"], xl.counts.standard_library()[:20])
    assert panel.controls.mean.layout.display == "none"


def test_a_file_is_a_source_and_what_is_wrong_with_it_shows(open_panel, tmp_path):
    panel = open_panel()
    move(panel, "source", "file")
    assert "path" in panel.error
    assert panel.controls.file.layout.display is None
    (tmp_path / "n.csv").write_text("n\n3\n-1\n")
    move(panel, "file", "n.csv")
    assert "row 1" in panel.error
    (tmp_path / "n.csv").write_text("n\n3\n5\n")
    move(panel, "column", "n")
    assert panel.error == ""
    assert drawn(panel)["counts"].tolist() == [3, 5]
    move(panel, "file", "nothing.csv")
    assert "nothing.csv" in panel.error


def test_too_many_threads_are_refused_with_what_to_lower(open_panel):
    panel = open_panel()
    before = panel.canvas.frame
    move(panel, "mean", 64.0)
    move(panel, "items", 1024)
    assert panel.error == ""
    move(panel, "strategy", "flat")
    assert "lower items" in panel.error and "max N" in panel.error
    move(panel, "strategy", "po2_merged")
    move(panel, "items", 48)
    assert panel.error == ""
    assert panel.canvas.frame != before
    panel.settings = ExpansionSettings(items=1_000_000)
    assert panel.settle()
    assert f"{MAX_DRAWN:,}" in panel.error


def test_what_is_wrong_with_the_first_settings_shows_in_the_panel(open_panel):
    assert "strategy='none'" in open_panel(strategy="none").error
    assert "colour" in open_panel(colour="red").error


def test_steps_and_pinned_threads_are_settings(open_panel):
    panel = open_panel(step=2, thread=5)
    assert (panel.canvas.step, panel.canvas.thread) == (2, 5)
    panel.canvas.step, panel.canvas.thread = 3, -1
    assert (panel.settings.step, panel.settings.thread) == (3, None)
    move(panel, "items", 1)
    panel.canvas.step = 2**31 - 1
    move(panel, "items", 2)
    assert panel.settings.step is None


def test_copied_settings_load_again(open_panel):
    panel = open_panel(strategy="append", compare="flat", source="bimodal", shape={"ratio": 8.5}, items=30, mean=6.3)
    panel.saving.copy_settings()
    text = panel.saving.text.value
    assert json.loads(text) == panel.settings.to_dict()
    other = open_panel(name="other")
    other.saving.text.value = text
    other.saving.load_settings()
    assert other.settle()
    assert other.settings == panel.settings
    assert np.array_equal(drawn(other)["counts"], drawn(panel)["counts"])
    # A page moves a slider to its nearest step: every value must lie on one.
    sliders = [other.controls.mean, *other.controls.shape_box.children]
    for slider in sliders:
        steps = (slider.value - slider.min) / slider.step
        assert abs(steps - round(steps)) < 1e-6, slider.description
    other.saving.copy_settings()
    assert other.saving.text.value == text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"colour": 1}', '{"items": -1}', '{"strategy": "none"}'])
def test_settings_that_cannot_be_loaded_show_in_the_panel(open_panel, text):
    panel = open_panel()
    before = panel.settings
    panel.saving.text.value = text
    panel.saving.load_settings()
    assert panel.error
    assert panel.settings == before


def test_reset_goes_back_to_the_first_settings(open_panel):
    panel = open_panel(source="ramp", items=20)
    move(panel, "strategy", "flat")
    move(panel, "items", 40)
    panel.reset()
    assert panel.settle()
    assert panel.settings == ExpansionSettings(source="ramp", items=20)
    assert panel.controls.items.value == 20
    assert len(drawn(panel)["counts"]) == 20


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv", "json"])
def test_an_export_is_saved_and_offered(open_panel, tmp_path, monkeypatch, kind):
    panel = open_panel(strategy="append", compare="flat", items=12)
    offered = []
    monkeypatch.setattr(panel.canvas, "send", lambda content, buffers=None: offered.append((content, buffers)))
    panel.saving.format.value = kind
    panel.saving.start()
    assert panel.saving.wait(60)
    assert panel.error == ""
    (path,) = (tmp_path / "exports").iterdir()
    assert path.suffix == f".{kind}"
    assert path.resolve() == panel.saving.exported.resolve()
    ((content, buffers),) = offered
    assert content["name"] == path.name
    assert bytes(buffers[0]) == path.read_bytes()
    before = path.read_bytes()
    panel.saving.start()
    assert panel.saving.wait(60)
    assert path.read_bytes() == before


def test_an_export_that_cannot_be_saved_says_so(open_panel, tmp_path):
    (tmp_path / "exports").write_text("in the way")
    panel = open_panel(items=5)
    panel.saving.start()
    assert panel.saving.wait(60)
    assert "exports" in panel.error
    assert not panel.saving.export.disabled


def choose_reference(panel):
    panel.controls.device.value = "reference"


def test_run_measures_the_chosen_strategies(open_panel):
    panel = open_panel(strategy="append", compare="flat", items=20)
    choose_reference(panel)
    panel.running.start()
    assert panel.running.wait(120)
    assert panel.error == ""
    found = panel.running.timings
    assert [row.name for row in found.totals] == ["append", "flat"]
    assert not found.cancelled and found.timer == "wall clock"
    assert 'alt="' in panel.running.image.value
    assert panel.running.table.value.count("<tr>") == 1 + len(found.rows) + len(found.totals)
    assert panel.running.cancel.disabled and not panel.running.run.disabled
    assert panel.running.bar.value == panel.running.bar.max


def test_cancel_keeps_what_was_measured(open_panel, monkeypatch):
    panel = open_panel(strategy="append", compare="flat", items=20)
    choose_reference(panel)
    reached = threading.Event()
    whole = running.measure

    def slow(*args, on_progress, **kwargs):
        def news(item):
            on_progress(item)
            if "run 4" in item.text and not reached.is_set():
                reached.set()
                kwargs["cancel"].wait(30)

        return whole(*args, on_progress=news, **kwargs)

    monkeypatch.setattr(running, "measure", slow)
    panel.running.start()
    assert reached.wait(60)
    assert panel.running.running
    assert panel.running.run.disabled and not panel.running.cancel.disabled
    panel.running.start()
    panel.running.cancel.click()
    assert panel.running.wait(60)
    found = panel.running.timings
    assert found.cancelled
    assert 0 < found.totals[0].samples < found.repeats
    assert "cancelled" in panel.running.text.text
    assert "<table" in panel.running.table.value
    assert not panel.running.run.disabled


def test_an_error_while_measuring_shows_in_the_panel(open_panel):
    panel = open_panel(items=5)
    panel.controls.device.options = ("nowhere",)
    panel.running.start()
    assert panel.running.wait(60)
    assert "nowhere" in panel.error
    assert not panel.running.run.disabled
    panel.controls.device.options = ("reference",)
    panel.running.start()
    assert panel.running.wait(120)
    assert panel.error == "", "the next run takes it back"
    panel.alert.say("of the settings")
    panel.running.start()
    assert panel.running.wait(120) and panel.error == "of the settings"


def test_the_reference_has_no_record_and_the_panel_says_so(open_panel):
    panel = open_panel(items=5)
    choose_reference(panel)
    move(panel, "mode", "recorded")
    assert "no record" in panel.error
    move(panel, "mode", "model")
    assert panel.error == ""


def test_without_a_gpu_everything_but_recording_works(open_panel, monkeypatch):
    only = xl.devices()[-1:]
    monkeypatch.setattr(menu_module, "devices", lambda: only)
    panel = open_panel(items=5)
    assert panel.remark.text == expansion_module.NO_GPU
    assert panel.controls.mode.disabled
    panel.running.start()
    assert panel.running.wait(120)
    assert panel.running.timings.device.startswith("reference")
    move(panel, "items", 6)
    assert panel.remark.text == expansion_module.NO_GPU


def test_a_modelled_strategy_is_drawn_and_marked_and_offers_no_run(open_panel):
    panel = open_panel(strategy="task_mesh", compare="work_graph", items=20)
    assert panel.error == "" and all(item["modelled"] for item in drawn(panel)["maps"])
    assert "task_mesh is modelled only" in panel.remark.text and "work_graph is modelled only" in panel.remark.text
    assert panel.running.run.disabled
    assert dict(map(reversed, panel.controls.strategy.options))["task_mesh"].endswith("(modelled only)")
    move(panel, "strategy", "append")
    assert "task_mesh" not in panel.remark.text and not panel.running.run.disabled
    choose_reference(panel)
    panel.running.start()
    assert panel.running.wait(120) and panel.error == ""
    assert [row.name for row in panel.running.timings.totals] == ["append"]


@pytest.mark.gpu
def test_a_modelled_strategy_has_no_recording(open_panel):
    if xl.devices()[0].kind == "reference":
        pytest.skip("no adapter")
    panel = open_panel(strategy="work_graph", items=20)
    move(panel, "mode", "recorded")
    assert "modelled only" in panel.error


RECORDED = [name for name, strategy in xl.strategies().items() if not strategy.modelled]


@pytest.mark.gpu
@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_says_whether_it_agrees_with_the_model(open_panel, name):
    if xl.devices()[0].kind == "reference":
        pytest.skip("no adapter")
    panel = open_panel(strategy=name, items=30)
    move(panel, "mode", "recorded")
    assert panel.error == ""
    assert "agree" in panel.remark.text
    assert drawn(panel)["maps"][0]["recorded"]
    assert panel.settings.device == panel.controls.device.value
    move(panel, "mode", "model")
    assert panel.remark.text == ""
    assert panel.settings.device is None


def test_a_recording_that_differs_is_told(open_panel):
    counts = xl.counts.make("ramp", 20)
    model = xl.thread_map(counts, "prefix_search")
    wrong = np.where(model.src == 5, 6, model.src)
    from dataclasses import replace

    assert "DIFFER" in maps_module.agreement(replace(model, src=wrong, recorded="x"), counts)
    assert "thread by thread" in maps_module.agreement(replace(model, recorded="x"), counts)
    swapped = xl.thread_map(counts, "append")
    order = np.roll(np.arange(len(swapped)), 3)
    turned = replace(swapped, src=swapped.src[order], local=swapped.local[order], recorded="x")
    assert "set of items" in maps_module.agreement(turned, counts)


def test_many_moves_from_many_threads_end_with_the_last_settings(open_panel):
    panel = open_panel()

    def slide(control, values):
        for value in values:
            getattr(panel.controls, control).value = value

    threads = [
        threading.Thread(target=slide, args=("items", range(10, 110))),
        threading.Thread(target=slide, args=("seed", range(100))),
        threading.Thread(target=slide, args=("strategy", ["flat", "append", "prefix_search", "po2_merged"] * 10)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert panel.settle()
    assert (panel.settings.items, panel.settings.seed, panel.settings.strategy) == (109, 99, "po2_merged")
    assert np.array_equal(drawn(panel)["counts"], panel.settings.counts())


def test_a_panel_of_the_same_name_closes_the_old_one(open_panel):
    first = open_panel(name="one")
    other = open_panel(name="two")
    second = open_panel(name="one")
    assert first.comm is None
    assert first.canvas.comm is None
    assert other.comm is not None and second.comm is not None


def test_a_cell_that_runs_again_closes_its_panels_of_before(open_panel, monkeypatch):
    monkeypatch.setattr(registry, "_place", lambda: ("cell a", "run 1"))
    first, second = open_panel(), open_panel()
    assert first.comm is not None and second.comm is not None
    monkeypatch.setattr(registry, "_place", lambda: ("cell b", "run 2"))
    elsewhere = open_panel()
    monkeypatch.setattr(registry, "_place", lambda: ("cell a", "run 3"))
    open_panel()
    assert first.comm is None and second.comm is None
    assert elsewhere.comm is not None


def test_closing_a_panel_leaves_no_widget_behind(open_panel):
    open_panel(name="warm")
    before = _instances()
    panel = open_panel(name="short-lived")
    panel.close()
    assert _instances() <= before
    gone = weakref.ref(panel)
    del panel
    gc.collect()
    assert gone() is None or gone().comm is None


def _instances():
    from ipywidgets.widgets import widget

    return set(widget._instances)


def test_the_data_tables_tell_the_picture_in_numbers(open_panel):
    panel = open_panel(compare="flat", items=10)
    assert panel.about.value == ""
    panel.tables.value = True
    assert panel.settle()
    made = [xl.thread_map(panel.settings.counts(), name) for name in ("po2_merged", "flat")]
    assert panel.about.value.count("<table") == 3
    for item in made:
        assert f"{len(item):,}" in panel.about.value
        assert str(item.steps[-1].line) in panel.about.value


def test_the_machine_panel_lists_every_device():
    found = panels.machine()
    text = " ".join(child.value for child in found.children)
    for row in xl.devices():
        assert row.name in text
    assert "works" in text


def test_a_device_that_does_not_open_is_a_row_of_the_machine_panel(monkeypatch):
    def refuse(index):
        raise xl.DeviceError("it is away")

    monkeypatch.setattr(machine_module, "resolve", refuse)
    only = xl.devices()[-1:]
    monkeypatch.setattr(machine_module, "devices", lambda: only)
    text = " ".join(child.value for child in panels.machine().children)
    assert "does not open: it is away" in text
    assert "nstall" in text


def test_settings_that_load_and_cannot_be_drawn_say_why(open_panel):
    panel = open_panel(items=64)
    move(panel, "items", 65)  # quick, so that the next one is drawn by the thread that loads
    panel.saving.text.value = json.dumps({**json.loads(panel.settings.to_json()), "items": 400_000, "mean": 8.0})
    panel.saving.load_settings()
    assert panel.settle() and panel.settings.items == 400_000
    assert "at most" in panel.error
    panel.reset()
    assert panel.settle() and panel.error == ""
