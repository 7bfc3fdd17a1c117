"""Connections beside hazards: neither says that there is the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expandlab.graph.hazards import Hazard
from expandlab.graph.slots import Link
from expandlab.results import Result


@dataclass(frozen=True)
class Connection(Result):
    """A connection of the document, a hazard, or both.

    source, target: slots as `pass.slot`; of a hazard that no connection names, the passes. connected: whether the
    document connects them; dependency: whether it says that this orders them (None without a connection). hazard:
    whether there is one from the first pass to the second on this resource; kinds: of which kinds.
    """

    source: str
    target: str
    resource: str
    connected: bool
    dependency: bool | None
    hazard: bool
    kinds: tuple[str, ...]

    def __repr__(self) -> str:
        what = "connected" if self.connected else "not connected"
        return f"<{self.source} -> {self.target}: {what}, {', '.join(self.kinds) or 'no hazard'}>"


def listed(links: Sequence[Link], hazards: Sequence[Hazard]) -> tuple[Connection, ...]:
    """Every connection in order of the document, then the hazards without one; nothing for a graph without slots."""
    if not links:
        return ()
    kinds: dict[tuple[str, str, str], dict[str, None]] = {}
    for hazard in hazards:
        kinds.setdefault((hazard.producer, hazard.consumer, hazard.resource), {})[hazard.kind] = None
    found = []
    connected = set()
    for link in links:
        key = (link.source[0], link.target[0], link.resource)
        connected.add(key)
        own = tuple(kinds.get(key, ()))
        found.append(Connection(".".join(link.source), ".".join(link.target), link.resource, True, link.dependency,
                                bool(own), own))  # fmt: skip
    for key, own in kinds.items():
        if key not in connected:
            found.append(Connection(*key, False, None, True, tuple(own)))
    return tuple(found)
