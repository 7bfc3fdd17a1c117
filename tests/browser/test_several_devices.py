"""Notebooks 10 and 11 in real JupyterLab in real Chromium: run all, every view, Run, Cancel, Resume, export."""

import pytest
from browser.exported import in_every_format, reloaded
from browser.jupyter import until
from browser.panel import PagePanel

from expandlab import settings as s
from expandlab.figures.page import make

PANELS = {
    "10_devices": ["readers", "nocopy", "chain"],
    "11_search_loadouts": ["pool", "graph", "two"],
}


@pytest.fixture(scope="module", params=PANELS)
def notebook(request, open_notebook):
    with open_notebook(f"{request.param}.ipynb") as page:
        page.run_all()
        yield request.param, page


def read(panel):
    return s.from_json(panel.copied())


def test_every_panel_is_drawn_and_every_view_is_what_its_settings_mean(notebook):
    name, page = notebook
    for cell in PANELS[name]:
        panel = PagePanel(page, cell)
        until(f"{cell} to be drawn", panel.painted)
        assert panel.error() == ""
    panel = PagePanel(page, PANELS[name][0])
    for choice in panel.root.locator(".xl-mode button:not([disabled])").all():
        choice.press("Enter")
        until("the view to be shown", lambda: panel.alt() == make(read(panel)).description)
    panel.reset()
    assert page.complaints() == []


def test_run_shows_what_was_found_and_exports_are_opened_in_every_format(notebook):
    name, page = notebook
    panel = PagePanel(page, PANELS[name][0])
    opened = panel.copied()
    if name == "11_search_loadouts":
        handle = panel.slider("relics (a slot)")
        for _ in range(9):
            panel.repaints(lambda: handle.press("ArrowLeft"))
    else:
        panel.choose("example", "two readers of what both devices have")
    until("the controls to be taken", lambda: panel.alt() == make(read(panel)).description)
    panel.press("Run")
    panel.says("done: ")
    settings = until("the result to be a setting", lambda: (now := read(panel)) and result_of(now) and now)
    until("the result to be drawn", lambda: panel.alt() == make(settings).description)
    in_every_format(panel)
    reloaded(panel, opened)
    assert page.complaints() == []


def result_of(settings):
    return settings.measured if isinstance(settings, s.DeviceSettings) else settings.found


def test_a_search_is_cancelled_and_resumed(notebook):
    name, page = notebook
    if name != "11_search_loadouts":
        pytest.skip("nothing to resume")
    panel = PagePanel(page, "two")
    panel.press("Run")
    panel.press("Cancel")
    told = panel.says("loadouts, ")
    if "cancelled" in told:
        panel.press("Resume")
        until("the search to end", lambda: "done: " in " ".join(panel.root.locator(".xl-remark").all_text_contents()))
    # The remark can be there before the result has reached the page.
    until("the result of the whole search", lambda: not read(panel).found["report"]["cancelled"])
    assert page.complaints() == []
