"""The editor of a graph's document: passes, accesses, resources and devices one at a time, or all of it as JSON."""

from __future__ import annotations

import copy
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from expandlab.errors import GraphError
from expandlab.graph import documents, editing
from expandlab.panels.graph_part import Part
from expandlab.panels.graph_passes import AccessPart, PassPart
from expandlab.panels.graph_resources import DevicePart, ResourcePart
from expandlab.panels.parts import button, explain, shown
from expandlab.panels.silence import Silent, together
from expandlab.settings.checks import DEEPEST, within

_FIELD = re.compile(
    r"\b(mode|usage|range|mips|layers|aspects|independent|resource|device|queue|cost_us|after|before|size|kind|"
    r"imported|side_effect)\b(?:=| of )"
)


class TextPart(Part):
    """All of it as JSON. wrong: what the typed text is not, or empty."""

    title = "Graph as JSON"

    def __init__(self, take: Callable[[dict[str, Any]], None], refuse: Callable[[], None]):
        super().__init__(take)
        self.wrong = ""
        self._refuse = refuse
        self.text = widgets.Textarea(
            continuous_update=False, placeholder="The graph as JSON",
            layout=widgets.Layout(width="100%", height="230px", margin="2px 0 0"),
        )  # fmt: skip
        self.text.tooltip = "The graph as JSON"
        self.fields = {"text": self.text}
        self._watch({"text": self._typed})

    def _show(self) -> None:
        self.wrong = ""
        self.text.value = json.dumps(self.document, indent=1)

    def _typed(self, text: str) -> None:
        try:
            found = json.loads(text, parse_constant=_no_number, object_pairs_hook=documents.once)
            if not isinstance(found, dict):
                raise ValueError("give an object with resources and passes")
            if not within(found):
                raise ValueError(f"it is nested deeper than {DEEPEST} levels")
        except (ValueError, RecursionError) as error:
            self.wrong = f"the graph as typed is not JSON: {error}"
            self.complain(self.wrong, "text")
            self._refuse()
            return
        self.take(found)


class GraphEditor(Silent):
    """Widgets that change a document. document: as it stands. complaint: what is wrong with the text, or empty.

    change: called with nothing whenever the user changed the document. turn: held while the controls change; whoever
    draws on another thread than the one that changes the document speaks when that has spoken. passes, accesses,
    resources, devices, text: the parts. to_accesses: the button that turns slots and connections into accesses, which
    the parts can edit.
    """

    def __init__(self, change: Callable[[], None], turn: threading.RLock | None = None):
        super().__init__()
        self._change = change
        self.document: dict[str, Any] = {}
        self.passes = PassPart(self._take)
        self.accesses = AccessPart(self._take, self.passes)
        self.resources = ResourcePart(self._take)
        self.devices = DevicePart(self._take)
        self.text = TextPart(self._take, change)
        self._parts: tuple[Part, ...] = (self.passes, self.accesses, self.resources, self.devices, self.text)
        for part in self._parts:
            part.held = self._held
        self._speaking = threading.RLock() if turn is None else turn
        self.to_accesses = button(
            "Turn into accesses", "Write the slots and connections as the accesses that they mean", self._turn
        )
        self.goto = button("Go to it", "Choose the pass, access or resource that the error is about", self._go)
        shown(self.goto, False)
        self._where: dict[str, Any] = {}
        # What `locate` was told while the controls still show the document before; None when they do not.
        self._later: list[GraphError | None] | None = None
        self._holding = False

    @property
    def complaint(self) -> str:
        """What is wrong with the JSON as typed."""
        return self.text.wrong

    def groups(self) -> tuple[widgets.VBox, ...]:
        """The groups of controls."""
        first = self.passes.box()
        first.children = [*first.children[:1], self.to_accesses, *first.children[1:]]
        last = self.text.box()
        devices = self.devices.box()
        resources = self.resources.box()
        resources.children = [*resources.children, *devices.children]
        return first, self.accesses.box(), resources, last

    def show(self, document: Any) -> None:
        """Show a document, without calling `change`."""
        with self._speaking:
            self._show(copy.deepcopy(dict(document)))

    def _show(self, document: Any) -> None:
        self.document = document
        slots = documents.has_slots(self.document)
        for part in self._parts:
            part.show(self.document)
            part.complain("")
        shown(self.to_accesses, slots)
        for part in (self.passes, self.accesses, self.resources):
            if slots:
                part.enable(False)
            for one in part.buttons.values():
                one.disabled = slots
        self._where = {}
        shown(self.goto, False)

    def locate(self, error: GraphError | None) -> None:
        """Say at its place what the planner refuses; None takes it away."""
        with self._speaking:
            if self._later is None:
                self._locate(error)
            else:
                self._later.append(error)

    def _locate(self, error: GraphError | None) -> None:
        where = dict(error.where) if error is not None else {}
        place: Part | None = None
        if error is not None:
            place = self._place(where)
        for part in self._parts:
            part.complain(
                explain(error) if error is not None and part is place else "", self._field(error, where, part)
            )
        self._where = where
        shown(self.goto, bool(where) and not self._chosen(where))

    def _place(self, where: dict[str, Any]) -> Part:
        if documents.has_slots(self.document):
            return self.text
        if where.get("access") is not None or (where.get("passes") and where.get("resource")):
            return self.accesses
        if where.get("passes"):
            return self.passes
        if "device" in where:
            return self.devices
        return self.resources if "resource" in where else self.text

    def _field(self, error: GraphError | None, where: dict[str, Any], part: Part) -> str | None:
        """The control that is marked: only where the thing that is wrong is the one that is shown."""
        if error is None or not self._chosen(where):
            return None
        if part is self.devices:
            return "devices"
        said = [where.get("field"), *(match.group(1) for match in _FIELD.finditer(str(error)))]
        return next((name for name in said if name in part.fields), None)

    def _chosen(self, where: dict[str, Any]) -> bool:
        """Whether what an error is about is what the parts show."""
        passes = where.get("passes")
        if passes and self.passes.name not in passes:
            return False
        if where.get("access") is not None:
            return self.accesses.number == where["access"]
        if passes and "resource" in where:
            return self.accesses.fields["resource"].value == where["resource"]
        return bool(passes) or where.get("resource") in (None, self.resources.name)

    def _go(self) -> None:
        passes, resource = self._where.get("passes"), self._where.get("resource")
        if passes:
            self.passes.choose(passes[0])
            place = self._where.get("access")
            if place is None:
                used = [item.get("resource") for item in editing.accesses(self.document, passes[0])]
                place = used.index(resource) if resource in used else None
            if place is not None:
                self.accesses.chosen.value = place
        elif isinstance(resource, str):
            self.resources.choose(resource)
        self._change()

    def _turn(self) -> None:
        try:
            self._take(documents.read(self.document).to_dict())
        except GraphError as error:
            self.locate(error)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Changes of the controls inside are told at the end: the picture goes first."""
        with self._speaking:
            if self._holding:
                yield
                return
            controls = [control for part in self._parts for control in part.controls()]
            self._holding = True
            try:
                with together([*controls, *(control.layout for control in controls)]):
                    yield
            finally:
                self._holding = False

    def _take(self, document: dict[str, Any]) -> None:
        """The picture of the new document first, if this thread draws it; then the controls, then what is wrong."""
        with self._held():
            self.document, self.text.wrong = document, ""
            self._later = told = []
            try:
                self._change()
            finally:
                self._later = None
                self._show(document)
            for error in told:
                self._locate(error)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")
