"""What an expansion gives back: the mapping, and what every pass cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from expandlab.expansion.strategy import Passes, Sizes, Strategy
from expandlab.gpu import Device
from expandlab.graph import Draws, FrameGraph, PlanRun
from expandlab.results import Result


@dataclass(frozen=True)
class PassReport(Result):
    """What one pass did: its threads, and its time on the GPU in ms (None without a timer)."""

    name: str
    workgroups: tuple[int, int, int]
    threads_launched: int
    threads_idle: int
    gpu_ms: float | None


@dataclass(frozen=True)
class Share(Result):
    """What one of several devices expanded.

    items_per_ms: the speed that it was given its share for, by the wall clock; None where there were too few items to
    measure it. failure: why the device gave up; its items are in the others' shares.
    """

    device: str
    items: int
    items_per_ms: float | None
    gpu_ms: float | None
    wall_ms: float
    failure: str | None = None


@dataclass(frozen=True)
class Report(Result):
    """What a run cost; of several chunks, the sums over them.

    `timer` is `timestamp-query` or `none` (then only `wall_ms`, the host's time from the first command to the last
    byte read back). `scratch_bytes` are the buffers between the passes, the result's own aside. `shares`: of several
    devices, what each of them did; `wall_ms` is then that of the one which took longest.
    """

    passes: tuple[PassReport, ...]
    scratch_bytes: int
    wall_ms: float
    device: str
    timer: str
    strategy: str
    workgroup_size: int
    software: bool
    chunks: int = 1
    # Of `wall_ms`, what went by between the host and a device elsewhere, as a page is; None where it is not.
    transfer_ms: float | None = None
    shares: tuple[Share, ...] = ()

    @property
    def gpu_ms(self) -> float | None:
        """Sum of the passes' times, or None without a timer."""
        times = [item.gpu_ms for item in self.passes]
        return None if not times or None in times else float(sum(times))

    def __repr__(self) -> str:
        return f"<Report {self.strategy} on {self.device}: {_ms(self.gpu_ms)} in {len(self.passes)} passes>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(p.name)}</td><td>{' x '.join(map(str, p.workgroups))}</td>"
            f"<td>{p.threads_launched:,}</td><td>{p.threads_idle:,}</td><td>{_ms(p.gpu_ms)}</td></tr>"
            for p in self.passes
        )
        note = " (software adapter: the CPU is measured)" if self.software else ""
        head = "".join(f"<th>{name}</th>" for name in ("pass", "workgroups", "threads", "idle", "GPU time"))
        return (
            f"<table><caption>{escape(self.strategy)} on {escape(self.device)}{note}; "
            f"scratch {self.scratch_bytes:,} bytes{transfer_text(self)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


@dataclass(frozen=True, eq=False)
class Expansion(Result):
    """A finished expansion.

    `src`, `local`: uint32 (P2,), indexed by dst; `total`: P2; `buffers`: the caller's buffers after the run;
    `report`: what it cost; `graph`: the frame graph that ran.
    """

    src: np.ndarray | None
    local: np.ndarray | None
    total: int
    report: Report
    buffers: dict[str, np.ndarray] = field(default_factory=dict)
    graph: FrameGraph | None = None

    def to_dict(self) -> dict[str, Any]:
        """The mapping and the report as plain Python; the graph as the list of its passes."""
        plain = {name: None if (a := getattr(self, name)) is None else a.tolist() for name in ("src", "local")}
        plain |= {"total": self.total, "report": self.report.to_dict()}
        plain["buffers"] = {name: array.tolist() for name, array in self.buffers.items()}
        plain["graph"] = list(self.graph.passes) if self.graph else []
        return plain

    def __repr__(self) -> str:
        return f"<Expansion {self.report.strategy}: {self.total:,} items on {self.report.device}>"

    def _repr_html_(self) -> str:
        return f"<p>{self.total:,} items</p>" + self.report._repr_html_()


def report_of(
    built: Passes, ran: PlanRun, strategy: Strategy, sizes: Sizes, dev: Device, values: np.ndarray, total: int
) -> Report:
    """The report of a run."""
    passes = []
    for item in ran.passes:
        threads = int(np.prod(item.workgroups, dtype=np.int64)) * threads_per_group(built, item.name)
        useful = min(built.useful[item.name](values, total), threads)
        passes.append(PassReport(item.name, item.workgroups, threads, threads - useful, item.gpu_ms))
    timed = dev.timestamp_period_ns is not None
    return Report(
        passes=tuple(passes),
        scratch_bytes=built.scratch_bytes,
        wall_ms=ran.wall_ms,
        device=dev.info.label,
        timer="timestamp-query" if timed else "none",
        strategy=strategy.name,
        workgroup_size=sizes.workgroup_size,
        software=dev.info.is_software,
        transfer_ms=ran.transfer_ms,
    )


def merged(reports: Sequence[Report]) -> Report:
    """One report of several chunks: threads and times added up, the workgroups of the largest chunk."""
    if len(reports) == 1:
        return reports[0]
    passes = []
    for parts in zip(*(report.passes for report in reports), strict=True):
        largest = max(parts, key=lambda item: item.threads_launched)
        times = [item.gpu_ms for item in parts]
        passes.append(
            PassReport(
                largest.name,
                largest.workgroups,
                sum(item.threads_launched for item in parts),
                sum(item.threads_idle for item in parts),
                None if None in times else float(sum(times)),
            )
        )
    wall_ms = sum(report.wall_ms for report in reports)
    return replace(
        reports[0],
        passes=tuple(passes),
        wall_ms=wall_ms,
        chunks=sum(report.chunks for report in reports),
        transfer_ms=added_transfers(reports),
    )


def added_transfers(reports: Sequence[Any]) -> float | None:
    """The sum of what went by between host and device, or None where the device is the host's own."""
    times = [report.transfer_ms for report in reports]
    return None if None in times else float(sum(times))


def threads_per_group(built: Passes, name: str) -> int:
    """A set-up stage has workgroups of one thread, a vertex stands for one, every other pass has the expansion's."""
    kernel = built.graph.passes[name].kernel
    if isinstance(kernel.workgroups, Draws):
        return 1
    return 1 if "@workgroup_size(1)" in kernel.source.text else built.sizes.workgroup_size


def transfer_text(report: Any) -> str:
    """The transfer's time beside the whole, for a caption."""
    if report.transfer_ms is None:
        return ""
    return f"; {report.wall_ms:.1f} ms in all, {report.transfer_ms:.1f} ms of them transfer"


def _ms(value: float | None) -> str:
    return "no timer" if value is None else f"{value:.3f} ms"
