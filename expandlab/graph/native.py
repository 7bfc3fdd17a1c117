"""The barriers that wgpu sets by itself, whatever a plan says: the "wgpu would emit" column.

wgpu tracks whole buffers. At each dispatch it compares how a buffer is bound with how it was bound last, and sets a
barrier unless both are the same and read-only. So ranges and declared independence do not reach it: a read-write
storage binding in two dispatches always gets one.
Source: wgpu-core, `track/mod.rs`, `skip_barrier`; the ordered usages are the read-only ones on every backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expandlab.graph.declare import Access
    from expandlab.graph.plan import Plan

_WRITES = {"storage": "STORAGE_READ_WRITE", "copy": "COPY_DST"}
_READS = {
    "storage": "STORAGE_READ_ONLY", "copy": "COPY_SRC", "uniform": "UNIFORM", "indirect": "INDIRECT", "index": "INDEX",
}  # fmt: skip


def binding(access: Access) -> str:
    """How wgpu sees an access of a buffer: the name of its buffer usage."""
    return (_WRITES if access.writes else _READS)[access.usage]


def emitted(plan: Plan) -> dict[str, tuple[str, ...]]:
    """{pass: buffers for which wgpu sets a barrier before it}, when the plan's passes run in its order.

    Each device is a wgpu device with one queue. What came before the run, as an upload, is left out, and so are
    images, which are not run.
    """
    last: dict[tuple[str, str], frozenset[str]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for name in plan.order:
        now: dict[str, frozenset[str]] = {}
        for access in plan.passes[name].accesses:
            if plan.graph.resources[access.resource].kind == "buffer":
                now[access.resource] = now.get(access.resource, frozenset()) | {binding(access)}
        barred = []
        for resource, use in now.items():
            key = (plan.devices[name], resource)
            if key in last and (last[key] != use or _changes(use)):
                barred.append(resource)
            last[key] = use
        found[name] = tuple(barred)
    return found


def _changes(use: frozenset[str]) -> bool:
    return not use.isdisjoint(_WRITES.values())
