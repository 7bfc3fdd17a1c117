"""Traces of one thread that looks for its src: binary search among ends, and the walk along a list.

The twins of `shaders/expansion/prefix_search/search.wgsl` and `shaders/expansion/linear_search/walk.wgsl`.
"""

from __future__ import annotations

import numpy as np

from expandlab.expansion.traces.trace import Trace, Tracer, listed
from expandlab.wgsl import anchor

_SEARCH, _WALK = "expansion/prefix_search/search.wgsl", "expansion/linear_search/walk.wgsl"


def binary_search(counts: np.ndarray, thread: int) -> Trace:
    """The upper bound of `thread` among the ends: the first src whose range ends after it."""
    t = Tracer("binary", f"Binary search of thread {thread}")
    ends = np.cumsum(counts, dtype=np.int64)
    t.row("ends", len(ends), ends, np.arange(len(ends)))
    low, high = 0, len(ends)
    while low < high:
        middle = low + (high - low) // 2
        end = int(ends[middle])
        beyond = end <= thread
        turn = f"low becomes {middle + 1}" if beyond else f"high becomes {middle}"
        why = "the range ends before the thread, or at it" if beyond else "it ends after the thread: a candidate"
        t.moment(
            "search", f"probe {len(t.moments) + 1}", anchor(_SEARCH, "probe"),
            f"middle = {low} + ({high} - {low}) / 2 = {middle}: ends[{middle}] = {end} "
            f"{'<=' if beyond else '>'} {thread}, {why}; {turn}.",
            1, 1, read={"ends": [middle]}, marks=("ends", {"low": low, "middle": middle, "high": high}),
            lit=("ends", low, high),
        )  # fmt: skip
        low, high = (middle + 1, high) if beyond else (low, middle)
    if low >= len(ends):
        return t.done(f"thread {thread} lies beyond P2 = {int(ends[-1]) if len(ends) else 0}: it is not launched")
    start = int(ends[low - 1]) if low else 0
    if low:
        t.moment(
            "search", "subtract the range's start", anchor(_SEARCH, "start"),
            f"The range of src {low} starts where that of src {low - 1} ends: at {start}.", 1, 1,
            read={"ends": [low - 1]}, marks=("ends", {"low": low}),
        )  # fmt: skip
    said = f"src {low}, local = {thread} - {start} = {thread - start}"
    t.moment(
        "search", "work", anchor(_SEARCH, "work"), f"Thread {thread} works for {said}.", 1, 1,
        marks=("ends", {"src": low}), lit=("ends", low, low + 1),
    )  # fmt: skip
    return t.done(f"Thread {thread}: {said}, after {sum(m.label.startswith('probe') for m in t.moments)} probes")


def linear_search(counts: np.ndarray, thread: int) -> Trace:
    """The walk along the entries (src, N): take N after N from the thread's number until what is left lies inside."""
    t = Tracer("linear", f"Linear search of thread {thread}")
    src = np.flatnonzero(counts)
    t.row("entries.src", len(src), src, src)
    t.row("entries.N", len(src), counts[src], src)
    left, place = thread, 0
    while place < len(src) and left >= counts[src[place]]:
        n = int(counts[src[place]])
        t.moment(
            "walk", f"entry {place}", anchor(_WALK, "subtract"),
            f"left = {left} >= N = {n}: not in this range; left becomes {left} - {n} = {left - n}.", 1, 1,
            read={"entries.N": [place]}, marks=("entries.N", {"place": place}), lit=("entries.N", place, len(src)),
        )  # fmt: skip
        left, place = left - n, place + 1
    if place >= len(src):
        return t.done(f"thread {thread} lies beyond P2 = {int(counts.sum(dtype=np.int64))}: it is not launched")
    said = f"src {src[place]}, local {left}"
    t.moment(
        "walk", "work", anchor(_WALK, "work"), f"left = {left} < N = {counts[src[place]]}: thread {thread} works for "
        f"{said}.", 1, 1, read={"entries.src": [place], "entries.N": [place]}, marks=("entries.N", {"place": place}),
        lit=("entries.N", place, place + 1),
    )  # fmt: skip
    return t.done(f"Thread {thread}: {said}, after {place + 1} entries; N of the entries: {listed(counts[src])}")
