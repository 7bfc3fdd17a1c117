"""What a search gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab.graph import FrameGraph
from expandlab.results import Result, to_plain


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is: picks `done` of `total`, the time left in seconds, and the best score so far (or None)."""

    done: int
    total: int
    seconds_left: float
    best: float | None


@dataclass(frozen=True)
class SearchShare(Result):
    """What one of several devices searched. failure: why it gave up; what it had taken went to the others."""

    device: str
    picks: int
    passes: int
    gpu_ms: float | None
    failure: str | None = None


@dataclass(frozen=True)
class SearchReport(Result):
    """What a search cost.

    picks: scored in this run. passes: on all devices. gpu_ms: the sum of the passes' times, None without a timer.
    words_back_per_pass: 32-bit words that came back from a device after a pass, at most. cancelled: True where picks
    are left; the token goes on with them. shares: of each device (none for a cluster, whose workers come and go).
    """

    picks: int
    total: int
    passes: int
    gpu_ms: float | None
    wall_ms: float
    words_back_per_pass: int
    devices: tuple[str, ...]
    software: bool
    cancelled: bool
    shares: tuple[SearchShare, ...] = ()

    @property
    def picks_per_second(self) -> float:
        """Picks scored in a second of the wall clock."""
        return self.picks / (self.wall_ms * 1e-3) if self.wall_ms else 0.0

    def __repr__(self) -> str:
        return (
            f"<Report: {self.picks:,} of {self.total:,} picks in {self.passes:,} passes on {', '.join(self.devices)}, "
            f"{self.picks_per_second:,.0f} a second>"
        )


@dataclass(frozen=True, eq=False)
class SearchResult(Result):
    """The k best picks, best first.

    `indices`: uint64, or Python integers in an object array where they do not fit; `values`: float32;
    `picks`: uint32 (k, slots); `report`; `token`: to go on after a cancel, JSON-ready; `graph`: the frame graph of a
    pass.
    """

    indices: np.ndarray
    values: np.ndarray
    picks: np.ndarray
    report: SearchReport
    token: dict[str, Any] = field(repr=False)
    graph: FrameGraph | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph as plain Python."""
        return {name: to_plain(getattr(self, name)) for name in ("indices", "values", "picks", "report", "token")}

    def __repr__(self) -> str:
        best = f", best {self.values[0]} at {self.indices[0]:,}" if len(self.values) else ""
        return f"<SearchResult: {len(self.values):,} of {self.report.total:,} picks{best}>"
