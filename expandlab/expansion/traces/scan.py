"""Traces of the prefix sums: one workgroup's scan, and the three passes of reduce-then-scan.

The twins of `shaders/lib/scan.wgsl` and `shaders/expansion/scan/*.wgsl`, kept close enough to read side by side.
"""

from __future__ import annotations

import numpy as np

from expandlab.errors import UnsupportedError
from expandlab.expansion.scan import ROW
from expandlab.expansion.traces.trace import Trace, Tracer, listed
from expandlab.graph.fold import fold_threads
from expandlab.wgsl import anchor

_SCAN = "lib/scan.wgsl"
_REDUCE, _SPINE, _APPLY = (f"expansion/scan/{name}.wgsl" for name in ("reduce", "spine", "apply"))


def workgroup_scan(counts: np.ndarray, threads: int) -> Trace:
    """`workgroup_scan` of lib/scan.wgsl with one N for each thread: log2(threads) rounds, two barriers each."""
    if len(counts) > threads:
        raise UnsupportedError(
            f"a workgroup of {threads} threads scans {threads} values, and there are {len(counts)}: lower items, raise "
            "the threads, or choose the view of three passes"
        )
    t = Tracer("workgroup", "Prefix sum inside a workgroup")
    n = np.zeros(threads, np.int64)
    n[: len(counts)] = counts
    own = np.where(np.arange(threads) < len(counts), np.arange(threads), -1)
    t.row("counts", threads, n, own)
    t.row("scan_words", threads, None, own)
    t.row("left", threads)
    every = range(threads)
    for local in every:
        t.put("scan_words", local, n[local])
    t.moment(
        "scan", "put the value", anchor(_SCAN, "put"), "Every thread puts its own N into workgroup memory.", threads,
        threads, read={"counts": every}, written={"scan_words": every},
        links=[(("counts", i), ("scan_words", i)) for i in every],
    )  # fmt: skip
    step = 1
    while step < threads:
        _round(t, threads, step)
        step *= 2
    ends = [t.value("scan_words", i) for i in every][: len(counts)]
    starts = [str(end - value) for end, value in zip(ends, n, strict=False)]
    t.row("start", threads, starts + [""] * (threads - len(starts)), own)
    t.moment(
        "apply", "subtract the own N", anchor(_APPLY, "scan"),
        f"The inclusive sums {listed(ends)} are the ends of the ranges; without the own N they are the starts.",
        threads, threads, read={"scan_words": every, "counts": every}, written={"start": range(len(counts))},
    )  # fmt: skip
    return t.done(_answer(counts))


def _round(t: Tracer, threads: int, step: int) -> None:
    """One round: every thread reads the word `step` to its left; after a barrier it adds it to its own."""
    reading = range(step, threads)
    left = [t.value("scan_words", local - step) if local >= step else 0 for local in range(threads)]
    for local, value in enumerate(left):
        t.put("left", local, value)
    t.moment(
        "scan", f"read {step} to the left", anchor(_SCAN, "left"),
        f"step = {step}: thread i reads scan_words[i - {step}], where i is {step} or more. Then a barrier: "
        "nobody may write before everybody has read.",
        threads - step, threads, read={"scan_words": range(threads - step)}, written={"left": reading},
        links=[(("scan_words", i - step), ("left", i)) for i in reading],
    )  # fmt: skip
    for local in range(threads):
        t.put("scan_words", local, t.value("scan_words", local) + left[local])
    t.moment(
        "scan", "add it", anchor(_SCAN, "add"),
        f"Each word is now the sum of up to {2 * step} values: its own and those before it.",
        threads, threads, read={"left": range(threads)}, written={"scan_words": range(threads)},
        links=[(("left", i), ("scan_words", i)) for i in reading],
    )  # fmt: skip


