"""Traces against NumPy, against the definition, and the scan's rounds against what a device's own words hold."""

import itertools

import numpy as np
import pytest

import expandlab as xl
from expandlab import wgsl
from expandlab.errors import UnsupportedError
from expandlab.expansion import traces
from expandlab.expansion.thread_map import items_of

DOCUMENT = np.array([3, 1, 2], np.uint32)
MANY = xl.counts.make("geometric", 150, mean=4, seed=2)
CASES = {"document": DOCUMENT, "many": MANY, "none": np.zeros(0, np.uint32), "no items": np.zeros(5, np.uint32)}


def trace(view, counts, **changes):
    return traces.make(view, counts, **{"threads": 4, "thread": 0, "order": 0, "put_off": False, **changes})


def numbers(moment, name):
    (row,) = [row for row in moment.rows if row.name == name]
    return [int(text) for text in row.texts if text]


@pytest.mark.parametrize("counts", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("view", traces.VIEWS)
def test_every_moment_marks_a_line_of_a_shader_and_touches_words_that_are_there(view, counts):
    if view == "workgroup":
        counts = counts[:4]
    for m in trace(view, counts).moments:
        text = wgsl.read(m.line.file).splitlines()[m.line.line - 1]
        assert "//:" in text and m.said.endswith(".") and 0 <= m.active <= m.lanes
        rows = {row.name: row for row in m.rows}
        assert all(len(row.owner) == len(row.texts) for row in m.rows)
        for row in m.rows:
            assert all(0 <= at < len(row.texts) for at in (*row.read, *row.written))
            assert all(row.texts[at] for at in row.written)
        for (name, at), (to, index) in m.links:
            assert at < len(rows[name].texts) and index < len(rows[to].texts)


@pytest.mark.parametrize("threads", [4, 8, 64])
def test_the_scan_of_a_workgroup_ends_with_the_prefix_sums(threads):
    counts = MANY[:threads]
    last = trace("workgroup", counts, threads=threads).moments[-1]
    assert numbers(last, "scan_words") == np.cumsum(counts).tolist()
    assert numbers(last, "start") == (np.cumsum(counts) - counts).tolist()


def test_the_sums_of_the_document_are_ends_and_not_last_threads():
    answer = trace("workgroup", DOCUMENT).answer
    assert "exclusive sums 0 3 4" in answer and "inclusive sums 3 4 6" in answer


@pytest.mark.gpu
def test_the_rounds_of_the_scan_are_those_of_the_shader_on_a_device(gpu):
    size = 16
    line = next(text for text in wgsl.read("lib/scan.wgsl").splitlines() if "//: add" in text)
    watched = wgsl.read("lib/scan.wgsl").replace(
        line, f"{line}\n rounds[firstTrailingBit(step) * WG + local] = scan_words[local];"
    )
    shader = f"""
const WG: u32 = {size}u;
@group(0) @binding(0) var<storage, read> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> rounds: array<u32>;
{watched}
@compute @workgroup_size(WG)
fn main(@builtin(local_invocation_index) local: u32) {{ _ = workgroup_scan(local, counts[local]); }}
"""
    graph = xl.FrameGraph()
    graph.buffer("counts", 4 * size, imported=True)
    graph.buffer("rounds", 4 * 4 * size)
    accesses = [("counts", "read"), ("rounds", "write")]
    graph.add_pass("scan", accesses, kernel=xl.Kernel(shader, "main", ["counts", "rounds"], (1, 1, 1)))
    graph.output("rounds")
    found = graph.compile().run(gpu, {"counts": MANY[:size]})["rounds"].reshape(4, size)
    added = [m for m in trace("workgroup", MANY[:size], threads=size).moments if m.label == "add it"]
    assert [numbers(m, "scan_words") for m in added] == found.tolist()


@pytest.mark.parametrize("threads", [4, 16, 64])
@pytest.mark.parametrize("counts", [DOCUMENT, MANY], ids=["document", "many"])
def test_three_passes_end_with_the_prefix_sums(counts, threads):
    made = trace("passes", counts, threads=threads)
    assert numbers(made.moments[-1], "ends") == np.cumsum(counts).tolist()
    assert f"P2 = {counts.sum()}" in made.answer
    block = 8 * threads
    sums = [int(counts[i : i + block].sum()) for i in range(0, len(counts), block)]
    assert numbers(made.moments[2], "sums") == sums
    assert numbers(made.moments[-1], "sums") == (np.cumsum(sums) - sums).tolist()


@pytest.mark.parametrize("view", ["binary", "linear"])
@pytest.mark.parametrize("counts", [DOCUMENT, MANY, np.array([0, 0, 5, 0, 2, 0], np.uint32)])
def test_every_thread_finds_its_item(view, counts):
    for thread, (src, local) in enumerate(zip(*items_of(counts), strict=True)):
        last = trace(view, counts, thread=thread).moments[-1]
        told = f"{local}" if view == "linear" else f"= {thread} - {thread - int(local)} = {local}"
        told = f"src {src}, local {told}"
        assert told in last.said, thread


def test_the_probes_of_a_thread_are_those_of_the_thread_map():
    steps = [step for step in xl.thread_map(MANY, "prefix_search").steps if step.label.startswith("probe")]
    for thread in (0, 1, 100, int(MANY.sum()) - 1):
        probes = sum(m.label.startswith("probe") for m in trace("binary", MANY, thread=thread).moments)
        assert len(steps) - 1 <= probes <= len(steps)


@pytest.mark.parametrize("view", ["binary", "linear"])
def test_a_thread_beyond_the_items_is_not_launched(view):
    assert "not launched" in trace(view, DOCUMENT, thread=6).answer


@pytest.mark.parametrize("order", [0, 1, 7])
@pytest.mark.parametrize("view", ["add64", "cas64"])
def test_the_packed_counter_sums_in_the_order_of_the_atomics(view, order):
    last = trace(view, MANY, order=order).moments[-1]
    entries, n, ends = (numbers(last, f"entries.{name}") for name in ("src", "N", "end"))
    assert sorted(entries) == np.flatnonzero(MANY).tolist()
    assert n == MANY[entries].tolist() and ends == np.cumsum(n).tolist()
    assert (entries == sorted(entries)) == (order == 0)
    assert [row.texts for row in last.rows if row.name == "packed"] == [(f"({len(entries)}, {MANY.sum()})",)]


def test_the_loop_tries_once_for_every_src_that_still_waits():
    waiting = [m.active for m in trace("cas64", MANY).moments if m.label.startswith("round")]
    assert waiting == list(range(np.count_nonzero(MANY), 0, -1))


@pytest.mark.parametrize("put_off", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_look_back_ends_with_the_ends_of_the_blocks_whoever_is_put_off(order, put_off):
    made = trace("lookback", MANY, order=order, put_off=put_off)
    ends = np.cumsum([MANY[i : i + 32].sum() for i in range(0, len(MANY), 32)]).tolist()
    assert numbers(made.moments[-1], "end of block") == ends
    fallbacks = [m for m in made.moments if m.label == "add its counts up instead"]
    assert bool(fallbacks) == put_off
    # What is published only grows.
    seen = [next(row.texts for row in m.rows if row.name == "spine") for m in made.moments]
    for before, after in itertools.pairwise(seen):
        assert all(a[0] <= b[0] for a, b in zip(before, after, strict=True))


def test_more_values_than_threads_are_refused_with_what_to_do():
    with pytest.raises(UnsupportedError, match="lower items"):
        trace("workgroup", MANY)
