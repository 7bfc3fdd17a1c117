"""Where which bytes are valid while a plan runs: the devices that hold the last written contents, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expandlab.graph import copies as _copies
from expandlab.graph.intervals import IntervalMap
from expandlab.graph.snapshot import Snapshot
from expandlab.results import Result


@dataclass(frozen=True)
class Validity(Result):
    """After pass `after` (None: at the start), bytes `range` of `resource` are valid on `devices`, sorted; on none
    while nothing has written them. Ranges are as long as possible and leave out no byte."""

    after: str | None
    resource: str
    range: tuple[int, int]
    devices: tuple[str, ...]


def find(shot: Snapshot, order: Sequence[int], placed: Sequence[str], *, tags: bool = True) -> list[Validity]:
    """The validity of every resource that is used, at the start and after each pass in `order`."""
    used = sorted({use[0] for number in order for use in shot.uses[number]})
    everywhere = frozenset(placed[number] for number in order)
    maps = {}
    for resource in used:
        item = shot.resources[resource]
        state = _copies._State(None, everywhere if item.imported else frozenset(), (), None)
        maps[resource] = IntervalMap(item.extent, state)
    found = _listed(shot, maps, None)
    for number in order:
        for resource, low, high, use in shot.uses[number]:
            _copies._access(maps[resource], number, resource, low, high, use, placed[number], tags)
        found += _listed(shot, maps, shot.names[number])
    return found


def _listed(shot: Snapshot, maps: dict[int, IntervalMap], after: str | None) -> list[Validity]:
    found: list[Validity] = []
    for resource, cells in maps.items():
        item, at = shot.resources[resource], len(found)
        first, last = cells.cut(0, item.extent)
        for low, high, state in cells.spans(first, last):
            devices = tuple(sorted(state.valid))
            if len(found) > at and found[-1].devices == devices:
                found[-1] = Validity(after, item.name, (found[-1].range[0], high), devices)
            else:
                found.append(Validity(after, item.name, (low, high), devices))
    return found
