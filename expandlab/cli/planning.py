"""`expandlab graph`: a graph from a file, planned and printed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expandlab.errors import GraphError

if TYPE_CHECKING:
    from expandlab.graph import Plan
    from expandlab.measuring.independence import Gains


def compiled(file: Path, mode: str, schedule: str, tags: bool) -> Plan:
    """The plan of a file in either schema: passes with accesses, or passes with slots."""
    from expandlab.graph import documents

    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise GraphError(f"{file}: cannot be read ({error.strerror}); give a file with a graph as JSON") from None
    except ValueError as error:
        raise GraphError(f"{file}: not a text in UTF-8: {error}") from None
    try:
        return documents.read(documents.loads(text)).compile(mode, schedule=schedule, tags=tags)
    except GraphError as error:
        error.args = (f"{file}: {error}",)
        raise


def show(plan: Plan) -> None:
    """Print what was planned, pass by pass, then what stands apart from the passes."""
    console = Console()
    timeline = plan.simulate()
    console.print(
        Text(
            f"{len(plan.order)} passes, {len(plan.edges)} edges, {len(plan.barriers)} barriers, {len(plan.waits)} "
            f"waits, {len(plan.copies)} copies, {timeline.makespan_us:.1f} us simulated"
        )
    )
    table = Table("pass", "where", "after", "what stands before it")
    for name in plan.order:
        lines = [f"wait for {w.device}.{w.queue} = {w.value}" for w in plan.waits if w.before == name]
        for c in plan.copies:
            if c.before == name:
                lines.append(f"copy {c.resource} {_span(c.range)} from {c.source} to {c.destination}")
        lines += [
            f"{c.resource} {_span(c.subresources)}: {c.old_layout} to {c.new_layout}"
            for c in plan.layouts
            if c.before == name
        ]
        for b in plan.barriers:
            if b.before == name:
                source, destination = _names(b.src_stages, b.src_access), _names(b.dst_stages, b.dst_access)
                lines.append(f"{b.kind} barrier: {source} to {destination}")
        before = ", ".join(first for first, second in plan.edges if second == name)
        place = f"{plan.devices[name]}.{plan.queues[name]}"
        table.add_row(*(Text(cell) for cell in (name, place, before, "\n".join(lines))))
    console.print(table)
    if plan.culled:
        console.print(Text(f"culled: {', '.join(plan.culled)}"))
    if plan.memory:
        table = Table("buffer", "device", "bytes")
        for p in plan.memory:
            table.add_row(*(Text(cell) for cell in (p.resource, p.device, _span((p.offset, p.offset + p.size)))))
        console.print(table)
    if plan.connections:
        table = Table("from", "to", "connected", "hazard")
        for c in plan.connections:
            says = "no" if not c.connected else "yes" if c.dependency else "yes, independent"
            table.add_row(*(Text(cell) for cell in (c.source, c.target, says, ", ".join(c.kinds) or "no")))
        console.print(table)


def show_gains(found: Gains) -> None:
    """Print what declaring independence gains, example by example."""
    from expandlab.measuring.independence import HEAD, table_rows

    table = Table(*HEAD)
    for row in table_rows(found):
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console()
    console.print(Text(f"measured on {found.device}, {found.driver}, {found.timer}, {found.rounds:,} rounds a thread"))
    console.print(table)
    if found.software:
        console.print(Text("a software adapter runs one dispatch after the other, so a gain here is noise"))


def _span(span: tuple[int, int]) -> str:
    return f"{span[0]} .. {span[1]}"


def _names(stages: Iterable[str], access: Iterable[str]) -> str:
    return f"{' + '.join(sorted(stages))} ({' + '.join(sorted(access)) or 'execution only'})"
