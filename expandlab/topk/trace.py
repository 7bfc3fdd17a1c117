"""`trace`: a selection on the reference device, with what every pass found."""

from __future__ import annotations

from typing import Any

from expandlab.gpu import resolve
from expandlab.topk.arguments import check_k, check_largest, check_scores, pick_method
from expandlab.topk.keys import words_of
from expandlab.topk.method import Sizes
from expandlab.topk.prepared import Found, Prepared, build
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
