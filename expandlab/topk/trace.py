"""`trace`, `trace_stream`: selections on the reference device, with what every pass, or every push, found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.gpu import resolve
from expandlab.results import Result
from expandlab.topk.arguments import check_k, check_largest, check_scores, pick_method, whole
from expandlab.topk.best import Best
from expandlab.topk.keys import keys_of, pairs_of, words_of
from expandlab.topk.method import Sizes
from expandlab.topk.prepared import NO_BOUND, Found, Prepared, build
from expandlab.topk.steps import Step


def trace(values: Any, k: int, method: str = "radix_select", *, largest: bool = True) -> tuple[Found, tuple[Step, ...]]:
    """The result of a method's NumPy twins and what they wrote down, pass by pass.

    Arguments as of `top_k`, with k of 1 or more.
    """
    scores, form = check_scores(values)
    k = check_k(k, len(scores))
    if k == 0:
        raise ValueError("k=0: there is nothing to trace; give 1 or more")
    dev = resolve("reference")
    chosen = pick_method(method, len(scores), k, dev)
    built = build(chosen, Sizes(len(scores), k, form, check_largest(largest)))
    with Prepared(chosen, built, dev) as prepared:
        found = prepared.run(words_of(scores), len(scores))
    return found, tuple(built.steps)


@dataclass(frozen=True)
class Push(Result):
    """What one push of a stream did.

    base, scores: which scores. bound: (key, index) of the k-th best before it, None while there are fewer; `passed`
    scores are better than it. entered: how many of them are among the k best after it. bound_after: the bound of the
    next push. words_back: 32-bit words that come back from a device.
    """

    base: int
    scores: int
    bound: tuple[int, int] | None
    passed: int
    entered: int
    bound_after: tuple[int, int] | None
    words_back: int


def trace_stream(
    values: Any, k: int, pushes: int, *, largest: bool = True, method: str = "radix_select"
) -> tuple[np.ndarray, tuple[Push, ...]]:
    """A row of scores in `pushes` parts, one after the other, as `TopKStream` takes them.

    Other arguments as of `trace`. Returns the indices of the k best, best first, and what every push did.
    """
    scores, form = check_scores(values)
    k, largest = check_k(k, len(scores)), check_largest(largest)
    if k == 0:
        raise ValueError("k=0: there is nothing to trace; give 1 or more")
    dev = resolve("reference")
    step = -(-len(scores) // whole("pushes", pushes, 1))
    chosen = pick_method(method, step, min(k, step), dev)
    best = Best(k, scores.dtype, largest)
    told = []
    with Prepared(chosen, build(chosen, Sizes(step, min(k, step), form, largest)), dev) as prepared:
        for base in range(0, len(scores), step):
            part = scores[base : base + step]
            bound = best.bound(base)
            found = prepared.run(words_of(part), len(part), bound)
            before = _worst(best)
            best.add(found.values, found.indices, base)
            items = pairs_of(keys_of(part, largest), np.arange(len(part), dtype=np.uint32))
            passed = int((items < np.uint64(bound[0] << 32 | bound[1])).sum()) if bound != NO_BOUND else len(part)
            entered = int((best.indices >= base).sum())
            told.append(Push(base, len(part), before, passed, entered, _worst(best), found.report.words_back))
    return best.indices, tuple(told)


def _worst(best: Best) -> tuple[int, int] | None:
    return (int(best.keys[-1]), int(best.indices[-1])) if len(best.keys) == best.k else None
