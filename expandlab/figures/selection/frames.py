"""What a method's twin wrote down, as frames to show one after the other, each with a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from expandlab.figures.canvas import plural
from expandlab.figures.limits import refuse
from expandlab.settings import TopKSettings
from expandlab.topk import Step, inputs, trace
from expandlab.topk.keys import keys_of

# More scores than this take the twins too long for a slider.
MOST_TRACED = 2**20
NO_INDEX = 0xFFFFFFFF


@dataclass(frozen=True, eq=False)
class Row:
    """A row of scores with its definition.

    places: of every score, 0 = the best. best: indices of the k best by the definition. keys: uint32.
    """

    scores: np.ndarray
    keys: np.ndarray
    places: np.ndarray
    best: np.ndarray


@dataclass(frozen=True, eq=False)
class Frame:
    """One thing to show.

    data: of the step. left: scores that are still in play after it. indices: which, None where they are simply the
    `left` best. said: a sentence.
    """

    pass_name: str
    what: str
    data: dict[str, Any]
    left: int
    indices: np.ndarray | None
    said: str


@dataclass(frozen=True, eq=False)
class Told:
    """A traced selection. right: whether its indices are those of the definition."""

    row: Row
    frames: tuple[Frame, ...]
    indices: np.ndarray
    right: bool
    words_back: int


def tell(settings: TopKSettings) -> Told:
    """The frames of the method that `settings` name. Raises TooLargeToDraw, and UnsupportedError for what it caps."""
    refuse_large(settings)
    return _tell(settings.kind, settings.n, settings.seed, settings.largest, settings.k, settings.method)


def row_of(settings: TopKSettings) -> Row:
    """The row of scores. Raises TooLargeToDraw."""
    refuse_large(settings)
    return _row(settings.kind, settings.n, settings.seed, settings.largest, settings.k)


def refuse_large(settings: TopKSettings) -> None:
    """Raise TooLargeToDraw where the twins would take too long."""
    refuse(
        settings.n, f"there are {settings.n:,} scores to follow",
        "; or choose the view of the bus, which takes them all", most=MOST_TRACED, lower="n",
    )  # fmt: skip


@lru_cache(maxsize=4)
def _row(kind: str, n: int, seed: int, largest: bool, k: int) -> Row:
    scores = inputs.scores(kind, n, seed=seed)
    order = inputs.defined(scores, n, largest)
    places = np.empty(n, np.int64)
    places[order] = np.arange(n)
    return Row(scores, keys_of(scores, largest), places, order[:k])


@lru_cache(maxsize=8)
def _tell(kind: str, n: int, seed: int, largest: bool, k: int, method: str) -> Told:
    row = _row(kind, n, seed, largest, k)
    found, steps = trace(row.scores, k, method, largest=largest)
    frames: list[Frame] = []
    for (name, what), several in groupby(steps, key=lambda step: (step.pass_name, step.what)):
        for data in _joined(what, list(several)):
            frames.append(_frame(row, k, name, what, data, frames))
    return Told(
        row, tuple(frames), found.indices, bool(np.array_equal(found.indices, row.best)), found.report.words_back
    )


def _joined(what: str, steps: list[Step]) -> list[dict[str, Any]]:
    """The queues of all workgroups are one frame."""
    if what == "queue":
        return [{"queues": [step.data["indices"] for step in steps]}]
    return [step.data for step in steps]


def _frame(row: Row, k: int, name: str, what: str, data: dict[str, Any], before: list[Frame]) -> Frame:
    n = len(row.scores)
    left, indices = (before[-1].left, before[-1].indices) if before else (n, None)
    if what == "queue":
        indices = np.concatenate(data["queues"])
    elif what == "heap":
        rest = np.arange(data["seen"], n, dtype=np.uint32)
        indices = np.concatenate([data["indices"], rest])
    elif what in ("survivors", "runs", "order", "result"):
        indices = data["indices"][data["indices"] != NO_INDEX]
    if what == "bucket":
        left, indices = data["taken"] + data["inside"], None
    elif what == "bound":
        reached = row.keys < data["key"]
        reached |= (row.keys == data["key"]) & (np.arange(n) <= data.get("index", n))
        left, indices = int(reached.sum()), None
    elif what in ("queue", "heap", "survivors", "runs", "order", "result"):
        left = len(indices)
    return Frame(name, what, data, left, indices, _SAID.get(what, _other)(row, k, data, before))


def bits_of(data: dict[str, Any]) -> str:
    """`bits 31 to 21 of the key`; of a sample's buckets `the buckets between the splitters`."""
    if data["of"] == "bucket":
        return "the buckets between the splitters"
    width = (len(data["counts"]) - 1).bit_length()
    return f"bits {data['shift'] + width - 1} to {data['shift']} of the {data['of']}"


