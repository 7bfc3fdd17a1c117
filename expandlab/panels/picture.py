"""A picture that is drawn here and shown in the page, with its alternative text."""

from __future__ import annotations

from traitlets import Bytes, Int, Unicode

from expandlab.panels.desk import Desk, joined, style


class PictureView(Desk):
    """An image. drawn: how many pictures were shown so far; the page says it in `data-drawn` once one is loaded."""

    _esm = joined(("downloads.js", "picture.js"))
    _css = style()

    alt = Unicode("").tag(sync=True)
    drawn = Int(0).tag(sync=True)
    png = Bytes().tag(sync=True)

    def show(self, png: bytes, alt: str) -> None:
        """Show a PNG."""
        # In one message: the page reads all three when it comes, also where the image is the one before.
        with self.hold_sync():
            self.alt = alt
            self.png = png
            self.drawn += 1
