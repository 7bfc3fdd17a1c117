"""Power-of-two buckets in one dispatch, every entry with its offset: pass 2 does not read N again.

Wins over `po2_merged` where many items share an entry and N is no longer in the cache: one load less that depends on
another. Loses on memory, 8 bytes for each entry instead of 4, which pass 1 has to write. Source: solution 3 of
"Efficient GPU Work Expansion", which leaves the choice open.
"""

from __future__ import annotations

from functools import partial

from expandlab.expansion import buckets
from expandlab.expansion.strategies import po2_merged
from expandlab.expansion.strategy import Strategy

STRATEGY = Strategy(
    name="po2_merged_stored",
    title="Power-of-two buckets, one dispatch, offsets stored",
    solution="3",
    summary="As po2_merged, with the offset of every entry stored beside its src: one load less, twice the memory.",
    memory_formula="8 * sum(min(P1, P2 >> b) for b in range(32))",
    passes=partial(po2_merged.passes, stored=True),
    model=partial(po2_merged.model, stored=True),
    memory=partial(buckets.bit_memory, stored=True),
    memory_buffers=("entries", "filled"),
    atomic_order=True,
)
