"""WGSL sources: one file per pass, shared snippets included, and every line traceable to the file it came from.

Three things are added to WGSL, all as comments, so that the files stay valid for other tools:

- `//#include lib/scan.wgsl` on a line of its own brings a snippet in, once per shader. A name in angle brackets,
  `//#include <emit>`, is a slot that the caller fills (`slots={"emit": "lib/emit_store.wgsl"}`).
- `//: label` at the end of a line names the line; the CPU model's steps point at it (`anchor`).
- constants such as `WG`, the workgroup size, are put in front by `load(..., constants={"WG": 64})`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from expandlab.errors import ShaderError

_INCLUDE = re.compile(r"^\s*//#include\s+(<?[\w./-]+>?)\s*$")
_ANCHOR = re.compile(r"//:\s*([\w-]+)")
# The standard's line breaks all end a comment; lines of a file, and a compiler's line numbers, are counted by \n alone.
_COMMENT, _NESTED = re.compile("//[^\n\v\f\r\x85\u2028\u2029]*|/\\*"), re.compile(r"/\*|\*/")
_MARKS = {0x200E: " ", 0x200F: " "}
_SURROGATE = re.compile("[\ud800-\udfff]")
# Of a text that a user wrote: the compilers' work grows with it, and a shader of this package has some 20 000.
MOST_CHARACTERS = 2**18
# Of a line, in an error.
_SHOWN = 200
# Stands behind a name of the caller's that one of ours would clash with.
RENAMED = "_xl_body_"
# Faults that naga tells without their place, or with that of a line of ours that leads there: what it says, where the
# place is (the message's own words filled in), and what to do.
_UNPLACED = (
    (r"Entry point (\w+) at \w+ is invalid", r"\bfn\s+({0})\b", None),
    ("Pipeline constant error", r"\boverride\s+(\w+)", None),
    (r"declaration of `(\w+)` is cyclic", r"\b(?:fn|struct|alias|const|override|var(?:\s*<[^>]*>)?)\s+({0})\b", None),
    (
        r"at Compute is invalid[\s\S]*Uses operations forbidden at this stage",
        r"\b(discard(?=\s*;)|(?:dpd[xy]|fwidth)(?:Coarse|Fine)?(?=\s*\())",
        "{0} belongs to fragment shaders, and this is none; leave it out",
    ),
    (
        r"at Vertex is invalid[\s\S]*Uses operations forbidden at this stage",
        r"\b(discard(?=\s*;)|(?:dpd[xy]|fwidth)(?:Coarse|Fine)?(?=\s*\()"
        r"|(?:\w+Barrier|workgroupUniformLoad|(?:subgroup|quad)[A-Z]\w*)(?=\s*\())",
        "a vertex shader, in which this text runs here, has no {0}; leave it out, or use another strategy",
    ),
    (
        r"Missing value for pipeline-overridable constant with identifier string: '(\w+)'",
        r"(?:\boverride\s+(?={0}\b)|@id\(\s*{0}[iu]?\s*,?\s*\)\s*override\s+)(\w+)",
        "override {0} has no value; write one behind it, or make it a const",
    ),
    (
        "Workgroup size is out of range",
        r"@workgroup_size\s*\(\s*(0)",
        "a workgroup has one thread at least, and as many as the device's limits say at most",
    ),
    ("FLOAT64", r"\b(f64\b|[\d.]+(?:[eE][+-]?\d+)?lf\b)", "WGSL has no 64-bit floating-point numbers; use f32"),
    ("The base handle .* has to be a struct", r"\b(binding_array)\b", "WGSL has no binding_array; use an array"),
)
# naga's and Tint's words for an argument.
_OTHER_TYPE = re.compile("doesn't match the type|type mismatch for argument")
_BINDING = re.compile(
    r"@\s*(group|binding)\s*\(\s*(\d+)[iu]?\s*,?\s*\)\s*@\s*(group|binding)\s*\(\s*(\d+)[iu]?\s*,?\s*\)"
    r"\s*var\s*<\s*(uniform|storage)\s*(?:,\s*(read|read_write)\s*)?,?\s*>\s*(\w+)\s*:"
)


class Line(NamedTuple):
    """A place in a shader: `file` relative to the shaders folder, `line` from 1. Prints as `file:line`."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Binding(NamedTuple):
    """A buffer that a shader declares: its group and number, its variable's name, and whether it may be written."""

    group: int
    binding: int
    name: str
    address: str
    writes: bool


