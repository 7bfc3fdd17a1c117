"""Cutting the output in tiles: how the counts are scanned, who owns each tile's first item, and how that is modelled.

Two passes, `reduce` and `place`, in shaders/expansion/tile_search. They keep either the end of every src's range
(`ends`), or an entry for every src that has items (`entries`), which a thread can walk one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.expansion.strategy import TOTAL, Passes, settle_twin
from expandlab.expansion.thread_map import MapBuilder
from expandlab.wgsl import anchor

# Items for each thread, and the rounds of marking at most; the shaders have the same.
ITEMS, LONGEST_ROUNDS = 16, 16
# Every block adds up the sums of all blocks before it, which stays cheap up to this many.
MOST_BLOCKS = 2048
# A src with more tiles than this hands them to its workgroup. Small tiles are many: where most src were shared out, one
# after the other, most of the workgroup would look on.
ALONE = 32
_SHADERS, _ENTRIES = "expansion/tile_search", "expansion/serial_merge"
_REDUCE, _PLACE, _KEEP_ENDS = (f"{_SHADERS}/{name}.wgsl" for name in ("reduce", "place", "keep_ends"))
_TALLY_BUSY, _KEEP_ENTRIES = (f"{_ENTRIES}/{name}.wgsl" for name in ("tally_busy", "keep_entries"))


def row_of(src: int, size: int) -> int:
    """Counts for each thread: 8, or the next power of two that leaves at most MOST_BLOCKS blocks."""
    row = 8
    while src > MOST_BLOCKS * row * size:
        row *= 2
    return row


def share_of_thread(items: int, size: int) -> int:
    """Items that a thread of `serial_merge` owns: ITEMS, or the next power of two that leaves one src few tiles.

    A giant's workgroup writes them all down in at most 2^15 rounds, since some drivers end longer loops.
    """
    share = ITEMS
    while items > (size << 15) * share:
        share *= 2
    return share


def owners_of_tiles(ends: np.ndarray, tile: int) -> np.ndarray:
    """The src of the first item of every tile of `tile` items; of `ends` of some src only, the place among them."""
    total = int(ends[-1]) if len(ends) else 0
    return np.searchsorted(ends, np.arange(0, total, tile), side="right")


def add_place(p: Passes, *, tile: int, tile_threads: int, entries: bool) -> None:
    """Add reduce -> place, with a reset in front where the expansion is prepared.

    tile: items of one. tile_threads: how many threads of pass 2 work on it. entries: keep `entries` and `tile_entry`
    instead of `ends` and `tile_src`.
    """
    size = p.sizes.workgroup_size
    row = row_of(p.sizes.max_src, size)
    blocks = max(1, -(-p.sizes.max_src // (row * size)))
    kept, owners = ("entries", "tile_entry") if entries else ("ends", "tile_src")
    p.words("sums", blocks)
    p.words("wraps", blocks)
    p.words(kept, 2 * p.sizes.max_src if entries else 4 * -(-p.sizes.max_src // 4))
    p.words(owners, -(-p.sizes.max_dst // tile))
    if entries:
        p.words("busy", blocks)
    if p.prepared:
        p.reset("state")
    rows = {"threads": blocks * size, "useful": lambda p1, p2: -(-p1 // row)}
    # The twins know the length of a row as the shaders do.
    p.add(
        "reduce", file=_REDUCE, twin=lambda b: _reduce(b, row, entries), constants={"ROW": row},
        overwrites=("sums", "wraps", "busy"),
        slots={"tally": _TALLY_BUSY if entries else f"{_SHADERS}/tally_nothing.wgsl"}, **rows,
    )  # fmt: skip
    # Not prepared, the last block writes the whole state: one dispatch less.
    state = () if p.prepared else ("state",)
    alone = size if entries else ALONE
    cut = {"TILE": tile, "TILE_THREADS": tile_threads, "ALONE": alone, "PREPARED": int(p.prepared)}
    p.add(
        "place", file=_PLACE, twin=lambda b: _place(b, tile, tile_threads, entries, p.prepared),
        overwrites=(kept, owners, "indirect", *state), constants={"ROW": row, **cut}, rename={"tile_src": owners},
        slots={"keep": _KEEP_ENTRIES if entries else _KEEP_ENDS}, **rows,
    )  # fmt: skip


def _reduce(b: Any, row: int, entries: bool) -> None:
    n = b.counts[: b.params[0]].astype(np.uint64)
    starts = np.arange(0, len(n), row * b.workgroup_size)
    sums = np.add.reduceat(n, starts) if len(n) else np.zeros(0, np.uint64)
    b.wraps[: len(sums)] = sums >= 2**32
    b.sums[: len(sums)] = (sums & 0xFFFFFFFF).astype(np.uint32)
    if entries and len(n):
        b.busy[: len(sums)] = np.add.reduceat(n > 0, starts, dtype=np.uint32)


def _place(b: Any, tile: int, tile_threads: int, entries: bool, prepared: bool) -> None:
    if not prepared:
        b.state[:] = 0
    n = b.counts[: b.params[0]]
    # The offsets of the blocks are those of a scan over all: one cumulative sum gives the same as block by block.
    ends = np.cumsum(n, dtype=np.uint64)
    total = int(ends[-1]) if len(n) else 0
    settle_twin(b, total, -(-total // tile) * tile_threads)
    if entries:
        src = np.flatnonzero(n)
        ends = ends[src]
        b.entries.reshape(-1, 2)[: len(src)] = np.stack([src, ends & 0xFFFFFFFF], axis=1).astype(np.uint32)
    else:
        b.ends[: len(n)] = (ends & 0xFFFFFFFF).astype(np.uint32)
    if b.state[TOTAL]:
        b.tile_src[: -(-total // tile)] = owners_of_tiles(ends.astype(np.int64), tile)


def place_steps(m: MapBuilder, counts: np.ndarray, ends: np.ndarray, tile: int, *, entries: bool = False) -> None:
    """Add the steps of both passes. ends: of every src's range; the rest as of `add_place`."""
    size = m.workgroup_size
    row = row_of(len(counts), size)
    blocks = max(1, -(-len(counts) // (row * size)))
    lanes = m.lanes(blocks * size)
    thread, rounds = np.arange(lanes.launched), size.bit_length() - 1
    block, local = thread // size, thread % size
    every, strided = lanes.first(lanes.launched), (len(counts) - block * row * size - local + size - 1) // size
    in_row, before = np.clip(len(counts) - thread * row, 0, row), np.maximum(0, -((local - block) // size))
    m.rounds("reduce", "add up counts", anchor(_REDUCE, "load"), lanes, np.clip(strided, 0, row))
    m.step("reduce", f"add up the workgroup, {rounds} rounds", anchor(_REDUCE, "reduce"), every)
    if entries:
        m.step("reduce", "add up the src that have items", anchor(_TALLY_BUSY, "busy"), every)
    m.step("reduce", "store the block's sum", anchor(_REDUCE, "store"), lanes.active(local == size - 1))
    m.rounds("place", f"take {row} counts", anchor(_PLACE, "load"), lanes, in_row)
    m.rounds("place", "add up the blocks before", anchor(_PLACE, "before"), lanes, before)
    m.step("place", f"scan the workgroup, {rounds} rounds", anchor(_PLACE, "scan"), every)
    m.one_thread("place", "launch the threads of all tiles", anchor(_PLACE, "launch"))
    if entries:
        m.rounds("place", "add up the entries before", anchor(_KEEP_ENTRIES, "before"), lanes, before)
        m.step("place", f"scan the entries, {rounds} rounds", anchor(_KEEP_ENTRIES, "scan"), every)
        busy = np.bincount(np.arange(len(counts)) // row, counts > 0, lanes.launched).astype(np.int64)
        m.rounds("place", "store an entry", anchor(_KEEP_ENTRIES, "store"), lanes, busy)
    else:
        m.rounds("place", "store the end of a range", anchor(_KEEP_ENDS, "store"), lanes, in_row)
    starts = ends - counts
    tiles = -(-ends // tile) + -starts // tile
    giant = tiles > (size if entries else ALONE)
    alone = np.bincount(np.arange(len(counts)) // row, np.where(giant, 0, tiles), lanes.launched)
    m.rounds("place", "write down a tile", anchor(_PLACE, "tile"), lanes, alone.astype(np.int64))
    shared = np.zeros((blocks, size), np.int64)
    for src in np.flatnonzero(giant):
        shared[src // (row * size)] += np.maximum(0, -((np.arange(size) - tiles[src]) // size))
    m.rounds("place", "write down a giant's tile", anchor(_PLACE, "share"), lanes, shared.ravel())
