"""The order cut into parts that threads of the host can record at the same time."""

from __future__ import annotations

from collections.abc import Sequence


def groups(costs: Sequence[float], parts: int) -> list[int]:
    """Where each part ends: as many parts as asked for (one for each pass at most), the costliest as cheap as can be.

    Going along with a limit fills parts greedily; the least limit that gives few enough parts is found by halving.
    """
    parts = min(parts, len(costs))
    if parts < 1:
        return []
    low, high = max(max(costs), sum(costs) / parts), sum(costs)
    for _ in range(60):
        middle = (low + high) / 2
        if len(_filled(costs, middle)) <= parts:
            high = middle
        else:
            low = middle
    ends = _filled(costs, high)
    while len(ends) < parts:
        # Parts left over halve the longest ones, which makes none costlier.
        starts = [0, *ends[:-1]]
        at = max(range(len(ends)), key=lambda part: ends[part] - starts[part])
        ends.insert(at, (starts[at] + ends[at]) // 2)
    return ends


def _filled(costs: Sequence[float], limit: float) -> list[int]:
    ends, total = [], 0.0
    for place, cost in enumerate(costs):
        if total + cost > limit * (1 + 1e-12) and place > (ends[-1] if ends else 0):
            ends.append(place)
            total = 0.0
        total += cost
    return [*ends, len(costs)]