@dataclass(frozen=True)
class Source:
    """WGSL ready to compile, with the origin of every line.

    packaged: all of it is the package's own. blamed: the function of a caller's text that the shader calls. What has no
    place, or one of ours, is told there, because ours compile.
    """

    name: str
    text: str
    origin: tuple[Line, ...]
    packaged: bool = False
    blamed: Line | None = None

    @property
    def sha256(self) -> str:
        """Digest of the text, for provenance and caches."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The buffers that the text declares, in order of group and number."""
        return reflect(self.text)

    def is_callers(self, line: int) -> bool:
        """Whether a line, from 1, is of a text that a caller gave; `<buffers>` are declared for it."""
        return self.locate(line).file in (self.blamed.file, "<buffers>") if self.blamed else not self.packaged

    def line_at(self, offset: int) -> int:
        """The line, from 1, of a character, from 0."""
        return self.text.count("\n", 0, offset) + 1

    def locate(self, line: int) -> Line:
        """Where line `line` (from 1) of the text came from."""
        return self.origin[min(max(line, 1), len(self.origin)) - 1]


def folder() -> Path:
    """The shaders folder: inside an installed wheel, or at the top of a checkout."""
    inside = Path(__file__).parent / "_shaders"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "shaders"


@cache
def read(file: str) -> str:
    """Text of one shader file, by its path below the shaders folder."""
    path = folder() / file
    if not path.is_file():
        raise ShaderError(f"there is no shader {file!r} in {folder()}", file=file)
    return path.read_text(encoding="utf-8")


@cache
def anchor(file: str, label: str) -> Line:
    """The line of `file` that carries the comment `//: label`."""
    for number, text in enumerate(read(file).splitlines(), 1):
        found = _ANCHOR.search(text)
        if found and found.group(1) == label:
            return Line(file, number)
    raise ShaderError(f"{file} has no line marked `//: {label}`", file=file)


def load(
    file: str,
    *,
    constants: Mapping[str, int] | None = None,
    slots: Mapping[str, str | Source] | None = None,
) -> Source:
    """Read `file` (below the shaders folder) with its includes.

    `constants` become `const NAME: u32` in front; `slots` say which file, or which text, each `//#include <slot>`
    brings in.
    """
    named = tuple((name, int(value)) for name, value in (constants or {}).items())
    given = tuple((slots or {}).items())
    # A text in place is the caller's own; those from files come again with every run.
    assemble = _assemble if any(isinstance(slot, Source) for _, slot in given) else _assembled
    return assemble(file, named, given)


def _assemble(file: str, constants: tuple[tuple[str, int], ...], slots: tuple[tuple[str, str | Source], ...]) -> Source:
    lines: list[str] = []
    origin: list[Line] = []
    for number, (name, value) in enumerate(constants, 1):
        lines.append(f"const {name}: u32 = {value}u;")
        origin.append(Line("<constants>", number))
    _expand(file, dict(slots), set(), lines, origin)
    given = [slot for _, slot in slots if isinstance(slot, Source)]
    blamed = next((slot.blamed for slot in given if slot.blamed), None)
    return Source(file, "\n".join(lines) + "\n", tuple(origin), not given, blamed)


_assembled = lru_cache(maxsize=1024)(_assemble)


def from_text(text: str, name: str = "<wgsl>") -> Source:
    """A source that the user wrote in place.

    Raises ShaderError for a text that is longer than `MOST_CHARACTERS`, or that is not UTF-8 without NUL.
    """
    if len(text) > MOST_CHARACTERS:
        told = f"{name}: the text has {len(text):,} characters; at most {MOST_CHARACTERS:,} are compiled"
        raise ShaderError(f"{told}: keep tables in buffers, and use loops", file=name, line=1)
    half = None if text.isascii() else _SURROGATE.search(text)
    for at, told in (
        (text.find("\0"), "a NUL character, which ends the text for a compiler; take it out"),
        (half.start() if half else -1, "half a character (a surrogate), which no file can hold; take it out"),
    ):
        if at >= 0:
            line = text.count("\n", 0, at) + 1
            raise ShaderError(f"{name}:{line}: {told}", file=name, line=line)
    count = text.count("\n") + 1
    return Source(name, text, tuple(Line(name, number) for number in range(1, count + 1)))


def _expand(file: str, slots: Mapping[str, str | Source], seen: set[str], lines: list[str], origin: list[Line]) -> None:
    seen.add(file)
    for number, text in enumerate(read(file).splitlines(), 1):
        found = _INCLUDE.match(text)
        if not found:
            lines.append(text)
            origin.append(Line(file, number))
            continue
        target = found.group(1)
        if target.startswith("<"):
            slot = target.strip("<>")
            if slot not in slots:
                raise ShaderError(f"{file}:{number}: nothing fills the slot <{slot}>", file=file, line=number)
            target = slots[slot]
        if isinstance(target, Source):
            lines.extend(target.text.split("\n"))
            origin.extend(target.origin)
        elif target not in seen:
            _expand(target, slots, seen, lines, origin)


