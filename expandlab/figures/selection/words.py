"""What all views of a selection say alike."""

from __future__ import annotations

from expandlab.figures import page
from expandlab.figures.canvas import Canvas
from expandlab.settings import TopKSettings
from expandlab.topk import inputs, top_k_methods


def title(settings: TopKSettings, about: str = "") -> str:
    """The method's title, or `about`, and the sizes."""
    what = "largest" if settings.largest else "smallest"
    return f"{about or top_k_methods()[settings.method].title}: the {settings.k:,} {what} of {settings.n:,} scores"


def source(settings: TopKSettings) -> str:
    """Where the scores come from: `random, seed 0: normal, in random order`."""
    return f"{settings.kind}, seed {settings.seed}: {inputs.kinds()[settings.kind]}"


def sentence(settings: TopKSettings, about: str = "") -> str:
    """Both, for the alternative text."""
    return f"{title(settings, about)} ({source(settings)})"


def check(right: bool, k: int) -> str:
    """Whether the result is the definition's."""
    if right:
        return f"The result equals the definition in NumPy, a stable sort: all {k:,} indices, ties and NaN included"
    return "The result differs from the definition in NumPy: this is a fault of expandlab"


def heading(canvas: Canvas, settings: TopKSettings, about: str = "") -> float:
    """The page's first line; returns where the rest begins."""
    return page.heading(canvas, title(settings, about), source(settings))
