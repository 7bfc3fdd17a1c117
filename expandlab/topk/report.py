"""What a selection gives back: the best scores with their indices, and what every pass cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from expandlab.expansion.report import PassReport, added_transfers, transfer_text
from expandlab.graph import FrameGraph
from expandlab.results import Result


@dataclass(frozen=True)
class SelectionReport(Result):
    """What a selection cost; of several chunks or pushes, the sums over them.

    passes: as of an expansion. `words_back` are the 32-bit words that came back from the device in all;
    `words_back_per_push` the most of one push, or chunk. `scratch_bytes` are the buffers between the passes.
    """

    passes: tuple[PassReport, ...]
    scratch_bytes: int
    wall_ms: float
    device: str
    timer: str
    method: str
    software: bool
    words_back: int
    words_back_per_push: int
    chunks: int = 1
    # Of `wall_ms`, what went by between the host and a device elsewhere, as a page is; None where it is not.
    transfer_ms: float | None = None

    @property
    def gpu_ms(self) -> float | None:
        """Sum of the passes' times, or None without a timer."""
        times = [item.gpu_ms for item in self.passes]
        return None if not times or None in times else float(sum(times))

    def __repr__(self) -> str:
        return f"<Report {self.method} on {self.device}: {_ms(self.gpu_ms)} in {len(self.passes)} passes>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(p.name)}</td><td>{p.workgroups[0]:,}</td><td>{p.threads_launched:,}</td>"
            f"<td>{p.threads_idle:,}</td><td>{_ms(p.gpu_ms)}</td></tr>"
            for p in self.passes
        )
        note = " (software adapter: the CPU is measured)" if self.software else ""
        head = "".join(f"<th>{name}</th>" for name in ("pass", "workgroups", "threads", "idle", "GPU time"))
        return (
            f"<table><caption>{escape(self.method)} on {escape(self.device)}{note}; {self.words_back:,} words back, "
            f"scratch {self.scratch_bytes:,} bytes{transfer_text(self)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


@dataclass(frozen=True, eq=False)
class TopK(Result):
    """The k best, best first.

    `values`: of the input's dtype; `indices`: uint32, of a stream uint64; `report`: what it cost; `graph`: the frame
    graph that ran, None where nothing had to run.
    """

    values: np.ndarray
    indices: np.ndarray
    report: SelectionReport
    graph: FrameGraph | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The result and the report as plain Python; the graph as the list of its passes."""
        return {
            "values": self.values.tolist(),
            "indices": self.indices.tolist(),
            "report": self.report.to_dict(),
            "graph": list(self.graph.passes) if self.graph else [],
        }

    def __repr__(self) -> str:
        best = f", best {self.values[0]} at {self.indices[0]:,}" if len(self.values) else ""
        return f"<TopK {self.report.method}: {len(self.values):,} of {self.values.dtype}{best}>"

    def _repr_html_(self) -> str:
        shown = "".join(
            f"<tr><td>{place}</td><td>{value}</td><td>{index:,}</td></tr>"
            for place, (value, index) in enumerate(zip(self.values[:10], self.indices[:10], strict=True))
        )
        head = f"the first {min(10, len(self.values))} of {len(self.values):,}"
        return (
            f"<table><caption>{head}</caption><thead><tr><th>place</th><th>value</th><th>index</th></tr></thead>"
            f"<tbody>{shown}</tbody></table>" + self.report._repr_html_()
        )


def merged(reports: Sequence[SelectionReport]) -> SelectionReport:
    """One report of several runs of the same passes."""
    if len(reports) == 1:
        return reports[0]
    last = reports[-1]
    passes = last.passes
    if all([p.name for p in report.passes] == [p.name for p in passes] for report in reports):
        passes = tuple(_added(parts) for parts in zip(*(report.passes for report in reports), strict=True))
    return replace(
        last,
        passes=passes,
        wall_ms=sum(report.wall_ms for report in reports),
        words_back=sum(report.words_back for report in reports),
        words_back_per_push=max(report.words_back_per_push for report in reports),
        chunks=sum(report.chunks for report in reports),
        transfer_ms=added_transfers(reports),
    )


def _added(parts: Sequence[PassReport]) -> PassReport:
    largest = max(parts, key=lambda item: item.threads_launched)
    times = [item.gpu_ms for item in parts]
    return replace(
        largest,
        threads_launched=sum(item.threads_launched for item in parts),
        threads_idle=sum(item.threads_idle for item in parts),
        gpu_ms=None if None in times else float(sum(times)),
    )


def _ms(value: float | None) -> str:
    return "no timer" if value is None else f"{value:.3f} ms"
