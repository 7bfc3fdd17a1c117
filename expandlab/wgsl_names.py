"""Names of the caller's WGSL beside those of the shaders that it stands in: what clashes gets another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from expandlab import wgsl
from expandlab.wgsl_limits.tokens import Text

# Words that naga takes for an access mode wherever they stand.
_WORDS = frozenset({"read", "write", "read_write"})
_DECLARED = re.compile(r"^(?:fn|struct|alias|const|override|var(?:\s*<[^<>]*>)?)\s+([A-Za-z_]\w*)", re.M)
# What our shaders use and do not declare: constants, which are put in front of them, and functions of WGSL's own, which
# a function of the caller's would hide from them.
_CONSTANT, _CALLED = re.compile(r"\b[A-Z][A-Z0-9_]*\b"), re.compile(r"\b([a-z]\w*)\s*\(")
# No function may be called like these.
_NO_FUNCTIONS = re.compile(
    r"(?:fn|if|for|while|loop|switch|case|return|else|array|bool|[uif](?:16|32)|(?:vec|mat)\w+)\Z"
)


def clashes(text: str, buffers: Iterable[str], folders: tuple[str, ...], keep: str) -> dict[str, str]:
    """New names for what the caller declares at module scope and our shaders call something of theirs.

    folders: of the shaders that stand around the text. keep: the function that we call.
    """
    if keep in buffers:
        raise ValueError(f"buffers[{keep!r}]: that is what the function is called; choose another name")
    words = Text(wgsl.from_text(text))
    mine = {*words.declarations(), *buffers} - {keep}
    taken = {*words.words, *buffers}
    found = {}
    for name in mine & names_of(folders):
        new = name + wgsl.RENAMED
        while new in taken:
            new += wgsl.RENAMED
        found[name] = new
    return found


def renamed(text: str, names: Mapping[str, str], what: str) -> wgsl.Source:
    """The caller's text with new names where they clash, line for line."""
    source = wgsl.from_text(text, what)
    if not names:
        return source
    words = Text(source)
    kept, at = [], 0
    members = set(_members(words))
    for place in range(words.count):
        name = words.words[place]
        # What follows a point is a member or a swizzle, and what follows @ an attribute.
        if name not in names or place in members or (place and words.words[place - 1] in (".", "@")):
            continue
        kept += [text[at : words.at[place]], names[name]]
        at = words.at[place] + len(name)
    return wgsl.from_text("".join([*kept, text[at:]]), what)


def _members(words: Text) -> Iterator[int]:
    """The tokens that declare a member of a struct."""
    for item in words.declarations().values():
        if item.kind == "struct":
            yield from (place for place in range(item.begin, item.end) if words.words[place + 1] == ":")


@cache
def names_of(folders: tuple[str, ...]) -> frozenset[str]:
    """What nothing of the caller's at module scope may be called beside the shaders in `folders`."""
    # The declarations of the caller's buffers bring `touch`.
    found = {"touch", *_WORDS}
    for folder in folders:
        for path in sorted((wgsl.folder() / folder).rglob("*.wgsl")):
            text, _ = wgsl.without_comments(path.read_text(encoding="utf-8"))
            text = re.sub(r"@\w+(?:\([^)]*\))?\s*", "", text)
            found.update(_DECLARED.findall(text), _CONSTANT.findall(text))
            found.update(name for name in _CALLED.findall(text) if not _NO_FUNCTIONS.match(name))
    return frozenset(found)
