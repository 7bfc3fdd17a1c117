"""Where passes may run: tagged peers share a device, because what they write cannot be merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from expandlab.errors import IndependenceError
from expandlab.graph.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Choices:
    """For each pass the group that shares its device, and for each group the devices that all of it may use."""

    group: list[int]
    devices: dict[int, tuple[str, ...]]

    def of(self, number: int) -> tuple[str, ...]:
        """The devices that a pass may run on."""
        return self.devices[self.group[number]]

    def first(self) -> list[str]:
        """For each pass the first device that it may run on."""
        return [self.of(number)[0] for number in range(len(self.group))]

    @property
    def is_free(self) -> bool:
        """Whether there is anything to choose."""
        return any(len(devices) > 1 for devices in self.devices.values())


def choices(shot: Snapshot, peers: Iterable[tuple[int, int]]) -> Choices:
    """The choices that the peers leave. Raises IndependenceError for peers that no device can hold together."""
    parent = list(range(len(shot.names)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for first, second in peers:
        a, b = sorted((root(first), root(second)))
        parent[b] = a
    group = [root(number) for number in range(len(parent))]
    devices: dict[int, tuple[str, ...]] = {}
    for number, own in enumerate(group):
        mine = shot.choices[number]
        left = tuple(d for d in devices.get(own, mine) if d in mine)
        if not left:
            raise _error(shot, group, number)
        devices[own] = left
    return Choices(group, devices)


def _error(shot: Snapshot, group: Sequence[int], number: int) -> IndependenceError:
    places = {shot.names[n]: shot.choices[n] for n in range(number + 1) if group[n] == group[number]}
    text = ", ".join(f"{name!r} on {' or '.join(devices)}" for name, devices in places.items())
    return IndependenceError(
        f"passes that declare independent writes to the same bytes run on different devices, and what they write "
        f"cannot be merged: {text}; put them on one device, or leave the tags out"
    ).at(passes=tuple(places), field="device")
