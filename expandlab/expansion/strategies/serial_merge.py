"""Serial merge: every thread owns 16 neighbouring items, and walks them and the ends of the ranges side by side.

Wins where a thread is dear and waiting for others is dearer, as on a software adapter: pass 2 has a sixteenth of the
threads of a search for each item, no barrier, no search and no shared memory. Loses to `tile_search` on a GPU with
much to do, where the lanes of a subgroup store 64 bytes apart from each other.
Source: O. Green, R. McColl and D. Bader, "GPU Merge Path" (2012), and S. Baxter, "moderngpu", load-balancing search
(2013), where every thread merges its share serially. Here the thread's share is of items alone: src without any are
left out by pass 1, so that an item never moves the walk on by more than one entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import TOTAL, Passes, Sizes, Strategy
from expandlab.expansion.thread_map import Lanes, MapBuilder, Memory, MemoryRow, ThreadMap, items_of
from expandlab.expansion.tiles import add_place, owners_of_tiles, place_steps, share_of_thread
from expandlab.wgsl import anchor

_MERGE = "expansion/serial_merge/merge.wgsl"


def passes(p: Passes) -> None:
    """reduce -> place -> merge; with a reset in front where the expansion is prepared."""
    share = share_of_thread(p.sizes.max_dst, p.sizes.workgroup_size)
    add_place(p, tile=share, tile_threads=1, entries=True)
    p.expand(
        "merge", twin=_merge, constants={"TILE": share},
        indirect="indirect" if p.prepared else -(-p.sizes.max_dst // share), useful=lambda p1, p2: -(-p2 // share),
    )  # fmt: skip


def _merge(b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    total = int(b.state[TOTAL])
    entries = b.entries.reshape(-1, 2)
    # The last entry is the one that ends with the last item.
    ends = entries[: int(np.argmax(entries[:, 1] == total)) + 1, 1]
    dst = np.arange(total, dtype=np.uint32)
    # What all walks together do: one step along the entries for every range that has ended.
    entry = np.searchsorted(ends, dst, side="right")
    starts = np.concatenate([np.zeros(1, np.uint32), ends])
    return entries[entry, 0], dst - starts[entry], dst


def memory(buffers: dict[str, np.ndarray], counts: np.ndarray, sizes: Sizes) -> tuple[Memory, ...]:
    """An entry for every src that has items, and the entry of each thread's first item."""
    src = np.flatnonzero(counts).astype(np.int32)
    share = share_of_thread(sizes.max_dst, sizes.workgroup_size)
    threads = -(-int(counts.sum(dtype=np.int64)) // share)
    entries = MemoryRow("entries", sizes.max_src, 8, 1, src)
    first = MemoryRow("threads", -(-sizes.max_dst // share), 4, share, src[buffers["tile_entry"][:threads]])
    return (
        Memory("entries", "src that have items, and the ends of their ranges", (entries,)),
        Memory("tile_entry", "entry of the first item of each thread", (first,)),
    )


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Thread t takes the items 16 t to 16 t + 15 (more beyond 2^19 x WG items), four to a step."""
    m = MapBuilder("serial_merge", sizes)
    share = share_of_thread(sizes.max_dst, sizes.workgroup_size)
    src, local = items_of(counts)
    ends = np.cumsum(counts, dtype=np.int64)
    place_steps(m, counts, ends, share, entries=True)
    busy = np.flatnonzero(counts)
    tile_entry = owners_of_tiles(ends[busy], share)
    lanes = m.lanes(len(tile_entry))
    items = np.zeros(lanes.launched, np.int64)
    items[: len(tile_entry)] = np.minimum(share, len(src) - share * np.arange(len(tile_entry)))
    _merge_steps(m, lanes, src, items, share)
    thread, dst = _rows(items, share, sizes.workgroup_size)
    m.lanes(len(thread))
    work, size = dst >= 0, sizes.workgroup_size
    rank = np.cumsum(counts > 0) - 1
    columns = {"src": src, "local": local, "dst": np.arange(len(src)), "entry": rank[src] if len(src) else src}
    full = {name: np.full(len(thread), -1) for name in columns}
    for name, values in columns.items():
        full[name][work] = values[dst[work]]
    wrote = memory({"tile_entry": tile_entry}, counts, sizes)
    return m.build_rows(wrote, workgroup=thread // size, thread=thread % size, **full)


def _rows(items: np.ndarray, share: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """(thread, dst or -1) of every row, in the order workgroup, step, thread; a thread takes four steps at a time."""
    steps = 4 * np.maximum(1, -(-items // 4))
    thread = np.repeat(np.arange(len(items)), steps)
    step = np.arange(len(thread)) - (np.cumsum(steps) - steps)[thread]
    order = np.lexsort((thread, step, thread // size))
    thread, step = thread[order], step[order]
    return thread, np.where(step < items[thread], share * thread + step, -1)


def _merge_steps(m: MapBuilder, lanes: Lanes, src: np.ndarray, items: np.ndarray, share: int) -> None:
    m.step("merge", "take the entry of the first item", anchor(_MERGE, "entry"), lanes.active(items > 0))
    # Whether an item's src is another one than that of the item before it: the thread reads the next entry.
    moves = np.zeros(lanes.launched * share, bool)
    moves[1 : len(src)] = src[1:] != src[:-1]
    moves = moves.reshape(lanes.launched, share)
    for four in range(0, share, 4):
        if not (items > four).any():
            break
        for item in range(max(1, four), four + 4):
            m.step("merge", "go on to the next entry", anchor(_MERGE, "next"), lanes.active(moves[:, item]))
        for item in range(four, four + 4):
            m.step("merge", "work", anchor(_MERGE, "work"), lanes.active(items > item))


STRATEGY = Strategy(
    name="serial_merge",
    title="Serial merge",
    solution=None,
    summary="Src with items in a list; every thread walks 16 items and the list side by side. Few threads, no search.",
    memory_formula="8 * P1 + P2 / 4 + 3 * P1 / (2 * WG)",
    passes=passes,
    model=model,
    memory=memory,
    memory_buffers=("tile_entry",),
)
