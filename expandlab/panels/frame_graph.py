"""The frame-graph panel: a graph of passes as a chain and as a graph, four views of its plan, and an editor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from expandlab.graph import FrameGraph
from expandlab.graph.examples import EXAMPLES
from expandlab.graph.schedule import SCHEDULES
from expandlab.panels.base import first_settings
from expandlab.panels.graph_editor import GraphEditor
from expandlab.panels.pages import PagePanel
from expandlab.panels.parts import group, labelled
from expandlab.panels.silence import Silent
from expandlab.settings import GraphSettings, SettingsError
from expandlab.settings.graphs import OWN, VIEWS

_MODES = [("Chain and graph", "both"), ("Chain", "chain"), ("Graph", "dag")]


class GraphControls(Silent):
    """Widgets for every field of `GraphSettings`.

    change: called whenever the user moves something. own: the controls by the name of their setting; editor: that of
    `graph`.
    """

    def __init__(self, settings: GraphSettings, change: Callable[[], None]):
        super().__init__()
        self._change = change
        self._graph: Any = None
        self.bar: list[widgets.Widget] = []
        self.editor = GraphEditor(self._edited)
        titles = [(item.title, name) for name, item in EXAMPLES.items()]
        self.own: dict[str, widgets.Widget] = {
            "example": labelled(
                widgets.Dropdown, "example", "Which graph; an edited one is your own",
                options=[*titles, ("a graph of your own", OWN)],
            ),
            "view": labelled(widgets.ToggleButtons, "view", "What of the plan is shown", options=list(VIEWS)),
            "mode": labelled(
                widgets.ToggleButtons, "planned as", "A chain links every access to the one before it, as older "
                "frame graphs did", options=_MODES,
            ),
            "tags": labelled(
                widgets.ToggleButtons, "independence", "Whether declared independence counts",
                options=[("Declared", True), ("Ignored", False)],
            ),
            "schedule": labelled(
                widgets.Dropdown, "schedule", "How the order is chosen; optimal is for 10 passes at most",
                options=list(SCHEDULES),
            ),
        }  # fmt: skip
        for name in ("view", "mode", "tags"):
            self.own[name].add_class("xl-mode")
        self.show(settings)
        for widget in self.own.values():
            widget.observe(self._moved, "value")

    def groups(self) -> tuple[widgets.VBox, ...]:
        """What is shown, and the editor."""
        return (group("Frame graph", list(self.own.values())), *self.editor.groups())

    def show(self, settings: GraphSettings) -> None:
        """Set every control to what `settings` say, without calling `change`."""
        with self.silence():
            self._graph = settings.graph
            for name, control in self.own.items():
                control.value = getattr(settings, name)
            self.editor.show(settings.document)

    def fields(self) -> dict[str, Any]:
        """The settings as the controls stand. Raises SettingsError where the editor's text is no JSON."""
        if self.editor.complaint:
            raise SettingsError(self.editor.complaint, name="graph")
        return {name: control.value for name, control in self.own.items()} | {"graph": self._graph}

    def _moved(self, change: Any) -> None:
        if self.quiet:
            return
        if change["owner"] is self.own["example"]:
            chosen = change["new"]
            if chosen == OWN and self._graph is None:
                self._graph = self.editor.document
            self.editor.show(self._graph if chosen == OWN else EXAMPLES[chosen].document)
        self._change()

    def _edited(self) -> None:
        if not self.editor.complaint:
            self._graph = self.editor.document
            with self.silence():
                self.own["example"].value = OWN
        self._change()


class FrameGraphPanel(PagePanel[GraphSettings]):
    """A frame graph and its plan."""

    def _controls(self, settings: GraphSettings) -> GraphControls:
        return GraphControls(settings, self._changed)


def frame_graph(graph: Any = None, *, name: str | None = None, **settings: Any) -> FrameGraphPanel:
    """A panel that shows a frame graph's plan, and edits the graph.

    graph: a `FrameGraph` or its JSON document; None shows an example.
    settings: fields of `GraphSettings`, such as `example="injected"`, `mode="chain"`, `view="barriers"`, `tags=False`.
        What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    if graph is not None:
        document = graph.to_dict() if isinstance(graph, FrameGraph) else graph
        settings = {"example": OWN, **settings, "graph": document}
    chosen, error = first_settings(GraphSettings, settings)
    return FrameGraphPanel(chosen, name=name, error=error)
