"""A dispatch for each src: one indirect dispatch of N threads after the other, recorded in the command buffer.

Wins where the src are few and each one is large: no thread searches, no pass prepares more than the arguments, and a
dispatch has the whole machine to itself. Loses with the number of src: every dispatch costs the front end a fixed time
whatever its N, the host records two commands for each, WebGPU orders the dispatches of a pass that write the same
buffer one behind the other, and an N below a workgroup leaves the rest of it idle. This is what a dispatch for each
src costs through device-generated commands too, the host's part aside.
Source: "Gfx API Solutions" of "Efficient GPU Work Expansion" (Device Generated Commands, dispatch indirect).

A dispatch knows its src from a uniform whose offset moves with it: the record of its launch, which begins with the
arguments of the dispatch itself, so one buffer serves both. The other ways cost more: a bind group for each src has to
be made and kept; a counter that every workgroup increments needs a search to turn tickets into src.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.steps import own_launches
from expandlab.expansion.strategies.flat import count_into_bases
from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, TOTAL, Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.graph import Repeat
from expandlab.graph.fold import fold_threads
from expandlab.wgsl import anchor

_COUNT, _SETUP = "expansion/dispatch_each/count.wgsl", "expansion/dispatch_each/setup.wgsl"
_PREPARE, _EACH = "expansion/dispatch_each/prepare.wgsl", "expansion/dispatch_each/each.wgsl"

# A dispatch took 26 us on a software adapter and 9 us on an H200 (wgpu-py 0.32, Vulkan), and the host 3 to 6 us to
# record it: for so many that is a tenth to a third of a second.
MAX_SRC = 10_000
# Of `Launch` in shaders/expansion/dispatch_each/launch.wgsl.
LAUNCH_BYTES = 256
_LAUNCH_WORDS = LAUNCH_BYTES // 4


def passes(p: Passes) -> None:
    """reset -> count -> setup -> prepare -> each, which is max_src dispatches."""
    # A binding shows one whole launch, even where there is none.
    p.words("launches", _LAUNCH_WORDS * max(1, p.sizes.max_src))
    p.reset("state")
    slots = count_into_bases(p, _count)
    p.add("setup", threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect",))
    p.add(
        "prepare", threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_prepare, overwrites=("launches",),
        constants={"LAUNCHES": p.sizes.max_src}, slots=slots,
    )  # fmt: skip
    repeat = Repeat("launches", p.sizes.max_src, LAUNCH_BYTES, "mine")
    p.expand("each", twin=_each, indirect=repeat, rename={"mine": "launches"})


def _count(b: Any) -> None:
    n = b.counts[: b.params[0]].astype(np.uint64)
    ends = np.cumsum(n, dtype=np.uint64)
    if len(n) and int(ends[-1]) >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.base[: len(n)] = (ends - n).astype(np.uint32)
    b.state[TOTAL] = np.uint32(int(ends[-1]) & 0xFFFFFFFF) if len(n) else 0


def _setup(b: Any) -> None:
    settle_twin(b, int(b.state[TOTAL]))


def _prepare(b: Any) -> None:
    launches = b.launches.reshape(-1, _LAUNCH_WORDS)
    launches[:, :6] = 0
    launches[:, 1:3] = 1
    launches[:, 3] = np.arange(len(launches))
    if b.state[TOTAL]:
        count = int(b.params[0])
        n = b.counts[:count]
        launches[:count, :3] = [fold_threads(int(items), b.workgroup_size) for items in n]
        launches[:count, 4], launches[:count, 5] = n, b.base[:count]


def _each(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    launches = b.mine.reshape(-1, _LAUNCH_WORDS)
    src, local = items_of(launches[:, 4])
    return src, local, launches[src, 5] + local


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """One launch for every src, 24 bytes in each 256."""
    row = MemoryRow("launch of each src", sizes.max_src, LAUNCH_BYTES, 1, np.arange(len(counts), dtype=np.int32))
    return (Memory("launches", "arguments of a dispatch for every src", (row,)),)


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Dispatch s has N of src s threads, rounded up to whole workgroups by itself."""
    m = MapBuilder("dispatch_each", sizes)
    one = m.lanes(len(counts))
    every = one.first(len(counts))
    m.step("count", "take N", anchor(_COUNT, "load"), every)
    m.step("count", "reserve N places of the output", anchor(_COUNT, "reserve"), every)
    m.one_thread("setup", "decide whether all fit", anchor(_SETUP, "settle"))
    m.step("prepare", "take N and the base", anchor(_PREPARE, "load"), every)
    m.step("prepare", "write one set of arguments", anchor(_PREPARE, "write"), every)
    src, local, active = own_launches(m, counts)
    launched, working = m.active_of(np.ones(len(src), bool)), m.active_of(active)
    m.step("each", "compare local with N", anchor(_EACH, "early-out"), launched)
    m.step("each", "work", anchor(_EACH, "work"), working)
    starts = np.cumsum(counts, dtype=np.int64) - counts
    size = sizes.workgroup_size
    return m.build_rows(
        memory({}, counts, sizes), dispatch=src, workgroup=local // size, thread=local % size,
        src=np.where(active, src, -1), local=np.where(active, local, -1),
        dst=np.where(active, starts[src] + local, -1), entry=np.where(active, src, -1),
    )  # fmt: skip


STRATEGY = Strategy(
    name="dispatch_each",
    title="A dispatch for each src",
    solution=None,
    summary="One indirect dispatch of N threads for each src. No search at all, but a fixed cost for every dispatch.",
    memory_formula="260 * P1",
    max_src=MAX_SRC,
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("launches",),
)
