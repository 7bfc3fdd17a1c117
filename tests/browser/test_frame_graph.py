"""Notebook 09 in real JupyterLab in real Chromium: hover, keys, every control, the editor, error lines, export."""

import json
from pathlib import Path

import pytest
from browser.jupyter import until
from browser.panel import ScenePanel

from expandlab import export
from expandlab import settings as s
from expandlab.figures.graphs.page import sketch
from expandlab.graph.examples import EXAMPLES

PANELS = ("writers", "readers", "injected", "connections", "barriers", "tags", "measured", "devices")


@pytest.fixture(scope="module")
def notebook(open_notebook):
    with open_notebook("09_frame_graph.ipynb") as page:
        page.run_all()
        yield page


def read(panel):
    return s.from_json(panel.copied())


def shows(panel):
    """Until the page shows what the settings mean."""
    until("the picture of the settings", lambda: not panel.error() and panel.alt() == sketch(read(panel)).description)


def test_every_panel_is_drawn(notebook):
    for cell in PANELS:
        panel = ScenePanel(notebook, cell)
        until(f"{cell} to be drawn", panel.painted)
        assert panel.error() == "" and panel.alt() == sketch(read(panel)).description
    assert notebook.complaints() == []


def test_hover_says_why_an_edge_stands(notebook):
    panel = ScenePanel(notebook, "writers")
    wanted = {target["id"]: target["says"] for target in sketch(read(panel)).scene["targets"]}
    for name in ("graph:edge:fill_low:use", "chain:edge:fill_low:fill_high", "graph:pass:use"):
        target = panel.target(name)
        target.scroll_into_view_if_needed()
        # A stroke is hit on itself only, and its box is mostly empty.
        x, y = target.evaluate("""(item) => {
            const point = item.getPointAtLength ? item.getPointAtLength(item.getTotalLength() / 2) : null;
            const at = new DOMPoint(point.x, point.y).matrixTransform(item.getScreenCTM());
            return item.tagName === "rect" ? [item.getBoundingClientRect().x + 9, item.getBoundingClientRect().y + 9]
                                           : [at.x, at.y];
        }""")
        panel.page.mouse.move(x, y)
        until(f"{name} to be told", lambda name=name: panel.tip() == wanted[name])
        assert panel.data("selected") == name
    panel.page.mouse.move(2, 2)
    until("the tip to go", lambda: panel.tip() == [])


def test_the_keys_walk_from_target_to_target(notebook):
    panel = ScenePanel(notebook, "writers")
    targets = sketch(read(panel)).scene["targets"]
    panel.svg.focus()
    until("the first target", lambda: panel.data("selected") == targets[0]["id"])
    for target in targets[1:4]:
        panel.svg.press("ArrowRight")
        assert panel.data("selected") == target["id"] and panel.tip() == target["says"]
        active = panel.svg.get_attribute("aria-activedescendant")
        label = panel.map.locator(f"[id='{active}']").get_attribute("aria-label")
        assert label == "; ".join(target["says"])
    panel.svg.press("End")
    assert panel.data("selected") == targets[-1]["id"]
    panel.svg.press("Home")
    panel.svg.press("Enter")
    panel.svg.press("Escape")
    assert panel.data("selected") == "" and panel.tip() == []
    chosen = panel.controls("widget-dropdown")["pass"].locator("select")
    until("Enter to choose the pass", lambda: chosen.input_value() == targets[0]["pass"])


def test_every_control_changes_the_picture(notebook):
    panel = ScenePanel(notebook, "devices")
    for label in ("planned as", "independence", "view"):
        row = panel.root.locator(".xl-mode", has_text=label)
        for choice in row.locator("button").all():
            choice.click()
            shows(panel)
    panel.root.locator(".xl-mode button", has_text="timeline").click()
    for label in ("barrier (µs)", "wait (µs)", "copy (µs)", "link (GB/s)", "pass (µs)"):
        panel.number(label, 3)
        shows(panel)
    settings = read(panel)
    assert {settings.barrier_us, settings.wait_us, settings.copy_us, settings.copy_gb_per_s, settings.pass_us} == {3}
    for label in ("schedule", "example"):
        for option in panel.options(label):
            panel.choose(label, option)
        shows(panel)
    panel.choose("example", EXAMPLES["slots"].title)
    panel.root.locator(".xl-mode button", has_text="connections").click()
    shows(panel)
    panel.press("Turn into accesses")
    shows(panel)
    assert "slots" not in json.dumps(read(panel).document)
    panel.reset()
    assert notebook.complaints() == []


