"""A page made from the exported files alone: a strategy in the browser's own WebGPU."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from definition import assert_expands

import expandlab as xl
from expandlab.expansion import portable

RUNS = [name for name, item in xl.strategies().items() if not item.modelled and not item.needs]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A folder, and where a server on the loopback address shows it."""
    folder = tmp_path_factory.mktemp("exported")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def result_of(page, address):
    page.goto(address)
    page.wait_for_function("document.getElementById('result').textContent !== 'running'")
    return json.loads(page.text_content("#result"))


@pytest.mark.parametrize("name", RUNS)
def test_a_strategy_expands_in_the_page(name, served, page):
    folder, address = served
    portable.export(name, folder / name, max_src=600, max_dst=5000, workgroup_size=64)
    counts = xl.counts.make("zipf", 500, mean=6.0, max_n=200, seed=4)
    found = result_of(page, f"{address}/{name}/example.html?counts={','.join(map(str, counts.tolist()))}")
    assert "error" not in found, found
    assert (found["name"], found["total"], found["failure"]) == (name, int(counts.sum()), 0)
    assert_expands(counts, np.array(found["src"], np.uint32), np.array(found["local"], np.uint32))
    assert len(found["passes"]) == len(json.loads((folder / name / "plan.json").read_text())["passes"])


def test_too_many_items_are_told_with_the_number_that_is_needed(served, page):
    folder, address = served
    portable.export("po2_merged", folder / "small", max_src=10, max_dst=20, workgroup_size=64)
    found = result_of(page, f"{address}/small/example.html?counts=9,9,9")
    assert (found["total"], found["failure"], found["required"]) == (0, 1, 27)
    found = result_of(page, f"{address}/small/example.html?counts={','.join(['1'] * 11)}")
    assert "counts: 44 bytes, and the plan has room for 40" in found["error"]


def test_what_a_browser_lacks_is_said(served, page):
    folder, address = served
    portable.export("atomic64_add", folder / "atomics", max_src=10, max_dst=20)
    found = result_of(page, f"{address}/atomics/example.html")
    assert "shader-int64" in found["error"] and "this browser's WebGPU lacks" in found["error"]
