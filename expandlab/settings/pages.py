"""The settings of the panels that show one page: what is drawn follows from them alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from expandlab import counts as _counts
from expandlab.settings import checks
from expandlab.settings.base import CountsSettings

TRACE_THREADS = (4, 8, 16, 32, 64)
# Strategies one below the other, as many as a page holds.
MOST_SHOWN = 6

BUCKET_STRATEGIES = ("po2_buckets", "po2_merged", "po2_range")


@dataclass(frozen=True)
class BucketSettings(CountsSettings):
    """Everything that determines the picture of a bucket layout.

    strategy: one of `BUCKET_STRATEGIES`. src: the one whose bits are shown.
    room: the buffers are sized for so many times the src and the items that there are.
    rounded: whether each bucket's threads are rounded up to whole subgroups; False shows what happens without.
    workgroup_size, subgroup_size: of the model, in threads and lanes.
    """

    panel: str = "buckets"
    strategy: str = "po2_merged"
    src: int = 0
    room: int = 1
    rounded: bool = True
    workgroup_size: int = 64
    subgroup_size: int = 8

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "strategy": checks.one_of(lambda: list(BUCKET_STRATEGIES)),
        "src": checks.whole(0, 2**31 - 1),
        "room": checks.whole(1, 4096),
        "rounded": checks.flag,
        "workgroup_size": checks.one_of(lambda: [32, 64, 128, 256]),
        "subgroup_size": checks.one_of(lambda: [4, 8, 16, 32, 64]),
    }

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategy."""
        return (self.strategy,)

    @property
    def stem(self) -> str:
        """The strategy and the source."""
        return f"{self.panel}-{self.strategy}-{self.source}"


def _views() -> list[str]:
    from expandlab.expansion import traces

    return list(traces.VIEWS)


@dataclass(frozen=True)
class SearchSettings(CountsSettings):
    """Everything that determines the picture of a trace: a prefix sum, a search, a counter, step by step.

    view: a name of `expandlab.expansion.traces.VIEWS`. step: which one is shown, from 0; one beyond the last is the
    last. threads: of a workgroup (the shaders run with 32 to 256; fewer fit a page). thread: the one that searches.
    order: in which atomics are served and workgroups take turns: 0 = in order, else a seed. put_off: whether the
    workgroup with the first ticket of the look-back is held up.
    """

    panel: str = "search"
    view: str = "passes"
    step: int = 0
    threads: int = 4
    thread: int = 0
    order: int = 0
    put_off: bool = False

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "view": checks.one_of(_views),
        "step": checks.whole(0, 2**31 - 1),
        "threads": checks.one_of(lambda: list(TRACE_THREADS)),
        "thread": checks.whole(0, 2**32 - 1),
        "order": checks.whole(0, 2**31 - 1),
        "put_off": checks.flag,
    }

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategy whose shaders the view follows."""
        from expandlab.expansion import traces

        return (traces.STRATEGIES[self.view],)

    @property
    def stem(self) -> str:
        """The view and the source."""
        return f"{self.panel}-{self.view}-{self.source}"


@dataclass(frozen=True)
class BalanceSettings(CountsSettings):
    """Everything that determines the picture of lanes at work, step by step, in several strategies at once.

    shown: names of `strategies()`, in this order, at most `MOST_SHOWN`. step: which one is marked, from 0; a strategy
    with fewer steps has finished. workgroup_size, subgroup_size: of the model, in threads and lanes.
    """

    panel: str = "balance"
    shown: tuple[str, ...] = ("workgroup_scan", "tile_search", "head_scan", "size_classes")
    step: int = 0
    workgroup_size: int = 64
    subgroup_size: int = 32

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "shown": checks.some_of(checks.strategy_names, MOST_SHOWN),
        "step": checks.whole(0, 2**31 - 1),
        "workgroup_size": checks.one_of(lambda: [32, 64, 128, 256]),
        "subgroup_size": checks.one_of(lambda: [4, 8, 16, 32, 64]),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shown", tuple(self.shown))

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies shown."""
        return self.shown


@dataclass(frozen=True)
class DistributionSettings(CountsSettings):
    """Everything that determines the picture of a distribution.

    bins: `powers` of two, or `equal` widths. compare: a kind of `counts.kinds()` beside it, with as many src and the
    same mean; or None.
    """

    panel: str = "distribution"
    items: int | None = 2000
    mean: float = 8.0
    bins: str = "powers"
    compare: str | None = None

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "bins": checks.one_of(lambda: ["powers", "equal"]),
        "compare": checks.one_of(_counts.kinds, optional=True),
    }


def _measured(value: Any) -> str | None:
    """A `Series` as plain data, or None."""
    if value is None:
        return None
    rows = value.get("rows") if isinstance(value, Mapping) else None
    good = isinstance(rows, (list, tuple)) and all(
        isinstance(row, Mapping)
        and set(row) == {"strategy", "src", "median_ms", "q1_ms", "q3_ms", "samples"}
        and isinstance(row["strategy"], str)
        and all(
            isinstance(row[name], (int, float)) and not isinstance(row[name], bool) and 0 < row[name] < 1e12
            for name in ("src", "median_ms", "q1_ms", "q3_ms", "samples")
        )
        for row in rows
    )
    texts = good and all(isinstance(value.get(name), str) for name in ("device", "driver", "timer"))
    flags = good and all(isinstance(value.get(name), bool) for name in ("software", "cancelled"))
    known = {"rows", "device", "driver", "timer", "software", "cancelled", "left_out"}
    if texts and flags and set(value) <= known and isinstance(value.get("left_out"), Mapping):
        return None
    return "use what Run measured, or null"


@dataclass(frozen=True)
class PathSettings(CountsSettings):
    """Everything that determines the picture of the front end's cost.

    shown: names of `strategies()`, at most `MOST_SHOWN`. workgroup_size: threads. measured: what Run found, a `Series`
    as plain data, so that the picture follows from its settings alone; None before.
    """

    panel: str = "api_paths"
    source: str = "constant"
    items: int | None = 1000
    mean: float = 64.0
    shown: tuple[str, ...] = (
        "dispatch_each", "draw_indirect_count", "po2_buckets", "prefix_search", "task_mesh", "work_graph"
    )  # fmt: skip
    workgroup_size: int = 64
    measured: Mapping[str, Any] | None = None

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "shown": checks.some_of(checks.strategy_names, MOST_SHOWN),
        "workgroup_size": checks.one_of(lambda: [32, 64, 128, 256]),
        "measured": _measured,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shown", tuple(self.shown))

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies shown."""
        return self.shown
