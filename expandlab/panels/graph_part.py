"""What the parts of the graph editor share: controls of one thing in the document, and what is wrong with it."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from html import escape
from typing import Any

import ipywidgets as widgets

from expandlab.panels.parts import group
from expandlab.panels.silence import Silent

NONE = ""
Take = Callable[[dict[str, Any]], None]


class Part(Silent, ABC):
    """One group of the editor. take: called with the changed document. document: as it stands.

    fields: the controls by the field of the document that they show, for an error to be shown at one of them.
    """

    title = ""

    def __init__(self, take: Take):
        super().__init__()
        self.take = take
        self.document: dict[str, Any] = {}
        self.fields: dict[str, widgets.Widget] = {}
        self.buttons: dict[str, widgets.Button] = {}
        # The menu of such things, where there is one.
        self.chosen: Any = None
        # Inside it the page is not told of changes; the editor puts its own here, for all its parts.
        self.held: Callable[[], AbstractContextManager[None]] = nullcontext
        self.place = widgets.HTML(layout=widgets.Layout(margin="0"))
        self.complaint = ""

    def rows(self) -> list[widgets.Widget]:
        """The controls, from top to bottom."""
        return list(self.fields.values())

    def controls(self) -> list[widgets.Widget]:
        """Everything that changes with the document."""
        menu = [] if self.chosen is None else [self.chosen]
        return [self.place, *menu, *self.fields.values(), *self.buttons.values()]

    def box(self) -> widgets.VBox:
        """The group."""
        return group(self.title, [self.place, *self.rows()])

    def show(self, document: dict[str, Any]) -> None:
        """Show a document, silently."""
        self.document = document
        with self.silence():
            self._show()

    def complain(self, text: str, field: str | None = None) -> None:
        """Say here what is wrong, and mark the control of `field`; an empty text takes it away."""
        if text != self.complaint:
            self.complaint = text
            self.place.value = f"<div class='xl-place'>{escape(text)}</div>" if text else ""
        for name, control in self.fields.items():
            wrong = bool(text) and name == field
            if wrong != ("xl-wrong" in control._dom_classes):
                (control.add_class if wrong else control.remove_class)("xl-wrong")

    def enable(self, on: bool) -> None:
        """Whether the controls can be used."""
        for control in self.fields.values():
            if control.disabled == on:
                control.disabled = not on

    @abstractmethod
    def _show(self) -> None:
        """Show `document`."""

    def _watch(self, acts: Mapping[str, Callable[[Any], None]]) -> None:
        for name, act in acts.items():
            self.fields[name].observe(lambda event, act=act: None if self.quiet else act(event["new"]), "value")

    def _look(self, _: Any) -> None:
        if not self.quiet:
            self.show(self.document)


def offer(menu: widgets.Dropdown, options: list[Any], value: Any = None) -> None:
    """Give a menu its options; what it showed stays where it still can, unless `value` says otherwise."""
    wanted = menu.value if value is None else value
    if list(menu.options) != options:
        menu.options = options
    values = [option[1] if isinstance(option, tuple) else option for option in options]
    if wanted in values:
        menu.value = wanted
    elif values:
        menu.value = values[0]


def span_text(bounds: Any) -> str:
    """`0 .. 2048`; JSON where it is no span; empty where there is none."""
    if bounds is None:
        return ""
    if isinstance(bounds, (list, tuple)) and len(bounds) == 2 and all(type(end) is int for end in bounds):
        return f"{bounds[0]} .. {bounds[1]}"
    return json.dumps(bounds)


def span(text: str) -> Any:
    """Two whole numbers as typed; the text itself where it is none, for the planner's error to name."""
    parts = [part for part in re.split(r"[.,;:\s]+", text.strip(" ,;[]()")) if part]
    if not parts:
        return None
    return [int(part) for part in parts] if all(re.fullmatch(r"[0-9]{1,20}", part) for part in parts) else text


def names_text(names: Any) -> str:
    """`a, b`; JSON where a name has a comma or the list is none."""
    if not names:
        return ""
    plain = isinstance(names, (list, tuple)) and all(
        isinstance(name, str) and name == name.strip() and name and "," not in name and name[0] != "[" for name in names
    )
    return ", ".join(names) if plain else json.dumps(names)


def names(text: str) -> Any:
    """Names between commas, or a JSON list of them; None where there is nothing."""
    text = text.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return [text]
    return [part.strip() for part in text.split(",") if part.strip()] or None
