"""The frame-graph panel: a graph of passes as a chain and as a graph, views of its plan, and an editor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from expandlab.errors import GraphError
from expandlab.figures.graphs.page import Sketch, sketch
from expandlab.graph import FrameGraph
from expandlab.graph.examples import EXAMPLES
from expandlab.graph.schedule import SCHEDULES
from expandlab.graph.simulate import SOURCES
from expandlab.panels.base import first_settings
from expandlab.panels.gains import GainsRun
from expandlab.panels.graph_editor import GraphEditor
from expandlab.panels.pages import PagePanel
from expandlab.panels.parts import button, group, labelled, table
from expandlab.panels.scene import SceneView
from expandlab.panels.silence import Silent
from expandlab.settings import GraphSettings, SettingsError
from expandlab.settings.graphs import COSTS, MOST_US, OWN, VIEWS

_MODES = [("Chain and graph", "both"), ("Chain", "chain"), ("Graph", "dag")]
_COST_LABELS = {
    "barrier_us": "barrier (µs)", "wait_us": "wait (µs)", "copy_us": "copy (µs)", "copy_gb_per_s": "link (GB/s)",
    "pass_us": "pass (µs)",
}  # fmt: skip


class GraphControls(Silent):
    """Widgets for every field of `GraphSettings`.

    change: called whenever the user moves something. own: the controls by the name of their setting; editor: that of
    `graph`. turn: as of `GraphEditor`.
    """

    def __init__(self, settings: GraphSettings, change: Callable[[], None], turn: Any = None):
        super().__init__()
        self._change = change
        self._graph: Any = None
        self.editor = GraphEditor(self._edited, turn)
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
            **{
                name: labelled(
                    widgets.BoundedFloatText, label, f"Simulated. Default: {SOURCES[name]}",
                    min=0.001 if name == "copy_gb_per_s" else 0, max=1e6 if name == "copy_gb_per_s" else MOST_US,
                    step=0.5,
                )
                for name, label in _COST_LABELS.items()
            },
            "peer_access": widgets.Checkbox(
                description="devices copy from each other", indent=False,
                tooltip=f"Simulated. {SOURCES['peer_access']}",
                layout=widgets.Layout(margin="0 0 0 112px", width="auto"),
            ),
        }  # fmt: skip
        for name in ("view", "mode", "tags"):
            self.own[name].add_class("xl-mode")
        self.own["view"].layout.width = "100%"
        self.sources = widgets.HTML(_sources())
        self.bar: list[widgets.Widget] = [self.own["view"]]
        self.show(settings)
        for widget in self.own.values():
            widget.observe(self._moved, "value")

    def groups(self) -> tuple[widgets.VBox, ...]:
        """What is shown, what the simulation assumes, and the editor."""
        shown = [self.own[name] for name in ("example", "mode", "tags", "schedule")]
        costs = group("Simulated machine", [*(self.own[name] for name in COSTS), self.sources])
        first = group("Frame graph", shown)
        first.children = [*first.children, *costs.children]
        return (first, *self.editor.groups())

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


def _sources() -> str:
    """Where the defaults of the simulation come from."""
    first = GraphSettings()
    rows = [(_COST_LABELS.get(name, "peer access"), str(getattr(first, name)), SOURCES[name]) for name in COSTS]
    listed = table(("cost", "default", "where it comes from"), rows)
    return f"<details class='xl-sources'><summary>sources of the defaults</summary>{listed}</details>"


class FrameGraphPanel(PagePanel[GraphSettings]):
    """A frame graph and its plan. page: what is shown, as a `Sketch`; an export draws the same page on paper."""

    page: Sketch | None
    view: SceneView
    # An edit is one step, not a slider's hundred: its picture goes out before what the editor has to say.
    inline = 0.3

    def _look_at(self) -> None:
        self.desk = self.view = SceneView()

    def _controls(self, settings: GraphSettings) -> GraphControls:
        self.view.observe(lambda change: self.controls.editor.passes.choose(change["new"]), "chosen")
        return GraphControls(settings, self._changed, self._turn)

    def close(self) -> None:
        """Close the panel and its parts, and end what it is doing."""
        self.gains.close()
        super().close()

    def _children(self) -> list[widgets.Widget]:
        self.gains = GainsRun(self)
        self.dot = button("Save as DOT", "The plans shown, for Graphviz", self._offer_dot)
        self.saving.rows[0].children = [*self.saving.rows[0].children, self.dot]
        grid, alert, *rest = super()._children()
        *groups, keep = grid.children
        keep.children = [*keep.children, *group("Measured on this device", self.gains.rows()).children]
        grid.children = [*groups, keep]
        return [grid, self.gains.progress, alert, self.controls.editor.goto, *rest, self.gains.results]

    def _draw(self, settings: GraphSettings) -> None:
        try:
            page = sketch(settings)
        except GraphError as error:
            self._locate(error)
            raise
        self._locate(None)
        self.page = page
        self.view.show(page.scene, page.description)

    def _locate(self, error: GraphError | None) -> None:
        """Say in the editor and in the picture what is wrong, unless the document is another one by now."""
        editor = self.controls.editor
        with self._turn:
            if self._stale:
                return
            if error is not None or not editor.complaint:
                editor.locate(error)
            wrong = [] if error is None else [str(name) for name in error.where.get("passes", ())]
            if self.view.wrong != wrong:
                self.view.wrong = wrong

    def _offer_dot(self) -> None:
        if self.page is not None:
            text = "\n".join(plan.to_dot() for plan in self.page.plans)
            self.desk.offer(f"{self.settings.stem}.dot", "text/vnd.graphviz", text.encode())
            self.saving.said.say("offered as DOT below the picture")


def frame_graph(graph: Any = None, *, name: str | None = None, **settings: Any) -> FrameGraphPanel:
    """A panel that shows a frame graph's plan, and edits the graph.

    graph: a `FrameGraph` or its JSON document, of either schema; None shows an example.
    settings: fields of `GraphSettings`, such as `example="injected"`, `mode="chain"`, `view="barriers"`, `tags=False`,
        `wait_us=4`. What is wrong with them shows in the panel's error line, and the defaults are drawn.
    name: a panel opened under the same name before is closed; without one, those of the cell's earlier run are.
    """
    if graph is not None:
        document = graph.to_dict() if isinstance(graph, FrameGraph) else graph
        settings = {"example": OWN, **settings, "graph": document}
    chosen, error = first_settings(GraphSettings, settings)
    return FrameGraphPanel(chosen, name=name, error=error)
