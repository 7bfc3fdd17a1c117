"""Edges: hazards and explicit edges together, checked for cycles and reduced to those that say something new."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence

from expandlab.errors import CycleError
from expandlab.graph.hazards import Record
from expandlab.graph.snapshot import Snapshot

Predecessors = list[set[int]]


def before_reduction(
    shot: Snapshot, records: Iterable[Record], links: Iterable[tuple[int, int, int]] | None, placed: Sequence[str]
) -> Predecessors:
    """For each pass the passes that must come before it.

    links: None for the graph of hazards, else the chain's (before, after, resource), which take the place of hazards
    within one device. placed: the device of each pass.
    """
    found: Predecessors = [set() for _ in shot.names]
    if links is None:
        for record in records:
            found[record.consumer].add(record.producer)
    else:
        for first, second, _ in links:
            found[second].add(first)
        for record in records:
            if placed[record.producer] != placed[record.consumer]:
                found[record.consumer].add(record.producer)
    for first, second in shot.explicit:
        found[second].add(first)
    return found


def chain(shot: Snapshot, placed: Sequence[str]) -> list[tuple[int, int, int]]:
    """(before, after, resource): each access of a resource on a device linked to the one before it there."""
    latest: dict[tuple[int, str], int] = {}
    found = []
    for number, pieces in enumerate(shot.uses):
        for resource in dict.fromkeys(piece[0] for piece in pieces):
            key = (resource, placed[number])
            if key in latest:
                found.append((latest[key], number, resource))
            latest[key] = number
    return found


def sorted_along(before: Predecessors) -> list[int] | None:
    """An order of the passes along the edges, as submitted where they leave a choice; None if they close a cycle."""
    if all(not passes or max(passes) < number for number, passes in enumerate(before)):
        return list(range(len(before)))
    after, missing = successors(before), [len(passes) for passes in before]
    ready = [number for number, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        for other in after[number]:
            missing[other] -= 1
            if missing[other] == 0:
                heapq.heappush(ready, other)
    return order if len(order) == len(before) else None


def successors(before: Sequence[Iterable[int]]) -> list[list[int]]:
    """The same edges the other way round."""
    found: list[list[int]] = [[] for _ in before]
    for number, passes in enumerate(before):
        for other in passes:
            found[other].append(number)
    return found


def reduced(before: Predecessors, order: Sequence[int]) -> list[list[int]]:
    """The transitive reduction: an edge goes where a longer way along the others says the same.

    A set of passes is the bits of one integer, so 10 000 passes cost 10 000 integers of 1250 bytes, made once and
    dropped as soon as nothing that follows needs them.
    """
    place = [0] * len(before)
    for position, number in enumerate(order):
        place[number] = position
    users = [0] * len(before)
    for passes in before:
        for other in passes:
            users[other] += 1
    reach: list[int] = [0] * len(before)
    kept: list[list[int]] = [[] for _ in before]
    for position, number in enumerate(order):
        passes = before[number]
        seen = 0
        for other in sorted(passes, key=place.__getitem__, reverse=True) if len(passes) > 1 else passes:
            if not seen >> place[other] & 1:
                kept[number].append(other)
                seen |= reach[other]
        if users[number]:
            reach[number] = seen | (1 << position)
        for other in passes:
            users[other] -= 1
            if users[other] == 0:
                reach[other] = 0
    return kept


def depths(before: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """For each pass the longest chain of edges that leads to it."""
    found = [0] * len(before)
    for number in order:
        if before[number]:
            found[number] = 1 + max([found[other] for other in before[number]])
    return found


def cycle_error(
    shot: Snapshot, before: Predecessors, records: Sequence[Record], links: Iterable[tuple[int, int, int]] | None
) -> CycleError:
    """The error for edges that close a cycle, with the shortest one and the reason of each of its edges."""
    cycle = _shortest_cycle(before)
    pairs = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    named = [(shot.names[a], shot.names[b], _reason(shot, a, b, records, links)) for a, b in pairs]
    steps = ", ".join(f"{a!r} before {b!r} ({why})" for a, b, why in named)
    return CycleError(
        f"the edges close a cycle: {steps}; remove an `after` or `before`, or submit the passes in another order",
        cycle=named,
    ).at(passes=tuple(first for first, _, _ in named))


def _reason(
    shot: Snapshot, first: int, second: int, records: Sequence[Record], links: Iterable[tuple[int, int, int]] | None
) -> str:
    found = [
        f"{shot.resources[r.resource].name} {r.low} .. {r.high} {r.kind}"
        for r in records
        if r.producer == first and r.consumer == second
    ]
    if not found:
        found = [f"{shot.resources[r].name} chain" for a, b, r in links or () if (a, b) == (first, second)]
    if (first, second) in shot.explicit:
        found.append("explicit")
    return "; ".join(found)


def _shortest_cycle(before: Predecessors) -> list[int]:
    """Hazards lead forward in submission order, so every cycle has an edge that leads backward: try each of them."""
    after = successors(before)
    best: list[int] = []
    for second, passes in enumerate(before):
        for first in passes:
            if first >= second:
                way = _shortest_way(after, second, first, len(best) - 1 if best else len(before))
                if way and (not best or len(way) < len(best)):
                    best = way
    return best


def _shortest_way(after: Sequence[Sequence[int]], start: int, goal: int, longest: int) -> list[int]:
    """The passes of a shortest way from `start` to `goal`, at most `longest` of them; empty if there is none."""
    came = {start: start}
    waiting = deque([(start, 1)])
    while waiting:
        number, length = waiting.popleft()
        if number == goal:
            way = [number]
            while number != start:
                number = came[number]
                way.append(number)
            return way[::-1]
        if length < longest:
            for other in after[number]:
                if other not in came:
                    came[other] = number
                    waiting.append((other, length + 1))
    return []
