"""The timings notebook in real JupyterLab in real Chromium: every panel, Run, Cancel, Export and its download."""

from pathlib import Path

import pytest
from browser.jupyter import until
from browser.panel import PagePanel

from expandlab import export
from expandlab import settings as s
from expandlab.figures.page import make

PANELS = ("limit", "skew", "passes", "memory", "winners", "at_once", "predicted")


@pytest.fixture(scope="module")
def notebook(open_notebook):
    with open_notebook("06_timings.ipynb") as page:
        page.run_all()
        yield page


def read(panel):
    return s.from_json(panel.copied())


def test_every_cell_runs_and_every_panel_is_drawn(notebook):
    for panel in [PagePanel(notebook, cell) for cell in PANELS]:
        until(f"{panel.cell_id} to be drawn", panel.painted)
        assert panel.error() == ""
    assert notebook.complaints() == []


def test_views_and_sizes_are_chosen_with_the_keyboard_and_the_picture_follows(notebook):
    panel = PagePanel(notebook, "limit")
    for option in panel.options("view"):
        if not option.startswith("Many"):
            panel.choose("view", option)
    panel.choose("view", "Memory against time")
    handle = panel.slider("P2 = 2^")
    panel.repaints(lambda: handle.press("ArrowLeft"))
    until("the smaller size", lambda: panel.alt() == make(read(panel)).description)
    panel.root.locator("select[multiple]").select_option(["prefix_search", "tile_search"])
    until("the choice of strategies", lambda: panel.alt() == make(read(panel)).description)
    assert len(read(panel).shown) == 2
    panel.root.get_by_role("button", name="Data tables").click()
    until("the data table", lambda: panel.root.locator("table.xl-table tbody tr").count() > 2)
    panel.reset()
    assert notebook.complaints() == []


def test_run_measures_here_and_cancel_keeps_what_there_is(notebook):
    panel = PagePanel(notebook, "limit")
    panel.root.locator("select[multiple]").select_option(["append", "tile_search"])
    handle = panel.slider("P2 = 2^")
    for _ in range(8):
        handle.press("ArrowLeft")
    until("the size to be taken", lambda: read(panel).p2 == 12)
    panel.press("Run")
    panel.says("done: ")
    until("the times of this machine", lambda: read(panel).data == "own" and "Not measured" not in panel.alt())
    assert panel.alt() == make(read(panel)).description
    panel.press("Run")
    panel.press("Cancel")
    panel.says("cancelled: ")
    assert panel.error() == ""
    panel.reset()
    assert notebook.complaints() == []


def test_an_export_and_its_download_are_what_the_settings_mean(notebook, lab):
    panel = PagePanel(notebook, "skew")
    settings = read(panel)
    panel.root.locator("select", has=notebook.page.locator("option", has_text="PNG")).select_option(label="SVG")
    panel.press("Export")
    path = lab.root / "notebooks" / panel.says(".svg").removeprefix("saved ").strip()
    content = path.read_bytes()
    assert content == export.picture(settings, "svg")
    with notebook.page.expect_download() as waiting:
        panel.map.locator(f".xl-downloads a[download='{path.name}']").last.click()
    assert Path(waiting.value.path()).read_bytes() == content
    assert notebook.complaints() == []
