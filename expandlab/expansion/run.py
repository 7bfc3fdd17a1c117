"""`expand`: run a strategy on a device and hand back the mapping and what every pass cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import CapacityError
from expandlab.expansion.arguments import pick_strategy, power_of_two, true_or_false
from expandlab.expansion.body import body_ending, naming_buffers, results
from expandlab.expansion.chunks import run_in_chunks
from expandlab.expansion.endings import store
from expandlab.expansion.passes import check_total
from expandlab.expansion.report import Expansion
from expandlab.expansion.several import check_mergeable, run_on_all
from expandlab.expansion.strategy import Strategy
from expandlab.gpu import Device, resolve


def expand(
    counts: Any,
    strategy: str = "auto",
    *,
    body: str | None = None,
    buffers: Mapping[str, Any] | None = None,
    device: Device | str | int | None = None,
    devices: Sequence[Device | str | int] | None = None,
    capacity: int | None = None,
    workgroup_size: int = 256,
    checked: bool = True,
) -> Expansion:
    """Expand every src into its N dst items on a device.

    counts: the N of every src, checked as `expandlab.counts.load` checks an array; it is not changed.
    strategy: a name of `strategies()`, or `"auto"`, one that runs: with a body `prefix_search`; without one
        `tile_search`, or `serial_merge` on a software adapter. `advise` chooses by the counts as well.
    body: WGSL that defines `fn work(src: u32, local: u32, dst: u32)`, the caller's own pass 2, called once for every
        item; `dst` numbers the items 0 .. P2-1. None materialises the mapping. Variables in workgroup memory start
        with any value: wgpu 0.32 does not clear them.
    buffers: {name: array} for the body: each is `var<storage, read_write> name: array<T>` in `@group(1)`, T by dtype
        (u32, i32, f32), at most three; `expandlab.atomic(array)` makes the elements atomic, `expandlab.read_only`
        the buffer read-only. The arrays are not changed; results are in `.buffers`.
    device: what `expandlab.device` returns, a name for it, or None for the default.
    devices: several of them instead. Each shows its speed on a small part, then they share the rest in proportion;
        the result is that of one device. What a device that fails had to do goes to the others (`.report.shares` says
        which). A body may then write each word of its buffers from one item only, and no buffer is atomic.
    capacity: most dst items accepted (0 is a capacity); None = what one binding holds,
        `max_storage_buffer_binding_size // 4`. What does not fit the device's bindings at once is expanded in chunks.
    workgroup_size: threads in a workgroup, a power of two from 32 to 256.
    checked: False compiles the strategy's own shaders without run-time checks of bounds and loops, to see what the
        checks cost; a body is checked always.

    Returns an `Expansion`: the pairs (src[dst], local[dst]) are every (s, j) with 0 <= j < N[s], each once. Where
    atomics order the items their places may differ between runs.

    With a body `src` and `local` are None.

    Raises CountsError, DeviceError (ShaderError with the body's line where it does not compile), UnsupportedError,
    CapacityError (`required` = P2), its child DeviceLimitError, and OverflowError for P2 >= 2^32. Nothing is
    launched then.
    """
    values = _counts.check(counts)
    power_of_two("workgroup_size", workgroup_size, 32, 256)
    checked = true_or_false("checked", checked)
    limit = _check_capacity(capacity)
    total = check_total(values)
    if body is None and buffers:
        raise ValueError("buffers: only a body uses them; give body= as well, or leave them out")
    ending = store if body is None else body_ending(body, buffers)
    opened = _opened(device, devices)
    if len(opened) > 1:
        check_mergeable(buffers)
    if limit is None:
        limit = min(dev.limits["max_storage_buffer_binding_size"] for dev in opened) // 4
    if total > limit:
        raise CapacityError(
            f"capacity={limit:,}: the counts spawn {total:,} items; "
            f"give capacity={total} or more, or expand them in parts",
            required=total,
            capacity=limit,
        )
    chosen = _for_all(strategy, values, opened, body is not None)
    with naming_buffers():
        if len(opened) == 1:
            done = run_in_chunks(chosen, values, opened[0], ending, workgroup_size, checked)
        else:
            done = run_on_all(chosen, values, opened, ending, workgroup_size, checked)
    return Expansion(
        src=done.src if body is None else None,
        local=done.local if body is None else None,
        total=total,
        buffers=results(done.arrays, buffers),
        report=done.report,
        graph=done.graph,
    )


def _for_all(name: str, values: np.ndarray, opened: list[Device], body: bool) -> Strategy:
    """The strategy for the counts; `"auto"` is that of the last device, and runs on all."""
    return [pick_strategy(name, values, dev, body=body) for dev in opened][-1]


def _opened(device: Any, devices: Any) -> list[Device]:
    """The devices that the two arguments name."""
    if devices is None:
        return [resolve(device)]
    if device is not None:
        raise ValueError(f"device={device!r} and devices=: give one of them")
    if isinstance(devices, str) or not isinstance(devices, Sequence):
        raise TypeError(f"devices={devices!r}: give a list of devices, or device= for one")
    if not devices:
        raise ValueError("devices=[]: name one device or more, or leave it out")
    return [resolve(item) for item in devices]


def _check_capacity(capacity: Any) -> int | None:
    if capacity is None:
        return None
    if isinstance(capacity, bool) or not isinstance(capacity, (int, np.integer)) or capacity < 0:
        raise ValueError(f"capacity={capacity!r}: give a whole number of dst items, 0 or more, or None")
    return int(capacity)
