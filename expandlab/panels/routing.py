"""Where the kernel handles what a panel's controls send: where the page says, so that a busy cell blocks no slider.

JupyterLab sends widget messages to a subshell, which answers while a cell runs. ipykernel 7.4 instead takes each
message to the shell that last *sent* something for the same widget, and that is the main one, which made the widget
and may be busy.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets


def follow_the_page(widget: widgets.Widget) -> None:
    """Have `widget` and everything inside it answer on the shell that the page names."""
    comm = getattr(widget, "comm", None)
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = _as_the_page_says
    for child in getattr(widget, "children", ()):
        follow_the_page(child)


def _as_the_page_says(data: Any, subshell: str | None) -> str | None:
    return subshell
