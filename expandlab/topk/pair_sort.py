"""Radix sort of pairs (key, index) by four bits a pass: count, first places, scatter. Stable.

Source: N. Satish, M. Harris and M. Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs" (2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.topk.keys import split
from expandlab.topk.method import (
    COUNT_FOUND,
    COUNT_KEPT,
    COUNT_LISTED,
    WORKGROUP,
    Selection,
    bound_of,
    every_pair,
    put_results,
    read_pairs,
    write_pairs,
)

_FOLDER = "topk/pair_sort"
_TILE = 8 * WORKGROUP
# More would not be scanned by one workgroup in one go.
_BLOCKS = 256
_EMIT_GROUPS = 256


def add_list_sort(p: Selection) -> None:
    """Sort `list` by (key, index), as many as COUNT_LISTED says, and write the result."""
    sizes = p.sizes
    p.words("list_2", 2 * sizes.list_room)
    # Equal keys are in the order of whoever came first, so the index is sorted by too, and first.
    shifts = [(1, shift) for shift in range(0, (sizes.max_n - 1).bit_length(), 4)]
    shifts += [(0, shift) for shift in key_shifts(sizes)]
    add_sort(p, "list", "list_2", shifts, room=sizes.list_room, source="list", first="list")
    add_emit(p, "list" if len(shifts) % 2 == 0 else "list_2", from_list=True)


def key_shifts(sizes: Any) -> list[int]:
    """The shifts of a key's digits, lowest first."""
    return list(range(16 if sizes.form.name == "float16" else 0, 32, 4))


def add_sort(
    p: Selection, one: str, other: str, shifts: list[tuple[int, int]], *, room: int, source: str, first: str
) -> None:
    """Add the passes of a sort by the digits `shifts`: (word, shift), 0 = key and 1 = index.

    one, other: buffers of pairs; each digit goes from one to the other, and the first one to `one` where the items come
    from the scores. room: the most pairs there are. source: what the second and later passes read, `list` or `pairs`.
    first: the same of the first pass, or `scores`.
    """
    blocks = min(_BLOCKS, -(-room // _TILE))
    p.words("sort_counts", 16 * blocks)
    held, free = (other, one) if first == "scores" else (one, other)
    written = set() if first == "scores" else {one}
    for number, (word, shift) in enumerate(shifts):
        kind = first if number == 0 else source
        step = [number, word, shift, 4, 0, 0, 0, 0]
        slots = {"source": f"{_FOLDER}/from_{kind}.wgsl"}
        name = f"{'index' if word else 'key'}_{shift}"
        rename = {"pairs_in": held, "counts": "sort_counts"}
        p.add(
            f"count_{name}", file=f"{_FOLDER}/count.wgsl", entry="count", groups=blocks, useful=lambda n: n,
            twin=_count(kind), overwrites=("sort_counts",), rename=rename, slots=slots, step=step,
        )  # fmt: skip
        p.add(
            f"offsets_{name}", file=f"{_FOLDER}/offsets.wgsl", entry="offsets", groups=1,
            useful=lambda n: WORKGROUP, twin=_offsets, rename=rename,
        )  # fmt: skip
        p.add(
            f"scatter_{name}", file=f"{_FOLDER}/scatter.wgsl", entry="scatter", groups=blocks, useful=lambda n: n,
            twin=_scatter(kind), overwrites=() if free in written else (free,),
            rename={**rename, "pairs_out": free}, slots=slots, step=step,
        )  # fmt: skip
        written.add(free)
        held, free = free, held


def add_emit(p: Selection, pairs: str, *, from_list: bool = False) -> None:
    """Add the pass that writes the first k of sorted pairs out. The result's buffers are declared already."""
    p.add(
        "emit", file="topk/emit.wgsl", groups=min(_EMIT_GROUPS, -(-p.sizes.k // WORKGROUP)),
        useful=lambda n: min(n, p.sizes.k), twin=_emit(from_list), rename={"pairs": pairs},
        overwrites=p.fresh, constants={"FROM_LIST": int(from_list)},
    )  # fmt: skip


def _taken(b: Any, kind: str) -> np.ndarray:
    if kind == "scores":
        return every_pair(b)
    count = int(b.work[COUNT_LISTED]) if kind == "list" else int(b.params[0])
    return read_pairs(b.pairs_in, min(count, len(b.pairs_in) // 2))


def _digits(b: Any, items: np.ndarray) -> np.ndarray:
    _, word, shift, *_ = (int(number) for number in b.step)
    return ((items >> np.uint64(shift + (32 if word == 0 else 0))) & np.uint64(15)).astype(np.int64)


def _block_of(b: Any, count: int) -> np.ndarray:
    tiles = -(-count // _TILE)
    length = max(1, -(-tiles // (len(b.counts) // 16))) * _TILE
    return np.arange(count) // length


def _count(kind: str) -> Any:
    def twin(b: Any) -> None:
        digits = _digits(b, items := _taken(b, kind))
        blocks = len(b.counts) // 16
        places = digits * blocks + _block_of(b, len(items))
        b.counts[: 16 * blocks] = np.bincount(places, minlength=16 * blocks)
        b.log("histogram", counts=np.bincount(digits, minlength=16), of="index" if b.step[1] else "key",
              shift=int(b.step[2]))  # fmt: skip

    return twin


def _offsets(b: Any) -> None:
    b.counts[:] = np.cumsum(b.counts) - b.counts


def _scatter(kind: str) -> Any:
    def twin(b: Any) -> None:
        items = _taken(b, kind)
        cell = _digits(b, items) * (len(b.counts) // 16) + _block_of(b, len(items))
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], cell[order], side="left")
        place = b.counts[cell[order]].astype(np.int64) + np.arange(len(items)) - starts
        out = np.empty(len(items), np.uint64)
        out[place] = items[order]
        write_pairs(b.pairs_out, out)
        b.log("order", indices=split(out)[1])

    return twin


def _emit(from_list: bool) -> Any:
    def twin(b: Any) -> None:
        room = min(b.sizes.k, int(b.params[0]))
        if from_list:
            room = min(room, int(b.work[COUNT_LISTED]))
        best = read_pairs(b.pairs, room)
        best = best[best < bound_of(b)]
        put_results(b, best)
        b.status[:] = [len(best), room, b.work[COUNT_FOUND], b.work[COUNT_KEPT]]
        b.log("result", indices=split(best)[1])

    return twin
