"""Graphs as JSON: the schema of `docs/frame-graph.md`, read strictly and written without defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from expandlab.errors import GraphError
from expandlab.graph import documents
from expandlab.graph.checks import flag, short
from expandlab.graph.declare import Access, Image, Pass, Resource
from expandlab.graph.frame_graph import FrameGraph

PASS_OPTIONS = ("device", "queue", "cost_us", "after", "before", "side_effect")
_BUFFER = ("kind", "size", "imported")
_IMAGE = ("kind", "mips", "layers", "aspects", "format", "size", "imported")


def parse(source: str | bytes | Mapping[str, Any], keys: Sequence[str], required: Sequence[str]) -> dict[str, Any]:
    """The document, with only `keys` at its top and all of `required`."""
    if isinstance(source, (str, bytes)):
        source = documents.loads(source)
    return member("the graph", source, keys, required)


def member(what: str, value: Any, keys: Sequence[str], required: Sequence[str] = ()) -> dict[str, Any]:
    """`value` as a dict with only `keys` and all of `required`."""
    if not isinstance(value, Mapping):
        raise GraphError(f"{what}: {short(value)} is no object; give one with {', '.join(keys)}")
    for key in value:
        if key not in keys:
            raise GraphError(f"{what}: unknown key {key!r}; use {', '.join(keys)}")
    for key in required:
        if key not in value:
            raise GraphError(f"{what}: {key!r} is missing")
    return dict(value)


def listed(what: str, value: Any) -> list[Any]:
    """`value` as a list."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise GraphError(f"{what}={short(value)}: give a list")
    return list(value)


def from_json(source: str | bytes | Mapping[str, Any]) -> FrameGraph:
    """The graph that a document describes."""
    document = parse(source, ("devices", "resources", "passes", "outputs"), ())
    graph = FrameGraph()
    add_devices(graph, document.get("devices"))
    add_resources(graph, document.get("resources", {}))
    for place, item in enumerate(listed("passes", document.get("passes", []))):
        try:
            add_pass(graph, item, f"passes[{place}]")
        except GraphError as error:
            raise error.at(passes=named(item)) from None
    for name in listed("outputs", document.get("outputs", [])):
        graph.output(name)
    return graph


def add_devices(graph: FrameGraph, devices: Any) -> None:
    """Declare the devices of a document; None leaves the default."""
    if devices is None:
        return
    if not isinstance(devices, Mapping) or not devices:
        raise GraphError(f"devices={short(devices)}: give an object of devices, each with a list of its queues")
    for name, queues in devices.items():
        try:
            graph.device(name, listed(f"devices: queues of {name!r}", queues))
        except GraphError as error:
            raise error.at(device=name) from None


def add_resources(graph: FrameGraph, resources: Any) -> None:
    """Declare the resources of a document."""
    if not isinstance(resources, Mapping):
        raise GraphError(f"resources={short(resources)}: give an object of resources")
    for name, given in resources.items():
        try:
            _add_resource(graph, name, given)
        except GraphError as error:
            raise error.at(resource=name) from None


def _add_resource(graph: FrameGraph, name: Any, given: Any) -> None:
    what = f"resources: {name!r}"
    kind = given.get("kind") if isinstance(given, Mapping) else None
    if kind == "image":
        given = member(what, given, _IMAGE, ("mips", "layers"))
    elif kind == "buffer":
        given = member(what, given, _BUFFER, ("size",))
    else:
        raise GraphError(f"{what}: kind={short(kind)}; use 'buffer' or 'image'")
    given["imported"] = flag(f"{what}: imported", given.get("imported", False))
    del given["kind"]
    if kind == "image":
        graph.image(name, **given)
    else:
        graph.buffer(name, given["size"], imported=given["imported"])


def named(item: Any) -> tuple[str, ...]:
    """The name of a pass of a document, where it has one."""
    name = item.get("name") if isinstance(item, Mapping) else None
    return (name,) if isinstance(name, str) else ()


def add_pass(graph: FrameGraph, given: Any, what: str) -> None:
    """Add a pass of a document."""
    given = member(what, given, ("name", "accesses", *PASS_OPTIONS), ("name",))
    accesses = []
    for place, access in enumerate(listed(f"{what}: accesses", given.get("accesses", []))):
        keys = ("resource", "mode", "range", "usage", "independent", "mips", "layers", "aspects")
        access = member(f"pass {given['name']!r}, accesses[{place}]", access, keys, ("resource", "mode"))
        accesses.append({key: value for key, value in access.items() if value is not None or key in keys[:2]})
    graph.add_pass(given["name"], accesses, **options(given, what))


def options(given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The arguments of `add_pass` besides name and accesses, as far as a document gives them."""
    found = {key: given[key] for key in PASS_OPTIONS if given.get(key) is not None}
    for key in ("after", "before"):
        if key in found:
            found[key] = listed(f"{what}: {key}", found[key])
    if "side_effect" in found:
        flag(f"{what}: side_effect", found["side_effect"])
    return found


def to_dict(graph: FrameGraph) -> dict[str, Any]:
    """The graph as a document; what has its default is left out."""
    document: dict[str, Any] = {}
    if graph.devices:
        document["devices"] = {name: list(queues) for name, queues in graph.devices.items()}
    document["resources"] = {name: _resource(item) for name, item in graph.resources.items()}
    document["passes"] = [_pass(item) for item in graph.passes.values()]
    document["outputs"] = list(graph.outputs)
    return document


def _resource(item: Resource | Image) -> dict[str, Any]:
    if isinstance(item, Resource):
        found: dict[str, Any] = {"kind": "buffer", "size": item.size}
    else:
        found = {"kind": "image", "mips": item.mips, "layers": item.layers}
        if item.aspects != 1:
            found["aspects"] = item.aspects
        if item.format is not None:
            found["format"] = item.format
        if item.size is not None:
            found["size"] = list(item.size)
    if item.imported:
        found["imported"] = True
    return found


def _pass(item: Pass) -> dict[str, Any]:
    found: dict[str, Any] = {"name": item.name}
    if item.devices:
        found["device"] = item.devices[0] if len(item.devices) == 1 else list(item.devices)
    if item.queue is not None:
        found["queue"] = item.queue
    if item.cost_us is not None:
        found["cost_us"] = item.cost_us
    found["accesses"] = [_access(access) for access in item.accesses]
    for key in ("after", "before"):
        if getattr(item, key):
            found[key] = list(getattr(item, key))
    if item.side_effect:
        found["side_effect"] = True
    return found


def _access(access: Access) -> dict[str, Any]:
    found: dict[str, Any] = {"resource": access.resource, "mode": access.mode}
    for key in ("range", "mips", "layers", "aspects"):
        if getattr(access, key) is not None:
            found[key] = list(getattr(access, key))
    if access.usage != "storage":
        found["usage"] = access.usage
    if access.independent is not None:
        found["independent"] = access.independent
    return found
