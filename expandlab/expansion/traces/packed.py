"""Traces of the packed 64-bit counter: entries above, items below; by one addition, and by compare-exchange.

The twins of `shaders/expansion/atomic64_add/count.wgsl`, `atomic64_cas/count.wgsl` and `atomic64/entries.wgsl`. `order`
is the order in which the atomics are served: 0 for that of the src, else the seed of another one.
"""

from __future__ import annotations

import numpy as np

from expandlab.expansion.traces.trace import Trace, Tracer, listed
from expandlab.wgsl import anchor

_ADD, _CAS = "expansion/atomic64_add/count.wgsl", "expansion/atomic64_cas/count.wgsl"
_ENTRIES = "expansion/atomic64/entries.wgsl"


def served(counts: np.ndarray, order: int) -> np.ndarray:
    """The src with items, in the order in which their atomics are served."""
    src = np.flatnonzero(counts)
    return np.random.default_rng(order).permutation(src) if order else src


def add(counts: np.ndarray, order: int) -> Trace:
    """One 64-bit addition of (1, N) for each src."""
    t = _tracer("add64", "64-bit counter, one addition for each src", counts)
    queue = served(counts, order)
    done = before = 0
    for src in queue.tolist():
        n = int(counts[src])
        _store(t, done + 1, before + n)
        t.moment(
            "count", f"src {src} adds (1, {n})", anchor(_ADD, "add"),
            f"One atomic adds {_hex(1, n)}. It returns what was there, {_pair(done, before)}: src {src} gets entry "
            f"{done}, and {before} items come before its own.", 1, len(queue), read={"counts": [src]},
            written={"packed": [0]}, links=[(("counts", src), ("packed", 0))],
        )  # fmt: skip
        _entry(t, len(queue), done, src, n, before)
        done, before = done + 1, before + n
    return t.done(_answer(counts, queue))


def compare_exchange(counts: np.ndarray, order: int) -> Trace:
    """The loop of the document: all read, one wins each round, the others try again with what they were told."""
    t = _tracer("cas64", "64-bit counter, compare-exchange loop", counts)
    queue = served(counts, order).tolist()
    done = before = attempts = 0
    for turn, src in enumerate(queue):
        n, waiting = int(counts[src]), queue[turn:]
        attempts += len(waiting)
        _store(t, done + 1, before + n)
        others = f"; {len(waiting) - 1} others find another word than they had read: once more" if waiting[1:] else ""
        t.moment(
            "count", f"round {turn + 1}: {len(waiting)} try", anchor(_CAS, "exchange"),
            f"All have read {_pair(done, before)}. Src {src} is first: {_pair(done + 1, before + n)}{others}.",
            len(waiting), len(queue), read={"counts": waiting}, written={"packed": [0]},
            links=[(("counts", src), ("packed", 0))],
        )  # fmt: skip
        _entry(t, len(queue), done, src, n, before)
        done, before = done + 1, before + n
    return t.done(f"{_answer(counts, np.array(queue, int))}; {attempts} exchanges were tried for {len(queue)} src")


def _tracer(view: str, title: str, counts: np.ndarray) -> Tracer:
    t = Tracer(view, title)
    entries = np.count_nonzero(counts)
    t.row("counts", len(counts), counts, np.arange(len(counts)))
    t.row("packed", 1, [_pair(0, 0)])
    for name in ("src", "N", "end"):
        t.row(f"entries.{name}", entries)
    return t


def _store(t: Tracer, count: int, items: int) -> None:
    t.put("packed", 0, _pair(count, items))


def _entry(t: Tracer, lanes: int, place: int, src: int, n: int, before: int) -> None:
    for name, value in (("src", src), ("N", n), ("end", before + n)):
        t.put(f"entries.{name}", place, value, src)
    t.moment(
        "count", f"src {src} writes entry {place}", anchor(_ENTRIES, "write"),
        f"entries[{place}] = (src {src}, N {n}, end {before} + {n} = {before + n}).", 1, lanes,
        written={f"entries.{name}": [place] for name in ("src", "N", "end")},
    )  # fmt: skip


def _pair(count: int, items: int) -> str:
    return f"({count}, {items})"


def _hex(count: int, items: int) -> str:
    return f"{count << 32 | items:#018x}"


def _answer(counts: np.ndarray, queue: np.ndarray) -> str:
    ends = np.cumsum(counts[queue], dtype=np.int64) if len(queue) else np.zeros(0, np.int64)
    return f"Entries of src {listed(queue)}: their ends are {listed(ends)}; the sums follow the order of the atomics"
