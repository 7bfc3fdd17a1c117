"""The caller's own pass 2: WGSL that defines `fn work`, and the buffers that it reads and writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.errors import ShaderError
from expandlab.expansion.strategy import Ending, EndingBuffer

# Eight storage buffers fit a stage under the default limits; the strategies use up to five.
MAX_BUFFERS = 3
_TYPES = {"uint32": "u32", "int32": "i32", "float32": "f32"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_WORK = re.compile(r"\bfn\s+work\s*\(")
# Constants that stand in front of a shader, and words that naga takes for an access mode wherever they stand.
_OTHERS = {"WG", "DISPATCH", "BUCKET", "SPINS", "touch", "read", "write", "read_write"}
_SIGNATURE = re.compile(r"fn\s+work\s*\((?:\s*\w+\s*:\s*u32\s*,){2}\s*\w+\s*:\s*u32\s*,?\s*\)\s*\{")
_BINDING = re.compile(r"@(?:group|binding)\b")
_DECLARED = re.compile(r"^\s*(?:fn|struct|alias|const|override|var(?:\s*<[^>]*>)?)\s+([A-Za-z_]\w*)", re.M)


@dataclass(frozen=True, eq=False)
class BodyBuffer:
    """An array for a body, and how its shader may use it; made by `atomic` and `read_only`."""

    array: Any
    atomic: bool = False
    writes: bool = True


def atomic(array: Any) -> BodyBuffer:
    """Make the elements of `array` (uint32 or int32) atomic in the body: `array<atomic<u32>>`."""
    return BodyBuffer(array, atomic=True)


def read_only(array: Any) -> BodyBuffer:
    """Let the body only read `array`: `var<storage, read>`."""
    return BodyBuffer(array, writes=False)


def body_ending(body: Any, buffers: Mapping[str, Any] | None) -> Ending:
    """The ending of pass 2 that calls the caller's `fn work(src: u32, local: u32, dst: u32)`.

    Raises TypeError or ValueError naming the argument, ShaderError where the body defines no `work`.
    """
    if not isinstance(body, str):
        raise TypeError(f"body={body!r}: give WGSL text that defines fn work(src: u32, local: u32, dst: u32)")
    _check_body(body)
    checked = {name: _checked(name, value) for name, value in _mapping(buffers).items()}
    names = _clashes(body, list(checked))
    ours = {name: names.get(name, name) for name in checked}
    declarations = [_declare(number, ours[name], item) for number, (name, item) in enumerate(checked.items())]
    # A buffer that the body does not use would be left out of the pipeline's layout.
    declarations.append(f"fn touch() {{ {' '.join(f'_ = &{name};' for name in ours.values())} }}")
    slots = {
        "emit": "lib/emit_body.wgsl",
        "emit4": "lib/emit4_each.wgsl",
        "buffers": wgsl.from_text("\n".join(declarations), "<buffers>"),
        "body": wgsl.from_text(_rename(body, names), "body"),
    }
    ending_buffers = {
        ours[name]: EndingBuffer(item.array.nbytes, f"body.{name}", np.ravel(item.array))
        for name, item in checked.items()
    }
    return Ending(slots, ending_buffers, None)


@contextmanager
def naming_buffers() -> Iterator[None]:
    """Turn a compile error in the declarations into one that names `buffers`: a name of theirs is a word of WGSL."""
    try:
        yield
    except ShaderError as error:
        if error.file != "<buffers>":
            raise
        raise ValueError(f"buffers: a name is a word of WGSL ({str(error).splitlines()[0]}); choose another") from None


def _check_body(body: str) -> None:
    """Raise ShaderError for what a compiler would blame on a line that is not the caller's."""
    bare = _without_comments(body)
    work, binding = _WORK.search(bare), _BINDING.search(bare)
    if work is None:
        raise ShaderError("body: defines no fn work(src: u32, local: u32, dst: u32); add it", file="body", line=1)
    if not _SIGNATURE.match(bare, work.start()):
        line = bare.count("\n", 0, work.start()) + 1
        raise ShaderError(
            f"body:{line}: work must be fn work(src: u32, local: u32, dst: u32), with no result", file="body", line=line
        )
    if binding is not None:
        line = bare.count("\n", 0, binding.start()) + 1
        raise ShaderError(
            f"body:{line}: a body declares no bindings of its own; give the array in buffers=", file="body", line=line
        )


def results(arrays: Mapping[str, np.ndarray], buffers: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    """The caller's buffers after the run, of the dtype and shape that they came with."""
    found = {}
    for name, value in _mapping(buffers).items():
        before = _checked(name, value).array
        words = arrays[f"body.{name}"][: before.size]
        found[name] = words.view(before.dtype).reshape(before.shape).copy()
    return found


def _mapping(buffers: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if buffers is None:
        return {}
    if not isinstance(buffers, Mapping):
        raise TypeError(f"buffers={buffers!r}: give a mapping from names to arrays, or None")
    if len(buffers) > MAX_BUFFERS:
        raise ValueError(f"buffers: {len(buffers)} of them; a body has at most {MAX_BUFFERS}, so pack some together")
    return buffers


def _checked(name: Any, value: Any) -> BodyBuffer:
    item = value if isinstance(value, BodyBuffer) else BodyBuffer(value)
    where = f"buffers[{name!r}]"
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f"{where}: the name must be a WGSL identifier: letters, digits and _, a letter first")
    array = np.asarray(item.array)
    if array.dtype.name not in _TYPES:
        raise TypeError(f"{where}: dtype {array.dtype}; use {', '.join(_TYPES)}")
    if array.size == 0:
        raise ValueError(f"{where}: is empty, and a binding needs one element; give at least one")
    if item.atomic and array.dtype.name == "float32":
        raise TypeError(f"{where}: WGSL has no atomic f32; use uint32 or int32")
    return BodyBuffer(np.ascontiguousarray(array), item.atomic, item.writes)


def _declare(number: int, name: str, item: BodyBuffer) -> str:
    element = _TYPES[item.array.dtype.name]
    element = f"atomic<{element}>" if item.atomic else element
    access = "read_write" if item.writes else "read"
    return f"@group(1) @binding({number}) var<storage, {access}> {name}: array<{element}>;"


def _clashes(body: str, buffers: list[str]) -> dict[str, str]:
    """New names for what the caller calls as the strategies' shaders call something of theirs."""
    mine = {*_DECLARED.findall(_without_comments(body)), *buffers} - {"work"}
    ours = set().union(*(_DECLARED.findall(_without_attributes(text)) for text in _our_sources()))
    return {name: f"{name}_of_body" for name in mine & (ours | _OTHERS)}


def _our_sources() -> list[str]:
    folders = (wgsl.folder() / "lib", wgsl.folder() / "expansion")
    return [path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.rglob("*.wgsl"))]


def _rename(text: str, names: Mapping[str, str]) -> str:
    for name, new in names.items():
        # Not a member of a struct, which may be called as it likes.
        text = re.sub(rf"(?<![.\w]){name}\b", new, text)
    return text


def _without_comments(text: str) -> str:
    # Blanks for what is cut, so that lines keep their numbers.
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S)


def _without_attributes(text: str) -> str:
    return re.sub(r"@\w+(?:\([^)]*\))?\s*", "", _without_comments(text))
