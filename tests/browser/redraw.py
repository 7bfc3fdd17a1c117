"""How long the frame-graph panel takes from a key or a click to a painted picture, in Chromium.

    python tests/browser/redraw.py [PASSES]

Opens JupyterLab on a notebook of its own, with a graph of 50 passes and 20 buffers, edits it again and again and prints
the median, the quartiles and the longest of each kind of edit, in milliseconds: from the event in the page to the first
free moment after the frame in which the new picture is painted; how much of it passes until the picture's message is
there (server and kernel), how much from then on (the page); and all of them together, with
the machine's load.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from browser.jupyter import by_hand, until
from browser.panel import ScenePanel

ROUNDS = 12
# Notes when an event reaches the page, before anybody handles it.
LISTEN = """(kinds) => { for (const kind of kinds) window.addEventListener(kind,
    () => { window.xlEventAt ||= performance.timeOrigin + performance.now(); }, true); }"""


def document(passes: int) -> dict:
    """A graph of `passes` passes on two queues; each writes one of 20 buffers and most read another."""
    made = []
    for number in range(passes):
        uses = [{"resource": f"buffer_{number % 20}", "mode": "write"}]
        if number > 20:
            uses.append({"resource": f"buffer_{(number * 7 + 3) % 20}", "mode": "read"})
        queue = "async" if number % 3 == 0 else "compute"
        made.append({"name": f"pass_{number}", "queue": queue, "accesses": uses, "side_effect": True})
    buffers = {f"buffer_{number}": {"kind": "buffer", "size": 4096, "imported": True} for number in range(20)}
    return {"devices": {"gpu0": ["compute", "async"]}, "resources": buffers, "passes": made}


def notebook(passes: int, view: str) -> dict:
    source = f"import json\nimport expandlab as xl\ngraph = json.loads({json.dumps(document(passes))!r})\n"
    source += f"xl.panels.frame_graph(graph, view={view!r})"
    cell = {"cell_type": "code", "id": "panel", "metadata": {}, "outputs": [], "execution_count": None}
    spec = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    return {"cells": [{**cell, "source": source}], "metadata": spec, "nbformat": 4, "nbformat_minor": 5}


def timed(panel: ScenePanel, act) -> tuple[float, float]:
    """Milliseconds from the event to the message with the picture, and to the painted picture."""
    # What the edit before still has to say is said by then.
    panel.page.wait_for_timeout(250)
    panel.page.evaluate("window.xlEventAt = 0")
    panel.repaints(act)
    painted = float(panel.data("painted-at"))
    began = panel.page.evaluate("window.xlEventAt")
    return float(panel.data("received-at")) - began, painted - began


def edits(panel: ScenePanel) -> dict[str, list[tuple[float, float]]]:
    """Each kind of edit, again and again."""
    found: dict[str, list[tuple[float, float]]] = {
        "click: Inject after": [],
        "click: Remove pass": [],
        "menu: does": [],
        "key: range": [],
    }
    for number in range(ROUNDS):
        panel.choose("pass", f"pass_{2 * number + 21}")
        until("the pass to be chosen", lambda: panel.options("access"))
        mode = "read_write" if number % 2 else "read"
        found["menu: does"].append(timed(panel, lambda mode=mode: panel.choose("does", mode)))
        box = panel.controls("widget-text")["range (bytes)"].locator("input")
        box.fill(f"0 .. {1024 + 256 * number}")
        found["key: range"].append(timed(panel, lambda box=box: box.press("Enter")))
        found["click: Inject after"].append(timed(panel, lambda: panel.press("Inject after")))
        found["click: Remove pass"].append(timed(panel, lambda: panel.press("Remove pass")))
    return found


def told(times: list[tuple[float, float]]) -> str:
    """Medians of an edit's milliseconds, with the spread of the whole."""
    whole = [last for _, last in times]
    q1, median, q3 = statistics.quantiles(whole, n=4)
    received = statistics.median(first for first, _ in times)
    page = statistics.median(last - first for first, last in times)
    return (f"{median:.0f} ms ({q1:.0f} to {q3:.0f}, longest {max(whole):.0f}); {received:.0f} ms until the picture "
            f"arrives, {page:.0f} ms in the page")  # fmt: skip


def main() -> None:
    passes = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    views = sys.argv[2:] or ("graph", "barriers", "memory", "timeline")
    everything: list[tuple[float, float]] = []
    with by_hand({f"{view}.ipynb": notebook(passes, view) for view in views}) as opened:
        for view in views:
            page = opened(f"{view}.ipynb")
            page.run_all()
            panel = ScenePanel(page, "panel")
            until("the first picture", panel.painted)
            page.page.evaluate(LISTEN, ["click", "change", "keydown"])
            for kind, times in edits(panel).items():
                print(f"{passes} passes, {view}, {kind}: {told(times)}", flush=True)
                everything += times
            page.close()
        print(f"{passes} passes, all: {told(everything)}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
