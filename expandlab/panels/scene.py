"""A picture that the page draws from what is laid out here, with everything in it open to pointer and keys."""

from __future__ import annotations

import json
from typing import Any

from traitlets import Bytes, Int, List, Unicode

from expandlab.panels.desk import Desk, joined, style


class SceneView(Desk):
    """A scene. drawn: how many were shown so far; the page says it in `data-drawn` once one is painted.

    chosen: the pass that was clicked, or chosen with Enter. wrong: the passes that an error is about, marked there.
    """

    _esm = joined(("downloads.js", "scene.js"))
    _css = style()

    alt = Unicode("").tag(sync=True)
    drawn = Int(0).tag(sync=True)
    # JSON as bytes: as a Dict the widgets on both sides would walk and compare every number of it.
    packed = Bytes().tag(sync=True)
    chosen = Unicode("").tag(sync=True)
    wrong = List(Unicode()).tag(sync=True)

    @property
    def scene(self) -> dict[str, Any]:
        """What is shown; empty before the first."""
        return json.loads(self.packed) if self.packed else {}

    def show(self, scene: dict[str, Any], alt: str) -> None:
        """Show a scene, as of `figures.scene.Scene.to_dict`."""
        with self.hold_sync():
            self.packed = json.dumps(scene, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
            self.alt = alt
            self.drawn += 1
