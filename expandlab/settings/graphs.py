"""The settings of the frame-graph panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from expandlab.graph import documents
from expandlab.graph.examples import EXAMPLES
from expandlab.graph.plan import MODES
from expandlab.graph.schedule import SCHEDULES
from expandlab.graph.simulate import Machine
from expandlab.settings import checks
from expandlab.settings.base import PanelSettings, SettingsError

if TYPE_CHECKING:
    from expandlab.graph import FrameGraph

OWN = "own"
_MACHINE = Machine()
# The settings that are the machine's, by the names of its fields.
COSTS = tuple(item.name for item in fields(Machine))
# Of one cost: a hundred seconds.
MOST_US = 1e8
VIEWS = ("graph", "barriers", "memory", "timeline", "connections", "schedules")
SHOWN = (*MODES, "both")


@dataclass(frozen=True)
class GraphSettings(PanelSettings):
    """Everything that determines the picture of a frame graph.

    example: a name in `graph.examples.EXAMPLES`, or `own`: then `graph` is the document itself.
    view: what of the plan is shown, one of `VIEWS`. mode: `dag`, `chain`, or `both` beside each other.
    tags: False ignores declared independence. schedule: as of `FrameGraph.compile`.
    graph: in either schema, passes with accesses or passes with slots.
    barrier_us, wait_us, copy_us, copy_gb_per_s, pass_us, peer_access: what the simulated machine costs, as of
    `graph.simulate.Machine`, which names the source of each default.
    """

    panel: str = "frame_graph"
    example: str = "two_writers"
    graph: Mapping[str, Any] | None = None
    view: str = "graph"
    mode: str = "both"
    tags: bool = True
    schedule: str = "depth"
    barrier_us: float = _MACHINE.barrier_us
    wait_us: float = _MACHINE.wait_us
    copy_us: float = _MACHINE.copy_us
    copy_gb_per_s: float = _MACHINE.copy_gb_per_s
    pass_us: float = _MACHINE.pass_us
    peer_access: bool = _MACHINE.peer_access

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "example": checks.one_of(lambda: [*EXAMPLES, OWN]),
        "graph": checks.document,
        "view": checks.one_of(lambda: list(VIEWS)),
        "mode": checks.one_of(lambda: list(SHOWN)),
        "tags": checks.flag,
        "schedule": checks.one_of(lambda: list(SCHEDULES)),
        "barrier_us": checks.number(0, MOST_US),
        "wait_us": checks.number(0, MOST_US),
        "copy_us": checks.number(0, MOST_US),
        "copy_gb_per_s": checks.number(0.001, 1e6),
        "pass_us": checks.number(0, MOST_US),
        "peer_access": checks.flag,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.example == OWN and self.graph is None:
            raise SettingsError("graph=None: give the graph as JSON when example is 'own'", name="graph")

    @property
    def document(self) -> Mapping[str, Any]:
        """The graph shown, as JSON."""
        return self.graph if self.example == OWN and self.graph is not None else EXAMPLES[self.example].document

    @property
    def title(self) -> str:
        """What the graph is called."""
        return "a graph of your own" if self.example == OWN else EXAMPLES[self.example].title

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes shown, the older one first."""
        return ("chain", "dag") if self.mode == "both" else (self.mode,)

    @property
    def machine(self) -> Machine:
        """What the simulation assumes."""
        return Machine(**{name: getattr(self, name) for name in COSTS})

    def frame_graph(self) -> FrameGraph:
        """The graph shown. Raises GraphError naming what is wrong with its document."""
        return documents.read(self.document)

    @property
    def stem(self) -> str:
        """The example and the view."""
        return f"{self.panel}-{self.example}-{self.view}"