def without_comments(text: str) -> tuple[str, int | None]:
    """The text with blanks for its comments, so that lines and columns stay, and where one begins that never ends.

    Block comments nest, and `//` means nothing inside one. Marks of direction, which are blanks to WGSL, are blanks.
    """
    text = text.translate(_MARKS)
    kept: list[str] = []
    at, begins = 0, []
    while at < len(text):
        found = (_NESTED if begins else _COMMENT).search(text, at)
        stop = found.start() if found else len(text)
        kept.append(_blank(text[at:stop]) if begins else text[at:stop])
        if found is None:
            break
        kept.append(_blank(found.group()))
        at = found.end()
        if found.group() == "/*":
            begins.append(found.start())
        elif found.group() == "*/":
            begins.pop()
    return "".join(kept), begins[-1] if begins else None


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


# Each run of each pass asks, and few texts are different.
@lru_cache(maxsize=1024)
def reflect(text: str) -> tuple[Binding, ...]:
    """The buffers that `text` declares, in order of group and number."""
    bare, _ = without_comments(text)
    found = [
        Binding(*map(int, (one, two) if first == "group" else (two, one)), name, address, access == "read_write")
        for first, one, second, two, address, access, name in _BINDING.findall(bare)
        if first != second
    ]
    return tuple(sorted(found))


def explain(source: Source, message: str, offset: int = 0) -> ShaderError:
    """A compiler's `message` about `source` as an error with file, line and caret.

    `offset` is the number of lines that were put in front of the text for the backend. Understands naga
    (`wgsl:LINE:COLUMN`) and Tint (`:LINE:COLUMN error:`), and looks for the place itself where naga names none.
    """
    place = re.search(r"wgsl:(\d+):(\d+)", message) or re.search(r":(\d+):(\d+) error", message)
    what = re.search(r"(?:parsing error:|error:)\s*(.+)", message)
    if what is None:
        # Validation faults: naga prints the reason last, behind a box-drawing gutter.
        told = [re.sub(r"^[\s│┌─=]+", "", row).strip() for row in message.splitlines()]
        reason = next((row for row in reversed(told) if row), "the shader did not compile")
    else:
        reason = what.group(1).strip()
        # naga's validation names the function first, and why it is invalid behind `=`.
        more = [row.strip()[1:].strip() for row in message.splitlines() if row.strip().startswith("=")]
        reason = ": ".join([reason, *(text for text in more if text)])
    number, column = (int(place.group(1)) - offset, int(place.group(2))) if place else (0, 0)
    for told, pattern, advice in _UNPLACED:
        named = re.search(told, message)
        every = re.finditer(pattern.format(*named.groups()), without_comments(source.text)[0]) if named else ()
        # Ours are right, so it is the caller's if there is one.
        found = min(every, key=lambda one: not source.is_callers(source.line_at(one.start(1))), default=None)
        if found:
            number = source.line_at(found.start(1))
            column = found.start(1) - source.text.rfind("\n", 0, found.start(1))
            reason = advice.format(found.group(1)) if advice else reason
    if source.blamed:
        # naga's advice is for whole shaders.
        instead = "; a text that stands inside a shader cannot enable it, so do without"
        reason = re.sub(r": note: You can enable this extension.*", instead, reason)
    if source.blamed and not (number and source.is_callers(number)):
        # What the caller gave compiles, and not together with what uses it.
        advice = "; give it the types of its signature, by WGSL's own names" if _OTHER_TYPE.search(reason) else ""
        reason = f"{reason} (where it is used, {source.locate(number) if number else source.name}){advice}"
        number, column = source.origin.index(source.blamed) + 1, 1
    if not number:
        return ShaderError(f"{source.name}: {reason}\n{message.strip()}", file=source.name)
    return _placed(source, number, column, reason)


def fault_at(source: Source, offset: int, reason: str) -> ShaderError:
    """What is wrong at a character of `source`, counted from 0, as an error with file, line and caret."""
    number = source.line_at(offset)
    return _placed(source, number, offset - source.text.rfind("\n", 0, offset), reason)


def _placed(source: Source, number: int, column: int, reason: str) -> ShaderError:
    where = source.locate(number)
    rows = source.text.split("\n")
    # Breaks that end no line of a file would move the caret's line.
    text = re.sub("[\v\f\r\x85\u2028\u2029]", " ", rows[number - 1].rstrip("\r")) if 0 < number <= len(rows) else ""
    # The caller knows its names without what was put behind those that clash.
    column -= len(RENAMED) * text[: column - 1].count(RENAMED)
    text, reason = text.replace(RENAMED, ""), reason.replace(RENAMED, "")
    # Of a line that no screen shows, what stands around the place.
    first = max(0, column - _SHOWN // 2) if len(text) > _SHOWN else 0
    text = text[first : first + _SHOWN]
    caret = " " * (column - 1 - first) + "^"
    return ShaderError(
        f"{where.file}:{where.line}:{column}: {reason}\n    {text}\n    {caret}",
        file=where.file,
        line=where.line,
        column=column,
    )
