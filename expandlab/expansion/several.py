"""One expansion on several devices: divided in proportion to their measured speed, put together exactly.

Every device first expands a small part, which says how fast it is on these very counts; what is left is divided in
that proportion. A part is a range of dst, so a large N may lie on two devices, and `dst` is what it is on one device.
What a device that fails had to do is divided among the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from expandlab.errors import CapacityError, DeviceError, ShaderError
from expandlab.expansion.body import mapping_of
from expandlab.expansion.chunks import Chunk, ChunkedRun, run_in_chunks
from expandlab.expansion.report import Report, Share, merged
from expandlab.expansion.strategy import Ending, Strategy
from expandlab.gpu import Device
from expandlab.user_wgsl import checked_buffer

# Of all items, what the devices expand together to show their speed; below so many each, launching is all there is to
# measure, and they get equal parts.
_TRIAL = 8
_LEAST_TRIAL = 1024


@dataclass(frozen=True, eq=False)
class _Done:
    """A part that a device has expanded: dst `low` .. `high`."""

    low: int
    high: int
    device: int
    run: ChunkedRun


@dataclass(eq=False)
class _State:
    """What is left, what is done, and which devices are."""

    left: list[tuple[int, int]]
    alive: list[int]
    done: list[_Done] = field(default_factory=list)
    speeds: dict[int, float] = field(default_factory=dict)
    failures: dict[int, DeviceError] = field(default_factory=dict)


def check_mergeable(buffers: Mapping[str, Any] | None) -> None:
    """Raise ValueError for a body's buffer that several devices cannot share."""
    for name, value in mapping_of(buffers).items():
        if checked_buffer(name, value).atomic:
            raise ValueError(
                f"buffers[{name!r}]: what atomics do on several devices cannot be put together; expand on one device, "
                "or let each item write a word of its own"
            )


