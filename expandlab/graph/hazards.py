"""Hazards: which pass must come after which, and why, read off one interval map for each resource."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from expandlab.errors import UninitialisedReadError
from expandlab.graph.declare import Image, Resource
from expandlab.graph.intervals import IntervalMap
from expandlab.graph.snapshot import Snapshot
from expandlab.graph.uses import Use
from expandlab.results import Result


@dataclass(frozen=True)
class Hazard(Result):
    """`consumer` must come after `producer` because of `range` (bytes or subresources) of `resource`.

    kind: RAW where the consumer reads what the producer wrote, else WAW where both write, else WAR.
    """

    producer: str
    consumer: str
    resource: str
    range: tuple[int, int]
    kind: str

    def __repr__(self) -> str:
        low, high = self.range
        return f"<{self.kind} {self.producer} -> {self.consumer}: {self.resource} {low} .. {high}>"


class Record(NamedTuple):
    """A hazard between two pass numbers over numbers low .. high of a resource, with both uses."""

    producer: int
    consumer: int
    resource: int
    low: int
    high: int
    first: Use
    second: Use

    @property
    def kind(self) -> str:
        """RAW, WAW or WAR."""
        if self.first.writes:
            return "RAW" if self.second.reads else "WAW"
        return "WAR"


# Members of a cell are a linked list (pass, use, rest), so that a cell that is cut costs nothing to copy.
Members = tuple[int, Use, Any] | None
_READING, _ALONE = object(), object()


class Cell(NamedTuple):
    """What holds for some bytes: the accesses that stand side by side there, and those before them.

    kind: reading, writing alone, or the tag of the writes. members: they, in any order. base: the members before
    them; writers: the last writers before them (the base, unless readers came between).
    """

    kind: Any
    members: Members
    base: Members
    writers: Members


_EMPTY = Cell(None, None, None, None)


class Unwritten(Exception):
    """Numbers low .. high are read, and nothing has written them."""


class Tracker:
    """The interval map of one resource: give it accesses in order, and it gives the hazards of each."""

    def __init__(self, extent: int, imported: bool):
        self._map = IntervalMap(extent, _EMPTY)
        self._imported = imported

    def access(self, number: int, low: int, high: int, use: Use, tag: Any) -> Iterator[tuple[int, Use, int, int]]:
        """(producer, its use, low, high) for each hazard of pass `number`, as long as one cell; then take it in.

        tag: of a write that is independent of others with the same tag, else None.
        Raises Unwritten(low, high) for bytes that it reads and nothing wrote.
        """
        cells = self._map
        first, last = cells.cut(low, high)
        kind = (tag if tag is not None else _ALONE) if use.writes else _READING
        starts: list[int] = []
        fresh: list[Cell] = []
        gap: list[int] | None = None
        last_cell = None
        for start, end, cell in cells.spans(first, last):
            if kind is not _ALONE and cell.kind == kind:
                before, writers = cell.base, cell.writers
                members = cell.members
            else:
                before = cell.members
                writers = cell.writers if cell.kind is _READING else cell.members
                members = None
            yield from _each(before, start, end)
            if use.reads:
                # Readers or peers that come between do not hide the last writers from a read_write.
                if writers is not before:
                    yield from _each(writers, start, end)
                if writers is None and not self._imported:
                    if gap is None:
                        gap = [start, end]
                    elif gap[1] == start:
                        gap[1] = end
            if kind is _ALONE:
                # Nothing ever looks behind a write that stands alone, so one cell is enough.
                if not fresh:
                    starts, fresh = [start], [Cell(kind, (number, use, None), None, None)]
            elif last_cell is None or not _same(cell, last_cell):
                starts.append(start)
                fresh.append(Cell(kind, (number, use, members), before, writers))
            last_cell = cell
        if gap is not None:
            raise Unwritten(*gap)
        cells.replace(first, last, starts, fresh)

    def peers(self, low: int, high: int) -> Iterator[Members]:
        """The members of the cells of low .. high."""
        first, last = self._map.cut(low, high)
        for _, _, cell in self._map.spans(first, last):
            yield cell.members


def _same(one: Cell, other: Cell) -> bool:
    """Whether two cells came of one that was cut."""
    return one.members is other.members and one.base is other.base and one.writers is other.writers


def _each(members: Members, low: int, high: int) -> Iterator[tuple[int, Use, int, int]]:
    while members is not None:
        number, use, members = members
        yield number, use, low, high


def find(shot: Snapshot, *, tags: bool = True) -> tuple[list[Record], list[tuple[int, int]]]:
    """(all hazards, pairs of passes that are tagged peers), in submission order of the consumers.

    Raises UninitialisedReadError for bytes that a pass reads, that nothing wrote and that are not imported.
    """
    trackers: dict[int, Tracker] = {}
    records: list[Record] = []
    peers: list[tuple[int, int]] = []
    for number, pieces in enumerate(shot.uses):
        for resource, low, high, use in pieces:
            tracker = trackers.get(resource)
            if tracker is None:
                item = shot.resources[resource]
                tracker = trackers[resource] = Tracker(item.extent, item.imported)
            tag = use.tag if tags else None
            try:
                found = list(tracker.access(number, low, high, use, tag))
            except Unwritten as error:
                raise _uninitialised(shot.names[number], shot.resources[resource], *error.args) from None
            if len(found) > 1:
                found = _joined(found)
            records.extend(Record(producer, number, resource, a, b, first, use) for producer, first, a, b in found)
            if tag is not None:
                peers.extend((members[2][0], number) for members in tracker.peers(low, high) if members[2] is not None)
    return records, peers


def _joined(found: list[tuple[int, Use, int, int]]) -> list[tuple[int, Use, int, int]]:
    """The same, cells that touch taken together."""
    spans: dict[tuple[int, int], list[list[int]]] = {}
    uses = {}
    for producer, use, low, high in found:
        key = (producer, id(use))
        uses[key] = use
        parts = spans.setdefault(key, [])
        if parts and parts[-1][1] == low:
            parts[-1][1] = high
        elif not parts or parts[-1][1] < low:
            parts.append([low, high])
    return [(key[0], uses[key], low, high) for key, parts in spans.items() for low, high in parts]


def _uninitialised(name: str, resource: Resource | Image, low: int, high: int) -> UninitialisedReadError:
    unit = "bytes" if resource.kind == "buffer" else "subresources"
    return UninitialisedReadError(
        f"pass {name!r} reads {resource.name!r} {unit} {low} .. {high}, which no earlier pass writes (writes with "
        f"the same tag do not count); write them first or declare the {resource.kind} with imported=True"
    ).at(passes=(name,), resource=resource.name, field="mode")


def listed(shot: Snapshot, records: Sequence[Record]) -> tuple[Hazard, ...]:
    """The hazards by name, each range as long as possible, in order of the consumer, producer, resource and range."""
    spans: dict[tuple[int, int, int, str], list[tuple[int, int]]] = {}
    for record in records:
        key = (record.consumer, record.producer, record.resource, record.kind)
        spans.setdefault(key, []).append((record.low, record.high))
    found = []
    for (consumer, producer, resource, kind), parts in spans.items():
        if len(parts) > 1:
            parts = _touching(parts)
        found.extend((consumer, producer, resource, part, kind) for part in parts)
    found.sort()
    names, resources = shot.names, shot.resources
    return tuple(Hazard(names[p], names[c], resources[r].name, part, kind) for c, p, r, part, kind in found)


def _touching(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    parts.sort()
    found = [parts[0]]
    for low, high in parts[1:]:
        if low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found
