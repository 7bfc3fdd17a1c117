"""The page of the top-k panel: one of three views."""

from __future__ import annotations

from expandlab.figures.canvas import defaults
from expandlab.figures.page import Page
from expandlab.figures.selection import bus, steps, stream
from expandlab.settings import TopKSettings

_VIEWS = {"steps": steps.page, "stream": stream.page, "bus": bus.page}


def page(settings: TopKSettings) -> Page:
    """The page that `settings` describe. Raises TooLargeToDraw, and UnsupportedError for what a method caps."""
    with defaults():
        return _VIEWS[settings.view](settings)
