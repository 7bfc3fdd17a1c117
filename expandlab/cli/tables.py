"""What the command line prints, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from expandlab.doctor import Health
    from expandlab.expansion import Expansion
    from expandlab.measuring import Measurements, Sweep
    from expandlab.topk import TopK


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


def show_top_k(count: int, done: TopK) -> None:
    """Print the best scores with their indices, and the report of the selection."""
    report = done.report
    console = Console()
    note = ", software adapter: times measure the CPU" if report.software else ""
    console.print(Text(f"{len(done.indices):,} of {count:,} by {report.method} on {report.device}{note}"))
    table = Table("place", "value", "index")
    for place, (value, index) in enumerate(zip(done.values[:20], done.indices[:20], strict=True)):
        table.add_row(str(place), str(value), f"{index:,}")
    console.print(table)
    if len(done.indices) > 20:
        console.print(Text(f"... {len(done.indices) - 20:,} more; --json prints them all"))
    passes = Table("pass", "workgroups", "threads", "idle", "GPU time")
    for item in report.passes:
        time = "no timer" if item.gpu_ms is None else f"{item.gpu_ms:.3f} ms"
        groups = f"{item.workgroups[0]:,}"
        passes.add_row(item.name, groups, f"{item.threads_launched:,}", f"{item.threads_idle:,}", time)
    console.print(passes)
    total = "no timer" if report.gpu_ms is None else f"{report.gpu_ms:.3f} ms"
    console.print(Text(f"GPU {total}, wall {report.wall_ms:.3f} ms, {report.words_back:,} words back"))


def show_times(done: Measurements, passes: bool = True) -> None:
    """Print measured times: of every pass, of every contender with its ratio to the limit, and of the references."""
    note = ", software adapter: times measure the CPU" if done.software else ""
    table = Table("contender", "pass", "median", "quartiles", "x limit", "wall", "samples")
    for item in done.of_role("contender", "peer", "limit", "read"):
        if passes and item.role == "contender":
            for row in (row for row in done.rows if row.name == item.name):
                table.add_row(item.name, row.pass_name, f"{row.median_ms:.4f} ms",
                              f"{row.q1_ms:.4f}-{row.q3_ms:.4f}", "", "", str(row.samples))  # fmt: skip
        ratio = done.x_limit(item.name)
        what = "total" if item.role in ("contender", "peer") else item.role
        table.add_row(
            item.name, what, f"{item.gpu.median:.4f} ms", f"{item.gpu.q1:.4f}-{item.gpu.q3:.4f}",
            f"{ratio.median:.2f} ({ratio.q1:.2f}-{ratio.q3:.2f})" if ratio else "", f"{item.wall.median:.3f} ms",
            f"{len(item.gpu_ms)} x {item.runs}",
        )  # fmt: skip
    console = Console()
    console.print(Text(f"{done.size} on {done.device}, {done.driver}{note}"))
    limit = f"; limit: {done.limit.name} of the same bytes" if done.limit else ""
    console.print(Text(f"timer {done.timer}, workgroup size {done.workgroup_size}{limit}"))
    if done.clock_moved:
        console.print(Text("the fill moved more than 10 %: compare ratios, not times"))
    console.print(table)


def show_sweep(done: Sweep) -> None:
    """Print the fastest contender of every cell, with and without run-time checks, beside the limit and the peers."""
    if any(found.selects for found in done.measurements):
        return _show_selections(done)
    table = Table("counts", "P1", "P2", "limit", "fastest", "x limit", "fastest unchecked", "x limit", "fastest peer")
    for cell in done.cells:
        found = cell.measurements
        if found is None:
            table.add_row(str(cell.cell), f"{cell.cell.items:,}", "", "", Text(cell.error or ""), "", "", "", "")
            continue
        fastest = [_fastest(found, checked) for checked in (True, False)]
        peer = min(found.of_role("peer"), key=lambda item: item.gpu.median, default=None)
        table.add_row(
            str(cell.cell), f"{found.src_count:,}", f"{found.total:,}",
            f"{found.limit.gpu.median:.4f} ms" if found.limit else "", *fastest[0], *fastest[1],
            f"{peer.name} {peer.gpu.median:.4f} ms" if peer else "",
        )  # fmt: skip
    _print_swept(done, table)


def _show_selections(done: Sweep) -> None:
    """The fastest method of every cell, beside one read of the scores, its own choice of method, and the peers."""
    table = Table("scores", "k", "n", "read", "fastest", "x read", "torch.topk", "torch.topk / fastest")
    for cell in done.cells:
        found = cell.measurements
        head = (cell.cell.kind, f"{cell.cell.k:,}" if cell.cell.k else "", f"{cell.cell.items:,}")
        if found is None:
            table.add_row(*head, "", Text(cell.error or ""), "", "", "")
            continue
        best = min(found.of_role("contender"), key=lambda item: item.gpu.median, default=None)
        peer = next((item for item in found.of_role("peer") if item.name == "torch topk"), None)
        table.add_row(
            *head, f"{found.limit.gpu.median:.4f} ms" if found.limit else "", *_fastest(found, False),
            f"{peer.gpu.median:.4f} ms" if peer else "",
            f"{peer.gpu.median / best.gpu.median:.1f}" if peer and best else "",
        )  # fmt: skip
    _print_swept(done, table)


def _print_swept(done: Sweep, table: Table) -> None:
    console = Console()
    for place in sorted({(f"{m.device}, {m.driver}", m.timer, m.software) for m in done.measurements}):
        note = "; software adapter: times measure the CPU" if place[2] else ""
        console.print(Text(f"{place[0]}; timer {place[1]}{note}"))
    console.print(table)
    moved = sum(found.clock_moved for found in done.measurements)
    console.print(Text(f"{len(done.cells)} of {done.planned} cells, {len(done.failed)} failed; clock moved in {moved}"))
    for name, why in sorted({(k, v) for m in done.measurements for k, v in m.left_out.items()})[:20]:
        console.print(Text(f"left out: {name}: {why}"))


def _fastest(found: Measurements, checked: bool) -> tuple[str, str]:
    mine = [item for item in found.of_role("contender") if bool(item.checked) == checked]
    best = min(mine, key=lambda item: item.gpu.median, default=None)
    if best is None:
        return "", ""
    ratio = found.x_limit(best.name)
    return f"{best.name} {best.gpu.median:.4f} ms", f"{ratio.median:.2f}" if ratio else ""
