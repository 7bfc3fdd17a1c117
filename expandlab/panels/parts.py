"""Small pieces that every panel is built of."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

from expandlab.errors import ExpandlabError

# What a person can put right; anything else is a fault of ours and is logged as well.
EXPECTED = (ExpandlabError, ValueError, OverflowError, OSError, MemoryError)
log = logging.getLogger("expandlab.panels")
# Without a handler of the user's, Python would print to the notebook.
log.addHandler(logging.NullHandler())

_STYLE = {"description_width": "112px"}
_ROW = "100%"


def labelled(kind: type[widgets.Widget], description: str, tip: str, **kwargs: Any) -> widgets.Widget:
    """A control with its label, unit and explanation, in the panels' measure."""
    return kind(
        description=description, tooltip=tip, style=_STYLE, layout=widgets.Layout(width=_ROW, margin="0"), **kwargs
    )


def button(text: str, tip: str, act: Callable[[], None], **kwargs: Any) -> widgets.Button:
    """A button that calls `act`."""
    made = widgets.Button(description=text, tooltip=tip, layout=widgets.Layout(width="auto"), **kwargs)
    made.on_click(lambda _: act())
    return made


def group(title: str, children: Sequence[widgets.Widget]) -> widgets.VBox:
    """Controls under a heading."""
    box = widgets.VBox([widgets.HTML(f"<b>{escape(title)}</b>"), *children])
    box.add_class("xl-group")
    return box


def shown(widget: widgets.Widget, visible: bool) -> None:
    """Show or hide a control; a hidden one takes no space."""
    wanted = None if visible else "none"
    if widget.layout.display != wanted:
        widget.layout.display = wanted


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """An HTML table; numbers stand right."""
    top = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table class='xl-table'>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = f"{value:,}" if number else escape(str(value))
    return f"<td class='xl-number'>{text}</td>" if number else f"<td>{text}</td>"


class Message(widgets.HTML):
    """One line that a screen reader announces: an error, or a remark."""

    def __init__(self, role: str):
        super().__init__(layout=widgets.Layout(margin="0"))
        self.text = ""
        self._role = role
        # Whoever draws says it from a thread of its own: what is shown and what is known to be shown stay one.
        self._saying = threading.RLock()

    def say(self, text: str) -> None:
        """Show `text`; nothing where it is empty."""
        with self._saying:
            if text == self.text:
                return
            self.text = text
            css = "xl-error" if self._role == "alert" else "xl-remark"
            self.value = f"<div role='{self._role}' class='{css}'>{escape(text)}</div>" if text else ""


def explain(error: BaseException) -> str:
    """What the error line says of an error."""
    if isinstance(error, EXPECTED):
        return str(error) or type(error).__name__
    log.error("unexpected error in a panel", exc_info=error)
    return f"{type(error).__name__}: {error}. This is a fault of expandlab; the settings (Copy settings) show it again."


def close_all(widget: widgets.Widget) -> None:
    """Close a widget and everything in it, but what others show as well."""
    if getattr(widget, "shared", False):
        return
    for child in getattr(widget, "children", ()):
        close_all(child)
    looks = [getattr(widget, name, None) for name in ("layout", "style")]
    # A panel's own `close` calls this.
    widgets.Widget.close(widget) if isinstance(widget, widgets.Box) else widget.close()
    for look in looks:
        if isinstance(look, widgets.Widget):
            look.close()
