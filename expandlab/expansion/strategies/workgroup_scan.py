"""Block-mapped expansion: each workgroup scans its own src in workgroup memory and strides their items together.

Wins on pass 1, one atomic for each workgroup and no scan over all src, and its search never leaves workgroup memory.
Loses where N differs from block to block: a block of empty src costs a workgroup that does nothing, and a full one
takes many rounds. A block with more than 64 rounds of items calls helpers, further workgroups that take 64 rounds each.
Source: block-mapped schedule of M. Osama, S. Porumbescu and J. Owens, "A Programming Model for GPU Load Balancing"
(2023); block-wide gathering of D. Merrill, M. Garland and A. Grimshaw, "Scalable GPU Graph Traversal" (2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.steps import add_loop, rounds_of, strided
from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, TOTAL, Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.graph.fold import fold
from expandlab.wgsl import anchor

_RESERVE, _SETUP, _STRIDE = (f"expansion/workgroup_scan/{name}.wgsl" for name in ("reserve", "setup", "stride"))

# Rounds of a workgroup at most; shaders/expansion/workgroup_scan/block.wgsl has the same and says why.
ROUNDS = 64


def passes(p: Passes) -> None:
    """reset -> reset_helpers_used -> reserve -> setup -> stride."""
    size = p.sizes.workgroup_size
    p.words("base", -(-p.sizes.max_src // size))
    # A helper takes whole parts, so there are at most as many as parts of the output.
    p.words("helpers", 2 * (p.sizes.max_dst // (ROUNDS * size)))
    p.words("helpers_used", 1)
    p.reset("state", "helpers_used")
    p.add(
        "reserve", threads=p.sizes.max_src, useful=lambda p1, p2: p1, twin=_reserve, overwrites=("base", "helpers")
    )  # fmt: skip
    p.add("setup", threads=1, useful=lambda p1, p2: 1, twin=_setup, overwrites=("indirect",))
    p.expand("stride", twin=_stride, useful_of=lambda counts: _busy_threads(counts, size))


def _blocks(counts: np.ndarray, size: int) -> np.ndarray:
    """Items of each block of `size` src, int64."""
    return (
        np.add.reduceat(counts, np.arange(0, len(counts), size), dtype=np.int64)
        if len(counts)
        else np.zeros(0, np.int64)
    )


def _helpers(blocks: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """(block, first item) of every helper, in the order of the blocks."""
    called = blocks // (ROUNDS * size)
    block = np.repeat(np.arange(len(blocks)), called)
    return block, (np.arange(len(block)) - (np.cumsum(called) - called)[block]) * ROUNDS * size


def _parts(blocks: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(block, first item, items) of every workgroup of pass 2: one for each block, then the helpers."""
    block, first = _helpers(blocks, size)
    part = ROUNDS * size
    return (
        np.concatenate([np.arange(len(blocks)), block]),
        np.concatenate([blocks - blocks % part, first]),
        np.concatenate([blocks % part, np.full(len(block), part)]),
    )


def _busy_threads(counts: np.ndarray, size: int) -> int:
    return int(np.minimum(_parts(_blocks(counts, size), size)[2], size).sum())


def _reserve(b: Any) -> None:
    blocks = _blocks(b.counts[: b.params[0]], b.workgroup_size)
    ends = np.cumsum(blocks)
    total = int(ends[-1]) if len(ends) else 0
    if total >= 2**32:
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.state[TOTAL] = total & 0xFFFFFFFF
    b.base[: len(blocks)] = (ends - blocks) & 0xFFFFFFFF
    if total <= b.params[1]:
        block, first = _helpers(blocks, b.workgroup_size)
        b.helpers_used[0] = len(block)
        b.helpers[: 2 * len(block) : 2], b.helpers[1 : 2 * len(block) : 2] = block, first


