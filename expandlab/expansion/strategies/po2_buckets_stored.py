"""Power-of-two buckets, a dispatch for each, every entry with its offset: pass 2 does not read N again.

Wins and loses as `po2_buckets` does, with one load less for every item and 8 bytes for each entry instead of 4.
Source: solution 3 of "Efficient GPU Work Expansion", which leaves the choice open.
"""

from __future__ import annotations

from functools import partial

from expandlab.expansion import buckets
from expandlab.expansion.strategies import po2_buckets
from expandlab.expansion.strategy import Strategy

STRATEGY = Strategy(
    name="po2_buckets_stored",
    title="Power-of-two buckets, 32 dispatches, offsets stored",
    solution="3",
    summary="As po2_buckets, with the offset of every entry stored beside its src: one load less, twice the memory.",
    memory_formula="8 * sum(min(P1, P2 >> b) for b in range(32))",
    passes=partial(po2_buckets.passes, stored=True),
    model=partial(po2_buckets.model, stored=True),
    memory=partial(buckets.bit_memory, stored=True),
    memory_buffers=("entries", "filled"),
    atomic_order=True,
)
