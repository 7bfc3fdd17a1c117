"""Bitonic top-k: sort runs, keep the better half of each two, and so on until one run is left. No atomics.

Wins on devices with slow atomics, and by its regularity: every input takes the same time. Loses by the work: all
scores are sorted in runs of 1024 at least, and items are pairs of eight bytes from the first pass on. For k above
1024 the runs are longer than workgroup memory, and every further step is a pass over all of them.
Source: bitonic sort "prototyped" in the source document; A. Shanbhag, H. Pirk and S. Madden, "Efficient Top-K Query
Processing on GPUs" (2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.topk.keys import NO_ITEM, split
from expandlab.topk.method import WORKGROUP, Method, Selection, every_item, read_pairs, write_pairs
from expandlab.topk.pair_sort import add_emit

# Pairs of a block in workgroup memory: 8 KiB.
BLOCK = 1024
_MOST_GROUPS = 32768


def passes(p: Selection) -> None:
    """reset -> sort blocks -> longer runs where k needs them -> halve and merge until one run is left -> emit."""
    p.reset()
    length = max(BLOCK, 1 << (p.sizes.k - 1).bit_length())
    runs = -(-p.sizes.max_n // length)
    # Two buffers in turn; the later, shorter rows get buffers of their own size.
    held = _row(p, 0, runs * length)
    p.add(
        "sort", groups=_groups(runs * length, BLOCK), useful=lambda n: n, twin=_sort, rename={"pairs": held},
        overwrites=(held,),
    )  # fmt: skip
    for bits in range(BLOCK.bit_length(), length.bit_length()):
        _exchange(p, f"mirror_{bits}", held, runs * length, bits, mirrored=True)
        _merge(p, f"run_{bits}", held, runs * length, bits - 1)
    level = 0
    while runs > 1:
        level, runs = level + 1, -(-runs // 2)
        made = _row(p, level, runs * length)
        p.add(
            f"halve_{level}", file="topk/bitonic/halve.wgsl", entry="halve", groups=_groups(runs * length, WORKGROUP),
            useful=lambda n: n, twin=_halve, rename={"pairs_in": held, "pairs": made}, overwrites=(made,),
            step=[0, 0, length.bit_length() - 1, 0, 0, 0, 0, 0],
        )  # fmt: skip
        held = made
        _merge(p, f"merge_{level}", held, runs * length, length.bit_length() - 1)
    p.result()
    add_emit(p, held)


def _row(p: Selection, level: int, items: int) -> str:
    p.words(f"row_{level}", 2 * items)
    return f"row_{level}"


def _groups(items: int, each: int) -> int:
    return min(_MOST_GROUPS, -(-items // each))


def _exchange(p: Selection, name: str, row: str, items: int, shift: int, *, mirrored: bool = False) -> None:
    p.add(
        name, file="topk/bitonic/exchange.wgsl", entry="exchange", groups=_groups(items // 2, WORKGROUP),
        useful=lambda n: n // 2, twin=_exchanged, rename={"pairs": row}, step=[0, int(mirrored), shift, 0, 0, 0, 0, 0],
    )  # fmt: skip


def _merge(p: Selection, name: str, row: str, items: int, bits: int) -> None:
    """Order bitonic parts of 2^bits items."""
    for shift in range(bits - 1, BLOCK.bit_length() - 2, -1):
        _exchange(p, f"{name}_stride_{shift}", row, items, shift)
    p.add(
        name, file="topk/bitonic/finish.wgsl", entry="finish", groups=_groups(items, BLOCK), useful=lambda n: n,
        twin=_finish, rename={"pairs": row},
    )  # fmt: skip


def _sort(b: Any) -> None:
    rows = every_item(b, len(b.pairs) // 2).reshape(-1, BLOCK)
    write_pairs(b.pairs, np.sort(rows, axis=1).ravel())
    _log_runs(b)


def _compared(items: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    better, worse = np.minimum(items[low], items[high]), np.maximum(items[low], items[high])
    items[low], items[high] = better, worse


def _exchanged(b: Any) -> None:
    items = read_pairs(b.pairs, len(b.pairs) // 2)
    mirrored, shift = int(b.step[1]), int(b.step[2])
    i = np.arange(len(items) // 2)
    if mirrored:
        inside = i & ((1 << (shift - 1)) - 1)
        low = 2 * i - inside
        high = low - inside + ((1 << shift) - 1 - inside)
    else:
        low = 2 * i - (i & ((1 << shift) - 1))
        high = low + (1 << shift)
    _compared(items, low, high)
    write_pairs(b.pairs, items)


def _finish(b: Any) -> None:
    items = read_pairs(b.pairs, len(b.pairs) // 2)
    i = np.arange(len(items) // 2)
    for shift in range(BLOCK.bit_length() - 2, -1, -1):
        low = 2 * i - (i & ((1 << shift) - 1))
        _compared(items, low, low + (1 << shift))
    write_pairs(b.pairs, items)
    _log_runs(b)


def _log_runs(b: Any) -> None:
    items = read_pairs(b.pairs, len(b.pairs) // 2)
    b.log("runs", length=BLOCK, count=len(items) // BLOCK, indices=split(items)[1])


def _halve(b: Any) -> None:
    length = 1 << int(b.step[2])
    items = read_pairs(b.pairs_in, len(b.pairs_in) // 2).reshape(-1, length)
    second = items[1::2, ::-1]
    if len(second) * 2 < len(items):
        second = np.concatenate([second, np.full((1, length), NO_ITEM)])
    better = np.minimum(items[::2], second).ravel()
    write_pairs(b.pairs, better)
    b.log("survivors", count=int((better != NO_ITEM).sum()), indices=split(better[better != NO_ITEM])[1])


METHOD = Method(
    name="bitonic",
    title="Bitonic top-k",
    solution="bitonic sort",
    summary="Sorts runs and keeps the better half of each two. No atomics; the same time for any input.",
    passes=passes,
)
