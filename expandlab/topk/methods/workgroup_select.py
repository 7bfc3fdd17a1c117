"""Workgroup select: every workgroup keeps the best of its part in a sorted queue, and the queues are merged.

Wins where k is small: one read of the scores, no atomics between workgroups, and after the first few rounds hardly a
score passes the workgroup's own bound. Loses where k is near the queue's length, which is all that workgroup memory
holds (k is capped), and for scores in ascending order: every one of them passes, and each 256 of them are sorted and
merged.
Source: the queues of Faiss's BlockSelect (J. Johnson, M. Douze and H. Jegou, "Billion-scale similarity search with
GPUs", 2017), with the threads' own queues left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.topk.keys import NO_ITEM, split
from expandlab.topk.method import Method, Selection, every_item, read_pairs, write_pairs
from expandlab.topk.pair_sort import add_emit

# Queue and stage, 1024 and 512 pairs, are 12 KiB of the 16 KiB of workgroup memory that every device has.
MAX_K = 1024
_LEAST_QUEUE = 256
# A workgroup reads many queues full, so that most rounds stage nothing; but a thread has fewer than 2^16 rounds of all
# its loops, where some drivers end them.
_QUEUES_FULL = 16
_MOST_GROUPS = 1024


def passes(p: Selection) -> None:
    """reset -> levels of queues until one is left -> emit."""
    p.reset()
    queue = max(_LEAST_QUEUE, 1 << (p.sizes.k - 1).bit_length())
    items, level, held = p.sizes.max_n, 0, None
    while True:
        groups = min(_MOST_GROUPS, -(-items // (_QUEUES_FULL * queue)))
        # One more level is cheaper than a long last one.
        made = f"runs_{level}"
        p.words(made, 2 * queue * groups)
        source = "topk/sample_select/from_scores.wgsl" if held is None else "topk/workgroup_select/from_runs.wgsl"
        p.add(
            f"choose_{level}", file="topk/workgroup_select/select.wgsl", entry="choose", groups=groups,
            useful=lambda n: n, twin=_choose(groups, level == 0), overwrites=(made,),
            rename={"runs": made, **({"runs_in": held} if held else {})}, slots={"source": source},
            constants={"QUEUE": queue, **({"RUNS": items // queue} if held else {})},
        )  # fmt: skip
        items, level, held = queue * groups, level + 1, made
        if groups == 1:
            break
    p.result()
    add_emit(p, held)


def _choose(groups: int, from_scores: bool) -> Any:
    def twin(b: Any) -> None:
        queue = b.constants["QUEUE"]
        items = every_item(b, int(b.params[0])) if from_scores else read_pairs(b.runs_in, b.constants["RUNS"] * queue)
        part = -(-len(items) // groups)
        for group in range(groups):
            mine = np.sort(items[part * group : part * (group + 1)])[:queue]
            mine = np.concatenate([mine, np.full(queue - len(mine), NO_ITEM)])
            # Beyond the k-th the device's queue holds whatever was staged; only the first k matter.
            write_pairs(b.runs, mine, first=group * queue)
            b.log("queue", group=group, indices=split(mine[mine != NO_ITEM][: b.sizes.k])[1])

    return twin


METHOD = Method(
    name="workgroup_select",
    title="Workgroup queues",
    solution="top-k selection",
    summary="Every workgroup keeps the best of its part in a sorted queue in workgroup memory; queues are merged.",
    max_k=MAX_K,
    passes=passes,
)
