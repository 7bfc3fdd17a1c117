"""Names of the caller's WGSL beside those of the shaders that it stands in: what clashes gets another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from expandlab import wgsl
from expandlab.wgsl_limits.tokens import Text

# https://www.w3.org/TR/WGSL/#keyword-summary: nothing may be called so, and a compiler says it.
_KEYWORDS = {
    "alias", "break", "case", "const", "const_assert", "continue", "continuing", "default", "diagnostic", "discard",
    "else", "enable", "false", "fn", "for", "if", "let", "loop", "override", "requires", "return", "struct", "switch",
    "true", "var", "while",
}  # fmt: skip
# Functions of WGSL's that hide behind names of ours, in shaders in which no text of a caller's stands.
_ELSEWHERE = frozenset({"round", "step"})
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*\Z")


def clashes(text: str, buffers: Iterable[str], folders: tuple[str, ...], keep: str) -> dict[str, str]:
    """New names for what the caller declares at module scope and our shaders call something of theirs, and for what our
    shaders declare, so that nothing of the caller's finds it.

    folders: of the shaders that stand around the text. keep: the function that we call.
    """
    if keep in buffers:
        raise ValueError(f"buffers[{keep!r}]: that is what the function is called; choose another name")
    words = Text(wgsl.from_text(text))
    declared = words.declarations()
    for name in buffers:
        if name in declared:
            raise ValueError(f"buffers[{name!r}]: the text declares {name} as well; choose another name")
    mine = {*declared, *buffers} - {keep}
    taken = {*words.words, *buffers}
    found = {}
    for name in (mine & names_of(folders)) | (taken & declared_in(folders) - {keep}):
        new = name + wgsl.RENAMED
        while new in taken:
            new += wgsl.RENAMED
        found[name] = new
    return found


def renamed(text: str, names: Mapping[str, str], what: str, keep: str) -> wgsl.Source:
    """The caller's text with new names where they clash, line for line. keep: the function that we call."""
    source = wgsl.from_text(text, what)
    words = Text(source)
    kept, at = [], 0
    members = set(_members(words))
    for place in range(words.count):
        name, before = words.words[place], words.words[max(0, place - 3) : place]
        # What follows a point is a member or a swizzle, what follows @ an attribute, and what stands in this one is no
        # name of the text.
        if name not in names or place in members or before[-1:] in (["."], ["@"]) or before == ["@", "builtin", "("]:
            continue
        kept += [text[at : words.at[place]], names[name]]
        at = words.at[place] + len(name)
    entry = words.declarations().get(keep)
    line = source.line_at(words.at[entry.begin - 1]) if entry else 1
    return replace(wgsl.from_text("".join([*kept, text[at:]]), what), blamed=wgsl.Line(what, line))


def _members(words: Text) -> Iterator[int]:
    """The tokens that declare a member of a struct."""
    for item in words.declarations().values():
        if item.kind == "struct":
            yield from (place for place in range(item.begin, item.end) if words.words[place + 1] == ":")


@cache
def declared_in(folders: tuple[str, ...]) -> frozenset[str]:
    """What the shaders in `folders` declare at module scope, and the constants that are put in front of them."""
    found = {"touch"}
    for words in _texts(folders):
        found.update(words.declarations())
        # WGSL itself has no such words.
        found.update(word for word in words.words if _CONSTANT.match(word))
    return frozenset(found) - _ELSEWHERE


@cache
def names_of(folders: tuple[str, ...]) -> frozenset[str]:
    """What nothing of the caller's at module scope may be called beside the shaders in `folders`."""
    # The declarations of the caller's buffers bring `touch`.
    found = {"touch"}
    for words in _texts(folders):
        # Whatever they use: what they declare, constants that are put in front of them, and WGSL's own types and
        # functions, which something of the caller's would hide from them.
        found.update(words.words)
    return frozenset(word for word in found if word.isidentifier()) - _KEYWORDS


@cache
def _texts(folders: tuple[str, ...]) -> tuple[Text, ...]:
    files = [path for folder in folders for path in sorted((wgsl.folder() / folder).rglob("*.wgsl"))]
    return tuple(Text(wgsl.from_text(path.read_text(encoding="utf-8"))) for path in files)
