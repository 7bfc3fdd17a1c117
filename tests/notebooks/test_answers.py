"""What a reader of the notebooks should be able to answer, and the cell that says it.

Each row: the question, the notebook, the cells, and phrases that together are the answer. Numbers in the phrases are
made from the definition or from the planner here, so that a notebook that says something else fails.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

import nbformat
import numpy as np
import pytest

import expandlab as xl
from expandlab.gpu.limits import DEFAULT_LIMITS
from expandlab.settings import TopKSettings

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"


@dataclass(frozen=True)
class Answer:
    """A question, and where a notebook answers it. phrases: parts of the cells' text, emphasis aside."""

    question: str
    notebook: str
    cells: tuple[str, ...]
    phrases: tuple[str, ...]


@cache
def cell_text(notebook: str, cell: str) -> str:
    """The Markdown of a cell on one line, without emphasis and code marks."""
    stored = nbformat.read(FOLDER / f"{notebook}.ipynb", as_version=nbformat.NO_CONVERT)
    (found,) = [item for item in stored.cells if item.id == cell]
    assert found.cell_type == "markdown", f"{notebook}: {cell} is no prose"
    return " ".join(re.sub(r"[*`]", "", found.source).split())


def ends(counts: list[int]) -> list[int]:
    return list(accumulate(counts))


def src_of(thread: int, counts: list[int]) -> int:
    return next(src for src, end in enumerate(ends(counts)) if end > thread)


def pieces(n: int) -> dict[int, int]:
    """Bucket -> local index where its entry begins: the sum of the set bits below it."""
    bits = [bit for bit in range(32) if n >> bit & 1]
    return {bit: sum(1 << lower for lower in bits if lower < bit) for bit in bits}


OFFSETS = pieces(11)
BUCKETS = list(OFFSETS)
ADD = "(1 << 32) | N"

ANSWERS = [
    Answer(
        "What does MAX_N do to flat?",
        "01_the_problem",
        ("flat-text", "flat-explained"),
        (
            "Give every src MAX_N threads",
            "A single large N makes MAX_N large for everybody",
            r"\text{utilisation} = \frac{P2}{P1 \times \text{MAX\_N}} = \frac{\text{mean of } N}{\text{MAX\_N}}",
        ),
    ),
    Answer(
        "Why does append diverge?",
        "01_the_problem",
        ("loop-text",),
        (
            "In a loop, lanes that are done wait for those that are not",
            f"N = 2, 1, 40, 3, 0, 2, 1, 2 runs the loop {max(2, 1, 40, 3, 0, 2, 1, 2)} times",
            "This is divergence",
        ),
    ),
    Answer(
        "What is the prefix sum of (3, 1, 2), and which src has thread 4?",
        "03_search",
        ("ends-text",),
        (
            f"inclusive prefix sums, {' '.join(map(str, ends([3, 1, 2])))}",
            f"exclusive, {' '.join(map(str, [0, *ends([3, 1, 2])][:-1]))}",
            f"It is src {src_of(4, [3, 1, 2])}, and its local index is 4 minus the start, 4 - 4 = 0",
        ),
    ),
    Answer(
        "How does the 64-bit add build it in one pass?",
        "03_search",
        ("add-text",),
        (
            "number of entries in its high half and the sum of their items in its low half",
            f"that is {ADD}, with one atomicAdd",
            "an exclusive prefix sum, in a single pass, with no barrier",
        ),
    ),
    Answer(
        "What is the order of the 64-bit add?",
        "03_search",
        ("add-explained",),
        ("the order in which the atomics are served", "it may differ from run to run"),
    ),
    Answer(
        "Which buckets does N = 11 use, and at which local offset does each entry begin?",
        "04_buckets",
        ("bits-explained",),
        (
            f"Buckets {BUCKETS[0]}, {BUCKETS[1]} and {BUCKETS[2]}",
            *(f"bucket {bucket} starts at local {start}" for bucket, start in list(OFFSETS.items())[:1]),
            *(f"the one in bucket {bucket} at local {start}" for bucket, start in list(OFFSETS.items())[1:]),
            r"\text{local offset} = N \mathbin{\&} (2^b - 1)",
        ),
    ),
    Answer(
        "Why must warps not straddle buckets?",
        "04_buckets",
        ("straddle-explained",),
        (
            "The lanes of a subgroup (a warp, a wave) execute together",
            "the shift, the mask and the table look-up are the same for the whole subgroup",
            "runs twice, with the lanes of the other bucket waiting",
            "is simply wrong",
        ),
    ),
    Answer(
        "What happens at 65,536 workgroups, indirect?",
        "07_api_paths",
        ("indirect-text",),
        (
            f"at most {DEFAULT_LIMITS['max_compute_workgroups_per_dimension']:,} workgroups",
            "A direct dispatch of 65,536 is refused with an error",
            "An indirect one runs nothing, without an error",
            "folds its workgroups into two dimensions",
        ),
    ),
    Answer(
        "When does po2 beat search?",
        "04_buckets",
        ("memory-explained",),
        (
            "When does po2 beat search?",
            "log2(P1) loads, each of which waits for the one before it",
            "when pass 2 is the larger part (P2 large against P1)",
            "Search wins when memory is scarce",
        ),
    ),
    Answer(
        "What does po2 cost in memory?",
        "04_buckets",
        ("memory-text", "memory-explained"),
        (
            r"\text{bytes} = 4 \sum_{b=0}^{31} \min\left(P1, \left\lfloor P2 / 2^b \right\rfloor\right)",
            "Search needs one array of P1 ends",
            "About log2(mean N) + 2 times as much",
        ),
    ),
    Answer(
        "Why does a cold clock lie?",
        "06_timings",
        ("clock-text",),
        (
            "A GPU that has nothing to do lowers its clock",
            "its time is that of a slow GPU",
            "the order of the contenders decides",
            "kept busy for 300 ms",
            "the ratio within a round",
        ),
    ),
    Answer(
        "What does a carried bound save?",
        "08_top_k",
        ("stream-text", "stream-explained"),
        (
            "with key and index, so that ties are decided exactly",
            "only what is better than it is counted, kept and ordered, 6 scores here instead of 6,550",
            "does not save is reading each score once",
        ),
    ),
    Answer(
        "Which barrier does a read-then-write need?",
        "09_frame_graph",
        ("war-explained",),
        ("Execution only", "must not begin before the reads are done", "both access masks are empty"),
    ),
    Answer(
        "When is no copy needed?",
        "10_devices",
        ("readers-explained", "nocopy-explained"),
        (
            "A read on a device where it is not valid needs a copy",
            "What is imported is valid everywhere at the start",
            "no copy: what is overwritten is never brought over",
            "The other half is at home",
        ),
    ),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.question)
