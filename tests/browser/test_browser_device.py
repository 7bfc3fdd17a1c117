"""The reader's own GPU from a notebook: `xl.browser_device()` and "this browser" in panels, JupyterLab in Chromium."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from browser.jupyter import until
from browser.panel import PagePanel, Panel

pytestmark = pytest.mark.timeout(700)
NAME = "browser_device_test.ipynb"
TESTS = Path(__file__).parents[1]
CELLS = {
    "make": f"""
import sys
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS / "browser")!r}]
import asyncio
import os
import numpy as np
import in_page
import expandlab as xl
device = xl.browser_device()
device
""",
    "panel": """
panel = xl.panels.expansion(source="list", values=[3, 0, 5, 1], strategy="po2_merged", compare="prefix_search")
panel
""",
    "selection": """
xl.panels.top_k(n=256, k=8)
""",
    "times": """
xl.panels.timings(p2=12, shown=("append", "tile_search"))
""",
    "cases": """
# With EXPANDLAB_PAGE_CASES=all the largest case on every strategy too: a minute of uploads.
every = os.environ.get("EXPANDLAB_PAGE_CASES") == "all"
runs, wrong = await device.run(lambda page: in_page.expansions(page, many=every))
print("expansions:", runs > 150, wrong)
""",
    "needs": """
lacking = [name for name, item in xl.strategies().items() if not in_page.runs_in_a_page(item) and not item.modelled]
refused = []
for name in lacking:
    try:
        await device.expand([1], name)
    except xl.UnsupportedError as error:
        refused.append("this browser" in str(error) and "lacks" in str(error) and "Nearest one" in str(error))
print("needs:", "atomic64_add" in lacking, set(refused), len(refused) == len(lacking))
""",
    "top_k": """
runs, wrong = await device.run(in_page.selections)
print("selections:", runs > 40, wrong)
values = np.random.default_rng(3).standard_normal(70_000).astype(np.float32)
best = await device.top_k(values, 100)
stream = device.stream(5)
for base in (40_000, 0):
    await stream.push(values[base : base + 40_000], base)
want = np.argsort(-values, kind="stable")
print("awaited:", best.indices.tolist() == want[:100].tolist(), stream.result().indices.tolist() == want[:5].tolist())
await stream.close()
""",
    "body": """
e = await device.expand(
    [5, 0, 2], "po2_merged",
    body="fn work(src: u32, local: u32, dst: u32) { atomicAdd(&sums[src], local + 1u); }",
    buffers={"sums": xl.atomic(np.zeros(3, np.uint32))},
)
timed = e.report.passes[0].gpu_ms is not None
print("sums:", e.buffers["sums"].tolist(), e.report.device.startswith("this browser: "), timed)
""",
    "large": """
news = []
e = await device.expand(np.full(2**16, 64, np.uint32), "prefix_search", on_progress=news.append)
right = np.array_equal(e.src, np.repeat(np.arange(2**16), 64)), np.array_equal(e.local, np.tile(np.arange(64), 2**16))
told = {item.what for item in news} == {"sending", "running", "receiving"} and news[-1].done == news[-1].total > 2**25
print("large:", e.total, *right, told, 0 < e.report.transfer_ms < e.report.wall_ms)
print(f"{e.report.wall_ms:.0f} ms in all, transfer {e.report.transfer_ms:.0f} ms, GPU {e.report.gpu_ms:.1f} ms")
""",
    "measure": """
found = await device.measure(["append", "prefix_search"], [3, 1, 2] * 200, repeats=3)
names = [item.name for item in found.contenders]
step = device.opened.timer_step_ms
whole = step > 0 and all(found[name].runs * found[name].gpu.median >= 10 * step for name in names[:2])
checked = [found[name].verified for name in names[:2]]
print("measured:", names[:2], "in steps of" in found.timer, found.software, whole, checked)
""",
    "cancel": """
begun = asyncio.Event()
loop = asyncio.get_running_loop()
told = lambda _: loop.call_soon_threadsafe(begun.set)
task = asyncio.create_task(device.expand(np.full(2**16, 64), on_progress=told))
await begun.wait()
task.cancel()
try:
    await task
except asyncio.CancelledError:
    print("cancelled:", (await device.expand([3, 1, 2])).src.tolist())
""",
    "faults": """
