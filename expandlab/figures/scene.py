"""The drawing words of `Canvas`, kept as plain numbers for a page that draws them itself.

A page shows a change sooner if nothing has to be painted here: matplotlib takes most of its time for text and for
packing the pixels. Both sheets are drawn on by the same code, so that what is on the screen is what is exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from expandlab.figures import colours as c
from expandlab.figures.canvas import fitted, text_width


class Scene:
    """A sheet of `width` x `height` pixels. marks: what is drawn, in order; targets: what can be pointed at.

    Marks: `["r", [x, y, w, h, ...], face, edge, line]` rectangles, `face` one colour or one for each;
    `["p", [[x, y, ...], ...], face]` polygons; `["l", [[x, y, ...], ...], colour, line, dashes]` strokes;
    `["t", x, y, text, size, colour, weight, align, width]` text with its baseline at y.
    """

    def __init__(self, width: float, height: float):
        self.width, self.height = width, height
        self.marks: list[list[Any]] = []
        self.targets: list[dict[str, Any]] = []

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, as the page reads it."""
        # Text stands above everything else, as on paper.
        marks = sorted(self.marks, key=lambda mark: mark[0] == "t")
        return {"width": self.width, "height": self.height, "marks": marks, "targets": self.targets}

    def rects(
        self, x: Any, y: Any, width: Any, height: Any, face: Any, *, edge: Any = "none", line: float = 0.0,
        gid: str | None = None, smooth: bool = False,
    ) -> None:  # fmt: skip
        """Rectangles, as of `Canvas.rects`."""
        sides = (x, y, width, height)
        if all(isinstance(side, (int, float)) for side in sides):
            corners = _rounded(sides)
        else:
            corners = _rounded(np.stack([np.atleast_1d(v) for v in _together(*sides)], -1).reshape(-1).tolist())
        if isinstance(face, np.ndarray):
            named = [_hex(colour) for colour in np.atleast_2d(face)]
            face = named[0] if len(named) == 1 else named
        self.marks.append(["r", corners, face, edge, line])

    def polygons(self, corners: Any, face: Any, *, gid: str | None = None) -> None:
        """Polygons, as of `Canvas.polygons`."""
        self.marks.append(["p", [_flat(points) for points in corners], face])

    def hatch(self, x: Any, y: Any, width: Any, height: Any, *, gid: str | None = None) -> None:
        """One diagonal through each rectangle."""
        x, y, width, height = (np.atleast_1d(v) for v in _together(x, y, width, height))
        ends = np.stack([x, y + height, x + width, y], -1)
        self.marks.append(["l", [_rounded(row) for row in ends.tolist()], c.IDLE_HATCH, 0.8, []])

    def lines(
        self, segments: Any, colour: str, line: float = 1.0, *, gid: str | None = None, style: Any = "solid"
    ) -> None:
        """Strokes, as of `Canvas.lines`."""
        # Matplotlib counts dashes in widths of their line.
        dashes = [] if isinstance(style, str) else [round(part * line, 2) for part in style[1]]
        self.marks.append(["l", [_flat(points) for points in segments], colour, line, dashes])

    def text(
        self, x: float, y: float, text: str, size: float = 11, *, colour: str = c.INK, weight: str = "normal",
        align: str = "left", width: float | None = None, smallest: float | None = None, gid: str | None = None,
    ) -> float:  # fmt: skip
        """A line of text, as of `Canvas.text`; returns the pixels that it takes."""
        text, size = fitted(text, size, weight, width, smallest)
        taken = text_width(text, size, weight)
        if text:
            self.marks.append(
                ["t", round(float(x), 2), round(float(y), 2), text, size, colour, weight, align, round(taken, 2)]
            )
        return taken

    def target(
        self, id: str, kind: str, says: Iterable[str], *, box: Sequence[float] | None = None,
        path: Sequence[tuple[float, float]] | None = None, near: Iterable[str] = (),
        more: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Something that can be pointed at or reached with the keys.

        box: (x, y, width, height), or path: the points of a stroke. says: lines, the first a title. near: ids of what
        lights up with it. more: further plain values for the page, as `pass`.
        """
        shape = {"box": _rounded(box)} if box is not None else {"path": _flat(path)}
        self.targets.append({"id": id, "kind": kind, "says": list(says), "near": list(near), **shape, **(more or {})})


def _together(*values: Any) -> list[np.ndarray]:
    return np.broadcast_arrays(*(np.asarray(value, float) for value in values))


def _rounded(values: Iterable[float]) -> list[float]:
    # Most marks are of a few numbers, for which arrays cost more than they save.
    return [round(float(value), 2) for value in values]


def _flat(points: Iterable[Iterable[float]]) -> list[float]:
    return [round(float(value), 2) for point in points for value in point]


def _hex(colour: Sequence[int]) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in colour)
