"""What a pass does with each byte: the accesses of one pass to the same bytes, taken as one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from expandlab.graph.declare import Access, Image, Pass, Resource
from expandlab.graph.usage import MEANING, layout


class Use:
    """One or more accesses of a pass to the same bytes as one access.

    It reads if one of them reads, writes if one of them writes, and has their tag if all its writes have the same.
    Uses with the same meaning are the same object within a plan, so they compare by identity.
    """

    __slots__ = ("access", "layout", "overwrites", "read_stages", "reads", "stages", "tag", "write_stages", "writes",
                 "written")  # fmt: skip

    def __init__(self, parts: tuple[tuple[str, str, str | None], ...]):
        reading = [MEANING[usage] for mode, usage, _ in parts if mode != "write"]
        writing = [MEANING[usage] for mode, usage, _ in parts if mode != "read"]
        tags = {tag for mode, _, tag in parts if mode != "read"}
        self.reads, self.writes = bool(reading), bool(writing)
        self.tag: str | None = tags.pop() if len(tags) == 1 else None
        # Only an untagged write leaves nothing of what was there before.
        self.overwrites = self.writes and not self.reads and self.tag is None
        self.read_stages = self.write_stages = self.access = self.written = 0
        for meaning in reading:
            self.read_stages |= meaning.stages
            self.access |= meaning.read
        for meaning in writing:
            self.write_stages |= meaning.stages
            self.written |= meaning.write
        self.stages = self.read_stages | self.write_stages
        self.access |= self.written
        layouts = {layout(usage, mode) for mode, usage, _ in parts}
        self.layout = layouts.pop() if len(layouts) == 1 else "GENERAL"


class Uses:
    """Makes the uses of passes; equal ones are made once."""

    def __init__(self, resources: Mapping[str, Resource | Image]):
        self._resources = resources
        self._number = {name: number for number, name in enumerate(resources)}
        self._made: dict[tuple[tuple[str, str, str | None], ...], Use] = {}

    def of(self, item: Pass) -> list[tuple[int, int, int, Use]]:
        """(resource, low, high, use) of a pass, disjoint, in rising order within each resource."""
        by_resource: dict[str, list[Access]] = {}
        for access in item.accesses:
            by_resource.setdefault(access.resource, []).append(access)
        found = []
        for name, accesses in by_resource.items():
            number = self._number[name]
            if len(accesses) == 1:
                access = accesses[0]
                use = self._use(((access.mode, access.usage, access.independent if access.writes else None),))
                for low, high in access.intervals(self._resources[name]):
                    if low < high:
                        found.append((number, low, high, use))
            else:
                found.extend((number, *piece) for piece in self._together(self._resources[name], accesses))
        return found

    def _use(self, parts: tuple[tuple[str, str, str | None], ...]) -> Use:
        made = self._made.get(parts)
        if made is None:
            made = self._made[parts] = Use(parts)
        return made

    def _together(self, resource: Resource | Image, accesses: list[Access]) -> list[tuple[int, int, Use]]:
        """The pieces of several accesses to one resource, cut where one of them begins or ends."""
        changes: dict[int, tuple[list[int], list[int]]] = {}
        for index, access in enumerate(accesses):
            for low, high in access.intervals(resource):
                if low < high:
                    changes.setdefault(low, ([], []))[0].append(index)
                    changes.setdefault(high, ([], []))[1].append(index)
        pieces: list[tuple[int, int, Use]] = []
        active: set[int] = set()
        places = sorted(changes)
        for low, high in pairwise(places):
            active |= set(changes[low][0])
            active -= set(changes[low][1]) - set(changes[low][0])
            if not active:
                continue
            parts = {
                (accesses[i].mode, accesses[i].usage, accesses[i].independent if accesses[i].writes else None)
                for i in active
            }
            use = self._use(tuple(sorted(parts, key=repr)))
            if pieces and pieces[-1][1] == low and pieces[-1][2] is use:
                pieces[-1] = (pieces[-1][0], high, use)
            else:
                pieces.append((low, high, use))
        return pieces
