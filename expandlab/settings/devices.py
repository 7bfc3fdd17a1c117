"""The settings of the panels that use several devices: a plan on them, and loadouts searched on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from expandlab.graph.device_examples import DEVICE_EXAMPLES
from expandlab.settings import checks
from expandlab.settings.base import PanelSettings

if TYPE_CHECKING:
    from expandlab.graph import FrameGraph
    from expandlab.graph.plan import Plan

DEVICE_VIEWS = ("validity", "timeline", "plan")
BUFFER_SIZES = tuple(2**power for power in range(12, 25, 2))


def _number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def _stretch(value: Any) -> str | None:
    return None if _number(value, 1, 10_000) else "use a number from 1 to 10 000"


def _numbers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(k, str) and _number(v, 0, 1e15) for k, v in value.items())


def _timed(value: Any) -> str | None:
    """A `TimedPlan` as plain data, or None."""
    if value is None:
        return None
    told = "use what Run measured, or null"
    names = {"devices", "costs_us", "machine", "measured_us", "spans", "software", "cancelled", "equal"}
    if not isinstance(value, Mapping) or set(value) != names:
        return told
    devices, spans, runs = value["devices"], value["spans"], value["measured_us"]
    machine = {"barrier_us", "wait_us", "copy_us", "copy_gb_per_s", "pass_us"}
    good = (
        isinstance(devices, Mapping)
        and all(isinstance(k, str) and isinstance(v, str) for k, v in devices.items())
        and _numbers(value["costs_us"])
        and _numbers(value["machine"])
        and set(value["machine"]) == machine
        and value["machine"]["copy_gb_per_s"] > 0
        and isinstance(runs, (list, tuple))
        and len(runs) > 0
        and all(_number(run, 1e-9, 1e15) for run in runs)
        and isinstance(spans, (list, tuple))
        and all(
            isinstance(span, Mapping)
            and set(span) == {"device", "kind", "name", "begin_us", "end_us"}
            and all(isinstance(span[name], str) for name in ("device", "kind", "name"))
            and all(_number(span[name], 0, 1e15) for name in ("begin_us", "end_us"))
            for span in spans
        )
        and all(isinstance(value[name], bool) for name in ("software", "cancelled", "equal"))
    )
    return None if good else told


@dataclass(frozen=True)
class DeviceSettings(PanelSettings):
    """Everything that determines the picture of a plan on several devices.

    example: a name of `graph.device_examples.DEVICE_EXAMPLES`. size: bytes of each buffer. view: one of
    `DEVICE_VIEWS`. stretch: when it runs, how many microseconds a pass takes for each that it declares. measured: what
    Run found, as plain data; None before.
    """

    panel: str = "devices"
    example: str = "readers"
    size: int = 65536
    view: str = "validity"
    stretch: float = 50.0
    measured: Mapping[str, Any] | None = None

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "example": checks.one_of(lambda: list(DEVICE_EXAMPLES)),
        "size": checks.one_of(lambda: list(BUFFER_SIZES)),
        "view": checks.one_of(lambda: list(DEVICE_VIEWS)),
        "stretch": _stretch,
        "measured": _timed,
    }

    def frame_graph(self) -> FrameGraph:
        """The graph shown."""
        from expandlab.graph import FrameGraph

        return FrameGraph.from_json(DEVICE_EXAMPLES[self.example].document(self.size))

    def plan(self) -> Plan:
        """Its plan."""
        return self.frame_graph().compile("dag")

    @property
    def stem(self) -> str:
        """The example and the view."""
        return f"{self.panel}-{self.example}-{self.view}"


LOADOUT_VIEWS = ("pool", "graph", "builds")
MOST_ITEMS = 24
MOST_K = 200


def _share(value: Any) -> str | None:
    return None if _number(value, 0, 0.95) else "use a number from 0 to 0.95"


def _filters() -> list[str]:
    from expandlab.relics.loadouts import FILTERS

    return list(FILTERS)


def _strategies() -> list[str]:
    from expandlab.expansion import strategies

    return [name for name, item in strategies().items() if not item.modelled]


_REPORT = {"scored", "possible", "frames", "wall_ms", "words_back_per_frame", "devices", "shares", "kept", "software",
           "cancelled"}  # fmt: skip


def _found(value: Any) -> str | None:
    """What a search found, as plain data, or None."""
    if value is None:
        return None
    good = isinstance(value, Mapping) and set(value) == {"picks", "scores", "report"}
    if good:
        picks, scores, report = value["picks"], value["scores"], value["report"]
        good = (
            isinstance(picks, (list, tuple))
            and isinstance(scores, (list, tuple))
            and len(picks) == len(scores)
            and all(_number(score, -1e30, 1e30) for score in scores)
            and all(
                isinstance(pick, (list, tuple)) and len(pick) == 6 and all(type(n) is int and n >= 0 for n in pick)
                for pick in picks
            )
            and isinstance(report, Mapping)
            and set(report) == _REPORT
            and all(_number(report[name], 0, 1e18) for name in ("scored", "possible", "frames", "wall_ms",
                                                                 "words_back_per_frame"))
            and all(isinstance(report[name], (list, tuple)) for name in ("devices", "shares", "kept"))
            and all(isinstance(report[name], bool) for name in ("software", "cancelled"))
        )  # fmt: skip
    return None if good else "use what Run found, or null"


@dataclass(frozen=True)
class LoadoutSettings(PanelSettings):
    """Everything that determines the picture of a search for loadouts.

    file: a file of relics, or None: then `items` for each slot are generated from `seed`. Of a file's relics the first
    `items` of each slot are taken. sets: a name of `relics.loadouts.FILTERS`. drop: the share of each slot's relics
    that is culled. k: how many builds. device_count: how many devices share the frame. strategy: how partial loadouts
    are expanded. view: one of `LOADOUT_VIEWS`. found: what Run found, as plain data; None before.
    """

    panel: str = "search_loadouts"
    file: str | None = None
    items: int = 16
    seed: int = 0
    sets: str = "pair"
    drop: float = 0.25
    k: int = 10
    device_count: int = 1
    strategy: str = "prefix_search"
    view: str = "pool"
    found: Mapping[str, Any] | None = None

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "file": checks.text,
        "items": checks.whole(1, MOST_ITEMS),
        "seed": checks.whole(0, 2**31 - 1),
        "sets": checks.one_of(_filters),
        "drop": _share,
        "k": checks.whole(1, MOST_K),
        "device_count": checks.whole(1, 4),
        "strategy": checks.one_of(_strategies),
        "view": checks.one_of(lambda: list(LOADOUT_VIEWS)),
        "found": _found,
    }

    def relics(self) -> Any:
        """The relics. Raises RelicsError for a file that cannot be read."""
        from expandlab import relics
        from expandlab.relics.model import Relics

        if not self.file:
            return relics.make(self.items, seed=self.seed)
        read = relics.load(self.file)
        few = [relic for items in read.by_slot().values() for relic in items[: self.items]]
        return Relics(tuple(few), read.source)

    @property
    def stem(self) -> str:
        """The filter and the view."""
        return f"{self.panel}-{self.sets}-{self.view}"
