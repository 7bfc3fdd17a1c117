"""What runs in a page: the script that plays an exported plan with the browser's own WebGPU."""

from __future__ import annotations

from pathlib import Path

PLAYER = Path(__file__).parent / "player.js"
EXAMPLE = Path(__file__).parent / "example.html"
