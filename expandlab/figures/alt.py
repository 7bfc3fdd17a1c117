"""Alternative text: what a picture shows, in a few factual sentences made from the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from expandlab.expansion.strategies import strategies
from expandlab.expansion.thread_map import ThreadMap
from expandlab.figures.canvas import bytes_text, plural

if TYPE_CHECKING:
    from expandlab.measuring import Measurements
    from expandlab.settings import CountsSettings, ExpansionSettings


def title_of(name: str) -> str:
    """A strategy's title; its name where it is not in the list."""
    found = strategies().get(name.removesuffix(" unchecked"))
    note = ", unchecked" if name.endswith(" unchecked") else ""
    return f"{found.title}{note}" if found else name


def origin(map: ThreadMap) -> str:
    """`model`, or `recorded on DEVICE`."""
    return f"recorded on {map.recorded}" if map.recorded else "model"


def counts_sentence(counts: np.ndarray, settings: CountsSettings | None = None) -> str:
    """`48 src spawn 288 items, N from 0 to 31 (zipf, mean 6, seed 0)`."""
    total = int(counts.sum(dtype=np.uint64))
    text = f"{len(counts):,} src {'spawns' if len(counts) == 1 else 'spawn'} {plural(total, 'item')}"
    if len(counts):
        low, high = int(counts.min()), int(counts.max())
        text += f", N = {low:,} each" if low == high and len(counts) > 1 else (
            f", N from {low:,} to {high:,}" if low != high else ""
        )  # fmt: skip
    return text + (f" ({source_words(settings)})" if settings is not None else "")


def source_words(settings: CountsSettings) -> str:
    """Where the counts come from: `zipf, mean 6, seed 0`."""
    if settings.source == "file":
        column = f", column {settings.column}" if settings.column else ""
        return f"file {settings.file}{column}"
    if settings.source == "standard_library":
        return "lines of the standard library's modules"
    if settings.source == "list":
        return "N as listed"
    parts = [settings.source, f"mean {settings.mean:g}"]
    if settings.max_n is not None:
        parts.append(f"at most {settings.max_n:,}")
    parts += [f"{key} {value:g}" for key, value in sorted(settings.shape.items())]
    return ", ".join([*parts, f"seed {settings.seed}"])


def headline(map: ThreadMap) -> str:
    """`Flat expansion (model): 160 threads, 62 of them idle, utilisation 61.3 %; 192 B between the passes`."""
    idle = len(map) - int(np.count_nonzero(map.active))
    held = sum(memory.capacity_bytes for memory in map.memory)
    return (
        f"{title_of(map.strategy)} ({origin(map)}): {plural(len(map), 'thread')}, {idle:,} of them idle, "
        f"utilisation {map.utilisation:.1%}; {bytes_text(held)} set aside between the passes"
    )


def thread_sentence(map: ThreadMap, thread: int) -> str:
    """`thread 37: workgroup 0, subgroup 1, lane 5; src 4, local 2; found through bucket 3, entry 1`."""
    if not 0 <= thread < len(map):
        return f"thread {thread:,} is not launched ({plural(len(map), 'thread')})"
    text = (
        f"thread {thread:,}: workgroup {map.workgroup[thread]:,}, subgroup {map.subgroup[thread]}, "
        f"lane {map.lane[thread]}"
    )
    bucket = f" in bucket {map.bucket[thread]}" if map.bucket[thread] >= 0 else ""
    if map.src[thread] < 0:
        return f"{text}; idle{bucket}"
    text += f"; src {map.src[thread]:,}, local {map.local[thread]:,}"
    if map.entry[thread] >= 0:
        through = f"bucket {map.bucket[thread]}, " if bucket else ""
        text += f"; found through {through}entry {map.entry[thread]:,}"
    return text


def step_sentence(map: ThreadMap, step: int) -> str:
    """`Step 3 of 12, place: write one entry, 20 lanes active in 2 subgroups (FILE:LINE)`."""
    shown = map.steps[min(step, len(map.steps) - 1)]
    return (
        f"Step {min(step, len(map.steps) - 1) + 1} of {len(map.steps)}, {shown.pass_name}: {shown.label}, "
        f"{plural(int(shown.active.sum()), 'lane')} active in {plural(len(shown.active), 'subgroup')} ({shown.line})"
    )


def same_item(map: ThreadMap, other: ThreadMap, thread: int) -> int:
    """The row of `other` that handles the item of row `thread` of `map`; -1 where there is none."""
    if not 0 <= thread < len(map) or map.src[thread] < 0:
        return -1
    found = np.flatnonzero((other.src == map.src[thread]) & (other.local == map.local[thread]))
    return int(found[0]) if len(found) else -1


def map_text(
    map: ThreadMap, counts: np.ndarray | None = None, settings: ExpansionSettings | None = None,
    compare: ThreadMap | None = None,
) -> str:  # fmt: skip
    """Alternative text of a map's picture."""
    parts = [] if counts is None else [counts_sentence(np.asarray(counts), settings)]
    parts.append(headline(map))
    if compare is not None:
        parts.append(f"Beside it {headline(compare)}")
    if settings is not None and settings.step is not None and map.steps:
        parts.append(step_sentence(map, settings.step))
    if settings is not None and settings.thread is not None:
        parts.append("Selected " + thread_sentence(map, settings.thread))
    return ". ".join(parts) + "."


def time_text(milliseconds: float) -> str:
    """`0.0123 ms`, `12.3 ms`: three digits that count."""
    if not np.isfinite(milliseconds):
        return "no time"
    digits = 2 - int(np.floor(np.log10(milliseconds))) if milliseconds > 0 else 0
    return f"{milliseconds:,.{min(max(digits, 0), 5)}f} ms"


def timings_text(timings: Measurements) -> str:
    """Alternative text of a picture of measured times."""
    parts = [
        f"Measured times of {plural(len(timings.totals), 'strategy', 'strategies')} on {timings.device} "
        f"({timings.driver}), by {timings.timer}, for {timings.src_count:,} src and {plural(timings.total, 'item')}"
    ]
    for row in sorted(timings.totals, key=lambda row: row.median_ms):
        parts.append(
            f"{title_of(row.name)}: median {time_text(row.median_ms)}, "
            f"quartiles {time_text(row.q1_ms)} and {time_text(row.q3_ms)}, {plural(row.samples, 'run')}"
        )
    if timings.software:
        parts.append("It is a software adapter: the CPU is measured")
    if timings.cancelled:
        parts.append("The measurement was cancelled: fewer runs than planned")
    return ". ".join(parts) + "."
