"""A JupyterLab for the tests alone, and a notebook in it as its reader has it before them."""

from __future__ import annotations

import json
import os
import queue
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jupyter_client import BlockingKernelClient

# Nothing here takes that long; a machine that is busy with other things may.
PATIENCE_S = 60

# The tests look at what a page holds, not at the network's far end: nothing leaves the machine.
CHROMIUM_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A WebGPU adapter on a machine without a GPU.
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
)
# How large a page is. What can be pressed is in view.
VIEWPORT = {"width": 1400, "height": 1000}
# JupyterLab asks for a language server, which is not installed, and says so in the console on every start.
EXPECTED_IN_CONSOLE = ("/lsp/status",)


def chromium(playwright: Any, path: str) -> Any:
    """Chromium without a window. As root it starts without its sandbox alone."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    flags = [*CHROMIUM_FLAGS, *(["--no-sandbox"] if root else [])]
    return playwright.chromium.launch(executable_path=path, headless=True, args=flags)


def until(what: str, found: Any, patience: float = PATIENCE_S, seen: Any = None) -> Any:
    """What `found()` returns as soon as it is true; asks again until then. For what sends no event.

    A failure tells what `seen()` returns at the end.
    """
    begun = time.monotonic()
    while True:
        answer = found()
        if answer:
            return answer
        waited = time.monotonic() - begun
        if waited > patience:
            raise AssertionError(f"waited {patience:.0f} s for {what}" + (f"; there is {seen()!r}" if seen else ""))
        # What takes long is asked for less often: each look costs the page time.
        time.sleep(min(0.5, max(0.05, waited / 20)))


class Lab:
    """A running JupyterLab: its own port, token, configuration and files."""

    def __init__(self, folder: Path, root: Path):
        self.folder = folder
        self.root = root
        self.runtime = folder / "runtime"
        self.token = secrets.token_hex(16)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log_path = folder / "jupyterlab.log"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
        # The kernel spec `python3` is found beside the interpreter; everything of the user's is out of the way.
        environment |= {
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.runtime),
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_NO_CONFIG": "1",
            "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        }
        if version("jupyterlab").startswith("4.4."):
            self._keep_every_cell()
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1"]
        command += [f"--ServerApp.port={self.port}", "--ServerApp.port_retries=0"]
        command += [f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={root}"]
        command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.news_url=None"]
        command += ["--LabApp.extension_manager=readonly"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--allow-root")
        with self.log_path.open("w") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            until("JupyterLab to answer", self._answers)
        except BaseException:
            self.stop()
            raise

    def _keep_every_cell(self) -> None:
        """Every cell stays in the page, as it does by default from JupyterLab 4.5 on.

        Before, a cell out of view is hidden or taken out: the n-th in the page is another one than in the file.
        """
        settings = self.folder / "settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"windowingMode": "none"}))

    def _answers(self) -> bool:
        assert self.process.poll() is None, f"JupyterLab ended:\n{self.log()}"
        try:
            return bool(self.ask("api/status"))
        except OSError:
            return False

    def ask(self, path: str, method: str = "GET") -> Any:
        """The answer of the server's REST interface, None where it is empty."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}", headers={"Authorization": f"token {self.token}"}, method=method
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.loads(answer.read() or "null")

    def url(self, notebook: str) -> str:
        """The address of a notebook, in a workspace that remembers no other."""
        return f"http://127.0.0.1:{self.port}/lab/workspaces/auto-{secrets.token_hex(4)}/tree/{notebook}?token={self.token}"

    def connection_file(self, notebook: str) -> Path | None:
        """How to reach the kernel of a notebook, once it has one."""
        for session in self.ask("api/sessions"):
            if session["path"] == notebook and session["kernel"]:
                return self.runtime / f"kernel-{session['kernel']['id']}.json"
        return None

    def end_kernel(self, notebook: str) -> None:
        """Ends the kernel of a notebook, if it has one."""
        for session in self.ask("api/sessions"):
            if session["path"] == notebook:
                self.ask(f"api/sessions/{session['id']}", "DELETE")

    def log(self) -> str:
        """What the server and the kernels wrote on their own standard output and error."""
        return self.log_path.read_text(errors="replace")

    def stop(self) -> None:
        """Ends the server, which ends its kernels."""
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Ear:
    """Listens beside the browser to what a kernel publishes, and keeps what should not be there."""

    def __init__(self, connection_file: Path):
        self.complaints: list[str] = []
        self._connection_file = connection_file
        self._stop = threading.Event()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        assert self._listening.wait(PATIENCE_S)

    def _client(self, **channels: bool) -> BlockingKernelClient:
        client = BlockingKernelClient(connection_file=str(self._connection_file))
        client.load_connection_file()
        wanted = {"shell": False, "iopub": False, "stdin": False, "hb": False, "control": False}
        client.start_channels(**{**wanted, **channels})
        return client

    def _listen(self) -> None:
        client = self._client(iopub=True)
        self._listening.set()
        while not self._stop.is_set():
            try:
                message = client.get_iopub_msg(timeout=0.2)
            except queue.Empty:
                continue
            content = message["content"]
            if message["msg_type"] == "error":
                self.complaints.append("\n".join(content["traceback"]))
            elif message["msg_type"] == "stream" and content["name"] == "stderr":
                self.complaints.append(content["text"])
        client.stop_channels()

    def comms(self) -> int:
        """How many widget models the kernel keeps."""
        client = self._client(shell=True)
        try:
            answer = client.comm_info(target_name="jupyter.widget", reply=True, timeout=PATIENCE_S)
        finally:
            client.stop_channels()
        return len(answer["content"]["comms"])

    def stop(self) -> None:
        """Stops listening."""
        self._stop.set()
        self._thread.join(PATIENCE_S)