def test_a_pass_is_injected_and_edited_and_errors_stand_where_they_arise(notebook):
    panel = ScenePanel(notebook, "readers")
    panel.choose("pass", "produce")
    panel.repaints(lambda: panel.press("Inject after"))
    shows(panel)
    assert [item["name"] for item in read(panel).document["passes"]] == ["produce", "inject", "left", "right"]
    panel.choose("does", "read_write")
    shows(panel)
    panel.choose("pass", "produce")
    # Its access is a write; the one of the pass before was just made a read_write.
    does = panel.controls("widget-dropdown")["does"].locator("select")
    until("its access to be shown", lambda: does.evaluate("menu => menu.selectedOptions[0].textContent") == "write")
    panel.choose("does", "read_write")
    until("the error to name the pass", lambda: "'produce'" in panel.error())
    place = panel.root.locator(".xl-group", has=panel.page.locator(".xl-place"))
    assert "Access of the pass" in place.first.text_content()
    assert panel.map.locator(".xl-wrong-pass").count() == 2
    assert panel.root.locator(".xl-wrong").count() == 1
    panel.choose("does", "write")
    until("the error to go", lambda: not panel.error() and not panel.root.locator(".xl-place").count())
    panel.type("range (bytes)", "0 .. 9999999")
    until("the range to be refused", lambda: "0 .. 4096" in panel.error())
    panel.type("range (bytes)", "0 .. 4096")
    shows(panel)
    for press, name in (("New buffer", "buffer_1"), ("New image", "image_1")):
        panel.press(press)
        until(f"{name} to be offered", lambda name=name: name in panel.options("edit resource"))
        shows(panel)
    panel.type("called", "shadow")
    until("the new name", lambda: "shadow" in panel.options("edit resource"))
    shows(panel)
    assert list(read(panel).document["resources"])[-2:] == ["buffer_1", "shadow"]
    assert read(panel).document["resources"]["shadow"]["kind"] == "image"
    panel.type("runs after", "right")
    until("the cycle to be explained", lambda: "cycle" in panel.error())
    panel.type("runs after", "")
    shows(panel)
    panel.choose("pass", "inject")
    panel.press("Remove pass")
    shows(panel)
    text = panel.root.locator("textarea[title='The graph as JSON']")
    before = text.input_value()
    text.fill("{")
    text.press("Tab")
    until("the JSON to be refused", lambda: "not JSON" in panel.error())
    text.fill(before)
    text.press("Tab")
    shows(panel)
    panel.reset()
    assert notebook.complaints() == []


@pytest.mark.parametrize("kind", export.FORMATS)
def test_an_export_is_what_the_settings_mean(notebook, lab, kind):
    panel = ScenePanel(notebook, "tags")
    settings = read(panel)
    menu = panel.root.locator("select", has=notebook.page.locator("option", has_text="PNG"))
    menu.select_option(label=kind.upper())
    panel.press("Export")
    path = lab.root / "notebooks" / panel.says(f".{kind}").removeprefix("saved ").strip()
    assert path.read_bytes() == export.picture(settings, kind)
    assert notebook.complaints() == []


def test_settings_are_loaded_and_wrong_ones_are_explained(notebook):
    panel = ScenePanel(notebook, "tags")
    wanted = s.GraphSettings(example="injected", view="memory", mode="dag", wait_us=2.5)
    panel.load(wanted.to_dict())
    until("the loaded settings", lambda: panel.alt() == sketch(wanted).description)
    assert read(panel) == wanted
    panel.load({"panel": "frame_graph", "wait_us": -1})
    until("wait_us to be named", lambda: "wait_us=-1" in panel.error())
    panel.reset()


def test_the_plans_are_downloaded_as_dot(notebook):
    panel = ScenePanel(notebook, "barriers")
    with notebook.page.expect_download() as started:
        panel.press("Save as DOT")
        panel.root.locator("a.xl-download").first.click()
    assert started.value.suggested_filename.endswith(".dot")
    assert "digraph" in Path(started.value.path()).read_text()


def test_independence_is_measured_from_the_panel(notebook):
    panel = ScenePanel(notebook, "measured")
    assert panel.run_and_cancel().startswith("cancelled: ")
    panel.press("Run")
    panel.says("done: ")
    rows = panel.root.locator(".xl-results table tbody tr")
    assert rows.count() == 10 and "Measured on" in panel.root.locator(".xl-results caption").text_content()
    with notebook.page.expect_download() as started:
        panel.press("Save times")
        panel.root.locator("a.xl-download").first.click()
    held = json.loads(Path(started.value.path()).read_text())
    assert len(held["rows"]) == 10 and len(held["gained_us"]) == 5
    assert notebook.complaints() == []
