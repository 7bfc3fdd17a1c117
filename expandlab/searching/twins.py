"""The passes of a loadout frame in NumPy; each has the name of its shader in shaders/search/loadouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from expandlab.searching.pool import NONE, TASK, Pool
from expandlab.topk.keys import keys_of


class Lists:
    """What `lists` holds: reading and writing it by name."""

    def __init__(self, words: np.ndarray, pool: Pool):
        self.pool, self.words = pool, words
        slots = len(pool.sizes)
        self.sizes = words[:slots]
        self.spans = words[slots : slots + 2 * slots * pool.set_count].reshape(slots, pool.set_count, 2)
        self._kept = words[slots + 2 * slots * pool.set_count :]

    def kept(self, slot: int) -> np.ndarray:
        """The place for a slot's kept items."""
        first = int(self.pool.firsts[slot])
        return self._kept[first : first + self.pool.sizes[slot]]

    def partials(self) -> int:
        """How many partial loadouts there are."""
        return int(np.prod(self.sizes[: self.pool.leading], dtype=np.uint64))

    def picks(self, numbers: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The items of loadouts: partial `numbers`, and `places` within what they spawn; uint32 (loadouts, slots)."""
        found = self.lead(numbers)
        rest = places.astype(np.int64)
        for slot in reversed(range(self.pool.leading, len(self.pool.sizes))):
            first, count = self.choices(slot, found)
            found[:, slot] = self.kept(slot)[first + rest % count]
            rest //= count
        return found

    def lead(self, numbers: np.ndarray) -> np.ndarray:
        """The items of partial loadouts; other slots are 0."""
        found = np.zeros((len(numbers), len(self.pool.sizes)), np.uint32)
        rest = numbers.astype(np.int64)
        for slot in reversed(range(self.pool.leading)):
            found[:, slot] = self.kept(slot)[rest % int(self.sizes[slot])]
            rest //= int(self.sizes[slot])
        return found

    def choices(self, slot: int, picks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First kept place and number of choices of a slot for loadouts."""
        other = self.pool.matches.get(slot, NONE)
        if other == NONE:
            return np.zeros(len(picks), np.int64), np.full(len(picks), int(self.sizes[slot]))
        sets = self.pool.sets[int(self.pool.firsts[other]) + picks[:, other].astype(np.int64)]
        spans = self.spans[slot, sets].astype(np.int64)
        return spans[:, 0], spans[:, 1]


def cull(pool: Pool) -> Callable[[Any], None]:
    """Twin of `cull`."""

    def twin(b: Any) -> None:
        lists = Lists(b.lists, pool)
        for slot in range(len(pool.sizes)):
            kept = pool.kept(slot)
            sets = pool.sets[int(pool.firsts[slot]) + kept]
            if slot in pool.matches:
                kept = kept[np.argsort(sets, kind="stable")]
            lists.kept(slot)[: len(kept)] = kept
            lists.sizes[slot] = len(kept)
            counts = np.bincount(sets, minlength=pool.set_count)
            lists.spans[slot] = np.stack([np.cumsum(counts) - counts, counts], 1)

    return twin


def spawn(pool: Pool, device: int) -> Callable[[Any], None]:
    """Twin of `spawn`."""

    def twin(b: Any) -> None:
        lists = Lists(b.lists, pool)
        first, end = (int(word) for word in b.pool[2 * device : 2 * device + 2])
        numbers = np.arange(first, min(end, lists.partials(), first + len(b.counts)))
        b.counts[:] = 0
        if not len(numbers):
            return
        picks = lists.lead(numbers)
        found = np.ones(len(numbers), np.int64)
        for slot, other in pool.matches.items():
            if slot < pool.leading:
                mine, theirs = (pool.sets[int(pool.firsts[s]) + picks[:, s].astype(np.int64)] for s in (slot, other))
                found *= mine == theirs
        for slot in range(pool.leading, len(pool.sizes)):
            found *= lists.choices(slot, picks)[1]
        b.counts[: len(found)] = found

    return twin


def score(pool: Pool, device: int) -> Callable[[Any], None] | None:
    """Twin of `score`, where the pool has one."""
    if pool.score_twin is None:
        return None

    def twin(b: Any) -> None:
        total = int(b.state[0])
        numbers = int(b.pool[2 * device]) + b.out_src[:total].astype(np.int64)
        picks = Lists(b.lists, pool).picks(numbers, b.out_local[:total])
        b.scores[:total] = np.asarray(pool.score_twin(picks), np.float32).view(np.uint32)

    return twin


def hand_over(pool: Pool, params: np.ndarray) -> Callable[[Any], None]:
    """Twin of `hand_over`; params: the selection's, with any number of scores."""

    def twin(b: Any) -> None:
        b.params[: len(params)] = params
        b.params[0] = b.state[0]
        b.winners[:4] = [*b.state[:3], 0]
        b.winners[4 : 4 + len(pool.sizes)] = b.lists[: len(pool.sizes)]

    return twin


def winners(pool: Pool, device: int, k: int, head: int) -> Callable[[Any], None]:
    """Twin of `note_winners`."""

    def twin(b: Any) -> None:
        count = min(k, int(b.winners[0]))
        dst = b.out_indices[:count].astype(np.int64)
        numbers = int(b.pool[2 * device]) + b.out_src[dst].astype(np.int64)
        rows = b.winners[head : head + k * (1 + len(pool.sizes))].reshape(k, -1)
        rows[:count, 0] = b.out_values[:count]
        if count:
            rows[:count, 1:] = Lists(b.lists, pool).picks(numbers, b.out_local[dst])

    return twin


def merge(pool: Pool, devices: int, k: int, head: int) -> Callable[[Any], None]:
    """Twin of `merge_winners`."""

    def twin(b: Any) -> None:
        found = []
        for device in range(devices):
            words = getattr(b, f"winners_{device}")
            b.best[device * head : (device + 1) * head] = words[:head]
            found.append(words[head:].reshape(-1, 1 + len(pool.sizes))[: min(k, int(words[0]))])
        rows = np.concatenate(found)
        order = np.argsort(keys_of(np.ascontiguousarray(rows[:, 0]).view(np.float32), True), kind="stable")[:k]
        at = devices * head
        b.best[at : at + order.size * rows.shape[1]] = rows[order].ravel()

    return twin


__all__ = ["TASK", "Lists", "cull", "hand_over", "merge", "score", "spawn", "winners"]
