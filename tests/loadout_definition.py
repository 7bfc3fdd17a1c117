"""Pools of loadouts for tests, and what is to be found in them by brute force."""

from __future__ import annotations

import numpy as np

from expandlab.searching.pool import Pool


def pool_of(sizes, leading, seed=0, sets=3, matches=None, least=None, most=40):
    """A pool whose score adds up whole numbers, so that float32 is exact."""
    rng = np.random.default_rng(seed)
    worth = rng.integers(-most, most, sum(sizes)).astype(np.float32)
    firsts = np.cumsum([0, *sizes[:-1]])
    terms = " + ".join(f"gain[{first}u + pick[{slot}]]" for slot, first in enumerate(firsts))
    gain = rng.integers(-most, most, sum(sizes)).astype(np.float32)
    return Pool(
        sizes, leading, worth, f"fn score(pick: array<u32, {len(sizes)}>) -> f32 {{ return {terms}; }}",
        sets=rng.integers(0, sets, sum(sizes)), least=() if least is None else [least] * len(sizes),
        matches=matches or {}, buffers={"gain": gain}, score_twin=lambda picks: gain[firsts + picks].sum(axis=1),
    )  # fmt: skip


def brute_force(pool, k):
    """(picks, scores) of the k best of what is allowed."""
    picks = np.array(list(pool.allowed()), np.uint32).reshape(-1, len(pool.sizes))
    scores = pool.score_twin(picks) if len(picks) else np.zeros(0, np.float32)
    order = np.lexsort((np.arange(len(scores)), -scores))[:k]
    return picks[order], scores[order]


POOLS = {
    "two slots": pool_of((3, 4), 1),
    "sets must match": pool_of((4, 3, 5, 4), 2, 1, matches={1: 0, 3: 0}),
    "six slots": pool_of((3, 4, 2, 5, 3, 4), 3, 2, matches={3: 0, 5: 2}, least=-25),
    "many ties": pool_of((5, 4, 6, 3), 2, 3, most=2, matches={2: 1}),
    "all culled": pool_of((3, 3, 3), 1, 4, least=1000),
    "an empty slot": pool_of((3, 0, 3), 1, 5),
    "more than a workgroup": pool_of((300, 2, 3), 1, 6, sets=5, matches={2: 0}, least=-10),
}
