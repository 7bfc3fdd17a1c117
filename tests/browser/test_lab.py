"""The notebooks in real JupyterLab in real Chromium: every control of the panels, and nothing goes wrong anywhere.

What is asserted is what the page holds (data attributes, texts, files), never a picture of it and never a time.
"""

import csv
import json
import re
from pathlib import Path

import pytest
from browser.exported import in_every_format, reloaded, run_and_cancelled
from browser.jupyter import until
from browser.panel import Panel

from expandlab.settings import ExpansionSettings

START, PROBLEM = "00_start_here.ipynb", "01_the_problem.ipynb"
PANELS = {START: ["panel"], PROBLEM: ["compare", "loop", "real-panel", "preview"]}


@pytest.fixture(scope="module")
def start(open_notebook):
    with open_notebook(START) as page:
        page.run_all()
        yield page


@pytest.fixture(scope="module")
def problem(open_notebook):
    with open_notebook(PROBLEM) as page:
        page.run_all()
        yield page


@pytest.fixture(params=[START, PROBLEM])
def notebook(request):
    return request.getfixturevalue("start" if request.param == START else "problem")


@pytest.fixture
def panel(start):
    """The panel of the first notebook, as it was opened. Afterwards: nothing went wrong anywhere."""
    shown = Panel(start, "panel")
    until("the first picture", shown.painted)
    shown.reset()
    yield shown
    assert start.complaints() == []


def panels_of(notebook):
    for cell in PANELS[Path(notebook.notebook).name]:
        yield Panel(notebook, cell)


def settings_of(panel):
    return ExpansionSettings.from_json(panel.copied())


# --- both notebooks ----------------------------------------------------------------------------------------------


def test_every_cell_runs_and_every_panel_is_painted(notebook):
    for panel in panels_of(notebook):
        until(f"{panel.cell_id} to be painted", panel.painted)
        assert int(panel.data("threads")) == int(panel.data("active")) + int(panel.data("idle")) > 0
        assert panel.error() == ""
    assert notebook.complaints() == []


def test_every_picture_of_the_text_is_loaded(notebook):
    images = notebook.page.locator(".jp-MarkdownOutput img").all()
    assert images
    for image in images:
        image.scroll_into_view_if_needed()
        until("a picture to load", lambda image=image: image.evaluate("e => e.complete && e.naturalWidth > 0"))
        assert len(image.get_attribute("alt")) > 20


def test_the_machine_is_described(start):
    table = start.cell("machine").locator("table")
    assert "reference" in table.text_content()


def test_every_slider_moves_with_the_keyboard(notebook):
    for panel in panels_of(notebook):
        sliders = panel.controls("widget-slider")
        assert len(sliders) >= 3
        for label in sliders:
            handle = panel.slider(label)
            if handle.is_hidden() or panel.controls("widget-slider")[label].locator("[disabled]").count():
                continue
            before = handle.get_attribute("aria-valuenow")
            panel.repaints(lambda handle=handle: handle.press("ArrowRight"))
            until(f"{label} to move", lambda handle=handle, old=before: handle.get_attribute("aria-valuenow") != old)
            panel.repaints(lambda handle=handle: handle.press("ArrowLeft"))
            until(f"{label} to go back", lambda handle=handle, old=before: handle.get_attribute("aria-valuenow") == old)
        assert panel.error() == ""
    assert notebook.complaints() == []


def test_the_step_sliders_go_through_every_step(notebook):
    for panel in panels_of(notebook):
        slider = panel.map.locator("input.xl-step")
        slider.press("Home")
        panel.wait_for(step=0)
        steps = int(panel.data("steps"))
        seen = []
        for step in range(1, steps):
            slider.press("ArrowRight")
            panel.wait_for(step=step)
            seen.append(panel.map.locator(".xl-step-text").text_content())
        slider.press("ArrowRight")
        panel.wait_for(step="finished")
        assert len(set(seen)) > 1
    assert notebook.complaints() == []


# --- one panel, control by control -------------------------------------------------------------------------------


def test_a_slider_follows_the_mouse(panel):
    handle = panel.slider("mean N (dst)")
    before = float(handle.get_attribute("aria-valuenow"))
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    panel.page.mouse.move(x, y)
    panel.page.mouse.down()
    for pixel in range(1, 13):
        panel.page.mouse.move(x + pixel, y)
    panel.page.mouse.up()
    until("the slider to move", lambda: float(handle.get_attribute("aria-valuenow")) > before)
    shown = float(handle.get_attribute("aria-valuenow"))
    until("the settings to follow", lambda: settings_of(panel).mean == shown)
    counts = settings_of(panel).counts()
    panel.wait_for(active=int(counts.sum()))