def three_passes(counts: np.ndarray, threads: int) -> Trace:
    """reduce -> spine -> apply of shaders/expansion/scan: a block is 8 counts for each thread of a workgroup."""
    block = ROW * threads
    blocks = -(-len(counts) // block)
    t = Tracer("passes", "Prefix sum in three passes: reduce, then scan")
    t.row("counts", len(counts), counts, np.arange(len(counts)))
    t.row("sum", blocks * threads)
    t.row("scan_words", blocks * threads)
    t.row("sums", blocks)
    t.row("ends", len(counts), None, np.arange(len(counts)))
    if blocks:
        _reduce(t, counts, threads, blocks)
        _spine(t, threads, blocks)
        _apply(t, counts, threads, blocks)
    return t.done(_answer(counts))


def _reduce(t: Tracer, counts: np.ndarray, threads: int, blocks: int) -> None:
    """Neighbouring threads read neighbouring counts: thread `local` takes local, local + WG, local + 2 WG, ..."""
    thread = np.arange(blocks * threads)
    owner = np.arange(len(counts)) // (ROW * threads) * threads + np.arange(len(counts)) % threads
    sums = np.bincount(owner, counts, len(thread)).astype(np.int64)
    _put_all(t, "sum", sums)
    busy = len(np.unique(owner))
    t.moment(
        "reduce", f"add up {ROW} counts", anchor(_REDUCE, "load"),
        f"Each workgroup has a block of {ROW * threads} counts. Its threads stride it together, {ROW} rounds, so that "
        "neighbours read neighbours.", busy, len(thread), read={"counts": range(len(counts))},
        written={"sum": range(len(thread))}, repeats=ROW,
        links=[(("counts", i), ("sum", int(owner[i]))) for i in range(len(counts))],
    )  # fmt: skip
    scanned = _scan_blocks(sums, threads)
    _put_all(t, "scan_words", scanned)
    _scan_moment(t, "reduce", anchor(_REDUCE, "reduce"), threads, blocks)
    for index in range(blocks):
        t.put("sums", index, scanned[(index + 1) * threads - 1])
    last = [(index + 1) * threads - 1 for index in range(blocks)]
    t.moment(
        "reduce", "store the block's sum", anchor(_REDUCE, "store"),
        "The last thread of each workgroup knows the sum of its block and stores it.", blocks, len(thread),
        read={"scan_words": last}, written={"sums": range(blocks)},
        links=[(("scan_words", i), ("sums", index)) for index, i in enumerate(last)],
    )  # fmt: skip


def _spine(t: Tracer, threads: int, blocks: int) -> None:
    """One workgroup turns the sums into offsets, `threads` at a time with a carry."""
    carry = 0
    for first in range(0, blocks, threads):
        mine = range(first, min(first + threads, blocks))
        sums = [t.value("sums", index) for index in mine]
        ends = np.cumsum(sums)
        for index, end, value in zip(mine, ends, sums, strict=True):
            t.put("sums", index, carry + int(end) - value)
        t.moment(
            "spine", "scan the block sums", anchor(_SPINE, "scan"),
            f"One workgroup scans {len(sums)} block sums with a carry of {carry}: each becomes the block's offset.",
            len(sums), threads, read={"sums": mine}, written={"sums": mine},
        )  # fmt: skip
        carry += int(ends[-1])
    groups = fold_threads(carry, threads)
    t.moment(
        "spine", "launch one thread for each item", anchor(_SPINE, "launch"),
        f"The carry is P2 = {carry}. Thread 0 writes the arguments of the indirect dispatch: {groups[0]} x {groups[1]} "
        f"workgroups of {threads}.", 1, threads,
    )  # fmt: skip


def _apply(t: Tracer, counts: np.ndarray, threads: int, blocks: int) -> None:
    """Each thread takes 8 neighbouring counts, so that its results are neighbours."""
    padded = np.zeros(blocks * threads * ROW, np.int64)
    padded[: len(counts)] = counts
    rows = np.cumsum(padded.reshape(-1, ROW), axis=1)
    sums = rows[:, -1]
    _put_all(t, "sum", sums)
    busy = -(-len(counts) // ROW)
    t.moment(
        "apply", f"take {ROW} counts", anchor(_APPLY, "load"),
        f"The counts are read a second time, now {ROW} neighbours for each thread, which adds them up one by one.",
        busy, len(sums), read={"counts": range(len(counts))}, written={"sum": range(len(sums))}, repeats=ROW,
        links=[(("counts", i), ("sum", i // ROW)) for i in range(len(counts))],
    )  # fmt: skip
    scanned = _scan_blocks(sums, threads)
    _put_all(t, "scan_words", scanned)
    _scan_moment(t, "apply", anchor(_APPLY, "scan"), threads, blocks)
    offsets = np.array([t.value("sums", index) for index in range(blocks)])
    ends = (offsets.repeat(threads) + scanned - sums)[:, None] + rows
    for index, end in enumerate(ends.ravel()[: len(counts)]):
        t.put("ends", index, end)
    t.moment(
        "apply", f"store {ROW} inclusive sums", anchor(_APPLY, "store"),
        "end = offset of the block + sum before this thread + sum inside its row.", busy, len(sums),
        read={"sums": range(blocks), "scan_words": range(len(sums))}, written={"ends": range(len(counts))}, repeats=ROW,
    )  # fmt: skip


def _put_all(t: Tracer, name: str, values: np.ndarray) -> None:
    for index, value in enumerate(values):
        t.put(name, index, int(value))


def _scan_blocks(values: np.ndarray, threads: int) -> np.ndarray:
    return np.cumsum(values.reshape(-1, threads), axis=1).ravel()


def _scan_moment(t: Tracer, name: str, line: object, threads: int, blocks: int) -> None:
    lanes = blocks * threads
    rounds = threads.bit_length() - 1
    t.moment(
        name, f"scan the workgroup, {rounds} rounds", line, "Every workgroup scans the sums of its threads (the view "
        "of one workgroup shows the rounds).", lanes, lanes, read={"sum": range(lanes)},
        written={"scan_words": range(lanes)}, repeats=rounds,
    )  # fmt: skip


def _answer(counts: np.ndarray) -> str:
    ends = np.cumsum(counts, dtype=np.int64)
    starts = ends - counts
    total = ends[-1] if len(ends) else 0
    return f"N {listed(counts)}: exclusive sums {listed(starts)}, inclusive sums {listed(ends)}, P2 = {total}"
