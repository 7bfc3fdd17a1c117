"""A sheet of paper measured in pixels: matplotlib's collections behind a few drawing words.

All pictures place what they draw themselves, in pixels of a 100 dpi page with y downwards, so nothing depends on
matplotlib's automatic layout and nothing can overlap that was not planned to.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath, text_to_path

from expandlab.figures import colours as c

DPI = 100
_POINTS = 72 / DPI
_LOCK = threading.RLock()


@contextmanager
def defaults() -> Iterator[None]:
    """Matplotlib's own defaults, whatever the user's rc file or style says, for one thread at a time."""
    ours = {
        key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith(("backend", "webagg"))
    }
    # Unhinted text is as wide on the page as `text_width` says; hinting rounds every letter to whole pixels.
    ours |= {"text.hinting": "none"}
    ours |= {"svg.hashsalt": "expandlab", "svg.fonttype": "path", "text.usetex": False, "pdf.compression": 6}
    with _LOCK, matplotlib.rc_context(ours):
        yield


@lru_cache(maxsize=128)
def _font(size: float, weight: str = "normal", family: str = "DejaVu Sans") -> FontProperties:
    # The families that come with matplotlib, so that every machine draws the same.
    return FontProperties(family=family, size=size * _POINTS, weight=weight)


@lru_cache(maxsize=8192)
def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Width of a line of text, in pixels."""
    if not text:
        return 0.0
    return text_to_path.get_text_width_height_descent(text, _font(size, weight), False)[0] / _POINTS


@lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """One line of characters that the font can draw: file names and driver names may hold anything."""
    font = get_font(findfont(_font(10)))
    kept = (" " if unicodedata.category(char).startswith("C") else char for char in text)
    return "".join(char if font.get_char_index(ord(char)) else "\N{REPLACEMENT CHARACTER}" for char in kept)


def shorten(text: str, size: float, width: float, weight: str = "normal") -> str:
    """`text`, cut to `width` pixels with an ellipsis where it is longer."""
    text = clean(text)
    if text_width(text, size, weight) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = text_width(text[:middle].rstrip() + "…", size, weight) <= width
        low, high = (middle, high) if fits else (low, middle - 1)
    return text[:low].rstrip() + "…" if low else ""


def fitted(
    text: str, size: float, weight: str = "normal", width: float | None = None, smallest: float | None = None
) -> tuple[str, float]:
    """`text` and the size at which it takes at most `width` pixels: it shrinks as far as `smallest` and is then cut."""
    text = clean(text)
    if width is not None:
        while smallest is not None and size > smallest and text_width(text, size, weight) > width:
            size -= 0.5
        text = shorten(text, size, width, weight)
    return text, size


@lru_cache(maxsize=16)
def _digit(char: str, size: float) -> tuple[np.ndarray, np.ndarray, float]:
    path = TextPath((0, 0), char, size=size, prop=_font(size), usetex=False)
    return path.vertices * (1, -1), path.codes, text_width(char, size)


