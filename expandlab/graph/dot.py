"""A plan as a graph for Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expandlab.graph.plan import Plan


def text(plan: Plan) -> str:
    """DOT: passes in boxes for their queues, edges with their hazards, waits dashed, copies as ovals."""
    lines = ["digraph plan {", "  rankdir=LR;", "  node [shape=box];"]
    queues: dict[tuple[str, str], list[str]] = {}
    for name in plan.order:
        queues.setdefault((plan.devices[name], plan.queues[name]), []).append(name)
    barred = {barrier.before: barrier.kind for barrier in plan.barriers}
    for number, ((device, queue), names) in enumerate(queues.items()):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(f'{device}.{queue}')};"]
        lines += [f"    {_quoted(name)}{_note(barred.get(name))};" for name in names]
        lines.append("  }")
    why: dict[tuple[str, str], list[str]] = {}
    for hazard in plan.hazards:
        low, high = hazard.range
        why.setdefault((hazard.producer, hazard.consumer), []).append(f"{hazard.kind} {hazard.resource} {low}..{high}")
    place = {name: (plan.devices[name], plan.queues[name]) for name in plan.order}
    for first, second in plan.edges:
        label = "\\n".join(_escaped(part) for part in why.get((first, second), ["no hazard"]))
        style = ", style=dashed" if place[first] != place[second] else ""
        lines.append(f'  {_quoted(first)} -> {_quoted(second)} [label="{label}"{style}];')
    # A pass may be called as a copy would be.
    prefix = "copy_"
    while any(name.startswith(prefix) for name in plan.order):
        prefix += "_"
    for number, copy in enumerate(plan.copies):
        low, high = copy.range
        label = f"{copy.resource} {low}..{high}\n{copy.source} to {copy.destination}"
        lines.append(f"  {prefix}{number} [shape=oval, label={_quoted(label)}];")
        lines.append(f"  {prefix}{number} -> {_quoted(copy.before)} [style=dotted];")
    return "\n".join([*lines, "}", ""])


def _note(kind: str | None) -> str:
    """A pass with a barrier before it has a thick border; a thin one for execution only."""
    return "" if kind is None else f" [penwidth={3 if kind == 'memory' else 2}]"


def _escaped(value: str) -> str:
    # Graphviz would end its reading at a zero character.
    return (
        value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )


def _quoted(value: str) -> str:
    return f'"{_escaped(value)}"'
