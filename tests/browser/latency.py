"""How quickly a map of 16 384 threads follows its slider in Chromium, and what 1 000 moves leave behind.

    python tests/browser/latency.py [TRIES]

Prints, for each try: from "Run All Cells" on the first notebook to its painted map; from a key on a slider to the
painted canvas, and the same while another panel's Run keeps a software adapter busy, median, 95th percentile and the
longest; then, once, the kernel's resident memory and the page's JavaScript heap after its collection, before and after
1 000 moves. Everything shares this machine's cores, so its load, and how busy it was before this began, stand beside.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from browser.jupyter import NotebookPage, by_hand, until
from browser.panel import Panel

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
FIRST = "00_start_here.ipynb"
MOVES, SETTLING, MANY = 60, 100, 1000
# 2047 and 2048 src of 8 items: both fill 256 workgroups of 64 threads.
MAP = {"source": "constant", "items": 2048, "mean": 8, "strategy": "append"}
# Too much to draw, so its panel shows none; Run takes it, and takes long enough.
BUSY = {"source": "constant", "items": 400_000, "mean": 8, "strategy": "prefix_search", "compare": "append"}
# Notes when a key reaches the page, and when the next frame is painted.
WATCH = """map => {
  window.xlMoves = [];
  window.xlPressed = null;
  window.addEventListener("keydown", () => { window.xlPressed = performance.now(); }, true);
  new MutationObserver(() => {
    if (window.xlPressed === null) return;
    window.xlMoves.push(Number(map.dataset.paintedAt) - window.xlPressed);
    window.xlPressed = null;
  }).observe(map, { attributes: true, attributeFilter: ["data-painted"] });
}"""
# As many moves as wanted, each once the one before is painted, without a word to the driver of the browser.
MOVE = """async (map, count) => {
  const handle = document.activeElement;
  for (let move = 0; move < count; move++) {
    const painted = new Promise(done => {
      const seen = new MutationObserver(() => { seen.disconnect(); done(); });
      seen.observe(map, { attributes: true, attributeFilter: ["data-painted"] });
    });
    const key = move % 2 ? "ArrowRight" : "ArrowLeft";
    handle.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await painted;
  }
}"""


def notebook(*panels: dict) -> dict:
    """A notebook with an expansion panel in each cell."""
    cells = [
        {"cell_type": "code", "id": f"panel-{at}", "metadata": {}, "outputs": [], "execution_count": None,
         "source": f"import expandlab as xl\nxl.panels.expansion(**{settings!r})"}
        for at, settings in enumerate(panels)
    ]  # fmt: skip
    spec = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    return {"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}


def told(times: list[float]) -> str:
    """Median, 95th percentile and longest of some milliseconds."""
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    median, longest = statistics.median(ordered), ordered[-1]
    return f"median {median:.0f} ms, 95 % within {p95:.0f}, longest {longest:.0f} ({len(ordered)} moves)"


def busy() -> str:
    """How busy others keep the machine, while this does nothing."""
    return f"{psutil.cpu_percent(1.0):.0f} % busy before, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def first_notebook(page: NotebookPage) -> str:
    """Seconds from "Run All Cells" in the first notebook to its painted map, and to its last cell."""
    page.menu("Run", "Run All Cells")
    began = time.monotonic()
    panel = Panel(page, "panel")
    until("the first picture", panel.painted)
    painted = time.monotonic() - began
    page.wait_until_ran()
    last = time.monotonic() - began
    page.close()
    return f"{painted:.1f} s to the painted map, {last:.1f} s to the last cell"


def moves(panel: Panel, count: int, going_on=lambda: True) -> list[float]:
    """Milliseconds from the key to the painted map of so many moves, or fewer, if something is no longer going on."""
    panel.page.evaluate("window.xlMoves = []")
    handle = panel.slider("items (src)")
    handle.focus()
    for move in range(count):
        if not going_on():
            break
        panel.repaints(lambda move=move: handle.press("ArrowRight" if move % 2 else "ArrowLeft"))
    return panel.page.evaluate("window.xlMoves")


def during_a_run(panel: Panel, other: Panel) -> list[float]:
    """The same while the other panel measures."""
    progress = other.root.locator(".xl-progress")
    other.press("Run")
    until("the run to begin", lambda: "run " in (progress.text_content() or ""), 120)
    other.page.evaluate("window.xlPressed = null")
    times = moves(panel, MOVES, lambda: "run " in (progress.text_content() or ""))
    if other.root.get_by_role("button", name="Cancel", exact=True).is_enabled():
        other.press("Cancel")
    until("the run to end", lambda: "run " not in (progress.text_content() or ""), 120)
    return times


def kept(page: NotebookPage, panel: Panel) -> str:
    """What the kernel and the page hold before and after many moves."""
    kernel = next(item for item in psutil.Process(page.lab.process.pid).children(recursive=True)
                  if str(page.lab.connection_file(page.notebook)) in " ".join(item.cmdline()))  # fmt: skip
    session = page.page.context.new_cdp_session(page.page)
    session.send("Performance.enable")

    def held() -> tuple[float, float]:
        for _ in range(2):
            session.send("HeapProfiler.collectGarbage")
        metrics = {item["name"]: item["value"] for item in session.send("Performance.getMetrics")["metrics"]}
        return kernel.memory_info().rss / 1e6, metrics["JSHeapUsedSize"] / 1e6

    panel.slider("items (src)").focus()
    panel.map.evaluate(MOVE, SETTLING)
    before = held()
    began = time.monotonic()
    panel.map.evaluate(MOVE, MANY)
    took = time.monotonic() - began
    after = held()
    said = [f"{what} {old:.1f} -> {new:.1f} MB ({new / old - 1:+.1%})"
            for what, old, new in zip(("kernel", "page"), before, after, strict=True)]  # fmt: skip
    return f"{MANY} moves in {took:.0f} s: {', '.join(said)}"


def main() -> None:
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    first = json.loads((NOTEBOOKS / FIRST).read_text(encoding="utf-8"))
    with by_hand({FIRST: first, "map.ipynb": notebook(MAP, BUSY)}) as opened:
        for at in range(1, tries + 1):
            print(f"try {at}: {busy()}", flush=True)
            print(f"  first notebook: {first_notebook(opened(FIRST))}", flush=True)
        page = opened("map.ipynb")
        page.run_all()
        panel, other = Panel(page, "panel-0"), Panel(page, "panel-1")
        until("the first picture", panel.painted)
        assert int(panel.data("threads")) == 16384, panel.data("threads")
        panel.map.evaluate(WATCH)
        for at in range(1, tries + 1):
            print(f"try {at}: {busy()}", flush=True)
            print(f"  a move: {told(moves(panel, MOVES))}", flush=True)
            print(f"  during a run: {told(during_a_run(panel, other))}", flush=True)
        print(f"{busy()}\n  {kept(page, panel)}", flush=True)
        assert page.complaints() == [], page.complaints()
        page.close()


if __name__ == "__main__":
    main()
