"""Which panel belongs to which cell, so that running a cell again closes what it showed before."""

from __future__ import annotations

import threading
import weakref
from typing import Any

_lock = threading.Lock()
# name -> (execution that made them, its panels). A named panel is alone under its name.
_open: dict[str, tuple[str, weakref.WeakSet[Any]]] = {}


def register(panel: Any, name: str | None) -> None:
    """Note that `panel` is open; close the earlier panel of the same name, or those of the cell's earlier run."""
    key, execution = _place()
    if name is not None:
        key, execution = f"name {name}", f"{id(panel)}"
    if key is None:
        return
    with _lock:
        before, panels = _open.get(key, ("", weakref.WeakSet()))
        old = []
        if before != execution:
            old, panels = list(panels), weakref.WeakSet()
        panels.add(panel)
        _open[key] = (execution, panels)
    for item in old:
        item.close()


def _place() -> tuple[str | None, str]:
    """(the cell's id, the execution's id) as the front end tells them; (None, "") outside a notebook."""
    try:
        from IPython import get_ipython

        parent = get_ipython().kernel.get_parent()
        cell = parent["metadata"].get("cellId")
        return (f"cell {cell}" if cell else None), parent["header"]["msg_id"]
    except (ImportError, AttributeError, KeyError, TypeError):
        return None, ""