def value_text(value: Any) -> str:
    """A score: nine digits tell any two float32 apart."""
    return f"{float(value):.9g}"


def _histogram(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    counts = data["counts"]
    return (
        f"{plural(int(counts.sum()), 'item')} counted by {bits_of(data)}; {int((counts > 0).sum()):,} of "
        f"{plural(len(counts), 'bin')} hold any"
    )


def _bucket(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    return (
        f"the item of place {k:,} lies in bin {data['digit']:,}: {data['taken']:,} in the bins before it are in for "
        f"sure, {data['inside']:,} are in it, and all behind it are dropped"
    )


def _bound(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    reach = int((row.keys <= data["key"]).sum())
    at = np.flatnonzero(row.keys == np.uint32(data["key"]))
    score = f"score {value_text(row.scores[at[0]])}" if len(at) else "none yet: everything passes"
    if "picked" in data:
        source = f"the best of place {k:,} among the pieces; {plural(len(data['picked']), 'piece')} reach it"
    else:
        source = f"the best of place {k:,} among the first {data['of']:,} scores"
    return f"a bound, {score}: {source}; {reach:,} of {plural(len(row.scores), 'score')} reach it"


def _survivors(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    return f"{data['count']:,} of {plural(len(row.scores), 'score')} are kept, and {k:,} are wanted"


def _splitters(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    return f"{plural(len(data['keys']), 'splitter')} from a sorted sample cut what is in play into buckets"


def _maxima(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    return (
        f"the best of each of {plural(len(data['keys']), 'piece')} of {plural(data['length'], 'score')} stands for it"
    )


def _queue(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    queues = data["queues"]
    inside = int((row.places[np.concatenate(queues)] < k).sum())
    return (
        f"{plural(len(queues), 'workgroup')}, each with the best of its part in a sorted queue: "
        f"{sum(map(len, queues)):,} items, and all {inside:,} that are wanted are among them"
    )


def _heap(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    worst = value_text(row.scores[data["indices"][0]]) if len(data["indices"]) else "none"
    return (
        f"after {plural(data['seen'], 'score')}: {plural(data['inserted'], 'insertion')} so far, "
        f"{plural(len(data['indices']), 'item')} in the heap, on top the worst, {worst}"
    )


def _runs(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    return f"{plural(data['count'], 'block')} of {data['length']:,} items, each sorted"


def _order(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    digit = before[-1].data if before and before[-1].what == "histogram" else None
    by = f" by {bits_of(digit)}" if digit else ""
    first = row.places[data["indices"][:k]]
    return (
        f"all {plural(len(data['indices']), 'item')} put in order{by}, those of equal digit as they were; of the first "
        f"{k:,} {int((first < k).sum()):,} belong there"
    )


def _readback(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    return f"every score becomes a key, and all {plural(data['words'], 'word')} go over the bus to the host"


def _result(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    best = data["indices"]
    first = f", the best {value_text(row.scores[best[0]])} at index {int(best[0]):,}" if len(best) else ""
    return f"what is left is ordered, and the first {len(best):,} are the result{first}"


def _other(row: Row, k: int, data: dict[str, Any], before: list[Frame]) -> str:
    plain = [f"{name} {value:,}" for name, value in data.items() if isinstance(value, (int, np.integer))]
    return ", ".join(plain) or "no numbers"


_SAID = {
    "histogram": _histogram, "bucket": _bucket, "bound": _bound, "survivors": _survivors, "splitters": _splitters,
    "maxima": _maxima, "queue": _queue, "heap": _heap, "runs": _runs, "order": _order, "readback": _readback,
    "result": _result,
}  # fmt: skip
