"""Sample select: splitters from a sorted sample, items counted between them, and again in the bucket of the k-th.

Wins for any distribution of scores alike, because the splitters follow it: after one level a 256th of the scores is
left, whatever their bits look like. Equal scores are split by their indices, so they cost nothing. Loses eight probes
for every score to the digits, which need none. A sample at equal distances can be fooled by scores with the same
period: what is left then does not fit its buffer, and the digit rounds of `radix_select` start again from the scores.
Source: "recursive median-finding" in the source document; T. Ribizel and H. Anzt, "Approximate and Exact Selection on
GPUs" (2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.topk.keys import NO_ITEM, split
from expandlab.topk.method import (
    COUNT_FOUND,
    COUNT_PICKED,
    READERS,
    WORKGROUP,
    Method,
    Selection,
    every_item,
    read_pairs,
    write_pairs,
)
from expandlab.topk.radix import add_last, add_rounds, rounds_of

_SAMPLE, _BUCKETS = 1024, 256
_EACH = 8


def passes(p: Selection) -> None:
    """reset -> (sample, spread, keep) twice -> the digit rounds, mostly idle -> collect -> the last step."""
    sizes = p.sizes
    p.reset(histograms=rounds_of(sizes), extra=2 * _BUCKETS)
    p.words("splitters_0", 2 * _BUCKETS)
    p.words("splitters_1", 2 * _BUCKETS)
    p.words("some", 2 * sizes.kept_room)
    p.words("kept", 2 * sizes.kept_room)
    folder = "topk/sample_select"
    for level, (items, source, target) in enumerate(
        [(sizes.max_n, "from_scores", "some"), (sizes.kept_room, "from_some", "kept")]
    ):
        groups = min(READERS, -(-items // (_EACH * WORKGROUP)))
        common: dict[str, Any] = {
            "slots": {"source": f"{folder}/{source}.wgsl"},
            "rename": {"splitters": f"splitters_{level}", "gathered": target},
            "constants": {"LEVEL": level},
        }
        p.add(
            f"sample_{level}", file=f"{folder}/sample.wgsl", entry="sample", groups=1, useful=lambda n: WORKGROUP,
            twin=_sample(level), overwrites=(f"splitters_{level}",), **common,
        )  # fmt: skip
        p.add(
            f"spread_{level}", file=f"{folder}/spread.wgsl", entry="spread", groups=groups, useful=lambda n: n,
            twin=_spread(level), **common,
        )  # fmt: skip
        p.add(
            f"keep_{level}", file=f"{folder}/keep.wgsl", entry="keep", groups=groups, useful=lambda n: n,
            twin=_keep(level), overwrites=(target,), **common,
        )  # fmt: skip
    add_rounds(p, found=True)
    add_last(p)


def _source(b: Any, level: int) -> np.ndarray:
    if level == 0:
        return every_item(b, int(b.params[0]))
    count = int(b.work[COUNT_PICKED])
    return read_pairs(b.some, count if count <= b.sizes.kept_room else 0)


def _counts(b: Any, level: int) -> np.ndarray:
    first = len(b.work) - 2 * _BUCKETS + level * _BUCKETS
    return b.work[first : first + _BUCKETS]


def _sample(level: int) -> Any:
    def twin(b: Any) -> None:
        items = _source(b, level)
        each = np.arange(_SAMPLE)
        places = each * (len(items) // _SAMPLE) + each * (len(items) % _SAMPLE) // _SAMPLE
        taken = np.append(items, NO_ITEM)[np.minimum(places, len(items))]
        write_pairs(b.splitters, np.sort(taken)[3 : 4 * (_BUCKETS - 1) : 4])
        b.log("splitters", keys=split(read_pairs(b.splitters, _BUCKETS - 1))[0])

    return twin


def _spread(level: int) -> Any:
    def twin(b: Any) -> None:
        items = _source(b, level)
        items = items[items != NO_ITEM]
        buckets = np.searchsorted(read_pairs(b.splitters, _BUCKETS - 1), items, side="right")
        _counts(b, level)[:] += np.bincount(buckets, minlength=_BUCKETS).astype(np.uint32)
        b.log("histogram", counts=_counts(b, level).copy(), of="bucket", shift=0)

    return twin


def _keep(level: int) -> Any:
    def twin(b: Any) -> None:
        if level == 1 and int(b.work[COUNT_PICKED]) > b.sizes.kept_room:
            b.work[COUNT_FOUND] = 0xFFFFFFFF
            return
        upto = np.cumsum(_counts(b, level).astype(np.int64))
        chosen = int(np.searchsorted(upto, min(b.sizes.k, upto[-1])))
        limit = read_pairs(b.splitters, _BUCKETS)[chosen] if chosen < _BUCKETS - 1 else NO_ITEM
        items = _source(b, level)
        kept = items[items < limit]
        b.work[COUNT_FOUND if level else COUNT_PICKED] = len(kept)
        write_pairs(b.gathered, kept)
        b.log("bucket", digit=chosen, bits=8, of="bucket", taken=int(upto[chosen - 1]) if chosen else 0,
              inside=int(upto[chosen]) - (int(upto[chosen - 1]) if chosen else 0))  # fmt: skip
        b.log("survivors", count=len(kept), indices=split(kept)[1])

    return twin


METHOD = Method(
    name="sample_select",
    title="Sample select",
    solution="recursive median finding",
    summary="Splits by a sorted sample, counts, and looks again at what is left. Any distribution alike.",
    passes=passes,
)