def _setup(b: Any) -> None:
    settle_twin(b, int(b.state[TOTAL]))
    blocks = -(-int(b.params[0]) // b.workgroup_size)
    b.indirect[:3] = fold(blocks + int(b.helpers_used[0]) if b.state[TOTAL] else 0)


def _stride(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = b.counts[: b.params[0]]
    src, local = items_of(n)
    blocks = _blocks(n, b.workgroup_size)
    block = src // np.uint32(b.workgroup_size)
    first = (np.cumsum(blocks) - blocks)[block]
    return src, local, b.base[block] + (np.arange(len(src)) - first)


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """One base for every block, and (block, first item) of every helper."""
    size = sizes.workgroup_size
    first_src = np.arange(0, len(counts), size, dtype=np.int32)
    helped = buffers["helpers"][: 2 * int(buffers["helpers_used"][0]) : 2].astype(np.int32) * size
    base = MemoryRow("base of each block", -(-sizes.max_src // size), 4, 1, first_src)
    helpers = MemoryRow("helpers", sizes.max_dst // (ROUNDS * size), 8, ROUNDS * size, helped)
    return (
        Memory("base", "first place of every block of src in the output", (base,)),
        Memory("helpers", "(block, first item) of every further workgroup", (helpers,)),
    )


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Workgroup g strides the items of block g. The model's atomics serve the blocks in order; a device's may not."""
    m = MapBuilder("workgroup_scan", sizes)
    size = sizes.workgroup_size
    blocks = _blocks(counts, size)
    block, first, items = _parts(blocks, size)
    _reserve_steps(m, counts, blocks)
    m.one_thread("setup", "launch a workgroup for each block", anchor(_SETUP, "launch"))
    groups = len(block) if len(counts) and counts.any() else 0
    two = m.lanes(groups * size)
    items = np.concatenate([items[:groups], np.zeros(two.workgroups - groups, np.int64)])
    _stride_steps(m, two, counts, block[:groups], items)
    workgroup, thread, index = strided(items, size)
    m.lanes(len(workgroup))
    full = {name: np.full(len(workgroup), -1) for name in ("src", "local", "dst", "entry")}
    busy = np.flatnonzero(index >= 0)
    mine = block[workgroup[busy]]
    dst = (np.cumsum(blocks) - blocks)[mine] + first[workgroup[busy]] + index[busy]
    src, local = items_of(counts)
    for name, values in (("src", src[dst]), ("local", local[dst]), ("dst", dst), ("entry", mine)):
        full[name][busy] = values
    helpers = np.stack(_helpers(blocks, size), axis=1)
    wrote = {"helpers": helpers.ravel(), "helpers_used": np.array([len(helpers)])}
    return m.build_rows(memory(wrote, counts, sizes), workgroup=workgroup, thread=thread, **full)


def _reserve_steps(m: MapBuilder, counts: np.ndarray, blocks: np.ndarray) -> None:
    size = m.workgroup_size
    one = m.lanes(len(counts))
    called = np.zeros(one.workgroups, np.int64)
    called[: len(blocks)] = blocks // (ROUNDS * size)
    leaders = np.arange(one.launched) % size == 0
    m.step("reserve", "take N", anchor(_RESERVE, "load"), one.first(len(counts)))
    m.step(
        "reserve",
        f"add up the workgroup, {size.bit_length() - 1} rounds",
        anchor(_RESERVE, "scan"),
        one.first(one.launched),
    )
    m.step("reserve", "reserve the block's items", anchor(_RESERVE, "reserve"), one.active(leaders))
    if called.any():
        m.step("reserve", "call helpers", anchor(_RESERVE, "call"), one.active(leaders & np.repeat(called > 0, size)))
    m.rounds("reserve", "write one helper", anchor(_RESERVE, "write"), one, rounds_of(called, size))


def _stride_steps(m: MapBuilder, lanes: Any, counts: np.ndarray, block: np.ndarray, items: np.ndarray) -> None:
    size = m.workgroup_size
    helps = np.arange(len(block)) >= -(-len(counts) // size)
    src = block[:, None] * size + np.arange(size)
    if helps.any():
        m.step("stride", "read whom to help", anchor(_STRIDE, "helper"), lanes.active(np.repeat(helps, size)))
    m.step("stride", "take N", anchor(_STRIDE, "load"), lanes.active((src < len(counts)).ravel()))
    rounds = size.bit_length() - 1
    m.step("stride", f"scan the workgroup, {rounds} rounds", anchor(_STRIDE, "scan"), lanes.first(lanes.launched))
    add_loop(
        m, "stride", lanes, rounds_of(items, size),
        (f"search the block, {rounds} probes", anchor(_STRIDE, "probe"), rounds), ("work", anchor(_STRIDE, "work"), 1),
    )  # fmt: skip


STRATEGY = Strategy(
    name="workgroup_scan",
    title="Workgroup scan",
    solution=None,
    summary="Each workgroup scans its own src in workgroup memory, reserves a range with one atomic and strides it.",
    memory_formula="4 * P1 / WG + 8 * (P2 // (64 * WG))",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("helpers", "helpers_used"),
    atomic_order=True,
)
