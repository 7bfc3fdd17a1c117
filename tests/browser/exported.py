"""What a panel exports, opened and checked."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from browser.jupyter import until
from browser.panel import Panel
from PIL import Image

from expandlab import export
from expandlab import settings as s

SVG = "{http://www.w3.org/2000/svg}"


def is_what_it_says(path: Path, settings: s.PanelSettings) -> None:
    """Opens an exported file with a library for its format and looks for the settings and the picture's words."""
    found = export.read_provenance(path)
    assert s.from_json(found["settings"]) == settings
    assert {"versions", "commit", "seed"} <= set(found)
    kind = path.suffix
    if kind == ".png":
        with Image.open(path) as image:
            image.load()
            assert image.width > 1000 and len(image.getcolors(2**24)) > 4 and image.info["Description"]
    elif kind == ".svg":
        root = ElementTree.parse(path).getroot()
        assert root.tag == f"{SVG}svg" and len(root.find(f"{SVG}desc").text) > 40
    elif kind == ".pdf":
        data = path.read_bytes()
        assert data.startswith(b"%PDF-") and data.rstrip().endswith(b"%%EOF") and b"/Type /Page" in data
    elif kind == ".csv":
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")]
        head, *rows = csv.reader(lines)
        assert rows and {len(row) for row in rows} == {len(head)}
    else:
        held = json.loads(path.read_text(encoding="utf-8"))
        assert s.from_json(held["settings"]) == settings


def in_every_format(panel: Panel) -> None:
    """Exports all five formats and opens them; one is downloaded, and one compared with what the command line makes."""
    settings = s.from_json(panel.copied())
    for kind in export.FORMATS:
        path = panel.export(kind)
        is_what_it_says(path, settings)
    data = path.read_bytes()
    assert data == export.picture(settings, kind), "the command line makes other bytes"
    with panel.page.expect_download() as waiting:
        panel.map.locator(f".xl-downloads a[download='{path.name}']").last.click()
    assert Path(waiting.value.path()).read_bytes() == data


def reloaded(panel: Panel, opened: dict[str, Any]) -> None:
    """Loads settings that were copied before; then they are what the panel copies again."""
    panel.load(opened)
    until("the settings of before", lambda: panel.copied() == opened)
    assert panel.error() == ""


def run_and_cancelled(panel: Panel) -> None:
    """Run measures to its end; a second one is cancelled at once, which ends it without an error."""
    panel.choose_device()
    panel.press("Run")
    panel.says("done: ")
    assert panel.run_and_cancel()
    assert panel.error() == ""
