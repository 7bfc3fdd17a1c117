"""`expand`: run a strategy on a device and hand back the mapping and what every pass cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import CapacityError, DeviceError, DeviceLimitError, UnsupportedError
from expandlab.expansion.arguments import pick_strategy, power_of_two
from expandlab.expansion.body import body_ending, results
from expandlab.expansion.endings import store
from expandlab.expansion.strategy import (
    FAILED_CAPACITY,
    FAILED_LOOP,
    FAILED_OVERFLOW,
    FAILED_SRC,
    FAILED_THREADS,
    FAILURE,
    REQUIRED,
    TOTAL,
    Ending,
    Passes,
    Sizes,
    Strategy,
    params_words,
)
from expandlab.gpu import Device, resolve
from expandlab.graph import FrameGraph, PlanRun
from expandlab.graph.plan import over_limit
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
class Report(Result):
    """What a run cost.

    `timer` is `timestamp-query` or `none` (then only `wall_ms`, the host's time from the first command to the last
    byte read back). `scratch_bytes` are the buffers between the passes, the result's own aside.
    """

    passes: tuple[PassReport, ...]
    scratch_bytes: int
    wall_ms: float
    device: str
    timer: str
    strategy: str
    workgroup_size: int
    software: bool

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
            f"scratch {self.scratch_bytes:,} bytes</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
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


def expand(
    counts: Any,
    strategy: str = "auto",
    *,
    body: str | None = None,
    buffers: Mapping[str, Any] | None = None,
    device: Device | str | int | None = None,
    capacity: int | None = None,
    workgroup_size: int = 256,
    checked: bool = True,
) -> Expansion:
    """Expand every src into its N dst items on a device.

    counts: the N of every src, checked as `expandlab.counts.load` checks an array; it is not changed.
    strategy: a name of `strategies()`, or `"auto"`.
    body: WGSL that defines `fn work(src: u32, local: u32, dst: u32)`, the caller's own pass 2, called once for every
        item; `dst` numbers the items 0 .. P2-1. None materialises the mapping.
    buffers: {name: array} for the body: each is `var<storage, read_write> name: array<T>` in `@group(1)`, T by dtype
        (u32, i32, f32), at most three; `expandlab.atomic(array)` makes the elements atomic, `expandlab.read_only`
        the buffer read-only. The arrays are not changed; results are in `.buffers`.
    device: what `expandlab.device` returns, a name for it, or None for the default.
    capacity: most dst items accepted (0 is a capacity); None = what one binding holds,
        `max_storage_buffer_binding_size // 4`.
    workgroup_size: threads in a workgroup, a power of two from 32 to 256.
    checked: False compiles the strategy's own shaders without run-time checks of bounds and loops, to see what the
        checks cost; a body is checked always.

    Returns an `Expansion`: the pairs (src[dst], local[dst]) are every (s, j) with 0 <= j < N[s], each once. Where
    atomics order the items their places may differ between runs.

    With a body `src` and `local` are None.

    Raises CountsError, DeviceError (ShaderError with the body's line where it does not compile), UnsupportedError,
    CapacityError (`required` = P2), its child DeviceLimitError, and OverflowError for P2 >= 2^32. Nothing is
    launched then.
    """
    values = _counts.check(counts)
    power_of_two("workgroup_size", workgroup_size, 32, 256)
    limit = _check_capacity(capacity)
    total = check_total(values)
    if body is None and buffers:
        raise ValueError("buffers: only a body uses them; give body= as well, or leave them out")
    ending = store(total) if body is None else body_ending(body, buffers)
    dev = resolve(device)
    if limit is None:
        limit = dev.limits["max_storage_buffer_binding_size"] // 4
    if total > limit:
        raise CapacityError(
            f"capacity={limit:,}: the counts spawn {total:,} items; "
            f"give capacity={total} or more, or expand them in parts",
            required=total,
            capacity=limit,
        )
    chosen = pick_strategy(strategy, values, dev)
    sizes = Sizes(len(values), total, workgroup_size, dev.subgroup_size)
    built = build(chosen, sizes, ending, checked=checked)
    ran = run_passes(built, values, total, dev)
    return Expansion(
        src=ran.arrays["out_src"][:total] if body is None else None,
        local=ran.arrays["out_local"][:total] if body is None else None,
        total=total,
        buffers=results(ran.arrays, buffers),
        report=report_of(built, ran, chosen, sizes, dev, values, total),
        graph=built.graph,
    )


def check_total(values: np.ndarray) -> int:
    """P2 as a Python integer. Raises OverflowError from 2^32 on."""
    # 2^32 counts below 2^32 stay below 2^64, so uint64 is exact for any array that fits in memory.
    total = int(values.sum(dtype=np.uint64))
    if total >= 2**32:
        raise OverflowError(
            f"counts: they spawn {total:,} items, and item indices have 32 bits; expand them in parts below 2^32"
        )
    return total


def _check_capacity(capacity: Any) -> int | None:
    if capacity is None:
        return None
    if isinstance(capacity, bool) or not isinstance(capacity, (int, np.integer)) or capacity < 0:
        raise ValueError(f"capacity={capacity!r}: give a whole number of dst items, 0 or more, or None")
    return int(capacity)


def build(strategy: Strategy, sizes: Sizes, ending: Ending, *, checked: bool = True) -> Passes:
    """The frame graph of an expansion."""
    built = Passes(strategy, sizes, ending, checked=checked)
    strategy.passes(built)
    built.graph.output("state")
    return built


def run_passes(built: Passes, values: np.ndarray, total: int, dev: Device) -> PlanRun:
    """Run the graph on `values` and check the failure word."""
    refuse_oversize(built, dev, total)
    inputs = {"counts": values, "params": params_words(len(values), built.sizes.max_dst, built.sizes)}
    with built.graph.compile().program(dev) as program:
        ran = program.run({**inputs, **built.imported})
    check_state(ran.arrays["state"], built.sizes.max_dst, built, dev)
    return ran


def refuse_oversize(built: Passes, dev: Device, total: int) -> None:
    """Raise DeviceLimitError for a buffer that does not fit the device."""
    found = over_limit(built.graph, dev.limits)
    if found:
        name, size, limit = found
        raise DeviceLimitError(
            f"expanding {total:,} items needs {size:,} bytes for the buffer {name!r}; {dev.info.name} allows "
            f"{dev.limits[limit]:,} ({limit}). Expand fewer at once, or open the device with limits='adapter'",
            required=total,
            capacity=dev.limits[limit] // 4,
            limit=limit,
            required_bytes=size,
            available_bytes=dev.limits[limit],
        )


def check_state(state: np.ndarray, capacity: int, built: Passes, dev: Device) -> None:
    """Raise what the device's failure word says."""
    failure, required = int(state[FAILURE]), int(state[REQUIRED])
    if failure & FAILED_OVERFLOW:
        raise OverflowError("counts: they spawn 2^32 items or more, and item indices have 32 bits; expand in parts")
    if failure & FAILED_CAPACITY:
        raise CapacityError(
            f"capacity={capacity:,}: the counts spawn {required:,} items; give capacity={required} or more",
            required=required,
            capacity=capacity,
        )
    if failure & FAILED_SRC:
        raise CapacityError(
            f"src_count: more src than the {built.sizes.max_src:,} that the expansion was prepared for",
            required=required,
            capacity=capacity,
        )
    if failure & (FAILED_THREADS | FAILED_LOOP):
        raise UnsupportedError(
            f"{dev.info.name}: one N is too large for the strategy (failure word {failure}); use 'prefix_search'"
        )
    if failure:
        raise DeviceError(f"{dev.info.name}: the passes {', '.join(built.graph.passes)} ended with failure {failure}")
    if int(state[TOTAL]) != required:
        raise DeviceError(f"{dev.info.name}: {int(state[TOTAL])} items were expanded of {required}; run it again")


def report_of(
    built: Passes, ran: PlanRun, strategy: Strategy, sizes: Sizes, dev: Device, values: np.ndarray, total: int
) -> Report:
    """The report of a run."""
    passes = []
    for item in ran.passes:
        threads = int(np.prod(item.workgroups, dtype=np.int64)) * _threads_per_group(built, item.name)
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
    )


def _threads_per_group(built: Passes, name: str) -> int:
    """A set-up stage has workgroups of one thread, every other pass those of the expansion."""
    kernel = built.graph.passes[name].kernel
    return 1 if "@workgroup_size(1)" in kernel.source.text else built.sizes.workgroup_size


def _ms(value: float | None) -> str:
    return "no timer" if value is None else f"{value:.3f} ms"
