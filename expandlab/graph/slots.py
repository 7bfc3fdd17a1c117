"""Graphs from passes with slots and connections, as pass files of older frame graphs have them.

A connection says that two slots use the same resource, and nothing else: the order follows from what the slots do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from expandlab.errors import GraphError, UnknownNameError
from expandlab.graph import schema
from expandlab.graph.frame_graph import FrameGraph

_MODES = {"Input": "read", "Output": "write", "InputOutput": "read_write"}
_SLOT = ("name", "type", "usage", "range", "size")
# Bytes of a resource of which no slot says how large it is.
DEFAULT_SIZE = 256


@dataclass(frozen=True)
class Link:
    """A connection of the document: two slots as (pass, slot), their resource, and whether it orders the two."""

    source: tuple[str, str]
    target: tuple[str, str]
    resource: str
    dependency: bool


@dataclass
class _Slot:
    name: str
    mode: str
    usage: str
    range: tuple[int, int] | None
    size: int | None
    independent: str | None = None


class _Sets:
    """Disjoint sets of keys."""

    def __init__(self) -> None:
        self._parent: dict[Any, Any] = {}

    def root(self, key: Any) -> Any:
        while self._parent.setdefault(key, key) != key:
            key = self._parent[key]
        return key

    def join(self, first: Any, second: Any) -> None:
        first, second = self.root(first), self.root(second)
        if first != second:
            self._parent[second] = first


def from_slots(source: str | bytes | Mapping[str, Any]) -> FrameGraph:
    """The graph of a document `{"passes": [...], "connections": [...]}`.

    A pass has `name`, `slots` and, where wanted, the keys of a pass in the other schema besides `accesses`. A slot has
    `name`, `type` (Input, Output, InputOutput) and, where wanted, `usage`, `range`, and `size` (bytes of its resource;
    else the largest end of a range, or 256). Slots that are connected, also by way of others, share a resource, named
    after the first of them as `pass.slot`. It is imported if none of them is an Output. `outputs` lists slots as
    `pass.slot`; without it every pass is kept. `devices` is as in the other schema.
    """
    document = schema.parse(source, ("devices", "passes", "connections", "outputs"), ("passes",))
    passes = [_placed_pass(place, item) for place, item in enumerate(schema.listed("passes", document["passes"]))]
    slots: dict[tuple[str, str], _Slot] = {}
    for item, own in passes:
        if any(owner == item["name"] for owner, _ in slots):
            raise GraphError(f"passes: {item['name']!r} is there twice; pass names are unique")
        for slot in own:
            if (item["name"], slot.name) in slots:
                raise GraphError(f"pass {item['name']!r}: slot {slot.name!r} is there twice; slot names are unique")
            slots[item["name"], slot.name] = slot

    links = _links(document.get("connections", []), slots)
    shared, apart = _Sets(), _Sets()
    for first, second, dependency in links:
        shared.join(first, second)
        if not dependency:
            apart.join(first, second)
    names = _resource_names(slots, shared)
    for first, second, dependency in links:
        for key in (first, second):
            # A read needs no tag: reads do not depend on each other anyway.
            if not dependency and slots[key].mode != "read":
                slots[key].independent = "connection " + ".".join(apart.root(key))

    graph = FrameGraph()
    schema.add_devices(graph, document.get("devices"))
    _add_resources(graph, slots, names)
    keep = document.get("outputs") is None
    for item, own in passes:
        options = schema.options(item, f"pass {item['name']!r}")
        if keep:
            options["side_effect"] = True
        accesses = [
            {
                "resource": names[item["name"], s.name], "mode": s.mode, "usage": s.usage, "range": s.range,
                "independent": s.independent,
            }
            for s in own
        ]  # fmt: skip
        graph.add_pass(item["name"], accesses, **options)
    for text in schema.listed("outputs", [] if keep else document["outputs"]):
        graph.output(names[_slot_of("outputs", text, slots)])
    graph.connections = tuple(Link(first, second, names[first], dependency) for first, second, dependency in links)
    return graph


def _placed_pass(place: int, given: Any) -> tuple[dict[str, Any], list[_Slot]]:
    try:
        return _pass(place, given)
    except GraphError as error:
        raise error.at(passes=schema.named(given)) from None


def _pass(place: int, given: Any) -> tuple[dict[str, Any], list[_Slot]]:
    what = f"passes[{place}]"
    item = schema.member(what, given, ("name", "slots", *schema.PASS_OPTIONS), ("name",))
    if not isinstance(item["name"], str) or not item["name"]:
        raise GraphError(f"{what}: name={item['name']!r}: give a name")
    own = []
    for slot in schema.listed(f"pass {item['name']!r}: slots", item.get("slots", [])):
        slot = schema.member(f"pass {item['name']!r}: a slot", slot, _SLOT, ("name", "type"))
        where = f"pass {item['name']!r}, slot {slot['name']!r}"
        if not isinstance(slot["name"], str) or not slot["name"]:
            raise GraphError(f"{where}: give a name")
        if slot["type"] not in tuple(_MODES):
            raise GraphError(f"{where}: type={slot['type']!r}; use one of {', '.join(_MODES)}")
        size, span = slot.get("size"), slot.get("range")
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
            raise GraphError(f"{where}: size={size!r}: give a number of bytes, 0 or more")
        if span is not None and not (
            isinstance(span, (list, tuple)) and len(span) == 2 and all(type(end) is int for end in span)
        ):
            raise GraphError(f"{where}: range={span!r}; give two whole numbers, the end excluded")
        own.append(_Slot(slot["name"], _MODES[slot["type"]], slot.get("usage") or "storage", span, size))
    return item, own


def _links(
    connections: Any, slots: Mapping[tuple[str, str], _Slot]
) -> list[tuple[tuple[str, str], tuple[str, str], bool]]:
    found = []
    for place, given in enumerate(schema.listed("connections", connections)):
        what = f"connections[{place}]"
        given = schema.member(what, given, ("from", "to", "dependency"), ("from", "to"))
        first, second = (_slot_of(f"{what}: {end}", given[end], slots) for end in ("from", "to"))
        if first[0] == second[0]:
            raise GraphError(f"{what}: both ends are slots of {first[0]!r}; connect two passes")
        found.append((first, second, schema.flag(f"{what}: dependency", given.get("dependency", True))))
    return found


def _slot_of(what: str, text: Any, slots: Mapping[tuple[str, str], _Slot]) -> tuple[str, str]:
    """(pass, slot) of `pass.slot`; names may have dots themselves."""
    if isinstance(text, str):
        for at in (place for place, letter in enumerate(text) if letter == "."):
            if (text[:at], text[at + 1 :]) in slots:
                return text[:at], text[at + 1 :]
    raise UnknownNameError(f"{what}={text!r}: no pass has such a slot; name one as 'pass.slot'")


def _resource_names(slots: Mapping[tuple[str, str], _Slot], shared: _Sets) -> dict[tuple[str, str], str]:
    first: dict[Any, str] = {}
    return {key: first.setdefault(shared.root(key), ".".join(key)) for key in slots}


def _add_resources(
    graph: FrameGraph, slots: Mapping[tuple[str, str], _Slot], names: Mapping[tuple[str, str], str]
) -> None:
    members: dict[str, list[_Slot]] = {}
    for key, slot in slots.items():
        members.setdefault(names[key], []).append(slot)
    for name, own in members.items():
        sizes = [slot.size for slot in own if slot.size is not None] + [slot.range[1] for slot in own if slot.range]
        imported = all(slot.mode != "write" for slot in own)
        graph.buffer(name, max(sizes, default=DEFAULT_SIZE), imported=imported)
