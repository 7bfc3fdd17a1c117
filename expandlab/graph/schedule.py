"""The order of the passes, and the device of each that may run on several."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from expandlab.graph import edges as _edges
from expandlab.graph.devices import Choices
from expandlab.graph.hazards import Record
from expandlab.graph.snapshot import Snapshot

SCHEDULES = ("depth", "list", "heft", "optimal")
# What a pass without `cost_us` is taken to cost.
DEFAULT_COST_US = 10.0


@dataclass(frozen=True, eq=False)
class Schedule:
    """An order of the pass numbers, the device of each pass, and the reduced edges (the passes before each)."""

    order: list[int]
    placed: list[str]
    edges: list[list[int]]


def choose(shot: Snapshot, records: Sequence[Record], choices: Choices, mode: str, schedule: str) -> Schedule:
    """The schedule of a graph. Raises CycleError; GraphError where `optimal` has too many passes."""
    placed = choices.first()
    edges, along = _reduced(shot, records, placed, mode)
    if schedule == "depth":
        depth = _edges.depths(edges, along)
        return Schedule(sorted(range(len(depth)), key=lambda number: (depth[number], number)), placed, edges)
    if schedule == "list":
        return Schedule(by_rank(shot, edges, along), placed, edges)
    raise NotImplementedError


def _reduced(
    shot: Snapshot, records: Sequence[Record], placed: Sequence[str], mode: str
) -> tuple[list[list[int]], list[int]]:
    links = _edges.chain(shot, placed) if mode == "chain" else None
    before = _edges.before_reduction(shot, records, links, placed)
    along = _edges.sorted_along(before)
    if along is None:
        raise _edges.cycle_error(shot, before, records, links)
    return _edges.reduced(before, along), along


def cost(shot: Snapshot, number: int) -> float:
    """Microseconds of a pass alone."""
    given = shot.passes[number].cost_us
    return DEFAULT_COST_US if given is None else given


def ranks(shot: Snapshot, edges: Sequence[Sequence[int]], along: Sequence[int]) -> list[float]:
    """For each pass the longest cost from its start to the end."""
    found = [cost(shot, number) for number in range(len(edges))]
    after = _edges.successors(edges)
    for number in reversed(along):
        if after[number]:
            found[number] += max(found[other] for other in after[number])
    return found


def by_rank(shot: Snapshot, edges: Sequence[Sequence[int]], along: Sequence[int]) -> list[int]:
    """List scheduling: of the passes that are ready, the one with the longest cost to the end."""
    rank = ranks(shot, edges, along)
    after, missing = _edges.successors(edges), [len(passes) for passes in edges]
    ready = [(-rank[number], number) for number, count in enumerate(missing) if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        number = heapq.heappop(ready)[1]
        order.append(number)
        for other in after[number]:
            missing[other] -= 1
            if missing[other] == 0:
                heapq.heappush(ready, (-rank[other], other))
    return order
