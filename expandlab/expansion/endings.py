"""How pass 2 can end: write the mapping down, or write down which thread did what."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import Ending, EndingBuffer

# Words of `Row` in shaders/lib/emit_record.wgsl.
RECORD_COLUMNS = (
    "src", "local", "dst", "entry", "bucket", "subgroup", "lane", "workgroup", "thread", "step", "dispatch", "begun",
)  # fmt: skip


def store(max_dst: int) -> Ending:
    """Materialise: `out_src[dst]` and `out_local[dst]`."""
    # Whole fours, for the strategies that store four items at once.
    buffers = {name: EndingBuffer(16 * -(-max_dst // 4), name) for name in ("out_src", "out_local")}
    return Ending({"emit": "lib/emit_store.wgsl", "emit4": "lib/emit4_store.wgsl"}, buffers, _store)


def _store(b: Any, src: np.ndarray, local: np.ndarray, dst: np.ndarray) -> None:
    b.out_src[dst] = src
    b.out_local[dst] = local


def record(rows: int, subgroups: bool) -> Ending:
    """One row for every thread launched, or for every step of one.

    `subgroups`: whether the device can tell a thread its place in the subgroup.
    """
    slots = {
        "emit": "lib/emit_record.wgsl",
        "emit4": "lib/emit4_each.wgsl",
        "invocation": "lib/invocation_subgroup.wgsl" if subgroups else "lib/invocation_plain.wgsl",
    }
    sizes = {"rows": 4 * len(RECORD_COLUMNS) * rows, "rows_used": 4}
    return Ending(slots, {name: EndingBuffer(size, name) for name, size in sizes.items()}, None)
