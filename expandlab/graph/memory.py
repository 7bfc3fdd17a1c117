"""Memory of transient buffers: those whose lifetimes cannot overlap share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from expandlab.graph.hazards import Record, Tracker
from expandlab.graph.snapshot import Snapshot
from expandlab.graph.uses import Use
from expandlab.results import Result

ALIGNMENT = 256


@dataclass(frozen=True)
class Placement(Result):
    """Where a transient buffer lies in the one allocation of a device: `size` bytes from `offset` on."""

    resource: str
    device: str
    offset: int
    size: int

    def __repr__(self) -> str:
        return f"<{self.resource} on {self.device}: {self.offset} .. {self.offset + self.size}>"


@dataclass(frozen=True)
class Place:
    """A placement in numbers."""

    resource: int
    device: str
    offset: int
    size: int


def place(
    shot: Snapshot, order: Sequence[int], edges: Sequence[Sequence[int]], placed: Sequence[str]
) -> tuple[Place, ...]:
    """Placements, largest first, then in order of declaration, each at the lowest free multiple of 256.

    order: any order along the edges. placed: the device of each pass.
    """
    transient = {number for number, r in enumerate(shot.resources) if r.kind == "buffer" and not r.imported}
    users: dict[int, list[int]] = {}
    where: dict[str, dict[int, None]] = {}
    for number in order:
        for resource in dict.fromkeys(piece[0] for piece in shot.uses[number]):
            if resource in transient:
                users.setdefault(resource, []).append(number)
                where.setdefault(placed[number], {})[resource] = None
    if not users:
        return ()
    resources = list(users)
    index = {resource: position for position, resource in enumerate(resources)}
    apart = _apart(shot, order, edges, users, resources)
    found = []
    for device in shot.devices:
        chosen = sorted(where.get(device, ()), key=lambda r: (-shot.resources[r].size, r))
        offsets = _fit([shot.resources[r].size for r in chosen], [index[r] for r in chosen], apart)
        found.extend(Place(r, device, o, shot.resources[r].size) for r, o in zip(chosen, offsets, strict=True))
    return tuple(found)


def _apart(
    shot: Snapshot,
    order: Sequence[int],
    edges: Sequence[Sequence[int]],
    users: dict[int, list[int]],
    resources: list[int],
) -> Any:
    """Boolean matrix: whether along the edges every user of one resource comes before every user of the other.

    It is enough to compare the first users of the one with the last users of the other: those with no user of the
    same resource before or behind them. Outputs live to the end.
    """
    import numpy as np

    position = [0] * len(edges)
    for at, number in enumerate(order):
        position[number] = at
    masks = {r: sum(1 << position[number] for number in numbers) for r, numbers in users.items()}
    behind = dict.fromkeys(resources, 0)
    common: dict[int, int] = {}
    last_use = list(position)
    for number, passes in enumerate(edges):
        for other in passes:
            last_use[other] = max(last_use[other], position[number])
    expire: list[list[int]] = [[] for _ in order]
    for number in order:
        expire[last_use[number]].append(number)
    by_pass: dict[int, list[int]] = {}
    for r, numbers in users.items():
        for number in numbers:
            by_pass.setdefault(number, []).append(r)
    reach: dict[int, int] = {}
    for at, number in enumerate(order):
        before = 0
        for other in edges[number]:
            before |= reach[other] | (1 << position[other])
        reach[number] = before
        for r in by_pass.get(number, ()):
            earlier = before & masks[r]
            behind[r] |= earlier
            if not earlier:
                common[r] = common[r] & before if r in common else before
        for other in expire[at]:
            del reach[other]

    width = -(-len(order) // 8)
    bits = np.frombuffer(b"".join(common[r].to_bytes(width, "little") for r in resources), np.uint8)
    bits = bits.reshape(len(resources), width)
    last = [
        [] if shot.resources[r].name in shot.outputs
        else [position[n] for n in users[r] if not behind[r] >> position[n] & 1]
        for r in resources
    ]  # fmt: skip
    columns = np.array([at for places in last for at in places], np.int64)
    owners = np.repeat(np.arange(len(resources)), [len(places) for places in last])
    matrix = np.zeros((len(resources), len(resources)), bool)
    if len(columns):
        known = (bits[:, columns >> 3] >> (columns & 7).astype(np.uint8) & 1).astype(bool)
        starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
        matrix[owners[starts]] = np.logical_and.reduceat(known, starts, axis=1).T
    return matrix | matrix.T


def _fit(sizes: Sequence[int], index: Sequence[int], apart: Any) -> list[int]:
    """The lowest free offset of each buffer in turn; `apart[i, j]` says that two may overlap."""
    import numpy as np

    # Offset, aligned end and index of what is placed, by rising offset.
    taken = np.zeros((3, len(sizes)), np.int64)
    count = 0
    found = []
    for size, own in zip(sizes, index, strict=True):
        if size == 0:
            found.append(0)
            continue
        meets = ~apart[own, taken[2, :count]]
        lows, ends = taken[0, :count][meets], taken[1, :count][meets]
        free = np.r_[0, np.maximum.accumulate(ends)]
        offset = int(free[np.argmax(np.r_[lows, np.iinfo(np.int64).max] - free >= size)])
        at = int(np.searchsorted(taken[0, :count], offset))
        taken[:, at + 1 : count + 1] = taken[:, at:count]
        taken[:, at] = offset, -(-(offset + size) // ALIGNMENT) * ALIGNMENT, own
        count += 1
        found.append(offset)
    return found


class _Shared:
    """A use of one of several buffers in the same memory, which counts as one resource."""

    __slots__ = ("reads", "resource", "use", "writes")

    def __init__(self, use: Use, resource: int):
        self.use, self.resource = use, resource
        self.reads, self.writes = use.reads, use.writes


def aliases(
    shot: Snapshot, order: Sequence[int], placed: Sequence[str], places: Sequence[Place], *, tags: bool = True
) -> list[tuple[Record, int]]:
    """Hazards in memory that was another buffer's before, as if both were one resource; with that other buffer.

    A tag speaks of writes to one buffer, so it joins no writes to two.
    """
    shared = _shared(places)
    if not shared:
        return []
    trackers = {device: Tracker(end, True) for device, end in _ends(places).items()}
    made: dict[tuple[int, int], _Shared] = {}
    found = []
    for number in order:
        device = placed[number]
        for resource, low, high, use in shot.uses[number]:
            offset = shared.get((device, resource))
            if offset is None:
                continue
            both = made.get((id(use), resource))
            if both is None:
                both = made[id(use), resource] = _Shared(use, resource)
            tag = (resource, use.tag) if tags and use.tag is not None else None
            for producer, first, a, b in trackers[device].access(number, low + offset, high + offset, both, tag):
                if first.resource != resource:
                    found.append((Record(producer, number, resource, a - offset, b - offset, first.use, use),
                                  first.resource))  # fmt: skip
    return found


def _shared(places: Sequence[Place]) -> dict[tuple[str, int], int]:
    """{(device, resource): offset} of the buffers that lie, with a byte or more, where another one lies too."""
    found = {}
    by_device: dict[str, list[Place]] = {}
    for item in places:
        if item.size:
            by_device.setdefault(item.device, []).append(item)
    for device, items in by_device.items():
        items.sort(key=lambda item: item.offset)
        widest: Place | None = None
        for item in items:
            if widest is not None and item.offset < widest.offset + widest.size:
                found[device, item.resource] = item.offset
                found[device, widest.resource] = widest.offset
            if widest is None or item.offset + item.size > widest.offset + widest.size:
                widest = item
    return found


def _ends(places: Sequence[Place]) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in places:
        found[item.device] = max(found.get(item.device, 0), item.offset + item.size)
    return found


def listed(shot: Snapshot, places: Sequence[Place]) -> tuple[Placement, ...]:
    """The placements by name."""
    return tuple(Placement(shot.resources[p.resource].name, p.device, p.offset, p.size) for p in places)