class Canvas:
    """One figure with one axes over all of it, measured in pixels from the top left."""

    def __init__(self, width: float, height: float):
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor=c.BACKGROUND)
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self.axes.set_xlim(0, width)
        self.axes.set_ylim(height, 0)
        self._layer = 1.0

    def _add(self, artist: Any, gid: str | None) -> Any:
        artist.set_gid(gid)
        # Painted in the order of the calls.
        self._layer += 0.001
        artist.set_zorder(self._layer)
        self.axes.add_artist(artist)
        return artist

    def rects(
        self,
        x: Any,
        y: Any,
        width: Any,
        height: Any,
        face: Any,
        *,
        edge: Any = "none",
        line: float = 0.0,
        gid: str | None = None,
        smooth: bool = False,
    ) -> PolyCollection:
        """Rectangles in one collection. x, y: left and top; `face`: uint8 (n, 3), or one colour for all."""
        x, y, width, height = np.broadcast_arrays(*(np.asarray(v, float) for v in (x, y, width, height)))
        x, y, width, height = (np.atleast_1d(v) for v in (x, y, width, height))
        corners = np.stack(
            [np.stack([x, y], -1), np.stack([x + width, y], -1), np.stack([x + width, y + height], -1),
             np.stack([x, y + height], -1)], axis=1,
        )  # fmt: skip
        face = np.asarray(face) / 255 if isinstance(face, np.ndarray) else face
        found = PolyCollection(
            corners, facecolors=face, edgecolors=edge, linewidths=line * _POINTS, antialiaseds=smooth or line > 0
        )
        return self._add(found, gid)

    def polygons(self, corners: Any, face: Any, *, gid: str | None = None) -> PolyCollection:
        """Polygons [[(x, y), ...], ...] in one collection and one colour, or a colour each."""
        return self._add(PolyCollection(corners, facecolors=face, edgecolors="none", antialiaseds=True), gid)

    def hatch(self, x: Any, y: Any, width: Any, height: Any, *, gid: str | None = None) -> PathPatch:
        """One diagonal through each rectangle, all in one path: the mark of what is idle, beside its colour."""
        x, y, width, height = np.broadcast_arrays(*(np.asarray(v, float) for v in (x, y, width, height)))
        ends = np.stack([np.stack([x, y + height], -1), np.stack([x + width, y], -1)], axis=-2).reshape(-1, 2)
        path = Path(ends, np.tile(np.array([Path.MOVETO, Path.LINETO], np.uint8), len(ends) // 2))
        patch = PathPatch(path, fill=False, edgecolor=c.IDLE_HATCH, linewidth=0.8 * _POINTS, capstyle="butt")
        return self._add(patch, gid)

    def lines(
        self, segments: Any, colour: str, line: float = 1.0, *, gid: str | None = None, style: Any = "solid"
    ) -> LineCollection:
        """Line segments [((x0, y0), (x1, y1)), ...] or longer strokes."""
        found = LineCollection(segments, colors=colour, linewidths=line * _POINTS, linestyles=style, capstyle="butt")
        return self._add(found, gid)

    def outline(self, x: Any, y: Any, width: Any, height: Any, line: float, *, gid: str | None = None) -> None:
        """Dark outlines with a white halo, so that they show on every colour."""
        for colour, wide in ((c.BACKGROUND, line + 2.0), (c.INK, line)):
            self.rects(x, y, width, height, "none", edge=colour, line=wide, gid=gid if colour == c.INK else None)

    def image(self, pixels: np.ndarray, x: float, y: float, width: float, height: float, *, gid: str) -> None:
        """uint8 (rows, columns, 3) pixels stretched over a rectangle, unsmoothed."""
        found = self.axes.imshow(
            pixels, extent=(x, x + width, y + height, y), aspect="auto", interpolation="nearest", origin="upper"
        )
        found.set_gid(gid)
        self._layer += 0.001
        found.set_zorder(self._layer)
        self.axes.set_xlim(0, self.width)
        self.axes.set_ylim(self.height, 0)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 11,
        *,
        colour: str = c.INK,
        weight: str = "normal",
        align: str = "left",
        width: float | None = None,
        base: str = "baseline",
        smallest: float | None = None,
        gid: str | None = None,
    ) -> float:
        """A line of text with its baseline at y, in `width` pixels at most; returns the pixels that it takes.

        Text that is too long shrinks as far as `smallest` and is then cut. Never read as mathematics.
        """
        text, size = fitted(text, size, weight, width, smallest)
        if text:
            found = self.axes.text(
                x, y, text, fontproperties=_font(size, weight), color=colour, ha=align, va=base, parse_math=False,
                gid=gid, clip_on=False,
            )  # fmt: skip
            found.set_zorder(9)
        return text_width(text, size, weight)

    def target(self, *_: Any, **__: Any) -> None:
        """What may be pointed at, which paper cannot show; `Scene` keeps it."""

    def code(self, x: float, y: float, text: str, size: float, colour: str, width: float) -> None:
        """A line of code with its baseline at y, cut to `width` pixels."""
        # Every letter of this family is 0.602 em wide.
        text = clean(text)[: max(0, int(width / (0.602 * size)))]
        if text.strip():
            found = self.axes.text(
                x, y, text, fontproperties=_font(size, family="DejaVu Sans Mono"), color=colour, va="baseline",
                parse_math=False, clip_on=False,
            )  # fmt: skip
            found.set_zorder(9)

    def numbers(self, values: Any, x: Any, y: Any, size: float, colour: str, *, gid: str | None = None) -> None:
        """Whole numbers centred at (x, y), all in one path: thousands cost no more than a few."""
        vertices, codes = [], []
        for value, cx, cy in zip(values, x, y, strict=True):
            glyphs = [_digit(char, size) for char in str(int(value))]
            left = cx - sum(glyph[2] for glyph in glyphs) / 2
            for outline, code, advance in glyphs:
                # A digit is 0.73 em high; half of it puts its middle at y.
                vertices.append(outline + np.array([left, cy + 0.365 * size]))
                codes.append(code)
                left += advance
        if vertices:
            path = Path(np.concatenate(vertices), np.concatenate(codes))
            self._add(PathPatch(path, facecolor=colour, edgecolor="none", linewidth=0), gid)

    def numbers_on(
        self, values: np.ndarray, x: np.ndarray, y: np.ndarray, size: float, ground: np.ndarray, *, gid: str
    ) -> None:
        """Numbers on coloured cells, each dark or light, whichever reads better on its `ground`."""
        dark = c.ink_on(ground)
        for mask, colour in ((dark, c.INK), (~dark, c.BACKGROUND)):
            self.numbers(values[mask], x[mask], y[mask], size, colour, gid=gid)


def number_width(values: Any, size: float) -> float:
    """Width of the longest of some whole numbers, in pixels."""
    array = np.asarray(values)
    return text_width("0" * len(str(int(array.max()))), size) if array.size else 0.0


def bytes_text(count: int) -> str:
    """`960 B`, `12.5 KiB`: exact while short."""
    if count < 10_000:
        return f"{count:,} B"
    for unit in ("KiB", "MiB", "GiB"):
        count_in_unit = count / 1024 ** (("KiB", "MiB", "GiB").index(unit) + 1)
        if count_in_unit < 1024 or unit == "GiB":
            return f"{count_in_unit:,.1f} {unit}"
    raise AssertionError


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 thread`, `2 threads`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def spread(widths: Sequence[float], left: float, gap: float) -> list[float]:
    """Left edges of things of these widths that stand in a row."""
    edges = left + np.concatenate([[0.0], np.cumsum(np.asarray(widths, float) + gap)[:-1]]) if len(widths) else []
    return list(edges)