def run_on_all(
    strategy: Strategy,
    counts: np.ndarray,
    devices: Sequence[Device],
    ending: Ending | Callable[[int], Ending],
    workgroup_size: int,
    checked: bool,
) -> ChunkedRun:
    """Run the strategy over all counts on the devices; the result as of one.

    Raises DeviceError where no device is left, with what happened to each; other errors as of one device.
    """
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    state = _State([(0, total)], list(range(len(devices))))

    def work(number: int, low: int, high: int, again: bool = False) -> _Done:
        part = piece(counts, ends, low, high)
        run = run_in_chunks(strategy, part.counts, devices[number], ending, workgroup_size, checked, part)
        if again:
            # The first run compiled the shaders and says nothing about the speed.
            run = run_in_chunks(strategy, part.counts, devices[number], ending, workgroup_size, checked, part)
        return _Done(low, high, number, run)

    with ThreadPoolExecutor(len(devices), "expandlab expansion") as pool:
        trial = total // (_TRIAL * len(devices))
        if trial >= _LEAST_TRIAL and len(devices) > 1:
            # Even parts all over the items, so that each device sees counts of its share's kind.
            starts = [total * number // len(devices) for number in state.alive]
            parts = [(number, start, start + trial) for number, start in zip(state.alive, starts, strict=True)]
            state.left = _without(state.left, [(low, high) for _, low, high in parts])
            _round(pool, work, state, devices, parts, True)
            state.speeds = {item.device: (item.high - item.low) / max(item.run.report.wall_ms, 1e-6)
                            for item in state.done}  # fmt: skip
        while state.left and state.alive:
            parts = divide(state.left, {number: state.speeds.get(number, 1.0) for number in state.alive})
            state.left = []
            _round(pool, work, state, devices, parts, False)
    if state.left:
        told = "; ".join(f"{devices[number].info.label}: {error}" for number, error in state.failures.items())
        raise DeviceError(f"devices: none is left that could expand. {told}")
    return _together(state, devices, total, ending)


def piece(counts: np.ndarray, ends: np.ndarray, low: int, high: int) -> Chunk:
    """The src of items `low` .. `high`, cut at both ends."""
    first = int(np.searchsorted(ends, low, side="right"))
    last = int(np.searchsorted(ends, high, side="left"))
    part = counts[first : last + 1].copy()
    if not len(part):
        return Chunk(part, first, 0, low)
    part[-1] -= int(ends[last]) - high
    begun = low - (int(ends[first]) - int(counts[first]))
    part[0] -= begun
    return Chunk(part, first, begun, low)


def divide(left: Sequence[tuple[int, int]], speeds: Mapping[int, float]) -> list[tuple[int, int, int]]:
    """Ranges (device, low, high): all of `left`, its length shared in proportion to the speeds, in order."""
    length = sum(high - low for low, high in left)
    bounds = np.concatenate([[0.0], np.cumsum(list(speeds.values()))])
    bounds = np.rint(bounds / bounds[-1] * length).astype(np.int64).tolist()
    found, at = [], 0
    for low, high in left:
        for number, (begin, end) in zip(speeds, pairwise(bounds), strict=True):
            start, stop = max(low, low + begin - at), min(high, low + end - at)
            if start < stop or length == 0:
                found.append((number, start, stop))
            if length == 0:
                return found
        at += high - low
    return found


def _without(left: Sequence[tuple[int, int]], taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    found = []
    for low, high in left:
        for begin, end in sorted(taken):
            if low < begin:
                found.append((low, begin))
            low = max(low, end)
        if low < high:
            found.append((low, high))
    return found


def _round(
    pool: ThreadPoolExecutor, work: Callable[..., _Done], state: _State, devices: Sequence[Device],
    parts: Sequence[tuple[int, int, int]], again: bool,
) -> None:  # fmt: skip
    """Run parts on their devices at the same time; those of devices that fail are left."""
    futures = [(part, pool.submit(work, *part, again)) for part in parts]
    for (number, low, high), future in futures:
        try:
            state.done.append(future.result())
        except (ShaderError, CapacityError):
            raise
        except DeviceError as error:
            state.failures[number] = error
            state.left.append((low, high))
    state.left.sort()
    state.alive = [number for number in state.alive if number not in state.failures]


def _together(
    state: _State, devices: Sequence[Device], total: int, ending: Ending | Callable[[int], Ending]
) -> ChunkedRun:
    done = sorted(state.done, key=lambda item: item.low)
    src = local = None
    arrays: dict[str, np.ndarray] = {}
    if callable(ending):
        src, local = np.empty(total, np.uint32), np.empty(total, np.uint32)
        for item in done:
            src[item.low : item.high], local[item.low : item.high] = item.run.src, item.run.local
    else:
        before = {b.resource: b.before.view(np.uint32) for b in ending.buffers.values() if b.before is not None}
        arrays = {name: _merged_words(words, [item.run.arrays[name] for item in done])
                  for name, words in before.items()}  # fmt: skip
    report = merged([item.run.report for item in done])
    shares = tuple(_share(state, number, device) for number, device in enumerate(devices))
    labels = dict.fromkeys(device.info.label for number, device in enumerate(devices) if number not in state.failures)
    report = replace(
        report, device="; ".join(labels), shares=shares, software=any(d.info.is_software for d in devices),
        timer="timestamp-query" if all(item.run.report.timer != "none" for item in done) else "none",
        # What the host waited for: the device that took longest, not all of them one after the other.
        wall_ms=max(share.wall_ms for share in shares),
    )  # fmt: skip
    return ChunkedRun(src, local, arrays, report, done[0].run.graph)


def _merged_words(before: np.ndarray, found: Sequence[np.ndarray]) -> np.ndarray:
    """What the parts changed, on top of what was there before: each word is at most one item's to write."""
    words = before.copy()
    for array in found:
        array = array[: len(words)]
        changed = array != before
        words[changed] = array[changed]
    return words


def _share(state: _State, number: int, device: Device) -> Share:
    mine = [item for item in state.done if item.device == number]
    reports: list[Report] = [item.run.report for item in mine]
    times = [report.gpu_ms for report in reports]
    failure = state.failures.get(number)
    return Share(
        device=device.info.label,
        items=sum(item.high - item.low for item in mine),
        items_per_ms=state.speeds.get(number),
        gpu_ms=None if not times or None in times else float(sum(times)),
        wall_ms=sum(report.wall_ms for report in reports),
        failure=None if failure is None else str(failure),
    )
