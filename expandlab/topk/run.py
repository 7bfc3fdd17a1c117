"""`top_k`: select on a device, in chunks where the scores do not fit a binding."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.gpu import Device, resolve
from expandlab.topk.arguments import check_k, check_largest, check_scores, pick_method
from expandlab.topk.best import Best
from expandlab.topk.keys import words_of
from expandlab.topk.method import Sizes
from expandlab.topk.prepared import Prepared, fitting, report
from expandlab.topk.report import TopK, merged


def top_k(
    values: Any,
    k: int,
    *,
    largest: bool = True,
    method: str = "auto",
    device: Device | str | int | None = None,
) -> TopK:
    """The k largest (or smallest) of a row of scores, best first.

    values: 1-D `float32`, `float16`, `int32` or `uint32`; it is not changed.
    k: how many, from 0 to len(values). largest: False for the smallest.
    method: a name of `top_k_methods()`, or `"auto"`: chosen by n, k and the device.
    device: what `expandlab.device` returns, a name for it, or None for the default.

    Returns a `TopK`: `.indices` (uint32) and `.values` = `values[indices]`. The same on every device and in every run:
    of equal scores the lower index comes first, NaN (any sign and payload, all equal) is last in both directions,
    and -0.0 equals 0.0. Scores that do not fit a binding are selected from in chunks.

    Raises ValueError for k below 0 or above n and for arrays that are not one row, TypeError for other dtypes,
    UnsupportedError where the method caps its input, and DeviceError.
    """
    scores, form = check_scores(values)
    n = len(scores)
    k = check_k(k, n)
    largest = check_largest(largest)
    dev = resolve(device)
    chosen = pick_method(method, n, k, dev)
    if k == 0:
        return TopK(scores[:0].copy(), np.zeros(0, np.uint32), report(chosen.name, dev, []))
    built = fitting(chosen, Sizes(n, k, form, largest, dev.info.is_software), dev)
    with Prepared(chosen, built, dev) as prepared:
        return select(prepared, scores, k)


def select(prepared: Prepared, scores: np.ndarray, k: int) -> TopK:
    """Select from scores of any number, in chunks of what the program takes."""
    step = prepared.sizes.max_n
    best = Best(k, scores.dtype, prepared.sizes.largest)
    reports = []
    for first in range(0, len(scores), step):
        part = scores[first : first + step]
        found = prepared.run(words_of(part), len(part), best.bound(first))
        best.add(part[found.indices], found.indices, first)
        reports.append(found.report)
    return TopK(best.values, best.indices.astype(np.uint32), merged(reports), prepared.built.graph)
