"""The reader's own GPU from a notebook: `xl.browser_device()` in JupyterLab in Chromium."""

from __future__ import annotations

import nbformat
import pytest
from browser.jupyter import until

NAME = "browser_device_test.ipynb"
CELLS = {
    "make": """
import numpy as np
import expandlab as xl
device = xl.browser_device()
device
""",
    "cases": """
counts = xl.counts.make("zipf", 400, mean=8.0, max_n=300, seed=1)
wanted = [(src, local) for src, n in enumerate(counts.tolist()) for local in range(n)]
told = []
for name, item in xl.strategies().items():
    if item.modelled:
        continue
    try:
        e = await device.expand(counts, name)
        told.append((name, sorted(zip(e.src.tolist(), e.local.tolist())) == wanted))
    except xl.UnsupportedError as error:
        told.append((name, "lacks" in str(error)))
    for small in ([], [0, 0], [3, 1, 2], [1000]):
        if told[-1][1] is True and not item.needs:
            e = await device.expand(small, name, workgroup_size=64)
            told[-1] = (name, e.total == sum(small) == len(e.src))
print("wrong:", [name for name, right in told if not right], "of", len(told))
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
e = await device.expand(np.full(2**16, 64, np.uint32), "prefix_search")
right = np.array_equal(e.src, np.repeat(np.arange(2**16), 64)), np.array_equal(e.local, np.tile(np.arange(64), 2**16))
print("large:", e.total, *right)
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
    page = open_notebook(NAME)
    page.run_all()
    return page


def printed(notebook, cell, start):
    text = until(f"{start} to be printed", lambda: notebook.cell(cell).locator(".jp-OutputArea").text_content())
    return next((line for line in text.splitlines() if line.startswith(start)), text)


def test_every_strategy_that_webgpu_can_run_is_exact_in_the_page(notebook):
    assert printed(notebook, "cases", "wrong:").startswith("wrong: [] of")


def test_a_body_runs_in_the_page_with_its_times(notebook):
    assert printed(notebook, "body", "sums:") == "sums: [15, 0, 3] True True"


def test_four_million_items_come_back(notebook):
    assert printed(notebook, "large", "large:") == f"large: {2**22} True True"


def test_faults_are_the_pages_own_words_and_the_next_run_works(notebook):
    text = notebook.cell("faults").locator(".jp-OutputArea").text_content()
    assert "fault: DeviceError browser device: preparing the passes" in text or "fault: ShaderError" in text
    assert "fault: CapacityError capacity=3: the counts spawn 6 items" in text
    assert "after: [0, 0, 0, 1, 2, 2]" in text
    assert notebook.complaints() == []
