"""The words of a WGSL text, its brackets, and its declarations in the order in which they need one another.

No text is a fault here: what is not WGSL is left to the compiler, which says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from expandlab import wgsl

_LETTER = r"[^\x00-\x7f\s\x85\u200e\u200f\u2028\u2029]"
# `>` always stands alone, because it may end a template list; the rest are the longest that the standard has.
_TOKEN = re.compile(
    # Beyond ASCII, WGSL has letters and blanks alone.
    rf"(?:[A-Za-z_]|{_LETTER})(?:\w|{_LETTER})*|0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?l?[iufh]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?l?[iufh]?"
    r"|->|<<|&&|\|\||\+\+|--|[-+*/%&|^<=!]=|\S"
)
_BREAKS = str.maketrans(dict.fromkeys("\v\f\r\x85\u2028\u2029", "\n"))
_KINDS = {"fn", "struct", "alias", "const", "override", "var"}
_CLOSING = {")": "(", "]": "[", "}": "{"}
# So that a look ahead needs no check.
_BEYOND = 16
# Tokens that a search passes; no statement and no template list has more outside its brackets.
_FAR = 2048


@dataclass(frozen=True)
class Declaration:
    """One at module scope: its tokens are begin .. end - 1, the first behind its name. space: of a `var`, else ""."""

    kind: str
    name: str
    begin: int
    end: int
    space: str = ""
    attributes: frozenset[str] = frozenset()


class Text:
    """words: the tokens without comments. at: their offsets in the text. partner: of each bracket that opens, the token
    that closes it.
    """

    def __init__(self, source: wgsl.Source):
        self.source = source
        bare, _ = wgsl.without_comments(source.text.translate(_BREAKS))
        found = [(token.group(), token.start()) for token in _TOKEN.finditer(bare)]
        self.count = len(found)
        self.words = [word for word, _ in found] + [""] * _BEYOND
        self.at = [start for _, start in found] + [len(bare)] * _BEYOND
        self.partner: dict[int, int] = {}
        opened: list[int] = []
        for place, word in enumerate(self.words):
            if word in ("(", "[", "{"):
                opened.append(place)
            elif word in _CLOSING and opened and self.words[opened[-1]] == _CLOSING[word]:
                self.partner[opened.pop()] = place

    def behind(self, place: int) -> int:
        """The token behind the bracket that opens at `place`."""
        return self.partner.get(place, self.count - 1) + 1

    def find(self, wanted: Sequence[str], place: int, end: int) -> int:
        """The first of the words `wanted` from `place` on that no bracket encloses; `end` where there is none."""
        for _ in range(_FAR):
            if place >= end or self.words[place] in wanted:
                break
            place = self.partner.get(place, place) + 1
        return min(place, end)

    def template_end(self, place: int) -> int:
        """The `>` of the template list that opens at `place`."""
        depth = 0
        for at in range(place, min(self.count, place + _FAR // 4)):
            depth += (self.words[at] == "<") - (self.words[at] == ">")
            if depth == 0:
                return at
        return place

    def declarations(self) -> dict[str, Declaration]:
        """Those at module scope, by name."""
        found: dict[str, Declaration] = {}
        attributes: set[str] = set()
        place = 0
        while place < self.count:
            word = self.words[place]
            if word == "@":
                attributes.add(self.words[place + 1])
                place = self.behind(place + 2) if self.words[place + 2] == "(" else place + 2
                continue
            if word not in _KINDS:
                attributes = attributes if word not in (";", "}") else set()
                place += 1
                continue
            begin, space = place + 1, ""
            if word == "var" and self.words[begin] == "<":
                space, begin = self.words[begin + 1], self.template_end(begin) + 1
            stop = self.find(("{",) if word in ("fn", "struct") else (";",), begin, self.count)
            end = self.behind(stop) if stop in self.partner else stop
            name = self.words[begin]
            found[name] = Declaration(word, name, begin + 1, max(end, begin + 1), space, frozenset(attributes))
            attributes, place = set(), max(end, begin + 1)
        return found


def in_order(text: Text, declarations: dict[str, Declaration]) -> tuple[list[str], dict[str, int]]:
    """The names, each behind those that it uses, and how long the longest chain of uses below each is.

    A cycle, which is no WGSL, is cut somewhere.
    """
    uses = {
        name: list(dict.fromkeys(word for word in text.words[item.begin : item.end] if word in declarations))
        for name, item in declarations.items()
    }
    depth: dict[str, int] = {}
    order: list[str] = []
    for first in declarations:
        # No recursion: the chain may be long.
        waiting = [first]
        while waiting:
            name = waiting[-1]
            if name not in depth:
                depth[name] = 0
                waiting += [other for other in uses[name] if other not in depth]
                continue
            waiting.pop()
            if depth[name] == 0:
                depth[name] = 1 + max((depth[other] for other in uses[name]), default=0)
                order.append(name)
    return order, depth
