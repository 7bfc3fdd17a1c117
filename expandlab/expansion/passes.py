"""The passes of an expansion: built, run once, and what their failure word says."""

from __future__ import annotations

import numpy as np

from expandlab.errors import CapacityError, DeviceError, DeviceLimitError, UnsupportedError
from expandlab.expansion.strategy import (
    FAILED_CAPACITY,
    FAILED_LOOP,
    FAILED_OVERFLOW,
    FAILED_SRC,
    FAILED_THREADS,
    FAILURE,
    REQUIRED,
    TOTAL,
    Ending,
    Passes,
    Sizes,
    Strategy,
    params_words,
)
from expandlab.gpu import Device
from expandlab.graph import PlanRun
from expandlab.graph.inputs import over_limit


def check_total(values: np.ndarray) -> int:
    """P2 as a Python integer. Raises OverflowError from 2^32 on."""
    # 2^32 counts below 2^32 stay below 2^64, so uint64 is exact for any array that fits in memory.
    total = int(values.sum(dtype=np.uint64))
    if total >= 2**32:
        raise OverflowError(
            f"counts: they spawn {total:,} items, and item indices have 32 bits; expand them in parts below 2^32"
        )
    return total


def build(strategy: Strategy, sizes: Sizes, ending: Ending, *, checked: bool = True) -> Passes:
    """The frame graph of an expansion."""
    built = Passes(strategy, sizes, ending, checked=checked)
    strategy.passes(built)
    built.graph.output("state")
    return built


def run_passes(built: Passes, values: np.ndarray, total: int, dev: Device) -> PlanRun:
    """Run the graph on `values` and check the failure word."""
    refuse_oversize(built, dev, total)
    inputs = {"counts": values, "params": params_words(len(values), built.sizes.max_dst, built.sizes)}
    with built.graph.compile().program(dev) as program:
        ran = program.run({**inputs, **built.imported})
    check_state(ran.arrays["state"], built.sizes.max_dst, built, dev)
    return ran


def refuse_oversize(built: Passes, dev: Device, total: int, prepared: str | None = None) -> None:
    """Raise DeviceLimitError for a buffer that does not fit the device.

    total: items. prepared: the arguments that say so where an expansion is prepared for sizes; None: it expands now.
    """
    found = over_limit(built.graph, dev.limits)
    if found:
        name, size, limit = found
        whose = f"buffers[{name.removeprefix('body.')!r}]" if name.startswith("body.") else f"the buffer {name!r}"
        work = f"{prepared}: needs" if prepared else f"expanding {total:,} items needs"
        raise DeviceLimitError(
            f"{work} {size:,} bytes for {whose}; {dev.info.name} allows {dev.limits[limit]:,} ({limit}). "
            f"{'Prepare for less' if prepared else 'Expand fewer'} at once{dev.or_open_wider(limit, size)}",
            required=total,
            capacity=dev.limits[limit] // 4,
            limit=limit,
            required_bytes=size,
            available_bytes=dev.limits[limit],
        )


def check_state(state: np.ndarray, capacity: int, built: Passes, dev: Device) -> None:
    """Raise what the device's failure word says."""
    failure, required = int(state[FAILURE]), int(state[REQUIRED])
    if failure & FAILED_OVERFLOW:
        raise OverflowError("counts: they spawn 2^32 items or more, and item indices have 32 bits; expand in parts")
    if failure & FAILED_CAPACITY:
        raise CapacityError(
            f"capacity={capacity:,}: the counts spawn {required:,} items; give capacity={required} or more",
            required=required,
            capacity=capacity,
        )
    if failure & FAILED_SRC:
        raise CapacityError(
            f"src_count: more src than the {built.sizes.max_src:,} that the expansion was prepared for",
            required=required,
            capacity=capacity,
        )
    if failure & (FAILED_THREADS | FAILED_LOOP):
        raise UnsupportedError(
            f"{dev.info.name}: one N is too large for the strategy (failure word {failure}); use 'prefix_search'"
        )
    if failure:
        raise DeviceError(f"{dev.info.name}: the passes {', '.join(built.graph.passes)} ended with failure {failure}")
    if int(state[TOTAL]) != required:
        raise DeviceError(f"{dev.info.name}: {int(state[TOTAL])} items were expanded of {required}; run it again")
