"""Barriers: as few as the order allows, with no stage and no access bit that nothing needs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from expandlab.graph.hazards import Record
from expandlab.graph.snapshot import Snapshot
from expandlab.graph.usage import COMPUTE, names
from expandlab.graph.uses import Use
from expandlab.graph.waits import Clocks, Queue
from expandlab.results import Result


@dataclass(frozen=True)
class Barrier(Result):
    """One global barrier right before the pass `before`, on its queue.

    kind: `memory`, or `execution` if both access masks are empty. The masks are sets of names as in Vulkan
    synchronization 2. resources: those of the hazards for which it is the first barrier that covers them.
    """

    before: str
    kind: str
    src_stages: frozenset[str]
    src_access: frozenset[str]
    dst_stages: frozenset[str]
    dst_access: frozenset[str]
    resources: tuple[str, ...]

    def __repr__(self) -> str:
        source = " + ".join(sorted(self.src_stages | self.src_access))
        return f"<{self.kind} barrier before {self.before}: {source} -> {' + '.join(sorted(self.dst_stages))}>"


class Need(NamedTuple):
    """What a barrier must have to cover a hazard, as masks."""

    src_stages: int
    dst_stages: int
    src_access: int
    dst_access: int

    def within(self, other: Need) -> bool:
        """Whether `other` has all of it."""
        return not any(mine & ~its for mine, its in zip(self, other, strict=True))


def need(first: Use, second: Use) -> Need:
    """Of a hazard between two uses. A write after a read needs execution only, and no read bit ever at the source."""
    if not first.writes:
        return Need(first.stages, second.write_stages, 0, 0)
    # What a pass that also reads the bytes has read must be done before they change, but not before they are read.
    source = first.stages if second.writes else first.write_stages
    return Need(source, second.stages, first.written, second.access)


def find(
    shot: Snapshot,
    order: Sequence[int],
    edges: Sequence[Sequence[int]],
    records: Iterable[Record],
    aliases: Iterable[tuple[Record, int]],
    queues: Sequence[Queue],
    clocks: Clocks,
) -> tuple[Barrier, ...]:
    """The barriers of all queues, in order of the passes that they stand before.

    aliases: hazards of memory that two buffers share, each with the other buffer's number.
    """
    wanted: list[list[tuple[int, Need, tuple[int, ...]]]] = [[] for _ in shot.names]
    cache: dict[tuple[Use, Use], Need] = {}

    def add(record: Record, resources: tuple[int, ...]) -> None:
        first, second = record.producer, record.consumer
        if queues[first] != queues[second] or clocks.through[second] >= clocks.place[first]:
            return
        uses = (record.first, record.second)
        found = cache.get(uses)
        if found is None:
            found = cache[uses] = need(*uses)
        wanted[second].append((clocks.place[first], found, resources))

    direct = set()
    for record in records:
        direct.add((record.producer, record.consumer))
        add(record, (record.resource,))
    for record, other in aliases:
        add(record, (other, record.resource))
    for number, passes in enumerate(edges):
        for other in passes:
            if (
                (other, number) not in direct
                and queues[other] == queues[number]
                and clocks.through[number] < clocks.place[other]
            ):
                wanted[number].append(
                    (clocks.place[other], Need(stages_of(shot, other), stages_of(shot, number), 0, 0), ())
                )

    lines: dict[Queue, _Line] = {}
    for number in order:
        if wanted[number]:
            lines.setdefault(queues[number], _Line()).take(clocks.place[number], wanted[number])
    covered = {queue: line.covered() for queue, line in lines.items()}
    found = []
    for number in order:
        queue, place = queues[number], clocks.place[number]
        if queue in lines and place in lines[queue].at:
            found.append(_barrier(shot, number, lines[queue].at[place], covered[queue].get(place, ())))
    return tuple(found)


class _Line:
    """The barriers of one queue while its passes are gone through in order, and all that is asked of them."""

    def __init__(self) -> None:
        # {place of the pass that a barrier stands before: what the barrier has}, in rising order
        self.at: dict[int, Need] = {}
        # The last place of a barrier that had this much, with the masks that earlier passes gave it.
        self._latest: dict[Need, int] = {}
        self._latest_stages: dict[tuple[int, int], int] = {}
        self._hazards: list[tuple[int, Need, tuple[int, ...]]] = []

    def take(self, place: int, wanted: Sequence[tuple[int, Need, tuple[int, ...]]]) -> None:
        """Serve the hazards of the pass at `place`: (place of the producer, need, resources)."""
        self._hazards.extend(wanted)
        producers: dict[Need, int] = {}
        for producer, asked, _ in wanted:
            # What the last producer has, the earlier ones have too.
            producers[asked] = max(producer, producers.get(asked, 0))
        bare = [asked for asked, producer in producers.items() if self._last_with_stages(asked) <= producer]
        if bare:
            source = destination = 0
            for asked in bare:
                source |= asked.src_stages
                destination |= asked.dst_stages
            self._set(place, Need(source, destination, 0, 0))
            self._latest_stages[source, destination] = place
        grown = [
            (self._last_with_stages(asked), asked)
            for asked, producer in producers.items()
            if asked.src_access | asked.dst_access and self._last_with(asked) <= producer
        ]
        for at, asked in grown:
            has = self.at[at]
            self._set(at, has._replace(src_access=has.src_access | asked.src_access,
                                       dst_access=has.dst_access | asked.dst_access))  # fmt: skip

    def covered(self) -> dict[int, set[int]]:
        """{place of a barrier: resources of the hazards that no barrier before it covers}."""
        able: dict[Need, list[int]] = {}
        found: dict[int, set[int]] = {}
        for producer, asked, resources in self._hazards:
            places = able.get(asked)
            if places is None:
                places = able[asked] = [place for place, has in self.at.items() if asked.within(has)]
            first = places[bisect_right(places, producer)]
            found.setdefault(first, set()).update(resources)
        return found

    def _set(self, place: int, has: Need) -> None:
        self.at[place] = has
        self._latest[has] = max(place, self._latest.get(has, 0))

    def _last_with(self, asked: Need) -> int:
        return max((place for has, place in self._latest.items() if asked.within(has)), default=0)

    def _last_with_stages(self, asked: Need) -> int:
        return max(
            (
                place
                for (source, destination), place in self._latest_stages.items()
                if not asked.src_stages & ~source and not asked.dst_stages & ~destination
            ),
            default=0,
        )


def stages_of(shot: Snapshot, number: int) -> int:
    """All stages of a pass; those of a compute shader where it accesses nothing."""
    found = 0
    for _, _, _, use in shot.uses[number]:
        found |= use.stages
    return found or COMPUTE


def _barrier(shot: Snapshot, number: int, has: Need, resources: Iterable[int]) -> Barrier:
    return Barrier(
        before=shot.names[number],
        kind="memory" if has.src_access | has.dst_access else "execution",
        src_stages=names(has.src_stages, stages=True),
        src_access=names(has.src_access),
        dst_stages=names(has.dst_stages, stages=True),
        dst_access=names(has.dst_access),
        resources=tuple(shot.resources[number].name for number in sorted(resources)),
    )
