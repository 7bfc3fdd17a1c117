"""The notebooks with panels of one page, in real JupyterLab in real Chromium: run all, every control, Run, Export."""

from pathlib import Path

import pytest
from browser.exported import in_every_format, reloaded, run_and_cancelled
from browser.jupyter import until
from browser.panel import PagePanel, Panel

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
    "06_timings": (
        ["limit", "skew", "passes", "memory", "winners", "at_once", "predicted"], "skew", [], "limit",
    ),
    "07_api_paths": (["cost", "large"], "cost", ["grain", "hardware"], "cost"),
    "08_top_k": (["digits", "bound", "queues", "stream", "bus"], "digits", [], "bus"),
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


def shows(panel):
    """Until the picture is what the settings mean."""
    until("the settings to be shown", lambda: not panel.error() and panel.alt() == make(read(panel)).description)


def test_every_cell_runs_and_every_panel_is_drawn(notebook):
    pages, _, expansions, _ = listed(notebook)
    for panel in [PagePanel(notebook, cell) for cell in pages] + [Panel(notebook, cell) for cell in expansions]:
        until(f"{panel.cell_id} to be drawn", panel.painted)
        assert panel.error() == ""
    assert notebook.complaints() == []


def test_every_control_changes_the_picture_and_settings_come_back(notebook):
    panel = PagePanel(notebook, listed(notebook)[1])
    opened = panel.copied()
    for label, control in panel.controls("widget-slider").items():
        if not control.locator("[disabled]").count():
            panel.move(label)
            if panel.error():  # such as a k above n
                reloaded(panel, opened)
    shows(panel)
    for label in panel.controls("widget-dropdown"):
        if label not in ("source of N", "device"):
            every_option(panel, label)
    for several in panel.root.locator("select[multiple]").all():
        several.select_option(index=[1, 3])
        shows(panel)
    for choice in panel.root.locator(".xl-mode button:not([disabled])").all():
        choice.press("Enter")
    shows(panel)
    if "source of N" in panel.controls("widget-dropdown"):
        a_list(panel)
    if Path(notebook.notebook).stem == "08_top_k":
        what_methods_refuse(panel)
    reloaded(panel, opened)
    shows(panel)
    assert notebook.complaints() == []


def every_option(panel, label):
    """The arrow key chooses another one, the pointer each."""
    menu = panel.controls("widget-dropdown")[label].locator("select")
    before = menu.input_value()
    menu.press("ArrowDown")
    if menu.input_value() == before:
        menu.press("ArrowUp")
    assert menu.input_value() != before
    for option in panel.options(label):
        # Only some of what is measured and shipped was measured many times at once.
        if not option.startswith("Many"):
            panel.choose(label, option)
    # Back to the one before: not every view takes what another shows.
    menu.select_option(before)
    shows(panel)


def a_list(panel):
    """A list of N is typed, wrong and right."""
    panel.choose("source of N", next(text for text in panel.options("source of N") if text.startswith("list")))
    box = until("the list's box", lambda: panel.controls("widget-text").get("N of each src"))
    typed = box.locator("input")
    typed.fill("3, x")
    typed.press("Enter")
    until("the wrong list to be explained", lambda: "3, x" in panel.error())
    typed.fill("3, 1, 2")
    typed.press("Enter")
    shows(panel)


def what_methods_refuse(panel):
    """Scores that are no numbers are drawn; a method that takes fewer says so, and another is drawn after it."""
    panel.load({**panel.copied(), "n": 65536, "k": 64, "kind": "nan_inf", "view": "steps", "method": "bitonic"})
    shows(panel)
    panel.choose("method", next(text for text in panel.options("method") if text.startswith("atomic_heap")))
    until("the cap to be told", lambda: "16,384" in panel.error())
    panel.choose("method", next(text for text in panel.options("method") if text.startswith("delegate")))
    shows(panel)


def test_exports_are_opened_in_every_format(notebook):
    panel = PagePanel(notebook, listed(notebook)[1])
    in_every_format(panel)
    panel.root.get_by_role("button", name="Data tables").click()
    until("the data table", lambda: panel.root.locator("table.xl-table tbody tr").count())
    assert notebook.complaints() == []


def test_run_measures_and_is_cancelled(notebook):
    pages, _, _, cell = listed(notebook)
    page = cell in pages
    panel = (PagePanel if page else Panel)(notebook, cell)
    if cell == "limit":
        panel.load({**panel.copied(), "shown": ["append", "tile_search"], "p2": 12})
        shows(panel)
    run_and_cancelled(panel)
    if page:
        until("the times to be shown", lambda: read(panel).measured)
        shows(panel)
    else:
        assert panel.root.locator(".xl-results table").count() == 1
    assert notebook.complaints() == []