def test_the_limit_of_n_cuts_the_counts(panel):
    box = panel.root.locator("input[type=checkbox]").first
    box.check()
    panel.load({**panel.copied(), "max_n": 3})
    until("the limit", lambda: settings_of(panel).max_n == 3)
    panel.wait_for(active=int(settings_of(panel).counts().sum()))
    box.uncheck()
    until("no limit", lambda: settings_of(panel).max_n is None)


def test_every_source_can_be_chosen(panel):
    for option in panel.options("source of N"):
        if "file" in option:
            continue
        panel.choose("source of N", option)
        until(f"{option} to be taken", lambda chosen=option: settings_of(panel).source in chosen.replace(" ", "_"))
        panel.wait_for(active=int(settings_of(panel).counts().sum()))
        assert panel.error() == ""


def test_a_file_of_counts_can_be_chosen_and_a_wrong_one_is_explained(panel, lab):
    (lab.root / "notebooks" / "good.csv").write_text("n\n3\n1\n2\n")
    (lab.root / "notebooks" / "bad.csv").write_text("n\n3\n-1\n2\n")
    option = next(text for text in panel.options("source of N") if "file" in text)
    panel.choose("source of N", option)
    until("a hint that a path is wanted", panel.error)
    path = panel.controls("widget-text")["file"].locator("input")
    path.fill("bad.csv")
    path.press("Enter")
    until("the bad row to be named", lambda: "row 1" in panel.error())
    path.fill("good.csv")
    path.press("Enter")
    panel.wait_for(active=6)
    until("the error line to empty", lambda: not panel.error())


def test_every_strategy_and_every_comparison_can_be_chosen(panel):
    for option in panel.options("strategy"):
        panel.choose("strategy", option)
        panel.wait_for(strategy=option.split()[0])
    for option in panel.options("compare with"):
        panel.choose("compare with", option)
        if option == "none":
            until("one map", lambda: panel.data("compare-strategy") is None)
        else:
            panel.wait_for(compare_strategy=option.split()[0])
            assert int(panel.data("compare-active")) == int(panel.data("active"))
    assert panel.error() == ""


def test_every_device_can_be_chosen_and_records_what_its_threads_did(panel):
    recorded = panel.root.get_by_role("button", name="Recorded on the GPU")
    for option in panel.options("device"):
        panel.choose("device", option)
        if option.startswith("reference"):
            continue
        recorded.click()
        panel.says("agree")
        assert "DIFFER" not in " ".join(panel.root.locator(".xl-remark").all_text_contents())
        panel.root.get_by_role("button", name="Model", exact=True).click()
        until("the model again", lambda: settings_of(panel).device is None)


def threads_canvas(panel):
    # The first: a second strategy's strips stay in the page, hidden, when it is no longer compared with.
    canvas = panel.map.locator(".xl-strip", has_text="Threads of pass 2").locator("canvas.xl-base").first
    canvas.scroll_into_view_if_needed()
    return canvas


def test_the_pointer_says_what_it_is_on(panel):
    canvas = threads_canvas(panel)
    canvas.hover(position={"x": 6, "y": 18})
    until("a thread to be selected", lambda: (panel.data("selection") or "").startswith("thread:"))
    said = panel.map.locator(".xl-say").text_content()
    thread = panel.data("selection").split(":")[1]
    assert said.startswith(f"thread {thread}: workgroup 0, subgroup 0, lane {thread}; src ")
    assert "found through bucket" in said
    assert int(panel.data("lit-threads")) >= 1 and int(panel.data("lit-entries")) >= 1
    assert "po2_merged" in panel.data("lines")
    panel.map.locator(".xl-strip", has_text="Sources").locator("canvas.xl-base").hover(position={"x": 6, "y": 60})
    until("a src to be selected", lambda: panel.data("selection") == "src:0")
    assert panel.map.locator(".xl-say").text_content().startswith("src 0: N = ")


def test_the_arrow_keys_move_the_selection_and_enter_pins_it(panel):
    canvas = threads_canvas(panel)
    canvas.press("Home")
    panel.wait_for(selection="thread:0")
    canvas.press("ArrowRight")
    canvas.press("ArrowRight")
    panel.wait_for(selection="thread:2")
    canvas.press("End")
    panel.wait_for(selection=f"thread:{int(panel.data('threads')) - 1}")
    canvas.press("Home")
    canvas.press("Enter")
    panel.wait_for(pinned="thread:0")
    until("the settings to know", lambda: settings_of(panel).thread == 0)
    canvas.press("Escape")
    panel.wait_for(pinned="")


