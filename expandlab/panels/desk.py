"""What every widget with a script of ours can do: offer files and put text on the clipboard."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import anywidget

_HERE = Path(__file__).parent


def joined(names: Iterable[str]) -> str:
    """One script of several parts: each is a room of its own, and a widget's module has to be one text."""
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)


def style() -> str:
    """The style sheet of the widgets and of the panels around them."""
    return joined(("canvas.css", "panel.css"))


class Desk(anywidget.AnyWidget):
    """A widget whose script has a `Downloads`."""

    def offer(self, name: str, mime: str, content: bytes) -> None:
        """Offer a file in the page: a link that saves `content` as `name`."""
        self.send({"kind": "download", "name": name, "mime": mime}, [content])

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard of the page's machine, where the browser allows it."""
        self.send({"kind": "copy", "text": text})
