"""WGSL of the caller's own: its buffers, and what is wrong with it in its own lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.errors import ShaderError
from expandlab.wgsl_limits.tokens import Declaration, Text
from expandlab.wgsl_limits.values import Values, values_of

# Eight storage buffers fit a stage under the default limits; ours use up to five.
MAX_BUFFERS = 3
_TYPES = {"uint32": "u32", "int32": "i32", "float32": "f32"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_BINDING = re.compile(r"@\s*(?:group|binding)\b")
_DIRECTIVE = re.compile(r"(?:^|[;}])\s*(enable|requires|diagnostic)\b")


@dataclass(frozen=True, eq=False)
class BodyBuffer:
    """An array for the caller's WGSL, and how it may be used; made by `atomic` and `read_only`."""

    array: Any
    atomic: bool = False
    writes: bool = True


def atomic(array: Any) -> BodyBuffer:
    """Make the elements of `array` (uint32 or int32) atomic in the body: `array<atomic<u32>>`."""
    return BodyBuffer(_bare("atomic", array), atomic=True)


def read_only(array: Any) -> BodyBuffer:
    """Let the body only read `array`: `var<storage, read>`."""
    return BodyBuffer(_bare("read_only", array), writes=False)


def _bare(what: str, array: Any) -> Any:
    if isinstance(array, BodyBuffer):
        raise TypeError(f"{what}(array): the array is wrapped already; a buffer is either atomic or read-only")
    return array


@contextmanager
def naming_buffers() -> Iterator[None]:
    """Turn a compile error in the declarations into one that names `buffers`: a name of theirs is a word of WGSL."""
    try:
        yield
    except ShaderError as error:
        if error.file != "<buffers>":
            raise
        raise ValueError(f"buffers: a name is a word of WGSL ({str(error).splitlines()[0]}); choose another") from None


def check_function(
    text: str, what: str, name: str, signature: str, fault: Callable[[Values, Declaration], tuple[int, str] | None]
) -> None:
    """Raise ShaderError for what a compiler would blame on a line that is not the caller's.

    what: the argument. name, signature: of the function that it has to define. fault: at which token its declaration is
    another one, and in which way.
    """
    source = wgsl.from_text(text, what)
    bare, unended = wgsl.without_comments(text)
    if unended is not None:
        raise _at(text, unended, what, "the comment that begins here never ends; add */")
    directive = _DIRECTIVE.search(bare)
    if directive is not None:
        told = f"a {what} stands inside a shader, where `{directive[1]}` can no longer come; leave it out"
        raise _at(text, directive.start(1), what, told)
    words, binding = Text(source), _BINDING.search(bare)
    item = words.declarations().get(name)
    if item is None or item.kind != "fn":
        raise ShaderError(f"{what}: defines no {signature}; add it", file=what, line=1)
    wrong = fault(values_of(words), item)
    if wrong:
        raise wgsl.fault_at(source, words.at[wrong[0]], f"{name} must be {signature}, and this {wrong[1]}")
    if binding is not None:
        reason = f"a {what} declares no bindings of its own; give the array in buffers="
        raise _at(text, binding.start(), what, reason)
    opened: list[int] = []
    for brace in re.finditer(r"[{}]", bare):
        if brace.group() == "{":
            opened.append(brace.start())
        elif opened:
            opened.pop()
    if opened:
        raise _at(text, opened[-1], what, "the { is never closed; add }")


def arguments(text: Text, item: Declaration) -> list[tuple[int, int]]:
    """The arguments of a function: the token of each one's name, and the one behind its type."""
    found, begin, close = [], item.begin + 1, text.behind(item.begin) - 1
    at = begin
    while begin < close:
        # Commas inside a template list are of the type.
        at = (text.template_end(at) if text.words[at] == "<" else text.partner.get(at, at)) + (text.words[at] != ",")
        if at >= close or text.words[at] == ",":
            found.append((begin, min(at, close)))
            begin = at = at + 1
    return found


def _at(text: str, offset: int, what: str, reason: str) -> ShaderError:
    line = text.count("\n", 0, offset) + 1
    return ShaderError(f"{what}:{line}: {reason}", file=what, line=line)


def mapping_of(buffers: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """`buffers` as a mapping. Raises TypeError or ValueError naming it."""
    if buffers is None:
        return {}
    if not isinstance(buffers, Mapping):
        raise TypeError(f"buffers={buffers!r}: give a mapping from names to arrays, or None")
    if len(buffers) > MAX_BUFFERS:
        raise ValueError(f"buffers: {len(buffers)} of them; there are at most {MAX_BUFFERS}, so pack some together")
    return buffers


def checked_buffer(name: Any, value: Any) -> BodyBuffer:
    """One buffer, its array contiguous. Raises TypeError or ValueError naming it."""
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
    # A device knows its own order of bytes alone.
    native = np.asarray(array, array.dtype.newbyteorder("="), order="C")
    return BodyBuffer(native, item.atomic, item.writes)


def declarations(buffers: Mapping[str, BodyBuffer], names: Mapping[str, str]) -> wgsl.Source:
    """The buffers as WGSL in group 1, by the names that they have beside ours, and `touch`, which uses each."""
    lines = [_declare(number, names.get(name, name), item) for number, (name, item) in enumerate(buffers.items())]
    # A buffer that nobody uses would be left out of the pipeline's layout.
    lines.append(f"fn touch() {{ {' '.join(f'_ = &{names.get(name, name)};' for name in buffers)} }}")
    return wgsl.from_text("\n".join(lines), "<buffers>")


def _declare(number: int, name: str, item: BodyBuffer) -> str:
    element = _TYPES[item.array.dtype.name]
    element = f"atomic<{element}>" if item.atomic else element
    access = "read_write" if item.writes else "read"
    return f"@group(1) @binding({number}) var<storage, {access}> {name}: array<{element}>;"
