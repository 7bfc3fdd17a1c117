"""What a plan says in words: why an edge stands, what a pass waits for, what a plan is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from expandlab.graph import Plan
from expandlab.graph.frame_graph import DEFAULT_DEVICES
from expandlab.graph.hazards import Hazard

MODE_NAMES = {"dag": "graph", "chain": "chain"}
# Which kind gives an edge its stroke where it has several.
KINDS = ("RAW", "WAW", "WAR", "explicit", "link")


class Edge(NamedTuple):
    """An edge of a plan. reasons: one for each hazard along it; kind: of the strongest."""

    producer: str
    consumer: str
    kind: str
    reasons: tuple[str, ...]


def span(plan: Plan, resource: str, range_: tuple[int, int]) -> str:
    """`data 0..2048`; the name alone where it is the whole resource."""
    whole = range_ == (0, plan.graph.resources[resource].extent)
    return resource if whole else f"{resource} {range_[0]:,}..{range_[1]:,}"


def edges(plan: Plan) -> list[Edge]:
    """The plan's edges with their reasons."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for hazard in plan.hazards:
        text = f"{hazard.kind} {span(plan, hazard.resource, hazard.range)}"
        found.setdefault((hazard.producer, hazard.consumer), []).append((hazard.kind, text))
    listed = []
    for first, second in plan.edges:
        why = found.get((first, second), [])
        if second in plan.passes[first].before or first in plan.passes[second].after:
            why = [*why, ("explicit", "explicit")]
        if not why:
            shared = [name for name in _used(plan, first) if name in _used(plan, second)]
            why = [("link", f"link of {', '.join(shared)}")]
        listed.append(
            Edge(first, second, min((kind for kind, _ in why), key=KINDS.index), tuple(text for _, text in why))
        )
    return listed


def hazards_along(plan: Plan) -> dict[tuple[str, str], list[Hazard]]:
    """{(producer, consumer): the hazards between the two}."""
    found: dict[tuple[str, str], list[Hazard]] = {}
    for hazard in plan.hazards:
        found.setdefault((hazard.producer, hazard.consumer), []).append(hazard)
    return found


def why(plan: Plan, edge: Edge, hazards: Sequence[Hazard]) -> list[str]:
    """Why an edge stands, one line for each reason: kind, resource, range, origin and tags. hazards: those along it."""
    first, second = edge.producer, edge.consumer
    found = []
    for hazard in hazards:
        low, high = hazard.range
        part = "bytes" if plan.graph.resources[hazard.resource].kind == "buffer" else "subresources"
        ends = [f"{name} {_does(plan, name, hazard.resource, hazard.range)}" for name in (first, second)]
        found.append(
            f"{hazard.kind} on {hazard.resource}, {part} {low:,}..{high:,}: {', '.join(ends)} (from the accesses)"
        )
    if first in plan.passes[second].after:
        found.append(f"explicit: {second} is declared to run after {first}")
    if second in plan.passes[first].before:
        found.append(f"explicit: {first} is declared to run before {second}")
    if not found:
        shared = [name for name in _used(plan, first) if name in _used(plan, second)]
        found.append(f"link of the chain: both use {', '.join(shared)}; no hazard asks for it")
    if plan.queues[first] != plan.queues[second] or plan.devices[first] != plan.devices[second]:
        found.append(f"from {lane(plan, first)} to {lane(plan, second)}")
    return found


def _does(plan: Plan, name: str, resource: str, range_: tuple[int, int]) -> str:
    """`writes [tag]`: what a pass does with these bytes."""
    extent = plan.graph.resources[resource]
    reads = writes = False
    tags: dict[str, None] = {}
    for access in plan.passes[name].accesses:
        if access.resource != resource:
            continue
        if any(low < range_[1] and range_[0] < high for low, high in access.intervals(extent)):
            reads, writes = reads or access.reads, writes or access.writes
            if access.writes and access.independent:
                tags[access.independent] = None
    told = "reads and writes" if reads and writes else "writes" if writes else "reads"
    return told + "".join(f" [tag {tag}{'' if plan.tags else ', ignored'}]" for tag in tags)


def about(plan: Plan, name: str, notes: list[str]) -> list[str]:
    """What there is to know of a pass, one line each. notes: what stands before it."""
    item = plan.passes[name]
    cost = "no cost given" if item.cost_us is None else f"{item.cost_us:g} µs"
    found = [f"{name}: {lane(plan, name)}, {cost}{', side effect' if item.side_effect else ''}"]
    for access in item.accesses:
        part = "".join(
            f" {span[0]:,}..{span[1]:,} {'bytes' if key == 'range' else key}"
            for key in ("range", "mips", "layers", "aspects")
            if (span := getattr(access, key)) is not None
        )
        tag = f" [tag {access.independent}]" if access.independent else ""
        usage = "" if access.usage == "storage" else f" as {access.usage}"
        found.append(f"{access.mode.replace('_', ' and ')} {access.resource}{part}{usage}{tag}")
    return [*found, *(f"before it: {note}" for note in notes)]


def _used(plan: Plan, name: str) -> dict[str, None]:
    return dict.fromkeys(access.resource for access in plan.passes[name].accesses)


@lru_cache(maxsize=10_000)
def ident(*parts: str) -> str:
    """`graph:edge:a:b`: one text for each tuple of names, whatever the names hold."""
    return ":".join(part.replace("\\", "\\\\").replace(":", "\\:") for part in parts)


def lane(plan: Plan, name: str) -> str:
    """`gpu0.compute`."""
    return f"{plan.devices[name]}.{plan.queues[name]}"


def all_lanes(plan: Plan) -> list[str]:
    """The lanes of all queues, in order of declaration."""
    declared = plan.graph.devices or DEFAULT_DEVICES
    return [f"{device}.{queue}" for device, queues in declared.items() for queue in queues]


def before(plan: Plan) -> dict[str, list[str]]:
    """{pass: what stands before it}: barriers, layout changes, waits and copies."""
    found: dict[str, list[str]] = {name: [] for name in plan.order}
    for barrier in plan.barriers:
        found[barrier.before].append(f"{barrier.kind} barrier")
    for change in plan.layouts:
        found[change.before].append(f"{change.resource} to {change.new_layout}")
    for wait in plan.waits:
        found[wait.before].append(f"wait {wait.device}.{wait.queue} = {wait.value}")
    for copy in plan.copies:
        found[copy.before].append(f"copy {span(plan, copy.resource, copy.range)} from {copy.source}")
    return found


def joined(names: Iterable[str]) -> str:
    """Names of a mask in a fixed order: `COMPUTE_SHADER + COPY`; `none` where it is empty."""
    return " + ".join(sorted(names)) or "none"


def headline(plan: Plan) -> str:
    """`As a graph: 2 edges, 1 barrier, 1 wait; ...`."""
    parts = [
        _count(plan.edges, "edge"), _count(plan.barriers, "barrier"), _count(plan.waits, "wait"),
        _count(plan.copies, "copy", "copies"),
    ]  # fmt: skip
    return f"As a {MODE_NAMES[plan.mode]}: {', '.join(part for part in parts if part) or 'no edge'}"


def _count(items: Sequence[object], one: str, many: str | None = None) -> str:
    count = len(items)
    return f"{count:,} {one if count == 1 else many or one + 's'}" if count else ""
