"""Notebook 08 in real JupyterLab in real Chromium: run all, every control, steps by the keys, Run, Cancel, export."""

from pathlib import Path

import pytest
from browser.jupyter import until
from browser.panel import PagePanel

from expandlab import export
from expandlab import settings as s
from expandlab.figures.page import make

PANELS = ("digits", "bound", "queues", "stream", "bus")


@pytest.fixture(scope="module")
def notebook(open_notebook):
    with open_notebook("08_top_k.ipynb") as page:
        page.run_all()
        yield page


def read(panel):
    return s.from_json(panel.copied())


def shown(panel):
    """Whether the picture is what the settings mean."""
    return panel.alt() == make(read(panel)).description


def test_every_panel_is_drawn_and_every_control_changes_the_picture(notebook):
    for cell in PANELS:
        panel = PagePanel(notebook, cell)
        until(f"{cell} to be drawn", panel.painted)
        assert panel.error() == "" and shown(panel)
    panel = PagePanel(notebook, "digits")
    # A change of the scores puts the step back to the first.
    for label, key in (("n (scores)", "ArrowLeft"), ("k (results)", "ArrowLeft"), ("step", "ArrowRight")):
        before = panel.slider(label).get_attribute("aria-valuenow")
        panel.repaints(lambda label=label, key=key: panel.slider(label).press(key))
        assert panel.slider(label).get_attribute("aria-valuenow") != before
        until(f"{label} to be shown", lambda: shown(panel))
    panel.choose("scores", next(text for text in panel.options("scores") if text.startswith("nan_inf")))
    until("the scores to be shown", lambda: read(panel).kind == "nan_inf" and shown(panel))
    panel.root.get_by_role("button", name="Smallest", exact=True).click()
    until("the smallest to be shown", lambda: not read(panel).largest and shown(panel))
    seed = panel.root.locator("input[type=number]").first
    seed.fill("7")
    seed.press("Enter")
    until("the seed to be taken", lambda: read(panel).seed == 7 and shown(panel))
    for option in panel.options("method"):
        panel.choose("method", option)
        name = option.partition(" ")[0]
        if name == "atomic_heap":
            until("the cap to be told", lambda: "16,384" in panel.error())
        else:
            until(f"{name} to be shown", lambda name=name: read(panel).method == name and shown(panel))
    for view in ("bus", "stream"):
        panel.choose("view", next(text for text in panel.options("view") if text.startswith(view)))
        until(f"{view} to be shown", lambda view=view: read(panel).view == view and shown(panel))
    panel.repaints(lambda: panel.slider("passes (stream)").press("ArrowLeft"))
    until("nine passes", lambda: read(panel).pushes == 9 and shown(panel))
    panel.reset()
    assert read(panel).view == "steps" and notebook.complaints() == []


def test_run_measures_and_cancel_keeps_what_is_measured(notebook):
    panel = PagePanel(notebook, "bus")
    panel.repaints(lambda: panel.press("Run"))
    panel.says("done: ")
    until("the times to be shown", lambda: "Measured on" in panel.alt())
    assert shown(panel)
    held = read(panel).measured
    assert {row["method"] for row in held["rows"]} >= {"readback_heap", "radix_select", "delegate"}
    assert not held["cancelled"] and set(held["left_out"]) == {"atomic_heap"}
    panel.press("Run")
    panel.says("round 1")
    panel.press("Cancel")
    panel.says("cancelled: ")
    until("the partial times", lambda: "cancelled: partial" in panel.alt())
    assert read(panel).measured["cancelled"] and shown(panel)
    assert notebook.complaints() == []


def test_an_export_and_its_download_are_what_the_settings_mean(notebook, lab):
    panel = PagePanel(notebook, "queues")
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
    panel.load(settings.replace(method="bitonic", n=5000, step=3).to_dict())
    until("the loaded settings", lambda: read(panel).n == 5000 and shown(panel))
    assert notebook.complaints() == []
