"""Layout changes of images, apart from the barriers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expandlab.graph.copies import Move
from expandlab.graph.intervals import IntervalMap
from expandlab.graph.snapshot import Snapshot
from expandlab.graph.usage import COPIED, UNDEFINED
from expandlab.results import Result


@dataclass(frozen=True)
class LayoutChange(Result):
    """Before a pass, `subresources` (from, to; end excluded) of an image go from one layout to another."""

    before: str
    resource: str
    subresources: tuple[int, int]
    old_layout: str
    new_layout: str

    def __repr__(self) -> str:
        low, high = self.subresources
        return f"<{self.resource} {low} .. {high} before {self.before}: {self.old_layout} -> {self.new_layout}>"


def find(
    shot: Snapshot, order: Sequence[int], placed: Sequence[str], moves: Sequence[Move]
) -> tuple[LayoutChange, ...]:
    """The changes in order of the passes.

    On each device a transient image starts as UNDEFINED; an imported one comes in the layout of its first use. A copy
    between devices leaves its destination in TRANSFER_DST_OPTIMAL and its source as it was.
    """
    images = {number for number, item in enumerate(shot.resources) if item.kind == "image"}
    if not images:
        return ()
    copied: dict[int, list[Move]] = {}
    for move in moves:
        if move.resource in images:
            copied.setdefault(move.before, []).append(move)
    maps: dict[tuple[str, int], IntervalMap] = {}
    found = []
    for number in order:
        for resource, low, high, layout in [
            *((move.resource, move.low, move.high, None) for move in copied.get(number, ())),
            *((r, low, high, use.layout) for r, low, high, use in shot.uses[number] if r in images),
        ]:
            key = (placed[number], resource)
            if key not in maps:
                item = shot.resources[resource]
                maps[key] = IntervalMap(item.extent, None if item.imported else UNDEFINED)
            for start, end, old in _set(maps[key], low, high, layout or COPIED):
                if layout is not None and old is not None and old != layout:
                    found.append((number, resource, start, end, old, layout))
    return tuple(
        LayoutChange(shot.names[number], shot.resources[resource].name, (low, high), old, new)
        for number, resource, low, high, old, new in _long(found)
    )


def _set(cells: IntervalMap, low: int, high: int, layout: str) -> list[tuple[int, int, str | None]]:
    first, last = cells.cut(low, high)
    before = list(cells.spans(first, last))
    cells.replace(first, last, [low], [layout])
    return before


def _long(found: list[tuple[int, int, int, int, str, str]]) -> list[tuple[int, int, int, int, str, str]]:
    """Neighbours with the same change taken together."""
    joined: list[tuple[int, int, int, int, str, str]] = []
    for change in found:
        number, resource, low, high, old, new = change
        if joined and joined[-1][:2] == (number, resource) and joined[-1][3:] == (low, old, new):
            joined[-1] = (number, resource, joined[-1][2], high, old, new)
        else:
            joined.append(change)
    return joined
