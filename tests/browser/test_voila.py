"""The same panels, and the page's GPU, where Voila shows a notebook without its cells."""

from __future__ import annotations

import os
import re
import secrets
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import nbformat
import pytest
from browser.jupyter import VIEWPORT, until

pytestmark = pytest.mark.timeout(700)
TESTS = Path(__file__).parents[1]
PANEL = """
import expandlab as xl
panel = xl.panels.expansion(source="list", values=[3, 0, 5, 1], strategy="append")
panel
"""
# In Voila no cell can await the page: a thread of its own can wait for it. With EXPANDLAB_PAGE_CASES=all the largest
# case runs on all strategies too, as it does in JupyterLab.
CASES = f"""
import os, sys, threading
sys.path[:0] = [{str(TESTS)!r}, {str(TESTS / "browser")!r}]
import ipywidgets as widgets
import in_page
said = widgets.HTML("running")
said.add_class("verdict")

def check():
    try:
        device = xl.browser_device().wait(120)
        expanded, wrong = in_page.expansions(device, many=os.environ.get("EXPANDLAB_PAGE_CASES") == "all")
        selected, more = in_page.selections(device)
        said.value = f"verdict: {{expanded > 150}} {{selected > 40}} {{wrong + more}}"
    except Exception as error:
        said.value = f"verdict: {{type(error).__name__}} {{error}}"

thread = threading.Thread(target=check, daemon=True)
thread.start()
said
"""


class Voila:
    """A running Voila that shows the notebooks of one folder on the loopback address, with a token."""

    def __init__(self, folder, root):
        self.token = secrets.token_hex(16)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
        environment |= {
            "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_NO_CONFIG": "1",
        }  # fmt: skip
        command = [sys.executable, "-m", "voila", str(root), "--no-browser", "--Voila.ip=127.0.0.1"]
        command += [f"--port={self.port}", f"--token={self.token}", "--Voila.port_retries=0"]
        self.log_path = folder / "voila.log"
        with self.log_path.open("w") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def url(self, notebook):
        return f"http://127.0.0.1:{self.port}/voila/render/{notebook}?token={self.token}"

    def answers(self):
        assert self.process.poll() is None, self.log_path.read_text(errors="replace")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/?token={self.token}", timeout=10):
                return True
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("voila")
    root = folder / "root"
    root.mkdir()
    cells = [nbformat.v4.new_code_cell(text.strip()) for text in (PANEL, CASES)]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), root / "page.ipynb")
    server = Voila(folder, root)
    context = browser.new_context(viewport=VIEWPORT)
    try:
        until("Voila to answer", server.answers)
        shown = context.new_page()
        shown.set_default_timeout(120_000)
        shown.goto(server.url("page.ipynb"))
        yield shown
    finally:
        context.close()
        server.stop()


def test_the_cases_are_exact_on_the_pages_gpu(page):
    verdict = page.locator(".verdict")
    verdict.wait_for()
    text = until("the verdict", lambda: re.search(r"verdict: .*", verdict.text_content() or ""), 540)
    assert text.group() == "verdict: True True []"


def test_a_panel_draws_records_and_measures_in_the_page(page):
    page.locator(".xl-map").first.wait_for()
    painted = page.locator(".xl-map").first
    until("a picture", lambda: int(painted.get_attribute("data-painted") or 0) > 0)
    named = page.locator(".widget-label", has_text=re.compile(r"^\s*device\s*$"))
    menu = page.locator(".widget-dropdown").filter(has=named).locator("select").first

    def entry():
        texts = [t.replace("\N{NO-BREAK SPACE}", " ") for t in menu.locator("option").all_text_contents()]
        return next((text for text in texts if "this browser: " in text and "WebGPU" in text), None)

    menu.select_option(value=until("the page in the menu", entry))
    page.get_by_role("button", name="Recorded on the GPU").click()
    remarks = page.locator(".xl-remark")
    until("the recording", lambda: any("agree" in text for text in remarks.all_text_contents()))
    page.get_by_role("button", name="Run", exact=True).click()
    until("the times", lambda: any("done: " in text and "this browser" in text for text in remarks.all_text_contents()))
    assert page.locator(".xl-error").all_text_contents() == []
