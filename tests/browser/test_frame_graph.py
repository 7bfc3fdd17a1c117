"""Notebook 09 in real JupyterLab in real Chromium: run all, inject a pass, see the error line, export."""

import pytest
from browser.jupyter import until
from browser.panel import PagePanel

from expandlab import export
from expandlab import settings as s
from expandlab.figures.page import make


@pytest.fixture(scope="module")
def notebook(open_notebook):
    page = open_notebook("09_frame_graph.ipynb")
    page.run_all()
    return page


def read(panel):
    return s.from_json(panel.copied())


def test_every_panel_is_drawn_and_a_pass_is_injected(notebook):
    for cell in ("writers", "readers", "barriers", "tags", "devices"):
        panel = PagePanel(notebook, cell)
        until(f"{cell} to be drawn", panel.painted)
        assert panel.error() == ""
    panel = PagePanel(notebook, "readers")
    panel.repaints(lambda: panel.press("Inject after"))
    settings = read(panel)
    assert [item["name"] for item in settings.document["passes"]] == ["produce", "inject", "left", "right"]
    assert panel.alt() == make(settings).description
    panel.choose("does", "read_write")
    panel.choose("pass", "produce")
    panel.choose("does", "read_write")
    until("the error to name the pass", lambda: "'produce'" in panel.error())
    panel.choose("does", "write")
    until("the error to go", lambda: not panel.error())
    assert notebook.complaints() == []


def test_an_export_is_what_the_settings_mean(notebook, lab):
    panel = PagePanel(notebook, "tags")
    settings = read(panel)
    panel.root.locator("select", has=notebook.page.locator("option", has_text="PNG")).select_option(label="SVG")
    panel.press("Export")
    path = lab.root / "notebooks" / panel.says(".svg").removeprefix("saved ").strip()
    assert path.read_bytes() == export.picture(settings, "svg")
    assert notebook.complaints() == []
