"""Edits of a graph's JSON document: each takes one and returns a changed copy, which is planned anew.

The documents may be wrong in any way, because a person types them; what cannot be found is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]


def passes(document: Document) -> list[dict[str, Any]]:
    """The passes that have a name, as they stand in the document."""
    found = document.get("passes", [])
    listed = found if isinstance(found, (list, tuple)) else []
    return [item for item in listed if isinstance(item, dict) and isinstance(item.get("name"), str)]


def accesses(document: Document, name: str) -> list[dict[str, Any]]:
    """The accesses of a pass."""
    found = next((item.get("accesses", []) for item in passes(document) if item["name"] == name), [])
    return [item for item in found if isinstance(item, dict)] if isinstance(found, (list, tuple)) else []


def inject(document: Document, beside: str, *, before: bool) -> tuple[dict[str, Any], str]:
    """A new pass right before or right after another one, and its name. It changes what that one reads or writes."""
    changed = _copied(document)
    known = {item["name"] for item in passes(changed)}
    name = next(text for text in ("inject", *(f"inject_{n}" for n in range(2, len(known) + 3))) if text not in known)
    used = accesses(changed, beside)
    new: dict[str, Any] = {"name": name, "cost_us": 20.0, "accesses": []}
    if used:
        # What stands before a writer cannot read what is not there yet, but it can write.
        mode = "write" if before and used[0].get("mode") == "write" else "read_write"
        new["accesses"].append({"resource": used[0].get("resource"), "mode": mode})
    items = list(changed.get("passes", []))
    at = next((n for n, item in enumerate(items) if isinstance(item, dict) and item.get("name") == beside), len(items))
    items.insert(at + (not before), new)
    changed["passes"] = items
    return changed, name


def remove(document: Document, name: str) -> dict[str, Any]:
    """Without the pass."""
    changed = _copied(document)
    changed["passes"] = [item for item in changed.get("passes", []) if item not in passes_named(changed, name)]
    return changed


def passes_named(document: Document, name: str) -> list[dict[str, Any]]:
    """The passes of that name: one, unless the document is wrong."""
    return [item for item in passes(document) if item["name"] == name]


def change_pass(document: Document, name: str, **fields: Any) -> dict[str, Any]:
    """The pass with some fields changed; None takes a field away."""
    changed = _copied(document)
    for item in passes_named(changed, name):
        _put(item, fields)
    return changed


def change_access(document: Document, name: str, place: int, **fields: Any) -> dict[str, Any]:
    """One access of the pass changed; None takes a field away."""
    changed = _copied(document)
    found = accesses(changed, name)
    if place < len(found):
        _put(found[place], fields)
    return changed


def add_access(document: Document, name: str, resource: str) -> dict[str, Any]:
    """One more access of the pass: a read."""
    changed = _copied(document)
    for item in passes_named(changed, name):
        item["accesses"] = [*accesses(changed, name), {"resource": resource, "mode": "read"}]
    return changed


def remove_access(document: Document, name: str, place: int) -> dict[str, Any]:
    """Without one access of the pass."""
    changed = _copied(document)
    for item in passes_named(changed, name):
        item["accesses"] = [access for n, access in enumerate(accesses(changed, name)) if n != place]
    return changed


def move(document: Document, name: str, by: int) -> dict[str, Any]:
    """The pass `by` places later in the submission order (earlier where negative), as far as there is room."""
    changed = _copied(document)
    items = list(changed.get("passes", []))
    at = next((n for n, item in enumerate(items) if isinstance(item, dict) and item.get("name") == name), None)
    if at is not None:
        item = items.pop(at)
        items.insert(min(len(items), max(0, at + by)), item)
        changed["passes"] = items
    return changed


def rename_pass(document: Document, old: str, new: str) -> dict[str, Any]:
    """The pass under another name, also in the explicit edges of the others."""
    changed = _copied(document)
    for item in passes(changed):
        if item["name"] == old:
            item["name"] = new
        for key in ("after", "before"):
            if isinstance(item.get(key), list):
                item[key] = [new if name == old else name for name in item[key]]
    return changed


def resources(document: Document) -> dict[str, dict[str, Any]]:
    """The resources that are objects, by name."""
    found = document.get("resources")
    return {n: item for n, item in found.items() if isinstance(item, dict)} if isinstance(found, Mapping) else {}


def outputs(document: Document) -> list[Any]:
    """The outputs."""
    found = document.get("outputs", [])
    return list(found) if isinstance(found, (list, tuple)) else []


def add_resource(document: Document, kind: str) -> tuple[dict[str, Any], str]:
    """A new resource and its name: a buffer of 1024 bytes, or an image with one subresource."""
    changed = _copied(document)
    known = changed.get("resources") if isinstance(changed.get("resources"), dict) else {}
    name = next(text for n in range(1, len(known) + 2) if (text := f"{kind}_{n}") not in known)
    new = {"kind": kind, "size": 1024} if kind == "buffer" else {"kind": kind, "mips": 1, "layers": 1}
    changed["resources"] = {**known, name: new}
    return changed, name


def change_resource(document: Document, name: str, **fields: Any) -> dict[str, Any]:
    """The resource with some fields changed; None takes a field away."""
    changed = _copied(document)
    if name in resources(changed):
        _put(changed["resources"][name], fields)
    return changed


def rename_resource(document: Document, old: str, new: str) -> dict[str, Any]:
    """The resource under another name, also in the accesses and the outputs; its place stays."""
    changed = _copied(document)
    if old not in resources(changed) or new in changed["resources"]:
        return changed
    changed["resources"] = {new if name == old else name: item for name, item in changed["resources"].items()}
    for item in passes(changed):
        for access in accesses(changed, item["name"]):
            if access.get("resource") == old:
                access["resource"] = new
    if "outputs" in changed:
        changed["outputs"] = [new if name == old else name for name in outputs(changed)]
    return changed


def remove_resource(document: Document, name: str) -> dict[str, Any]:
    """Without the resource, and without it among the outputs. Accesses stay, for their passes to be looked at."""
    changed = _copied(document)
    if name in resources(changed):
        del changed["resources"][name]
        changed["outputs"] = [item for item in outputs(changed) if item != name]
    return changed


def set_output(document: Document, name: str, wanted: bool) -> dict[str, Any]:
    """The resource as an output, or not."""
    changed = _copied(document)
    kept = [item for item in outputs(changed) if item != name]
    changed["outputs"] = [*kept, name] if wanted else kept
    return changed


def _copied(document: Document) -> dict[str, Any]:
    return {key: _copy(value) for key, value in document.items()}


def _copy(value: Any) -> Any:
    # A document is of lists and objects alone, and this takes a fifth of what the general deep copy does.
    if isinstance(value, Mapping):
        return _copied(value)
    return [_copy(part) for part in value] if isinstance(value, (list, tuple)) else value


def _put(item: dict[str, Any], fields: Mapping[str, Any]) -> None:
    for key, value in fields.items():
        if value is None:
            item.pop(key, None)
        else:
            item[key] = value