def test_settings_are_copied_loaded_and_reset(panel):
    opened = panel.copied()
    assert ExpansionSettings.from_json(opened).to_dict() == opened
    clipboard = panel.page.evaluate("navigator.clipboard.readText()")
    assert json.loads(clipboard) == opened
    panel.load({**opened, "strategy": "append", "items": 7, "source": "constant", "shape": {}, "mean": 2.0, "step": 1})
    panel.wait_for(strategy="append", active=14, step=1)
    panel.load('{"strategy": "quicksort"}')
    until("the error to be explained", lambda: "quicksort" in panel.error())
    assert panel.data("strategy") == "append"
    panel.reset()
    panel.wait_for(strategy="po2_merged", step="finished")
    assert panel.copied() == opened


def test_exports_are_files_and_downloads_with_their_provenance(panel):
    in_every_format(panel)
    threads, active = int(panel.data("threads")), int(panel.data("active"))
    rows = csv.DictReader(line for line in panel.export("csv").open(encoding="utf-8") if not line.startswith("#"))
    found = [row["src"] for row in rows]
    assert len(found) == threads and sum(src != "-1" for src in found) == active
    held = json.loads(panel.export("json").read_text(encoding="utf-8"))
    assert held["counts"] == settings_of(panel).counts().tolist() and len(held["map"]["src"]) == threads


def test_the_second_notebook_exports_measures_and_takes_settings_back(problem):
    panel = Panel(problem, "preview")
    until("the preview", panel.painted)
    opened = panel.copied()
    in_every_format(panel)
    run_and_cancelled(panel)
    panel.load({**opened, "items": 8, "compare": None})
    panel.wait_for(strategy="prefix_search", active=int(settings_of(panel).counts().sum()))
    reloaded(panel, opened)
    assert problem.complaints() == []


def test_run_measures_and_shows_a_chart_with_its_table(panel):
    panel.choose("compare with", next(text for text in panel.options("compare with") if text.startswith("append")))
    panel.wait_for(compare_strategy="append")
    panel.choose_device()
    panel.press("Run")
    panel.says("done: ")
    image = panel.root.locator(".xl-results img")
    image.wait_for()
    until("the chart", lambda: image.evaluate("e => e.complete && e.naturalWidth > 0"))
    text = panel.root.locator(".xl-results table").text_content()
    assert "po2_merged" in text and "append" in text and "total" in text


def test_cancel_keeps_what_was_measured(panel):
    many = {**panel.copied(), "items": 400_000, "mean": 8.0, "strategy": "prefix_search", "compare": "append"}
    panel.load(many)
    until("the picture to be refused", lambda: "at most" in panel.error())
    panel.choose_device()
    said = panel.run_and_cancel(after="run ([3-9]|[0-9][0-9]+) of")
    kept, of = (int(word) for word in said.split("cancelled: ")[1].split(" runs")[0].split(" of "))
    assert 0 < kept < of
    table = panel.root.locator(".xl-results table").text_content()
    assert "prefix_search" in table and "append" in table


def test_a_second_run_of_a_cell_closes_the_first_panel(panel):
    before = panel.notebook.ear.comms()
    panel.notebook.run_cell("panel")
    until("the new panel", panel.painted)
    assert panel.map.count() == 1
    until("the old widgets to close", lambda: panel.notebook.ear.comms() == before, 10)


def test_every_move_of_a_slider_is_painted(panel):
    """How quickly is another matter: tests/browser/latency.py."""
    wanted = {"source": "constant", "shape": {}, "items": 512, "mean": 8.0, "strategy": "append", "compare": None}
    panel.load({**panel.copied(), **wanted})
    panel.wait_for(threads=4096, active=4096)
    handle = panel.slider("items (src)")
    handle.focus()
    for move in range(12):
        panel.repaints(lambda move=move: handle.press("ArrowLeft" if move % 2 else "ArrowRight"))
        panel.wait_for(active=8 * (512 + (move + 1) % 2))


# --- last, when everything has run -------------------------------------------------------------------------------


def test_the_server_and_the_kernels_logged_no_fault(start, problem, lab):
    faults = ("Traceback", "[E ", " ERROR ", "Exception", "Invalid message", "XDG_RUNTIME_DIR", "panicked")
    # Pages that other tests reload in the middle of a message: tornado tells of each one, and nobody is to blame.
    closed = (
        r"Task exception was never retrieved\nfuture: [^\n]*exception=WebSocketClosedError\(\)>\n"
        r"Traceback.*?\ntornado\.websocket\.WebSocketClosedError\n"
    )
    log = re.sub(closed, "", lab.log(), flags=re.DOTALL)
    bad = [line for line in log.splitlines() if any(word in line for word in faults)]
    assert bad == []
    assert start.complaints() == [] and problem.complaints() == []
