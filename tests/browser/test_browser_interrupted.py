"""What happens when a page goes away in the middle: a sentence in the panel, and the next run works."""

from __future__ import annotations

import nbformat
import pytest
from browser.jupyter import VIEWPORT, NotebookPage, until
from browser.panel import Panel

NAME = "interrupted_test.ipynb"
CELL = """
import expandlab as xl
panel = xl.panels.expansion(source="list", values=[3, 0, 5, 1], strategy="append")
panel
"""
# Goes on with the same stream each time it runs.
STREAM = """
import numpy as np
if "stream" not in globals():
    stream, base = xl.browser_device().stream(2), 0
await stream.push(np.float32([1, 3, 2]), base)
base += 10
print("best:", stream.result().indices.tolist())
"""
# Holds whatever waits for the GPU, so that something can happen in the middle, and keeps the devices at hand.
HOLD = """
window.held = { on: false, waiting: 0, devices: [] };
const ask = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function (...given) {
  const device = await ask.apply(this, given);
  window.held.devices.push(device);
  return device;
};
const map = GPUBuffer.prototype.mapAsync;
GPUBuffer.prototype.mapAsync = async function (...given) {
  window.held.waiting += window.held.on;
  const device = window.held.devices.at(-1);
  if (window.held.on) await Promise.race([new Promise((go) => (window.held.go = go)), device.lost]);
  return map.apply(this, given);
};
"""
WITHOUT = "Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined });"


@pytest.fixture(scope="module")
def opener(lab, browser):
    """Opens the notebook in a tab with a script in front of the page's own."""
    opened = []

    def open_one(name, script, write=True, **more):
        if write:
            texts = {"panel": CELL, **more}
            cells = [nbformat.v4.new_code_cell(text.strip(), id=cell) for cell, text in texts.items()]
            kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
            book = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
            nbformat.write(book, lab.root / "notebooks" / name)
        context = browser.new_context(viewport=VIEWPORT)
        context.add_init_script(script)
        opened.append(NotebookPage(lab, context.new_page(), f"notebooks/{name}"))
        return opened[-1]

    yield open_one
    for page in opened:
        page.close()


@pytest.fixture(scope="module")
def notebook(opener):
    page = opener(NAME, HOLD, stream=STREAM)
    page.run_all()
    return page


def streamed(notebook):
    notebook.run_cell("stream")
    return notebook.cell("stream").locator(".jp-OutputArea").text_content()


def here(notebook):
    """The panel, set to the page's GPU."""
    panel = Panel(notebook, "panel")
    entry = until("the page in the menu", lambda: [o for o in panel.options("device") if "this browser: " in o])[0]
    panel.choose("device", entry)
    return panel


def restored(notebook):
    """The panel in a page that was opened anew."""
    notebook.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    notebook.page.locator(".xl-controls .widget-dropdown").first.wait_for()
    return Panel(notebook, "panel")


def begin_and_hold(notebook, panel):
    notebook.page.evaluate("held.on = true; held.waiting = 0")
    panel.press("Run")
    until("the page to wait for its GPU", lambda: notebook.page.evaluate("held.waiting"))


def runs(panel):
    panel.press("Run")
    panel.says("done: ")
    assert panel.error() == ""


def save(notebook):
    notebook.page.keyboard.press("Control+s")
    until("the notebook to be saved", lambda: not notebook.page.locator(".jp-mod-dirty").count())


def test_a_lost_device_is_a_sentence_and_the_next_run_works(notebook):
    panel = here(notebook)
    begin_and_hold(notebook, panel)
    notebook.page.evaluate("held.on = false; held.devices.at(-1).destroy()")
    assert "the device was lost" in until("the error", panel.error, 5)
    panel.reset()
    runs(here(notebook))
    assert "best: [1, 11]" in streamed(notebook)


def test_a_reloaded_page_is_a_sentence_and_the_next_run_works(notebook):
    panel = here(notebook)
    save(notebook)
    begin_and_hold(notebook, panel)
    notebook.page.reload()
    panel = restored(notebook)
    assert "the page was closed or reloaded" in until("the error", panel.error, 30)
    panel.reset()
    runs(here(notebook))


def test_a_closed_page_is_a_sentence_in_the_next_one_where_the_run_works(notebook, opener):
    panel = here(notebook)
    save(notebook)
    begin_and_hold(notebook, panel)
    notebook.page.close()
    again = opener(NAME, HOLD, write=False)
    panel = restored(again)
    assert "closed or reloaded" in until("the error", panel.error, 30)
    panel.reset()
    runs(here(again))


def test_a_restarted_kernel_is_a_sentence_and_the_next_run_works(opener):
    notebook = opener("restarted_test.ipynb", HOLD)
    notebook.run_all()
    panel = here(notebook)
    begin_and_hold(notebook, panel)
    notebook.menu("Kernel", "Restart Kernel…")
    notebook.page.get_by_role("button", name="Confirm Kernel Restart").click()
    line = panel.root.locator(".expandlab-browser-device")
    until("the sentence", lambda: "the kernel was restarted" in (line.first.text_content() or ""), 15)
    notebook.page.evaluate("held.on = false")
    notebook.run_all()
    runs(here(notebook))


def test_without_webgpu_the_menu_says_so_and_run_tells_why(opener):
    notebook = opener("without_test.ipynb", WITHOUT)
    notebook.run_all()
    panel = Panel(notebook, "panel")
    entry = until("the page in the menu", lambda: [o for o in panel.options("device") if "no WebGPU" in o])[0]
    panel.choose("device", entry)
    panel.press("Run")
    assert "this browser has no WebGPU (navigator.gpu)" in until("the error", panel.error)
