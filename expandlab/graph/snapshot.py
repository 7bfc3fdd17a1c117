"""A graph as it stands when it is compiled: culled, and numbered, as the rest of the planner works with numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expandlab.errors import UnknownNameError
from expandlab.graph.declare import Image, Pass, Resource
from expandlab.graph.frame_graph import FrameGraph
from expandlab.graph.intervals import IntervalSet
from expandlab.graph.uses import Use, Uses

Piece = tuple[int, int, int, Use]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The passes that are kept, numbered in submission order, and what they use.

    uses: for each pass, (resource number, low, high, use). explicit: (before, after) as pass numbers. choices: the
    devices that each pass may run on.
    """

    passes: tuple[Pass, ...]
    names: tuple[str, ...]
    resources: tuple[Resource | Image, ...]
    uses: tuple[list[Piece], ...]
    explicit: tuple[tuple[int, int], ...]
    choices: tuple[tuple[str, ...], ...]
    queues: tuple[str, ...]
    outputs: frozenset[str]
    culled: tuple[str, ...]
    devices: tuple[str, ...]


def take(graph: FrameGraph) -> Snapshot:
    """The snapshot of a graph. Raises UnknownNameError for an explicit edge to a pass that is not there."""
    check_explicit(graph.passes)
    making = Uses(graph.resources)
    every = list(graph.passes.values())
    uses = [making.of(item) for item in every]
    kept = _kept(graph, every, uses)
    staying = set(kept)
    passes = tuple(every[index] for index in kept)
    places = [graph.placed(item) for item in passes]
    return Snapshot(
        passes=passes,
        names=tuple(item.name for item in passes),
        resources=tuple(graph.resources.values()),
        uses=tuple(uses[index] for index in kept),
        explicit=_explicit(passes),
        choices=tuple(devices for devices, _ in places),
        queues=tuple(queue for _, queue in places),
        outputs=frozenset(graph.outputs),
        culled=tuple(item.name for index, item in enumerate(every) if index not in staying),
        devices=tuple(graph.devices) or ("gpu0",),
    )


def check_explicit(passes: Mapping[str, Pass]) -> None:
    """Every pass that an explicit edge names must be there, also an edge of a pass that is culled."""
    for item in passes.values():
        for key in ("after", "before"):
            for name in getattr(item, key):
                if name not in passes:
                    told = f"{key}={name!r} of pass {item.name!r}: the graph has no such pass"
                    raise UnknownNameError(told).at(passes=(item.name,), field=key)


def _kept(graph: FrameGraph, passes: Sequence[Pass], uses: Sequence[list[Piece]]) -> list[int]:
    """Numbers of the passes that write something wanted, or have a side effect; found backwards, byte by byte.

    Wanted at the end are the outputs and what was imported. A pass that stays wants what it reads; what it overwrites
    is not wanted before it.
    """
    wanted = [IntervalSet() for _ in graph.resources]
    for number, (name, resource) in enumerate(graph.resources.items()):
        if resource.imported or name in graph.outputs:
            wanted[number].add(0, resource.extent)
    kept = []
    for index in range(len(passes) - 1, -1, -1):
        pieces = uses[index]
        if not passes[index].side_effect and not any(
            use.writes and wanted[number].meets(low, high) for number, low, high, use in pieces
        ):
            continue
        kept.append(index)
        for number, low, high, use in pieces:
            if use.overwrites:
                wanted[number].remove(low, high)
            elif use.reads:
                wanted[number].add(low, high)
    return kept[::-1]


def _explicit(passes: Sequence[Pass]) -> tuple[tuple[int, int], ...]:
    if not any(item.after or item.before for item in passes):
        return ()
    number = {item.name: index for index, item in enumerate(passes)}
    found = []
    for index, item in enumerate(passes):
        found.extend((number[name], index) for name in item.after if name in number)
        found.extend((index, number[name]) for name in item.before if name in number)
    return tuple(dict.fromkeys(found))
