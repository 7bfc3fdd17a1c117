"""Graphs from documents of either schema: passes with accesses, or passes with slots and connections."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from expandlab.errors import GraphError

if TYPE_CHECKING:
    from expandlab.graph.frame_graph import FrameGraph


def has_slots(document: Any) -> bool:
    """Whether a document is of the schema with slots and connections."""
    if not isinstance(document, Mapping):
        return False
    passes = document.get("passes")
    listed = passes if isinstance(passes, (list, tuple)) else ()
    return "connections" in document or any(isinstance(item, Mapping) and "slots" in item for item in listed)


def loads(text: str | bytes) -> Any:
    """A document from JSON text. Raises GraphError where it is none, or says something twice."""
    try:
        return json.loads(text, object_pairs_hook=once)
    except GraphError:
        raise
    except (ValueError, RecursionError) as error:
        raise GraphError(f"the graph is not valid JSON: {error}") from None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, for `object_pairs_hook`: `json` would take the last of several values of a name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise GraphError(f"{twice!r} is there twice in one object of the JSON; give each name once")
    return found


def read(document: Any) -> FrameGraph:
    """The graph of a document. Raises GraphError naming what is wrong with it."""
    from expandlab.graph.schema import from_json
    from expandlab.graph.slots import from_slots

    return from_slots(document) if has_slots(document) else from_json(document)
