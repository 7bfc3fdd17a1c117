"""What it costs to bring an expansion back from the page's GPU, in JupyterLab in Chromium.

    python tests/browser/transfer.py [LOG2_P2] [RUNS]

Expands 2^LOG2_P2 items (22 unless given) with `prefix_search` in the page, 5 times unless told otherwise, checks each
result, and prints the medians: the whole, the transfer between kernel and page, and the page's GPU, with the load.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from browser.jupyter import by_hand

SHOW = "import numpy as np, expandlab as xl\ndevice = xl.browser_device()\ndevice"
RUN = """
counts, found = np.full({src}, 64, np.uint32), []
for _ in range({runs} + 1):
    e = await device.expand(counts, "prefix_search")
    assert np.array_equal(e.src, np.repeat(np.arange({src}), 64))
    assert np.array_equal(e.local, np.tile(np.arange(64), {src}))
    found.append((e.report.wall_ms, e.report.transfer_ms, e.report.gpu_ms))
# The first one compiles.
middle = np.median(found[1:], axis=0)
print("in all {{:.0f}} ms, transfer {{:.0f}} ms, GPU {{:.0f}} ms".format(*middle), "|", e.report.device)
"""


def notebook(src: int, runs: int) -> dict:
    """The device in one cell, the runs in another."""
    sources = {"show": SHOW, "run": RUN.format(src=src, runs=runs)}
    cells = [
        {"cell_type": "code", "id": name, "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for name, source in sources.items()
    ]
    spec = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    return {"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}


def main() -> None:
    power = int(sys.argv[1]) if len(sys.argv) > 1 else 22
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with by_hand({"transfer.ipynb": notebook(2 ** (power - 6), runs)}) as opened:
        page = opened("transfer.ipynb")
        page.run_all(patience=600)
        area = page.cell("run").locator(".jp-OutputArea").first
        area.scroll_into_view_if_needed()
        print(f"2^{power} items: {area.inner_text().strip()}")
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        page.close()


if __name__ == "__main__":
    main()
