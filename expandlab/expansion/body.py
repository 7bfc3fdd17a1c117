"""The caller's own pass 2: WGSL that defines `fn work`, and the buffers that it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from expandlab.expansion.strategy import Ending, EndingBuffer
from expandlab.user_wgsl import (
    BodyBuffer,
    arguments,
    atomic,
    check_function,
    checked_buffer,
    declarations,
    mapping_of,
    naming_buffers,
    read_only,
)
from expandlab.wgsl import from_text
from expandlab.wgsl_limits.tokens import Declaration, Text
from expandlab.wgsl_limits.values import Values
from expandlab.wgsl_names import clashes, renamed

__all__ = ["atomic", "body_ending", "naming_buffers", "read_only", "results"]

_SIGNATURE = "fn work(src: u32, local: u32, dst: u32)"


def body_ending(body: Any, buffers: Mapping[str, Any] | None) -> Ending:
    """The ending of pass 2 that calls the caller's `fn work(src: u32, local: u32, dst: u32)`.

    Raises TypeError or ValueError naming the argument, ShaderError where the body defines no `work`.
    """
    if not isinstance(body, str):
        raise TypeError(f"body={body!r}: give WGSL text that defines {_SIGNATURE}")
    check_function(body, "body", "work", f"{_SIGNATURE}, with no result", _fault)
    checked = {name: checked_buffer(name, value) for name, value in mapping_of(buffers).items()}
    names = clashes(body, checked, ("lib", "expansion"), "work")
    slots = {
        "emit": "lib/emit_body.wgsl",
        "emit4": "lib/emit4_each.wgsl",
        "buffers": declarations(checked, names),
        "body": renamed(body, names, "body", "work"),
    }
    ending_buffers = {
        names.get(name, name): EndingBuffer(item.array.nbytes, f"body.{name}", np.ravel(item.array))
        for name, item in checked.items()
    }
    return Ending(slots, ending_buffers, None, _uses_dst(body))


def _fault(values: Values, item: Declaration) -> tuple[int, str] | None:
    """Where the declaration is not that of `work`."""
    text, words = values.text, values.words
    given = arguments(text, item)
    if len(given) != 3:
        return item.begin - 1, f"has {len(given)} arguments"
    for place, stop in given:
        if words[place + 1] != ":" or stop != place + 3 or values.scalars.get(words[place + 2]) != "u32":
            return place, f"has `{' '.join(words[place:stop])}`"
    behind = text.behind(item.begin)
    return (behind, f"has `{words[behind]}` behind its arguments") if words[behind] != "{" else None


def _uses_dst(body: str) -> bool:
    """Whether the name of work's third argument stands anywhere but in its own declaration."""
    text = Text(from_text(body, "body"))
    place, _ = arguments(text, text.declarations()["work"])[2]
    return text.words.count(text.words[place]) > 1


def results(arrays: Mapping[str, np.ndarray], buffers: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    """The caller's buffers after the run, of the dtype and shape that they came with."""
    found = {}
    for name, value in mapping_of(buffers).items():
        ran = checked_buffer(name, value).array
        given = np.asarray(value.array if isinstance(value, BodyBuffer) else value)
        words = arrays[f"body.{name}"][: ran.size]
        found[name] = words.view(ran.dtype).reshape(given.shape).astype(given.dtype)
    return found
