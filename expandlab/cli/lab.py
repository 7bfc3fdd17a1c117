"""Starts JupyterLab on the notebooks: loopback only, its token kept."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from expandlab.errors import ExpandlabError


def notebooks_folder() -> Path:
    """The folder that holds `notebooks/`: the checkout, or the current folder."""
    for folder in (Path(__file__).parent.parent.parent, Path.cwd()):
        if (folder / "notebooks" / "00_start_here.ipynb").is_file():
            return folder
    raise ExpandlabError(
        "no notebooks here: run `expandlab lab` in a checkout of expandlab, in the folder that holds notebooks/"
    )


def command(root: Path, port: int, browser: bool) -> list[str]:
    """The JupyterLab command line."""
    line = [
        sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}",
        f"--ServerApp.root_dir={root}", "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb",
        "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    if not browser:
        line.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Jupyter asks for the flag; a container's only user is often root.
        line.append("--allow-root")
    return line


def serve(port: int, browser: bool) -> int:
    """Run JupyterLab until it ends; returns its exit code."""
    if importlib.util.find_spec("jupyterlab") is None:
        raise ExpandlabError("JupyterLab is not installed: pip install 'expandlab[lab]'")
    root = notebooks_folder()
    try:
        return subprocess.run(command(root, port, browser), cwd=root, check=False).returncode
    except KeyboardInterrupt:
        return 0