for call in (dict(body="fn work(src: u32, local: u32, dst: u32) { nonsense(); }"), dict(capacity=3)):
    try:
        await device.expand([3, 1, 2], **call)
    except xl.ExpandlabError as error:
        print("fault:", type(error).__name__, str(error)[:60].replace(chr(10), " "))
e = await device.expand([3, 1, 2])
print("after:", e.src.tolist())
""",
}


@pytest.fixture(scope="module")
def notebook(lab, open_notebook):
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(text.strip(), id=name) for name, text in CELLS.items()],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}},
    )
    nbformat.write(book, lab.root / "notebooks" / NAME)
    with open_notebook(NAME) as page:
        # Some three hundred runs, each there and back.
        page.run_all(patience=540)
        yield page


def printed(notebook, cell, start):
    area = notebook.cell(cell).locator(".jp-OutputArea")
    area.scroll_into_view_if_needed()
    text = until(f"{start} to be printed", lambda: area.text_content())
    return next((line for line in text.splitlines() if line.startswith(start)), text)


def test_every_strategy_that_webgpu_can_run_is_exact_in_the_page(notebook):
    assert printed(notebook, "cases", "expansions:") == "expansions: True []"


def test_what_webgpu_lacks_is_refused_with_what_runs_instead(notebook):
    assert printed(notebook, "needs", "needs:") == "needs: True {True} True"


def test_top_k_and_streams_are_the_definitions(notebook):
    assert printed(notebook, "top_k", "selections:") == "selections: True []"
    assert printed(notebook, "top_k", "awaited:") == "awaited: True True"


def test_a_body_runs_in_the_page_with_its_times(notebook):
    assert printed(notebook, "body", "sums:") == "sums: [15, 0, 3] True True"


def test_four_million_items_come_back_with_the_transfer_apart(notebook):
    assert printed(notebook, "large", "large:") == f"large: {2**22} True True True True"


def test_the_measuring_protocol_batches_what_is_shorter_than_the_timers_steps(notebook):
    assert printed(notebook, "measure", "measured:") == (
        "measured: ['append', 'prefix_search'] True True True ['host', 'host']"
    )


def test_a_cancelled_run_leaves_the_device_usable(notebook):
    assert printed(notebook, "cancel", "cancelled:") == "cancelled: [0, 0, 0, 1, 2, 2]"


def test_faults_name_the_line_and_the_next_run_works(notebook):
    text = notebook.cell("faults").locator(".jp-OutputArea").text_content()
    assert "fault: ShaderError body:1:" in text
    assert "fault: CapacityError capacity=3: the counts spawn 6 items" in text
    assert "after: [0, 0, 0, 1, 2, 2]" in text


def test_a_panel_records_measures_and_exports_there(notebook, lab):
    panel = Panel(notebook, "panel")
    entry = until("the page in the menu", lambda: [o for o in panel.options("device") if "this browser: " in o])[0]
    assert "software adapter" in entry
    panel.choose("device", entry)
    panel.root.get_by_role("button", name="Recorded on the GPU").click()
    assert "recorded and model agree" in panel.says("Recorded on this browser: ")
    panel.press("Run")
    line = panel.says("done: ")
    assert "in steps of" in line and "on this browser: " in line
    rows = panel.root.locator(".xl-results table tbody tr").all_text_contents()
    assert len(rows) > 4 and all("prefix_search" in row or "po2_merged" in row for row in rows)
    panel.root.locator(".widget-dropdown select").filter(has_text="JSON").select_option(label="JSON")
    panel.press("Export")
    name = panel.says("saved ").split("saved ")[1].strip()
    found = json.loads((lab.root / "notebooks" / name).read_text())
    assert found["provenance"]["device"]["name"].startswith("this browser: ")
    assert found["provenance"]["device"]["kind"] == "browser" and found["provenance"]["device"]["software"]
    assert found["map"]["recorded"].startswith("this browser: ")
    assert panel.error() == ""


@pytest.mark.parametrize("cell", ["selection", "times"])
def test_panels_of_times_measure_there(notebook, cell):
    panel = PagePanel(notebook, cell)
    panel.choose("device", next(text for text in panel.options("device") if "this browser: " in text))
    panel.press("Run")
    assert "on this browser: " in panel.says("done: ")
    assert panel.error() == ""


def test_nothing_was_said_anywhere_else(notebook):
    assert notebook.complaints() == []