class NotebookPage:
    """A notebook in a tab of the browser."""

    def __init__(self, lab: Lab, page: Any, notebook: str):
        self.lab = lab
        self.page = page
        self.notebook = notebook
        self.console: list[str] = []
        self.ear: Ear | None = None
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.console.append(f"exception: {error}"))
        page.goto(lab.url(notebook))
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        self.ear = Ear(until("the kernel", lambda: lab.connection_file(notebook)))

    def _console(self, message: Any) -> None:
        where = message.location.get("url", "")
        if message.type == "error" and not any(part in where for part in EXPECTED_IN_CONSOLE):
            self.console.append(f"{message.text} ({where})")

    def menu(self, name: str, entry: str) -> None:
        """Clicks an entry of the menu bar."""
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        self.page.locator(".lm-Menu-itemLabel", has_text=entry).first.click()

    def cell(self, cell_id: str) -> Any:
        """The cell with that id in the file."""
        stored = json.loads((self.lab.root / self.notebook).read_text(encoding="utf-8"))
        index = [cell["id"] for cell in stored["cells"]].index(cell_id)
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def run_all(self, patience: float = 120) -> None:
        """Runs every cell and waits for the last."""
        self.menu("Run", "Run All Cells")
        self.wait_until_ran(patience)

    def run_cell(self, cell_id: str) -> None:
        """Runs one cell again, as Ctrl+Enter does: Shift+Enter in the last cell would add one."""
        cell = self.cell(cell_id)
        before = cell.locator(".jp-InputArea-prompt").first.text_content()
        cell.locator(".jp-InputArea-editor").click()
        self.page.keyboard.press("Control+Enter")
        prompt = cell.locator(".jp-InputArea-prompt").first
        until("the cell to run again", lambda: prompt.text_content() not in (before, "[*]:"))
        self.wait_until_ran()

    def wait_until_ran(self, patience: float = 120) -> None:
        """Until every code cell has a number and the kernel has nothing to do."""
        prompts = self.page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea-prompt")

        def ran() -> bool:
            texts = prompts.all_text_contents()
            return bool(texts) and all(text.strip("[]: ").isdigit() for text in texts)

        until("all cells to run", ran, patience)
        self.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    def errors(self) -> list[str]:
        """Error outputs and standard error in the cells."""
        kinds = ("application/vnd.jupyter.error", "application/vnd.jupyter.stderr")
        selector = ", ".join(f'.jp-OutputArea-output [data-mime-type="{kind}"]' for kind in kinds)
        selector += ", " + ", ".join(f'.jp-OutputArea-output[data-mime-type="{kind}"]' for kind in kinds)
        return self.page.locator(selector).all_text_contents()

    def complaints(self) -> list[str]:
        """Everything that went wrong anywhere: in a cell, in the browser's console, in the kernel."""
        return [*self.errors(), *self.console, *(self.ear.complaints if self.ear else [])]

    def close(self) -> None:
        """Closes the tab and ends the kernel."""
        if self.ear:
            self.ear.stop()
        self.page.close()
        self.lab.end_kernel(self.notebook)


@contextmanager
def by_hand(notebooks: Mapping[str, dict]) -> Iterator[Callable[[str], NotebookPage]]:
    """For the scripts that are run by hand: a JupyterLab on notebooks of their own (file name -> what it holds), and a
    function that opens one of them in a profile of its own."""
    from conftest import find_chromium
    from playwright.sync_api import sync_playwright

    folder = Path(tempfile.mkdtemp())
    (folder / "root").mkdir()
    for name, held in notebooks.items():
        (folder / "root" / name).write_text(json.dumps(held), encoding="utf-8")
    path = find_chromium()
    if path is None:
        raise SystemExit("no Chromium or Chrome found that starts; `make test` installs one where it may")
    with sync_playwright() as playwright, closing(chromium(playwright, path)) as browser:
        lab = Lab(folder, folder / "root")
        try:
            yield lambda name: NotebookPage(lab, browser.new_context(viewport=VIEWPORT).new_page(), name)
        finally:
            lab.stop()
