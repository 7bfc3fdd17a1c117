"""What the command line prints, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from expandlab.doctor import Health
    from expandlab.expansion import Expansion
    from expandlab.timing import Timings


def show(health: Health) -> None:
    """Print what was found."""
    console = Console()
    for item in health.devices:
        info = item.info
        console.print(Text(f"{'*' if item.default else ' '} {info.index}  {info.name}", style="bold"))
        atomics = "64-bit atomics" if "shader-int64-atomic-all-ops" in info.features else "no 64-bit atomics"
        facts = [
            info.kind,
            info.backend,
            info.driver,
            f"binding {info.limits['max_storage_buffer_binding_size'] >> 20} MiB",
        ]
        if item.problem:
            facts.append("cannot be opened")
        else:
            width = f"subgroups of {item.subgroup_size}" if item.subgroup_size else "no subgroups"
            facts += [width, item.timer, atomics, "works" if item.works else "gives wrong results"]
        console.print(Text("     " + ", ".join(fact for fact in facts if fact)), soft_wrap=True)
    console.print(Text("  (* = the default device)"))
    console.print(Text(f"Python {health.python} on {health.system}"))
    console.print(Text(", ".join(f"{name} {version or '(missing)'}" for name, version in health.packages.items())))
    console.print(Text(f"Vulkan loader: {health.vulkan_loader or 'none'}; browser: {health.browser or 'none'}"))
    for line in health.advice:
        console.print(Text(f"- {line}"))


def show_report(src_count: int, done: Expansion) -> None:
    """Print an expansion's report."""
    report = done.report
    note = ", software adapter: times measure the CPU" if report.software else ""
    table = Table("pass", "workgroups", "threads", "idle", "GPU time")
    for item in report.passes:
        time = "no timer" if item.gpu_ms is None else f"{item.gpu_ms:.3f} ms"
        groups = " x ".join(str(n) for n in item.workgroups)
        table.add_row(item.name, groups, f"{item.threads_launched:,}", f"{item.threads_idle:,}", time)
    console = Console()
    console.print(Text(f"{src_count:,} src -> {done.total:,} dst by {report.strategy} on {report.device}{note}"))
    console.print(table)
    total = "no timer" if report.gpu_ms is None else f"{report.gpu_ms:.3f} ms"
    console.print(Text(f"GPU {total}, wall {report.wall_ms:.3f} ms, scratch {report.scratch_bytes:,} bytes"))


def show_timings(done: Timings) -> None:
    """Print measured times, the ratio to the fastest strategy beside them."""
    note = ", software adapter: times measure the CPU" if done.software else ""
    table = Table("strategy", "pass", "median", "quartiles", "to fastest", "runs")
    fastest = min((row.median_ms for row in done.totals), default=0.0)
    for total in done.totals:
        for row in (*(row for row in done.rows if row.strategy == total.strategy), total):
            whole = row is total
            ratio = f"{row.median_ms / fastest:.2f} x" if whole and fastest else ""
            table.add_row(
                row.strategy, row.pass_name, f"{row.median_ms:.3f} ms",
                f"{row.q1_ms:.3f}-{row.q3_ms:.3f}", ratio, str(row.samples),
            )  # fmt: skip
    console = Console()
    console.print(Text(f"{done.src_count:,} src -> {done.total:,} dst on {done.device}, {done.driver}{note}"))
    console.print(Text(f"timer {done.timer}, workgroup size {done.workgroup_size}"))
    console.print(table)
