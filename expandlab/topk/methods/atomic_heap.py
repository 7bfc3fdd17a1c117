"""Atomic heap: one min-heap of the k best, shared by all threads behind a lock.

Wins nowhere; it shows what the lock costs: every score that is better than the worst of the heap waits for all
others. For ascending scores that is every one. Capped, because one workgroup does it all: threads of several would
wait for each other without any promise that the one who is waited for runs. Were a driver to end a waiting loop, the
digit rounds of `radix_select` would start again from the scores.
Source: "Implement a min-heap data structure and atomically insert results" in the source document.
"""

from __future__ import annotations

from typing import Any

from expandlab.topk.heap import blocks_of, keep_best
from expandlab.topk.keys import split
from expandlab.topk.method import COUNT_FOUND, WORKGROUP, Method, Selection, items_of, write_pairs
from expandlab.topk.radix import add_last, add_rounds, rounds_of

# Pairs of a heap in workgroup memory, 8 KiB; shaders/topk/atomic_heap/heap.wgsl has the same.
MAX_K = 1024
# A thread then waits and sinks for fewer than the 65 535 rounds after which llvmpipe ends its loops.
MAX_N = 16384
# Times that a trace tells of the heap.
_NOTED = 16


def passes(p: Selection) -> None:
    """reset -> heap -> the digit rounds, idle -> collect -> the last step."""
    p.reset(histograms=rounds_of(p.sizes))
    p.words("kept", 2 * p.sizes.kept_room)
    p.add("heap", groups=1, useful=lambda n: min(n, WORKGROUP), twin=_heap, overwrites=("kept",))
    add_rounds(p, found=True)
    add_last(p)


def _heap(b: Any) -> None:
    # The device inserts in any order and ends with the same k; here it is the order of the indices.
    items = items_of(b)
    parts = ((end - first, items[first:end]) for first, end in blocks_of(len(items), MAX_N, _NOTED))
    best = keep_best(parts, b.sizes.k, b.log)
    b.work[COUNT_FOUND] = len(best)
    write_pairs(b.kept, best[::-1])
    b.log("queue", group=0, indices=split(best)[1])


METHOD = Method(
    name="atomic_heap",
    title="Atomic heap",
    solution="atomic min-heap",
    summary="One heap of the k best behind a lock. Shows the contention; capped to what one workgroup takes.",
    max_src=MAX_N,
    max_k=MAX_K,
    passes=passes,
)
