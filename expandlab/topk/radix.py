"""Selection by digits over 64-bit items, and the last step that orders what is left; shared by most methods.

Rounds choose the digits of the k-th item one after the other: the key's, then the index's where ties decide. They end
as soon as what is left fits a list. Everything is decided on the device; a round with nothing to do costs a dispatch.
Source: `select_k` of RAFT, after J. Zhang, A. Naruse, X. Li and Y. Wang, "Parallel Top-K Algorithms on GPU" (2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.topk.keys import split
from expandlab.topk.method import (
    BINS,
    COUNT_FOUND,
    COUNT_KEPT,
    COUNT_LISTED,
    HISTOGRAMS,
    RANKED,
    STATES,
    WORKGROUP,
    Selection,
    Sizes,
    items_of,
    put_results,
    read_pairs,
    write_pairs,
)

_FOLDER = "topk/radix_select"
NOT_KEPT = 0xFFFFFFFF
# Threads that compare for one item in shaders/topk/rank.wgsl.
_PARTS = 16
# Workgroups of the rounds over what a method has found.
_FEW = 64


@dataclass(frozen=True)
class Digit:
    """Some bits of an item: of its key (`word` 0) or its index (1), from `shift` upwards."""

    word: int
    shift: int
    bits: int


def digits_of(sizes: Sizes) -> list[Digit]:
    """The digits to choose, leading ones first. None where all scores fit the list."""
    if sizes.max_n <= sizes.list_room:
        return []
    key_bits = [11, 5] if sizes.form.name == "float16" else [11, 11, 10]
    found, shift = [], 32
    for bits in key_bits:
        shift -= bits
        found.append(Digit(0, shift, bits))
    # Ties: fewer than k items are taken, so the last bucket fits beside them when it spans SLACK = 2^10 indices. The
    # digits do not depend on the sizes, so that their shaders are compiled once.
    if sizes.max_n > 1 << 21:
        found.append(Digit(1, 21, 11))
    return [*found, Digit(1, 10, 11)]


def rounds_of(sizes: Sizes) -> int:
    """How many histograms the rounds need."""
    return len(digits_of(sizes))


def add_rounds(p: Selection, *, found: bool = False) -> None:
    """Add the digit rounds and the collection of what is left into `list`.

    found: the method has put items into `kept` and counted them in COUNT_FOUND; the rounds read those, unless they did
    not fit: then the scores once more.
    """
    sizes = p.sizes
    digits = digits_of(sizes)
    if found:
        pass
    elif digits:
        p.words("kept", 2 * sizes.kept_room)
    else:
        # Nothing is kept then, but the shader reads it where something is.
        p.graph.buffer("kept", 48, imported=True)
    p.words("list", 2 * sizes.list_room)
    fresh = () if found else ("kept",)
    # What a method has found is few, and mostly nothing is left to do: a workgroup that ends at once takes time too.
    groups = min(_FEW, sizes.readers) if found else sizes.readers
    for number in range(len(digits)):
        p.add(
            f"digit_{number}", file=f"{_FOLDER}/round.wgsl", entry="round", groups=groups,
            useful=lambda n: n, twin=_round(digits, number, found), rename={"gathered": "kept"},
            overwrites=fresh if number == 0 else (),
            step=_step(digits, number, found),
        )  # fmt: skip
    p.add(
        "collect", file=f"{_FOLDER}/collect.wgsl", groups=groups, useful=lambda n: n,
        twin=_collect(digits, found), rename={"gathered": "list"}, overwrites=("list",),
        step=_step(digits, len(digits), found),
    )  # fmt: skip


def add_last(p: Selection, listed: str = "list") -> None:
    """Add the passes that order the list, which lies at the front of the buffer `listed`, and write the result."""
    p.result()
    if p.sizes.list_room <= RANKED:
        p.add(
            "rank", file="topk/rank.wgsl", groups=-(-p.sizes.list_room * _PARTS // WORKGROUP),
            useful=lambda n: _PARTS * min(n, p.sizes.list_room), twin=_rank,
            overwrites=p.fresh, rename={"list": listed},
        )  # fmt: skip
    else:
        from expandlab.topk.pair_sort import add_list_sort

        add_list_sort(p)


def _step(digits: list[Digit], number: int, found: bool) -> list[int]:
    none = Digit(0, 0, 0)
    this = digits[number] if number < len(digits) else none
    last = digits[number - 1] if number else none
    return [number, this.word, this.shift, this.bits, last.word, last.shift, last.bits, int(found)]


@dataclass
class _State:
    """The twin of `State` in shaders/topk/radix_select/state.wgsl."""

    prefix: int
    mask: int
    taken: int
    inside: int
    done: int
    kept: int

    @classmethod
    def load(cls, b: Any, number: int) -> _State:
        w = [int(word) for word in b.work[STATES + 8 * number : STATES + 8 * number + 8]]
        return cls(w[0] << 32 | w[1], w[2] << 32 | w[3], *w[4:])

    def store(self, b: Any, number: int) -> None:
        low = 0xFFFFFFFF
        words = [self.prefix >> 32, self.prefix & low, self.mask >> 32, self.mask & low]
        b.work[STATES + 8 * number : STATES + 8 * number + 8] = [
            *words, self.taken, self.inside, self.done, self.kept
        ]  # fmt: skip

    def masked(self, items: np.ndarray) -> np.ndarray:
        return items & np.uint64(self.mask)

    def staying(self, items: np.ndarray) -> np.ndarray:
        return items[self.masked(items) <= np.uint64(self.prefix)]


def _first_state(b: Any, found: bool) -> _State:
    n = int(b.params[0])
    state = _State(0, 0, 0, n, int(n <= b.sizes.list_room), NOT_KEPT)
    if found and int(b.work[COUNT_FOUND]) <= b.sizes.kept_room:
        count = int(b.work[COUNT_FOUND])
        state.inside, state.kept, state.done = count, count, int(count <= b.sizes.list_room)
    return state


def _enter(b: Any, digits: list[Digit], number: int, found: bool) -> _State:
    if number == 0:
        return _first_state(b, found)
    state = _State.load(b, number - 1)
    if state.done:
        return state
    histogram = b.work[HISTOGRAMS + (number - 1) * BINS : HISTOGRAMS + number * BINS].astype(np.int64)
    upto = np.cumsum(histogram)
    if number == 1 and upto[-1] <= b.sizes.list_room:
        state.inside, state.done = int(upto[-1]), 1
        return state
    digit = digits[number - 1]
    chosen = int(np.searchsorted(upto, b.sizes.k - state.taken))
    shift = digit.shift + (32 if digit.word == 0 else 0)
    state.prefix |= chosen << shift
    state.mask |= ((1 << digit.bits) - 1) << shift
    state.taken += int(upto[chosen] - histogram[chosen])
    state.inside = int(histogram[chosen])
    state.done = int(state.taken + state.inside <= b.sizes.list_room)
    b.log("bucket", digit=chosen, bits=digit.bits, of="index" if digit.word else "key", taken=state.taken,
          inside=state.inside)  # fmt: skip
    return state


def _source(b: Any, words: np.ndarray, state: _State) -> np.ndarray:
    return items_of(b) if state.kept == NOT_KEPT else read_pairs(words, state.kept)


def _round(digits: list[Digit], number: int, found: bool) -> Any:
    digit = digits[number]

    def twin(b: Any) -> None:
        state = _enter(b, digits, number, found)
        keeps = (
            number > 0 and not state.done and state.kept == NOT_KEPT
            and state.taken + state.inside <= b.sizes.kept_room
        )  # fmt: skip
        items = np.zeros(0, np.uint64) if state.done else _source(b, b.gathered, state)
        if keeps:
            kept = state.staying(items)
            write_pairs(b.gathered, kept)
            b.work[COUNT_KEPT] = state.kept = len(kept)
            b.log("survivors", count=len(kept), indices=split(kept)[1])
        state.store(b, number)
        if state.done:
            return
        asked = items[state.masked(items) == np.uint64(state.prefix)]
        shift = np.uint64(digit.shift + (32 if digit.word == 0 else 0))
        bins = ((asked >> shift) & np.uint64((1 << digit.bits) - 1)).astype(np.int64)
        counts = np.bincount(bins, minlength=BINS)
        b.work[HISTOGRAMS + number * BINS : HISTOGRAMS + (number + 1) * BINS] += counts.astype(np.uint32)
        b.log("histogram", counts=counts[: 1 << digit.bits], of="index" if digit.word else "key", shift=digit.shift)

    return twin


def _collect(digits: list[Digit], found: bool) -> Any:
    def twin(b: Any) -> None:
        state = _enter(b, digits, len(digits), found)
        state.store(b, len(digits))
        left = state.staying(_source(b, b.kept, state))
        write_pairs(b.gathered, left)
        b.work[COUNT_LISTED] = len(left)
        b.log("survivors", count=len(left), indices=split(left)[1])

    return twin


def _rank(b: Any) -> None:
    listed = min(int(b.work[COUNT_LISTED]), b.sizes.list_room)
    best = np.sort(read_pairs(b.list, listed))[: b.sizes.k]
    put_results(b, best)
    b.status[:] = [len(best), listed, b.work[COUNT_FOUND], b.work[COUNT_KEPT]]
    b.log("result", indices=split(best)[1])
