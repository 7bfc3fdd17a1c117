"""The order of the passes, and the device of each that may run on several."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

from expandlab.errors import GraphError
from expandlab.graph import edges as _edges
from expandlab.graph.devices import Choices
from expandlab.graph.exhaustive import search
from expandlab.graph.hazards import Record
from expandlab.graph.simulate import Machine, size_of
from expandlab.graph.snapshot import Snapshot

SCHEDULES = ("depth", "list", "heft", "optimal")
MOST_PASSES = 10


@dataclass(frozen=True, eq=False)
class Schedule:
    """An order of the pass numbers, the device of each pass, and the reduced edges (the passes before each)."""

    order: list[int]
    placed: list[str]
    edges: list[list[int]]


def choose(shot: Snapshot, records: Sequence[Record], choices: Choices, mode: str, schedule: str) -> list[Schedule]:
    """The schedule of a graph; for `optimal` a few, of which the one with the shortest timeline is wanted.

    Raises CycleError; GraphError where `optimal` has too many passes.
    """
    if schedule == "optimal" and len(shot.names) > MOST_PASSES:
        raise GraphError(
            f"schedule='optimal': {len(shot.names)} passes are kept, and it tries every order, of at most "
            f"{MOST_PASSES}; use 'heft'"
        )
    if mode == "chain" and choices.is_free and schedule in ("heft", "optimal"):
        # The links of the chain follow from the devices, so these are chosen by the hazards first.
        found = [_fixed(choices, item.placed) for item in choose(shot, records, choices, "dag", schedule)]
        return [item for fixed in found for item in choose(shot, records, fixed, mode, schedule)]
    placed = choices.first()
    edges, along = _reduced(shot, records, placed, mode)
    if schedule == "depth":
        return [Schedule(_by_depth(edges, along), placed, edges)]
    if schedule == "list":
        return [Schedule(_by_rank(shot, edges, along), placed, edges)]
    earliest = Schedule(*_earliest_finish(shot, records, choices, edges, along), edges)
    if schedule == "heft":
        return [earliest]
    start = [
        Schedule(_by_depth(edges, along), placed, edges),
        Schedule(_by_rank(shot, edges, along), placed, edges),
        earliest,
        Schedule(_by_depth(edges, along), earliest.placed, edges),
    ]
    tried = [(item.order, item.placed) for item in start]
    order, devices = search(shot, records, choices, edges, tried, Machine(), data(shot, records))
    return [Schedule(order, devices, edges), *start]


def _fixed(choices: Choices, placed: Sequence[str]) -> Choices:
    return replace(choices, devices={group: (placed[group],) for group in choices.devices})


def _reduced(
    shot: Snapshot, records: Sequence[Record], placed: Sequence[str], mode: str
) -> tuple[list[list[int]], list[int]]:
    links = _edges.chain(shot, placed) if mode == "chain" else None
    before = _edges.before_reduction(shot, records, links, placed)
    along = _edges.sorted_along(before)
    if along is None:
        raise _edges.cycle_error(shot, before, records, links)
    return _edges.reduced(before, along), along


def data(shot: Snapshot, records: Sequence[Record]) -> dict[tuple[int, int], int]:
    """{(producer, consumer): bytes that the consumer reads of the producer's}."""
    found: dict[tuple[int, int], int] = {}
    for r in records:
        if r.kind == "RAW":
            key = (r.producer, r.consumer)
            found[key] = found.get(key, 0) + size_of(shot.resources[r.resource], r.low, r.high)
    return found


def _by_depth(edges: Sequence[Sequence[int]], along: Sequence[int]) -> list[int]:
    """By the longest chain of edges that leads to a pass, then as submitted: independent passes stand together."""
    depth = _edges.depths(edges, along)
    return sorted(range(len(depth)), key=lambda number: (depth[number], number))


def _by_rank(shot: Snapshot, edges: Sequence[Sequence[int]], along: Sequence[int]) -> list[int]:
    """List scheduling: of the passes that are ready, the one with the longest cost to the end."""
    machine = Machine()
    after = _edges.successors(edges)
    rank = [machine.pass_time(shot, number) for number in range(len(edges))]
    for number in reversed(along):
        if after[number]:
            rank[number] += max(rank[other] for other in after[number])
    missing = [len(passes) for passes in edges]
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


def _earliest_finish(
    shot: Snapshot,
    records: Sequence[Record],
    choices: Choices,
    edges: Sequence[Sequence[int]],
    along: Sequence[int],
) -> tuple[list[int], list[str]]:
    """HEFT: passes by longest mean cost to the end, each to the device where it would finish first.

    H. Topcuoglu, S. Hariri, M. Wu: Performance-effective and low-complexity task scheduling for heterogeneous
    computing. IEEE Transactions on Parallel and Distributed Systems 13(3), 2002. A queue runs its passes in order, so
    a pass never goes into a gap that is left before another one.
    """
    machine = Machine()
    moved = data(shot, records)
    after = _edges.successors(edges)
    needs: list[list[tuple[int, int]]] = [[(other, moved.get((other, number), 0)) for other in passes]
                                          for number, passes in enumerate(edges)]  # fmt: skip
    # The data of a hazard that the reduction left out is still read.
    for (producer, consumer), size in moved.items():
        if producer not in edges[consumer]:
            needs[consumer].append((producer, size))
    rank = [machine.pass_time(shot, number) for number in range(len(edges))]
    for number in reversed(along):
        rank[number] += max(
            (_mean_transfer(choices, number, other, moved, machine) + rank[other] for other in after[number]), default=0
        )
    position = {number: at for at, number in enumerate(along)}
    free: dict[tuple[str, str], float] = {}
    placed = [""] * len(edges)
    group: dict[int, str] = {}
    start, end = [0.0] * len(edges), [0.0] * len(edges)
    ranked = sorted(along, key=lambda number: (-rank[number], position[number]))
    for number in ranked:
        own = choices.group[number]
        best: tuple[float, str] | None = None
        for device in (group[own],) if own in group else choices.of(number):
            ready = free.get((device, shot.queues[number]), 0.0)
            for other, size in needs[number]:
                ready = max(ready, end[other] + delay(shot, placed[other], device, other, number, size, machine))
            if best is None or ready < best[0]:
                best = (ready, device)
        start[number], placed[number] = best
        group[own] = placed[number]
        end[number] = start[number] + machine.pass_time(shot, number)
        free[placed[number], shot.queues[number]] = end[number]
    at = {number: place for place, number in enumerate(ranked)}
    return sorted(along, key=lambda number: (start[number], at[number])), placed


def _mean_transfer(
    choices: Choices, first: int, second: int, moved: dict[tuple[int, int], int], machine: Machine
) -> float:
    pairs = [(a, b) for a in choices.of(first) for b in choices.of(second)]
    apart = sum(a != b for a, b in pairs) / len(pairs)
    return apart * machine.transfer(moved.get((first, second), 0))


def delay(shot: Snapshot, source: str, destination: str, first: int, second: int, size: int, machine: Machine) -> float:
    """Microseconds from the end of pass `first` on `source` to the earliest start of `second` on `destination`."""
    if source == destination:
        return 0.0 if shot.queues[first] == shot.queues[second] else machine.wait_us
    return machine.wait_us + (machine.transfer(size) + machine.wait_us if size else 0.0)
