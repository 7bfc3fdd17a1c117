"""How pass 2 can end: write the mapping down, or write down which thread did what."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import Ending

# Words of `Row` in shaders/lib/emit_record.wgsl.
RECORD_COLUMNS = (
    "src", "local", "dst", "entry", "bucket", "subgroup", "lane", "workgroup", "thread", "step", "dispatch", "begun",
)  # fmt: skip


def store(max_dst: int) -> Ending:
    """Materialise: `out_src[dst]` and `out_local[dst]`."""
    size = 4 * max_dst
    return Ending({"emit": "lib/emit_store.wgsl"}, {"out_src": size, "out_local": size}, _store)


def _store(b: Any, src: np.ndarray, local: np.ndarray, dst: np.ndarray) -> None:
    b.out_src[dst] = src
    b.out_local[dst] = local


def record(rows: int, subgroups: bool) -> Ending:
    """One row for every thread launched, or for every step of one.

    `subgroups`: whether the device can tell a thread its place in the subgroup.
    """
    slots = {
        "emit": "lib/emit_record.wgsl",
        "invocation": "lib/invocation_subgroup.wgsl" if subgroups else "lib/invocation_plain.wgsl",
    }
    return Ending(slots, {"rows": 4 * len(RECORD_COLUMNS) * rows, "rows_used": 4}, None)