def test_a_notebook_answers(answer):
    text = " ".join(cell_text(answer.notebook, cell) for cell in answer.cells)
    missing = [phrase for phrase in answer.phrases if phrase not in text]
    assert missing == [], f"{answer.notebook} no longer says so"


def test_flat_is_as_busy_as_the_mean_over_the_largest():
    found = xl.thread_map([8] * 31 + [256], "flat", workgroup_size=32)
    assert found.utilisation == (31 * 8 + 256) / (32 * 256)


def test_append_loops_for_the_largest_n_of_a_subgroup():
    found = xl.thread_map([2, 1, 40, 3, 0, 2, 1, 2], "append", subgroup_size=8)
    loop = [step for step in found.steps if step.label == "write one info"]
    assert sum(step.repeats for step in loop) == 40
    assert sum(step.repeats for step in loop if step.active.sum() == 1) == 37


def test_the_model_gives_n_11_the_buckets_and_offsets_that_the_notebook_names():
    found = xl.thread_map([11], "po2_merged", subgroup_size=8)
    starts = {bucket: int(found.local[(found.bucket == bucket) & found.active].min()) for bucket in OFFSETS}
    assert set(found.bucket[found.active].tolist()) == set(OFFSETS) and starts == OFFSETS == {0: 0, 1: 1, 3: 3}


@pytest.mark.parametrize("log2_mean", [0, 2, 4, 6])
def test_buckets_take_about_log2_of_the_mean_and_2_times_the_memory_of_a_search(log2_mean):
    counts = xl.counts.make("constant", 1024, mean=2**log2_mean)
    search, merged = (xl.thread_map(counts, name).memory[0].capacity_bytes for name in ("prefix_search", "po2_merged"))
    assert merged / search == pytest.approx(log2_mean + 2, abs=0.1)


def test_the_carried_bound_lets_as_few_scores_pass_as_the_notebook_says():
    scores = TopKSettings(n=65536, k=64, view="stream", pushes=10, step=9).scores()
    before, last = scores[: 9 * 6554], scores[9 * 6554 :]
    assert (len(last), int((last > np.sort(before)[-64]).sum())) == (6550, 6)


def test_the_planner_sets_an_execution_barrier_for_a_read_then_a_write():
    graph = xl.FrameGraph()
    graph.buffer("data", 1024, imported=True)
    graph.add_pass("read", [("data", "read")], side_effect=True)
    graph.add_pass("write", [("data", "write")], side_effect=True)
    (barrier,) = graph.compile().barriers
    assert barrier.kind == "execution" and not barrier.src_access and not barrier.dst_access


@pytest.mark.parametrize(("mode", "copies"), [("write", 0), ("read", 1), ("read_write", 1)])
def test_what_is_overwritten_is_not_copied(mode, copies):
    graph = xl.FrameGraph({"gpu0": ["compute"], "gpu1": ["compute"]})
    graph.buffer("data", 64)
    graph.add_pass("first", [("data", "write")], device="gpu0", side_effect=True)
    graph.add_pass("second", [("data", mode)], device="gpu1", side_effect=True)
    assert len(graph.compile().copies) == copies
