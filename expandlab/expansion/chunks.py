"""Expansions larger than a binding: cut in chunks that fit, run one after the other, put together on the host."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from expandlab.errors import DeviceLimitError
from expandlab.expansion.passes import build, check_state, refuse_oversize
from expandlab.expansion.report import Report, merged, report_of
from expandlab.expansion.strategy import Ending, Passes, Sizes, Strategy, params_words
from expandlab.gpu import Device
from expandlab.graph import FrameGraph
from expandlab.graph.inputs import over_limit

# So few items fit every host: not worth a look at how much memory is left.
_SMALL = 1 << 23


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some src in a row. The first one may have begun in the chunk before: `local_base` of its items lie there."""

    counts: np.ndarray
    src_base: int
    local_base: int
    dst_base: int


@dataclass(frozen=True, eq=False)
class ChunkedRun:
    """What all chunks gave together."""

    src: np.ndarray | None
    local: np.ndarray | None
    arrays: dict[str, np.ndarray]
    report: Report
    graph: FrameGraph


def cut(counts: np.ndarray, max_src: int, max_dst: int) -> Iterator[Chunk]:
    """Chunks of at most `max_src` src and `max_dst` items; a larger N is cut too. At least one, also of nothing."""
    ends = np.cumsum(counts, dtype=np.int64)
    src, local, dst = 0, 0, 0
    while True:
        stop = min(src + max_src, len(counts))
        room = dst + max_dst
        # The first src that does not fit whole; it goes in with the part that does.
        last = src + int(np.searchsorted(ends[src:stop], room, side="right"))
        part = counts[src : min(last + 1, stop)].copy()
        if local and len(part):
            part[0] -= local
        if last < stop:
            taken = int(part[:-1].sum(dtype=np.int64))
            part[-1] = max_dst - taken
        yield Chunk(part, src, local, dst)
        dst += int(part.sum(dtype=np.int64))
        if last >= len(counts):
            return
        if last < stop:
            local = int(part[-1]) + (local if last == src else 0)
            src = last
        else:
            src, local = stop, 0


def run_in_chunks(
    strategy: Strategy,
    counts: np.ndarray,
    device: Device,
    ending: Ending | Callable[[int], Ending],
    workgroup_size: int,
    checked: bool,
    whole: Chunk | None = None,
) -> ChunkedRun:
    """Run the strategy over all counts, in as few chunks as the device's limits allow.

    ending: of pass 2, or a function from the items of a chunk to it. whole: the part of an expansion that the counts
    are, which says where its numbers of src, local and dst begin.
    """
    total = int(counts.sum(dtype=np.uint64))
    built = _largest_that_fits(strategy, Sizes(len(counts), total, workgroup_size, device.subgroup_size), ending,
                               device, checked)  # fmt: skip
    columns = _columns(total) if callable(ending) else []
    reports, arrays = [], {}
    with built.graph.compile().program(device) as program:
        inputs = dict(built.imported)
        for chunk in cut(counts, max(1, built.sizes.max_src), max(1, built.sizes.max_dst)):
            bases = _bases(chunk, whole)
            inputs["counts"] = chunk.counts
            inputs["params"] = params_words(len(chunk.counts), built.sizes.max_dst, built.sizes, bases)
            ran = program.run(inputs)
            # What the body left in its buffers stays there for the next chunk.
            inputs = {}
            check_state(ran.arrays["state"], built.sizes.max_dst, built, device)
            arrays = ran.arrays
            items = int(chunk.counts.sum(dtype=np.int64))
            for column, name in zip(columns, ("out_src", "out_local"), strict=bool(columns)):
                column[chunk.dst_base : chunk.dst_base + items] = arrays[name][:items]
            if columns and (bases[0] or bases[1]):
                _shift([column[chunk.dst_base : chunk.dst_base + items] for column in columns], *bases[:2])
            reports.append(report_of(built, ran, strategy, built.sizes, device, chunk.counts, items))
    src, local = columns or (None, None)
    return ChunkedRun(src, local, arrays, merged(reports), built.graph)


def _columns(total: int) -> list[np.ndarray]:
    """The src and local of the whole. Raises DeviceLimitError where the host has no room for them."""
    room = _available_bytes() if total > _SMALL else None
    try:
        # Linux grants more than there is, and ends the process when it is written to.
        if room is not None and 8 * total > room:
            raise MemoryError
        return [np.empty(total, np.uint32) for _ in "sl"]
    except MemoryError:
        raise DeviceLimitError(
            f"expanding {total:,} items needs {8 * total:,} bytes of the host's memory; expand them in parts",
            required=total, capacity=total, limit="host memory", required_bytes=8 * total, available_bytes=room or 0,
        ) from None  # fmt: skip


def _available_bytes() -> int | None:
    """What the host can still give out without swapping; None where the system does not say."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _bases(chunk: Chunk, whole: Chunk | None) -> tuple[int, int, int]:
    """Where a chunk's src, its first src's local, and its dst begin."""
    if whole is None:
        return chunk.src_base, chunk.local_base, chunk.dst_base
    local = chunk.local_base + (0 if chunk.src_base else whole.local_base)
    return whole.src_base + chunk.src_base, local, whole.dst_base + chunk.dst_base


def _shift(columns: list[np.ndarray], src_base: int, local_base: int) -> None:
    src, local = columns
    local[src == 0] += np.uint32(local_base)
    src += np.uint32(src_base)


def _largest_that_fits(
    strategy: Strategy, sizes: Sizes, ending: Ending | Callable[[int], Ending], device: Device, checked: bool
) -> Passes:
    """The passes for all at once, or for halves, quarters ... until every buffer fits the device's limits."""
    max_src, max_dst = sizes.max_src, sizes.max_dst

    def passes(src: int, dst: int) -> Passes:
        now = Sizes(src, dst, sizes.workgroup_size, sizes.subgroup_size)
        return build(strategy, now, ending(dst) if callable(ending) else ending, checked=checked)

    built = passes(max_src, max_dst)
    while (found := over_limit(built.graph, device.limits)) is not None:
        name, size, _ = found
        if max_src <= 1 and max_dst <= 1:
            refuse_oversize(built, device, sizes.max_dst)
        half = -(-max_dst // 2)
        fewer = passes(max_src, half)
        if max_src <= 1 or (max_dst > 1 and fewer.graph.resources[name].size < size):
            built, max_dst = fewer, half
        else:
            # A buffer of the src: fewer items do not help.
            max_src = -(-max_src // 2)
            built = passes(max_src, max_dst)
    return built
