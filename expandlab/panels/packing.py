"""A picture of one or two thread maps as bytes: a JSON header that says what lies where, then the arrays.

One value instead of many keeps a frame whole: the page never sees the columns of one map with the header of another.

    u32 length of the header | header, padded with blanks to whole words | arrays, each padded to whole words

In the header an array is `[first word, length, bytes of an element]`, counted from the end of the header, its elements
little-endian and signed; or, where element i is `start + i // every % period` (what numbers threads, nearly always),
it is `{"length", "start", "every", "period"}` alone. Every byte passes through the kernel, the server and the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.expansion import strategies
from expandlab.expansion.thread_map import Step, ThreadMap

COLUMNS = ("dispatch", "workgroup", "subgroup", "lane", "src", "local", "bucket", "dst", "entry")
_WRITES = re.compile(r"(write|store|reserve)\b")


@dataclass
class _Words:
    """Arrays that lie one behind the other."""

    parts: list[bytes]
    length: int = 0

    def add(self, values: np.ndarray) -> list[int] | dict[str, int]:
        if values.dtype != np.int32:
            values = (values.astype(np.int64) & 0xFFFFFFFF).astype("<u4").view("<i4")
        found = _numbering(values)
        if found:
            return found
        low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
        size = next(size for size in (1, 2, 4) if low >= -(1 << 8 * size - 1) and high < 1 << 8 * size - 1)
        data = values.astype(f"<i{size}").tobytes()
        place = [self.length, values.size, size]
        padding = -len(data) % 4
        self.parts += [data, bytes(padding)]
        self.length += (len(data) + padding) // 4
        return place


def _numbering(values: np.ndarray) -> dict[str, int] | None:
    """How `values` are numbered: in runs of `every`, one up with each run, from the start again after `period` runs."""
    length = values.size
    if length < 2:
        return None
    start = int(values[0])
    other = values != start
    every = int(other.argmax()) or length
    period = 1
    if every < length:
        again = int((~other[every:]).argmax()) + every
        span = length if other[again] else again
        period = -(-span // every)
        if values[every] != start + 1 or (span < length and span % every):
            return None
        if not np.array_equal(values[:span], start + np.arange(span) // every):
            return None
        if not np.array_equal(values[span:], values[: length - span]):
            return None
    return {"length": length, "start": start, "every": every, "period": period}


def pack(counts: np.ndarray, colours: np.ndarray, maps: Sequence[ThreadMap], sequence: int = 0) -> bytes:
    """One frame of the canvas.

    counts: N of every src, (P1,). colours: uint8 (P1, 3). maps: one, or two on the same counts. sequence: the frame's
    number; the page hands it back once the frame is painted.
    """
    words = _Words([])
    rgb = colours.astype(np.int32)
    header = {
        "sequence": sequence,
        "counts": words.add(counts),
        "colours": words.add(rgb[:, 0] << 16 | rgb[:, 1] << 8 | rgb[:, 2] if len(rgb) else np.zeros(0, np.int32)),
        "maps": [_map(item, words) for item in maps],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([len(text).to_bytes(4, "little"), text, *words.parts])


def unpack(frame: bytes) -> dict[str, Any]:
    """The header of a frame with its arrays in place, as the page reads it."""
    begin = 4 + int.from_bytes(frame[:4], "little")

    def array(place: Any) -> np.ndarray:
        if isinstance(place, dict):
            return (place["start"] + np.arange(place["length"]) // place["every"] % place["period"]).astype(np.int32)
        first, length, size = place
        return np.frombuffer(frame, f"<i{size}", length, begin + 4 * first).astype(np.int32)

    def fill(value: Any, name: str = "") -> Any:
        if name in _ARRAYS:
            return array(value)
        if isinstance(value, dict):
            return {key: fill(item, key) for key, item in value.items()}
        return [fill(item) for item in value] if isinstance(value, list) else value

    return fill(json.loads(frame[4:begin]))


_ARRAYS = {"counts", "colours", "active", *COLUMNS}


def _map(item: ThreadMap, words: _Words) -> dict[str, Any]:
    strategy = strategies()[item.strategy]
    return {
        "strategy": item.strategy,
        "title": strategy.title,
        "solution": strategy.solution,
        "modelled": strategy.modelled,
        "recorded": item.recorded,
        "workgroup_size": item.workgroup_size,
        "subgroup_size": item.subgroup_size,
        "columns": {name: words.add(getattr(item, name)) for name in COLUMNS},
        "memory": [
            {
                "buffer": memory.buffer,
                "title": memory.title,
                "capacity_bytes": int(memory.capacity_bytes),
                "used_bytes": int(memory.used_bytes),
                "rows": [
                    {
                        "label": row.label,
                        "capacity": int(row.capacity),
                        "entry_bytes": row.entry_bytes,
                        "width": int(row.width),
                        "src": words.add(row.src),
                    }
                    for row in memory.rows
                ],
            }
            for memory in item.memory
        ],
        "steps": [
            {
                "pass": step.pass_name,
                "label": step.label,
                "line": list(step.line),
                "repeats": int(step.repeats),
                "active": words.add(step.active),
            }
            for step in item.steps
        ],
        "lines": _lines(item.steps),
    }


def _lines(steps: Sequence[Step]) -> dict[str, list[Any] | None]:
    """The shader lines that made what can be selected: `load` and `write` in pass 1, `read`, `work` and `idle` in
    pass 2 (the step before the work reads what pass 1 wrote; idle threads leave at the last step that they share)."""
    if not steps:
        return dict.fromkeys(("load", "write", "read", "work", "idle"))
    last = steps[-1].pass_name
    first = [step for step in steps if step.pass_name != last]
    second = [step for step in steps if step.pass_name == last]
    writes = [step for step in first if _WRITES.match(step.label)]
    working = int(second[-1].active.sum())
    leaving = [step for step in second if int(step.active.sum()) > working]
    found = {
        "load": first[:1],
        "write": writes[-1:],
        "read": second[-2:-1],
        "work": second[-1:],
        "idle": leaving[-1:],
    }
    return {name: list(step[0].line) if step else None for name, step in found.items()}
