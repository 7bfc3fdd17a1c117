"""A full radix sort of (key, index), of which the first k are taken.

Wins where k is a large part of n: nothing else is then much cheaper than sorting. Loses everywhere else: eight passes
that read and write every item, for k results.
Source: the sort that the source document tried first; N. Satish and others (2009), four bits a pass.
"""

from __future__ import annotations

from expandlab.topk.method import Method, Selection
from expandlab.topk.pair_sort import add_emit, add_sort, key_shifts


def passes(p: Selection) -> None:
    """reset -> count, offsets and scatter for each digit -> emit."""
    p.reset()
    p.words("pairs_a", 2 * p.sizes.max_n)
    p.words("pairs_b", 2 * p.sizes.max_n)
    # The scores lie in order of their indices and every pass is stable, so only keys have to be sorted by.
    shifts = [(0, shift) for shift in key_shifts(p.sizes)]
    add_sort(p, "pairs_a", "pairs_b", shifts, room=p.sizes.max_n, source="pairs", first="scores")
    p.result()
    add_emit(p, "pairs_a" if len(shifts) % 2 else "pairs_b")


METHOD = Method(
    name="sort_radix",
    title="Radix sort",
    solution="sort all the elements",
    summary="Sorts all scores by radix, four bits a pass, and takes the first k. For k near n.",
    passes=passes,
)
