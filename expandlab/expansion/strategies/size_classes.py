"""Size classes: a thread for a small src, 32 threads for a medium one, workgroups for a large one.

Wins when N varies over orders of magnitude: nobody searches, every class has as many threads as suit it, and the items
of a src stay together. Loses when P1 is small or all src are of one class: three dispatches, and a small src in a group
with a longer one waits for it. A giant is cut in pieces of 2^14 items, a workgroup for each.
Source: D. Merrill, M. Garland and A. Grimshaw, "Scalable GPU Graph Traversal" (2012), thread, warp and block gathering;
CUB's batched copy sorts its buffers in the same three classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.scan import ROW, sweep_steps
from expandlab.expansion.steps import add_loop, rounds_of, stepped, strided
from expandlab.expansion.strategy import FAILED_OVERFLOW, FAILURE, TOTAL, Passes, Sizes, Strategy, settle_twin
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap
from expandlab.graph.fold import fold, fold_threads
from expandlab.wgsl import anchor

CLASSES = ("small", "medium", "large")
_FOLDER = "expansion/size_classes"
_PLACE = f"{_FOLDER}/place.wgsl"

# shaders/expansion/size_classes/classes.wgsl has the same and says why.
GROUP, MEDIUM_N, LARGE_N = 32, 32, 1024


def piece_items(n: np.ndarray) -> np.ndarray:
    """Items of a piece of a large src, int64."""
    return np.where(n < 2**28, 2**14, 2**17)


def passes(p: Passes) -> None:
    """reset -> tally -> lay_out -> place -> small_items -> medium_items -> large_items."""
    size, rooms = p.sizes.workgroup_size, _rooms(p.sizes)
    blocks = max(1, -(-p.sizes.max_src // (ROW * size)))
    p.words("sums", 4 * blocks)
    p.words("filled", 4)
    p.words("launches", 9)
    p.words("base", p.sizes.max_src)
    p.words("small", rooms[0])
    p.words("medium", rooms[1])
    p.words("large", 2 * rooms[2])
    p.reset("state")
    one_row = {"threads": blocks * size, "useful": lambda p1, p2: -(-p1 // ROW)}
    p.add("tally", twin=_tally, overwrites=("sums",), **one_row)
    p.add(
        "lay_out", threads=1, useful=lambda p1, p2: min(size, -(-p1 // (ROW * size))), twin=_lay_out,
        overwrites=("filled", "launches", "indirect"),
    )  # fmt: skip
    p.add("place", twin=_place, overwrites=("base", *CLASSES), **one_row)
    p.expand("small_items", twin=_small, indirect=("launches", 0), useful_of=lambda n: len(_lists(n)[0]))
    p.expand("medium_items", twin=_medium, indirect=("launches", 12), useful_of=lambda n: GROUP * len(_lists(n)[1]))
    p.expand("large_items", twin=_large, indirect=("launches", 24), useful_of=lambda n: _busy_in_large(n, size))


def _rooms(sizes: Sizes) -> tuple[int, int, int]:
    """Most entries of each class. Every large src begins one piece, and more only for whole ones."""
    large = min(sizes.max_src, sizes.max_dst // LARGE_N) + sizes.max_dst // 2**14
    return sizes.max_src, min(sizes.max_src, sizes.max_dst // MEDIUM_N), large


def _lists(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small src, medium src, and (src, first item) of every piece of the large ones; int64, in the order of the src."""
    small = np.flatnonzero((counts > 0) & (counts < MEDIUM_N))
    medium = np.flatnonzero((counts >= MEDIUM_N) & (counts < LARGE_N))
    large = np.flatnonzero(counts >= LARGE_N)
    pieces = -(-counts[large].astype(np.int64) // piece_items(counts[large]))
    src = np.repeat(large, pieces)
    index = np.arange(len(src)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return small, medium, np.stack([src, index * piece_items(counts[src])], axis=1)


def _items_of_pieces(large: np.ndarray, counts: np.ndarray) -> np.ndarray:
    n = counts[large[:, 0]].astype(np.int64)
    return np.minimum(n - large[:, 1], piece_items(n))


def _busy_in_large(counts: np.ndarray, size: int) -> int:
    return int(np.minimum(_items_of_pieces(_lists(counts)[2], counts), size).sum())


def _tallies(counts: np.ndarray) -> np.ndarray:
    """Items, small src, medium src and pieces of each src: int64 (src, 4)."""
    small, medium, large = _lists(counts)
    table = np.zeros((len(counts), 4), np.int64)
    table[:, 0] = counts
    table[small, 1] = table[medium, 2] = 1
    np.add.at(table[:, 3], large[:, 0], 1)
    return table


def _tally(b: Any) -> None:
    table = _tallies(b.counts[: b.params[0]])
    starts = np.arange(0, len(table), ROW * b.workgroup_size)
    sums = np.add.reduceat(table, starts) if len(table) else table
    if (sums[:, 0] >= 2**32).any():
        b.state[FAILURE] |= FAILED_OVERFLOW
    b.sums[: sums.size] = (sums & 0xFFFFFFFF).ravel()


def _lay_out(b: Any) -> None:
    blocks = -(-int(b.params[0]) // (ROW * b.workgroup_size))
    sums = b.sums[: 4 * blocks].astype(np.int64).reshape(-1, 4)
    ends = np.cumsum(sums, axis=0)
    b.sums[: 4 * blocks] = ((ends - sums) & 0xFFFFFFFF).ravel()
    totals = ends[-1] if blocks else np.zeros(4, np.int64)
    settle_twin(b, int(totals[0]))
    totals = totals if b.state[TOTAL] else np.zeros(4, np.int64)
    b.filled[:4] = totals
    b.launches[0:3] = fold_threads(int(totals[1]), b.workgroup_size)
    b.launches[3:6] = fold_threads(int(totals[2]) * GROUP, b.workgroup_size)
    b.launches[6:9] = fold(int(totals[3]))


def _place(b: Any) -> None:
    n = b.counts[: b.params[0]]
    if b.state[TOTAL]:
        b.base[: len(n)] = np.cumsum(n, dtype=np.uint32) - n
        small, medium, large = _lists(n)
        b.small[: len(small)], b.medium[: len(medium)], b.large[: large.size] = small, medium, large.ravel()


def _whole(b: Any, src: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(src, local, dst) of all items of some src."""
    local = np.concatenate([np.arange(n, dtype=np.uint32) for n in b.counts[src]] or [np.zeros(0, np.uint32)])
    src = np.repeat(src, b.counts[src])
    return src, local, b.base[src] + local


def _small(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _whole(b, b.small[: b.filled[1]])


def _medium(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _whole(b, b.medium[: b.filled[2]])


def _large(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pieces = b.large[: 2 * b.filled[3]].reshape(-1, 2).astype(np.int64)
    group, _, item = strided(_items_of_pieces(pieces, b.counts), b.workgroup_size)
    group, item = group[item >= 0], item[item >= 0]
    src, local = pieces[group, 0], pieces[group, 1] + item
    return src, local, b.base[src] + local


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """A list for each class, and the first place of every src."""
    used = buffers["filled"].astype(np.int64)
    owners = (
        buffers["small"][: used[1]], buffers["medium"][: used[2]], buffers["large"][: 2 * used[3] : 2]
    )  # fmt: skip
    rows = tuple(
        MemoryRow(name, room, 8 if name == "large" else 4, 2**14 if name == "large" else 1, src.astype(np.int32))
        for name, room, src in zip(CLASSES, _rooms(sizes), owners, strict=True)
    )
    base = MemoryRow("base of each src", sizes.max_src, 4, 1, np.arange(len(counts), dtype=np.int32))
    return (
        Memory("small", "src of each class, large ones once for each piece", rows),
        Memory("base", "first place of every src in the output", (base,)),
    )


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Three dispatches: a thread, a group of 32 threads or a workgroup for each entry of the class's list."""
    m = MapBuilder("size_classes", sizes)
    size = sizes.workgroup_size
    small, medium, large = _lists(counts)
    _place_steps(m, counts)
    parts = [_small_rows(m, small, counts), _medium_rows(m, medium, counts), _large_rows(m, large, counts)]
    dispatch = np.repeat(np.arange(3), [len(part[0]) for part in parts])
    workgroup, thread, entry, local = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    m.lanes(len(workgroup))
    lists = (small, medium, large[:, 0])
    begins = np.cumsum([0, len(small), len(medium)])
    busy = local >= 0
    src = np.full(len(busy), -1)
    src[busy] = np.concatenate(lists)[begins[dispatch[busy]] + entry[busy]]
    starts = np.cumsum(counts, dtype=np.int64) - counts
    dst = np.full(len(busy), -1)
    dst[busy] = starts[src[busy]] + local[busy]
    filled = np.array([counts.sum(dtype=np.int64), len(small), len(medium), len(large)])
    wrote = {"small": small, "medium": medium, "large": large.ravel(), "filled": filled}
    return m.build_rows(
        memory(wrote, counts, sizes), dispatch=dispatch, workgroup=workgroup, thread=thread % size, bucket=dispatch,
        src=src, local=local, dst=dst, entry=np.where(busy, entry, -1),
    )  # fmt: skip


def _place_steps(m: MapBuilder, counts: np.ndarray) -> None:
    files = {name: f"{_FOLDER}/{name}.wgsl" for name in ("tally", "lay_out", "place")}
    sweep_steps(m, len(counts), files, "counts", launch="launch the threads of each class", to="bases, and the entries")
    lanes = m.lanes(-(-len(counts) // (ROW * m.workgroup_size)) * m.workgroup_size)
    pieces = np.bincount(_lists(counts)[2][:, 0] // ROW, minlength=lanes.launched)
    m.rounds("place", "write one piece", anchor(_PLACE, "large"), lanes, pieces)


# Rows of a dispatch: (workgroup, thread in the workgroup, entry, local or -1 for idle).
_Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _small_rows(m: MapBuilder, small: np.ndarray, counts: np.ndarray) -> _Rows:
    lanes = m.lanes(len(small))
    n = np.zeros(lanes.launched, np.int64)
    n[: len(small)] = counts[small]
    _class_steps(m, "small_items", lanes, lanes.first(len(small)), n)
    group, thread, step = stepped(np.maximum(1, n.reshape(-1, GROUP).max(axis=1)), GROUP)
    entry = group * GROUP + thread
    return _in_order(m, entry, step, entry, np.where(step < n[entry], step, -1))


def _medium_rows(m: MapBuilder, medium: np.ndarray, counts: np.ndarray) -> _Rows:
    lanes = m.lanes(GROUP * len(medium))
    n = np.zeros(lanes.launched // GROUP, np.int64)
    n[: len(medium)] = counts[medium]
    _class_steps(m, "medium_items", lanes, lanes.first(GROUP * len(medium)), rounds_of(n, GROUP))
    group, thread, local = strided(n, GROUP)
    _, _, step = stepped(np.maximum(1, -(-n // GROUP)), GROUP)
    return _in_order(m, group * GROUP + thread, step, group, local)


def _large_rows(m: MapBuilder, large: np.ndarray, counts: np.ndarray) -> _Rows:
    size = m.workgroup_size
    lanes = m.lanes(size * len(large))
    items, first = (np.zeros(lanes.workgroups, np.int64) for _ in "if")
    items[: len(large)], first[: len(large)] = _items_of_pieces(large, counts), large[:, 1]
    _class_steps(m, "large_items", lanes, lanes.first(size * len(large)), rounds_of(items, size))
    group, thread, item = strided(items, size)
    return group, thread, group, np.where(item >= 0, first[group] + item, -1)


def _class_steps(m: MapBuilder, name: str, lanes: Any, active: np.ndarray, rounds: np.ndarray) -> None:
    file = f"{_FOLDER}/{name}.wgsl"
    if active.any():
        m.step(name, "read the entry", anchor(file, "entry"), active)
        add_loop(m, name, lanes, rounds, ("work", anchor(file, "work"), 1))


def _in_order(m: MapBuilder, thread: np.ndarray, step: np.ndarray, entry: np.ndarray, local: np.ndarray) -> _Rows:
    """The rows of groups of threads, in the order workgroup, step, thread. thread: index in the dispatch."""
    workgroup = thread // m.workgroup_size
    order = np.lexsort([thread, step, workgroup])
    return workgroup[order], thread[order] % m.workgroup_size, entry[order], local[order]


STRATEGY = Strategy(
    name="size_classes",
    title="Size classes",
    solution=None,
    summary="A thread loops over a small src, 32 threads stride a medium one, workgroups a large one.",
    memory_formula="4 * P1 + 4 * P1 + 4 * min(P1, P2 // 32) + 8 * (min(P1, P2 // 1024) + P2 // 16384) + 2 * P1 / WG",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=(*CLASSES, "filled"),
)
