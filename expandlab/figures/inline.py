"""The small picture that a `ThreadMap` shows of itself in a notebook."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

from expandlab.figures import alt, threads
from expandlab.figures.canvas import Canvas, defaults
from expandlab.figures.render import render

if TYPE_CHECKING:
    from expandlab.expansion.thread_map import ThreadMap

_WIDTH = 960


def map_html(map: ThreadMap) -> str:
    """The pass-2 threads as an image with its headline: HTML, everything in it escaped."""
    with defaults():
        grid = threads.grids([map], _WIDTH)[0]
        canvas = Canvas(_WIDTH, threads.height(grid) + 8)
        threads.draw(canvas, 0, 4, map, int(map.src.max(initial=-1)) + 1, grid)
    said = alt.map_text(map)
    png = render(canvas.figure, "png", title=alt.title_of(map.strategy), description=said)
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure style="margin:0"><figcaption>{escape(alt.headline(map))}</figcaption>'
        f'<img src="data:image/png;base64,{data}" alt="{escape(said, quote=True)}" '
        f'style="max-width:100%;width:{_WIDTH}px;background:#fff">'
        f"<div>{escape(threads.note(map, grid))}</div></figure>"
    )
