"""`record_map`: the thread map as the device itself writes it, thread by thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import DeviceError, UnsupportedError
from expandlab.expansion.arguments import pick_strategy, power_of_two
from expandlab.expansion.endings import RECORD_COLUMNS, record
from expandlab.expansion.passes import build, check_total, run_passes
from expandlab.expansion.strategy import Sizes
from expandlab.expansion.thread_map import ThreadMap
from expandlab.gpu import Device, resolve


def record_map(
    counts: Any, strategy: str, *, device: Device | str | int | None = None, workgroup_size: int = 64
) -> ThreadMap:
    """The `ThreadMap` of a strategy as the GPU itself writes it: every thread of pass 2 notes who it is and what it
    works on.

    Arguments as of `thread_map`; the subgroup size is the device's own (a device without subgroup operations counts
    each workgroup as one subgroup). The steps are the model's. With atomics the places of the items may differ from
    the model's; the set of (src, local) is the same. A vertex (`draw_indirect_count`) knows neither workgroup nor lane:
    those follow from its index, and the idle lanes are the model's.

    Raises UnsupportedError on the reference device, and where a row for every thread does not fit a binding.
    """
    values = _counts.check(counts)
    power_of_two("workgroup_size", workgroup_size, 32, 256)
    total = check_total(values)
    dev = resolve(device)
    if dev.is_reference:
        raise UnsupportedError(
            "device='reference': NumPy has no threads to record; use `thread_map`, or a GPU or software adapter"
        )
    chosen = pick_strategy(strategy, values, dev)
    sizes = Sizes(len(values), total, workgroup_size, dev.subgroup_size)
    model = chosen.model(values, sizes)
    row_bytes = 4 * len(RECORD_COLUMNS)
    room = dev.limits["max_storage_buffer_binding_size"] // row_bytes
    if len(model) > room:
        raise UnsupportedError(
            f"strategy={chosen.name!r}: these counts launch {len(model):,} threads, and the device can record "
            f"{room:,}; use fewer items"
        )
    begun = len(model) if chosen.records_idle else total
    built = build(chosen, sizes, record(begun, dev.subgroup_size is not None))
    for name in chosen.memory_buffers:
        built.graph.output(name)
    ran = run_passes(built, values, total, dev)
    used = int(ran.arrays["rows_used"][0])
    # The buffer holds whole elements, and at least one.
    words = ran.arrays["rows"][: begun * len(RECORD_COLUMNS)]
    rows = words.reshape(-1, len(RECORD_COLUMNS)).view(np.int32)
    if used != begun:
        raise DeviceError(f"{dev.info.name}: {used:,} threads began, and the model of {chosen.name} has {begun:,}")
    if not chosen.records_idle:
        rows = np.concatenate([rows, _idle_rows(model)])
    return _as_map(rows, model, chosen.memory(ran.arrays, values, sizes), dev)


def _idle_rows(model: ThreadMap) -> np.ndarray:
    """The model's rows without an item, in the form of those that a device records."""
    idle = np.flatnonzero(~model.active)
    thread = model.subgroup * model.subgroup_size + model.lane
    known = {name: getattr(model, name) for name in RECORD_COLUMNS if hasattr(model, name)} | {"thread": thread}
    none = np.zeros(len(model), np.int32)
    return np.stack([known.get(name, none)[idle] for name in RECORD_COLUMNS], axis=1)


def _as_map(rows: np.ndarray, model: ThreadMap, memory: Any, dev: Device) -> ThreadMap:
    columns = {name: rows[:, index] for index, name in enumerate(RECORD_COLUMNS)}
    order = np.lexsort([columns[name] for name in ("thread", "step", "workgroup", "dispatch")])
    columns = {name: column[order] for name, column in columns.items() if name not in ("thread", "step", "begun")}
    return ThreadMap(
        strategy=model.strategy,
        workgroup_size=model.workgroup_size,
        subgroup_size=model.subgroup_size,
        steps=model.steps,
        memory=memory,
        recorded=dev.info.label,
        **columns,
    )
