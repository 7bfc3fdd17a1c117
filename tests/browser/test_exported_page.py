"""Pages made from the exported files alone: strategies, and methods of top-k, in the browser's own WebGPU."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from definition import assert_expands
from topk_definition import order_of

import expandlab as xl
from expandlab.browser import PLAYER
from expandlab.expansion import portable
from expandlab.topk import portable as topk_portable
from expandlab.topk.inputs import scores
from expandlab.topk.keys import words_of

RUNS = [name for name, item in xl.strategies().items() if not item.modelled and not item.needs]

# A page that selects with the exported files and the player, as its author would write it.
SELECTS = """<!doctype html>
<pre id="result">running</pre>
<script type="module">
  import { open } from "./player.js";
  const result = document.getElementById("result");
  try {
    const words = new Uint32Array(await (await fetch("./scores.bin")).arrayBuffer());
    const player = await open(".");
    player.write("values", words);
    player.writeParams({ n: words.length });
    const passes = await player.run();
    const [count] = await player.read("status", 1);
    const indices = Array.from(await player.read("out_indices", count));
    const values = Array.from(await player.read("out_values", count));
    result.textContent = JSON.stringify({ name: player.plan.name, indices, values, passes });
    player.close();
  } catch (error) {
    result.textContent = JSON.stringify({ error: String(error) });
  }
</script>
"""


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
    # Twenty shaders take a software adapter a while on a busy machine.
    page.wait_for_function("document.getElementById('result').textContent !== 'running'", timeout=120_000)
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


@pytest.mark.parametrize("kind", ["random", "all_equal", "nan_inf"])
@pytest.mark.parametrize("name", ["radix_select", "delegate"])
def test_a_method_selects_in_the_page(name, kind, served, page):
    folder, address = served
    own = folder / f"{name}-{kind}"
    topk_portable.export(name, own, max_n=20_000, k=100)
    values = scores(kind, 18_000, seed=2)
    (own / "scores.bin").write_bytes(words_of(values).tobytes())
    (own / "page.html").write_text(SELECTS)
    (own / "player.js").write_bytes(PLAYER.read_bytes())
    found = result_of(page, f"{address}/{own.name}/page.html")
    assert "error" not in found, found
    expected = order_of(values, True)[:100]
    assert (found["name"], found["indices"]) == (name, expected.tolist())
    assert found["values"] == values[expected].view(np.uint32).tolist()
    assert len(found["passes"]) == len(json.loads((own / "plan.json").read_text())["passes"])


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


def test_a_page_that_cannot_run_says_why(served, page):
    folder, address = served
    portable.export("append", folder / "alone", max_src=10, max_dst=20)
    assert "a page opened as a file may load nothing" in result_of(page, f"file://{folder}/alone/example.html")["error"]
    assert "one of them is 1.5" in result_of(page, f"{address}/alone/example.html?counts=2,1.5")["error"]
    (folder / "alone" / "player.js").unlink()
    assert "lie beside this page" in result_of(page, f"{address}/alone/example.html")["error"]
