"""The notebooks with panels of one page, in real JupyterLab in real Chromium: run all, every control, Run, Export."""

from pathlib import Path

import pytest
from browser.jupyter import until
from browser.panel import PagePanel, Panel

from expandlab import export
from expandlab import settings as s
from expandlab.figures.page import make

# Notebook -> (cells with panels of one page, the one whose controls are all moved; cells with expansion panels, the one
# where Run is pressed).
NOTEBOOKS = {
    "02_distributions": (["one", "scene", "library", "own"], "one", ["order", "threads"], "threads"),
    "03_search": (
        ["scan", "passes", "search", "linear", "add", "cas", "lookback"], "lookback", ["run"], "run",
    ),
    "04_buckets": (["bits", "many", "straddle", "range", "room"], "many", ["launches", "side"], "launches"),
    "05_balance": (["four", "block", "classes"], "block", ["tile", "heads"], "heads"),
    "07_api_paths": (["cost", "large"], "cost", ["grain", "hardware"], "cost"),
}  # fmt: skip


@pytest.fixture(scope="module", params=NOTEBOOKS)
def notebook(request, open_notebook):
    with open_notebook(f"{request.param}.ipynb") as page:
        page.run_all()
        yield page


def listed(notebook):
    return NOTEBOOKS[Path(notebook.notebook).stem]


def read(panel):
    return s.from_json(panel.copied())


def test_every_cell_runs_and_every_panel_is_drawn(notebook):
    pages, _, expansions, _ = listed(notebook)
    for panel in [PagePanel(notebook, cell) for cell in pages] + [Panel(notebook, cell) for cell in expansions]:
        until(f"{panel.cell_id} to be drawn", panel.painted)
        assert panel.error() == ""
    assert notebook.complaints() == []


def test_every_control_changes_the_picture_and_what_is_shown_is_what_the_settings_mean(notebook):
    panel = PagePanel(notebook, listed(notebook)[1])
    for label, control in panel.controls("widget-slider").items():
        if control.locator("[disabled]").count():
            continue
        handle = panel.slider(label)
        # At its end a slider moves the other way.
        before = handle.get_attribute("aria-valuenow")
        key = "ArrowLeft" if before == handle.get_attribute("aria-valuemax") else "ArrowRight"
        panel.repaints(lambda handle=handle, key=key: handle.press(key))
    for label in panel.controls("widget-dropdown"):
        if label == "source of N":
            continue
        for option in panel.options(label):
            panel.choose(label, option)
        until(f"{label} to be shown", lambda: panel.alt() == make(read(panel)).description)
    for several in panel.root.locator("select[multiple]").all():
        several.select_option(index=[1, 3])
        until("the choice of several", lambda: panel.alt() == make(read(panel)).description)
    for choice in panel.root.locator(".xl-mode button:not([disabled])").all():
        choice.click()
    until("the last choice to be shown", lambda: panel.alt() == make(read(panel)).description)
    panel.choose("source of N", next(text for text in panel.options("source of N") if text.startswith("list")))
    box = until("the list's box", lambda: panel.controls("widget-text").get("N of each src"))
    typed = box.locator("input")
    typed.fill("3, x")
    typed.press("Enter")
    until("the wrong list to be explained", lambda: "3, x" in panel.error())
    typed.fill("3, 1, 2")
    typed.press("Enter")
    until("the list to be taken", lambda: not panel.error() and panel.alt() == make(read(panel)).description)
    panel.reset()
    assert notebook.complaints() == []


def test_an_export_and_its_download_are_what_the_settings_mean(notebook, lab):
    panel = PagePanel(notebook, listed(notebook)[1])
    settings = read(panel)
    panel.root.locator("select", has=notebook.page.locator("option", has_text="PNG")).select_option(label="SVG")
    panel.press("Export")
    path = lab.root / "notebooks" / panel.says(".svg").removeprefix("saved ").strip()
    content = path.read_bytes()
    assert content == export.picture(settings, "svg")
    with notebook.page.expect_download() as waiting:
        panel.map.locator(f".xl-downloads a[download='{path.name}']").last.click()
    assert Path(waiting.value.path()).read_bytes() == content
    panel.root.get_by_role("button", name="Data tables").click()
    until("the data table", lambda: panel.root.locator("table.xl-table tbody tr").count())
    assert notebook.complaints() == []


def test_run_measures(notebook):
    cell = listed(notebook)[3]
    if cell is None:
        pytest.skip("this notebook measures nothing")
    page = cell in listed(notebook)[0]
    panel = (PagePanel if page else Panel)(notebook, cell)
    panel.choose_device()
    panel.press("Run")
    panel.says("done: ")
    if page:
        until("the times to be shown", lambda: "Measured on" in panel.alt())
        assert panel.alt() == make(read(panel)).description
    else:
        assert panel.root.locator(".xl-results table").count() == 1
    assert notebook.complaints() == []
