"""Graphs from documents of either schema: passes with accesses, or passes with slots and connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from expandlab.graph.frame_graph import FrameGraph


def has_slots(document: Any) -> bool:
    """Whether a document is of the schema with slots and connections."""
    if not isinstance(document, Mapping):
        return False
    passes = document.get("passes")
    listed = passes if isinstance(passes, (list, tuple)) else ()
    return "connections" in document or any(isinstance(item, Mapping) and "slots" in item for item in listed)


def read(document: Any) -> FrameGraph:
    """The graph of a document. Raises GraphError naming what is wrong with it."""
    from expandlab.graph.schema import from_json
    from expandlab.graph.slots import from_slots

    return from_slots(document) if has_slots(document) else from_json(document)
