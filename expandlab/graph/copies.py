"""Copies between devices: which bytes a pass needs that are not valid where it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from expandlab.graph.intervals import IntervalMap
from expandlab.graph.snapshot import Snapshot
from expandlab.graph.uses import Use
from expandlab.results import Result


@dataclass(frozen=True)
class Copy(Result):
    """`range` of `resource` goes from device `source` to `destination`, before the pass that needs it there first."""

    resource: str
    range: tuple[int, int]
    source: str
    destination: str
    before: str

    def __repr__(self) -> str:
        low, high = self.range
        return f"<Copy of {self.resource} {low} .. {high} {self.source} -> {self.destination} before {self.before}>"


class Move(NamedTuple):
    """A copy in numbers, with the passes that wrote its bytes last."""

    resource: int
    low: int
    high: int
    source: str
    destination: str
    before: int
    writers: tuple[int, ...]


class _State(NamedTuple):
    """Of some bytes: the device that wrote them (None: imported), all that have them, who wrote them last, and the
    tag of these writes, while nothing has read them."""

    home: str | None
    valid: frozenset[str]
    writers: tuple[int, ...]
    tag: str | None


def find(shot: Snapshot, order: Sequence[int], placed: Sequence[str], *, tags: bool = True) -> list[Move]:
    """The copies, in order of the passes that they stand before; placed: the device of each pass."""
    if len({placed[number] for number in order}) < 2:
        return []
    everywhere = frozenset(placed)
    maps: dict[int, IntervalMap] = {}
    found: list[Move] = []
    for number in order:
        moves: list[Move] = []
        for resource, low, high, use in shot.uses[number]:
            cells = maps.get(resource)
            if cells is None:
                item = shot.resources[resource]
                state = _State(None, everywhere if item.imported else frozenset(), (), None)
                cells = maps[resource] = IntervalMap(item.extent, state)
            moves.extend(_access(cells, number, resource, low, high, use, placed[number], tags))
        found.extend(_long(moves))
    return found


def _access(
    cells: IntervalMap, number: int, resource: int, low: int, high: int, use: Use, device: str, tags: bool
) -> list[Move]:
    """The copies for one use, cell by cell; and what holds for its bytes after it."""
    first, last = cells.cut(low, high)
    starts, fresh, moves = [], [], []
    for start, end, state in cells.spans(first, last):
        if not use.overwrites and state.valid and device not in state.valid:
            moves.append(Move(resource, start, end, state.home or "", device, number, state.writers))
            state = state._replace(valid=state.valid | {device})
        if use.writes:
            tag = use.tag if tags else None
            peers = state.writers if tag is not None and state.tag == tag else ()
            state = _State(device, frozenset((device,)), (*peers, number), tag)
        elif state.tag is not None:
            state = state._replace(tag=None)
        if fresh and fresh[-1] == state:
            continue
        starts.append(start)
        fresh.append(state)
    cells.replace(first, last, starts, fresh)
    return moves


def _long(moves: list[Move]) -> list[Move]:
    """Ranges as long as possible, but of one source and the same last writers."""
    found: list[Move] = []
    for move in sorted(moves):
        last = found[-1] if found else None
        if (
            last is not None
            and (last.resource, last.high, last.source) == (move.resource, move.low, move.source)
            and set(last.writers) == set(move.writers)
        ):
            found[-1] = last._replace(high=move.high)
        else:
            found.append(move)
    return found


def listed(shot: Snapshot, moves: Sequence[Move]) -> tuple[Copy, ...]:
    """The copies by name."""
    return tuple(
        Copy(shot.resources[m.resource].name, (m.low, m.high), m.source, m.destination, shot.names[m.before])
        for m in moves
    )
