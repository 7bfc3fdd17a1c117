"""Bytes and nesting of the types of a WGSL text, and the whole numbers that its constants stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from expandlab.wgsl_limits.tokens import Declaration, Text

_SCALARS = {"u32": 4, "i32": 4, "f32": 4, "bool": 4, "f16": 2, "u64": 8, "i64": 8, "f64": 8}
_SUFFIX = {"u": "u32", "i": "i32", "f": "f32", "h": "f16"}
_VECTOR, _MATRIX = re.compile(r"vec([234])([uifh]?)\Z"), re.compile(r"mat([234])x([234])([fh]?)\Z")
_INTEGER = re.compile(r"(0[xX][\da-fA-F]+|\d+)l?[iu]?\Z")
_OPERATORS = {
    "|": (1, int.__or__), "^": (2, int.__xor__), "&": (3, int.__and__), "<<": (4, int.__lshift__),
    "+": (5, int.__add__), "-": (5, int.__sub__), "*": (6, int.__mul__),
    "/": (6, lambda a, b: _towards_zero(a, b)), "%": (6, lambda a, b: a - b * _towards_zero(a, b)),
}  # fmt: skip
_CASTS = {"u32", "i32", "u64", "i64", "abs"}
_OF_SEVERAL = {"min": min, "max": max, "clamp": lambda value, low, high: min(max(value, low), high)}
_BITS = 64
# Types that are read inside others; WGSL promises less.
_DEEP = 32


@dataclass(frozen=True)
class Type:
    """A type as far as its size goes.

    size: bytes; None where it cannot be worked out; 0 for what no limit here is about. depth: composites one inside the
    other. element, count: of an array. members: of a struct. pointee: what a pointer points to. part: whether that is a
    part of a variable.
    """

    size: int | None
    align: int = 4
    depth: int = 0
    element: Type | None = None
    count: int | None = None
    members: Mapping[str, Type] | None = None
    pointee: Type | None = None
    part: bool = False


OTHER = Type(0)


def array_of(element: Type, count: int | None) -> Type:
    """`array<element, count>`; the count is None where it cannot be worked out."""
    stride = None if element.size is None else _round_up(element.size, element.align)
    size = None if count is None or stride is None else max(0, count) * stride
    return Type(size, element.align, element.depth + 1, element, count)


class Sizes:
    """Types and numbers by the names that they have where the text has come to; the owner adds each in order."""

    def __init__(self, text: Text):
        self.text, self.words = text, text.words
        self.types: dict[str, Type] = {}
        self.numbers: dict[str, int] = {}

    def type_at(self, place: int, inside: int = 0) -> tuple[Type, int]:
        """The type that is written at `place`, `inside` so many others, and the token behind it."""
        if inside > _DEEP:
            return Type(0, depth=_DEEP), place + 1
        name, place = self.words[place], place + 1
        inner: Type | None = None
        if self.words[place] != "<":
            return self._named(name, None), place
        end = self.text.template_end(place)
        if name == "array":
            element, place = self.type_at(place + 1, inside + 1)
            if self.words[place] != ",":
                # As long as its buffer.
                return Type(0, element.align, element.depth + 1, element), place + 1
            stop = self.text.find((",", ">", ";"), place + 1, self.text.count)
            found = array_of(element, self.number(place + 1, stop))
            return found, stop + 1 + (self.words[stop] == "," and self.words[stop + 1] == ">")
        if name == "ptr":
            inner, _ = self.type_at(self.text.find((",",), place, end) + 1, inside + 1)
            return Type(0, pointee=inner), end + 1
        if name == "atomic" or _VECTOR.match(name) or _MATRIX.match(name):
            inner, _ = self.type_at(place + 1, inside + 1)
        return self._named(name, inner), end + 1

    def is_type(self, name: str) -> bool:
        """Whether a value that begins with `name` may be of the type that is written there."""
        known = name == "array" or name in self.types or name in _SCALARS
        return known or bool(_VECTOR.match(name) or _MATRIX.match(name))

    def _named(self, name: str, inner: Type | None) -> Type:
        if name in self.types:
            return self.types[name]
        if name in _SCALARS:
            return Type(_SCALARS[name], _SCALARS[name])
        if name == "atomic" and inner:
            return inner
        shape = _VECTOR.match(name) or _MATRIX.match(name)
        if shape is None:
            return OTHER
        *sides, suffix = shape.groups()
        scalar = (inner.size if inner else None) or _SCALARS[_SUFFIX.get(suffix, "f32")]
        rows = int(sides[-1])
        align = scalar * (2 if rows == 2 else 4)
        if len(sides) == 1:
            return Type(scalar * rows, align, 1)
        return Type(int(sides[0]) * align, align, 2)

    def struct(self, item: Declaration) -> Type:
        """The struct that `item` declares."""
        place, size, align, depth = item.begin + 1, 0, 1, 0
        members: dict[str, Type] = {}
        own_size = own_align = None
        while place < item.end - 1:
            if self.words[place] == "@":
                end = self.text.behind(place + 2)
                if self.words[place + 1] in ("size", "align") and self.words[place + 2] == "(":
                    value = self.number(place + 3, self.text.find((",",), place + 3, end - 1))
                    own_size, own_align = (value, own_align) if self.words[place + 1] == "size" else (own_size, value)
                place = end if self.words[place + 2] == "(" else place + 2
                continue
            if self.words[place + 1] != ":":
                place += 1
                continue
            name = self.words[place]
            members[name], place = self.type_at(place + 2)
            member = members[name]
            at, given = max(own_align or member.align, 1), member.size if own_size is None else own_size
            size = None if size is None or given is None else _round_up(size, at) + given
            align, depth = max(align, at), max(depth, member.depth)
            own_size = own_align = None
        whole = None if size is None else _round_up(size, align)
        return Type(whole, align, depth + 1, members=members)

    def number(self, place: int, end: int) -> int | None:
        """The whole number that the tokens `place` .. `end` - 1 come to, or None where that cannot be worked out."""
        value, stop = self._number(place, end, 0)
        return value if stop == end else None

    def _number(self, place: int, end: int, least: int) -> tuple[int | None, int]:
        """By precedence: a value and the operators behind it that bind as tight as `least` or tighter."""
        value, place = self._operand(place, end)
        while place < end and value is not None:
            word = self.words[place]
            if word == ">" and self.words[place + 1] == ">":
                tight, apply, width = 4, int.__rshift__, 2
            elif word in _OPERATORS:
                (tight, apply), width = _OPERATORS[word], 1
            else:
                break
            if tight < least:
                break
            right, place = self._number(place + width, end, tight + 1)
            try:
                shift = tight == 4
                value = None if right is None or (shift and right >= _BITS) else apply(value, right)
            except (ZeroDivisionError, ValueError):
                value = None
            if value is not None and abs(value) >= 2**_BITS:
                value = None
        return value, place

    def _operand(self, place: int, end: int) -> tuple[int | None, int]:
        word = self.words[place]
        if place >= end:
            return None, place
        if word in ("-", "~"):
            value, place = self._operand(place + 1, end)
            return None if value is None else (-value if word == "-" else ~value), place
        if word == "(" or (word in _CASTS and self.words[place + 1] == "("):
            opens = place + (word != "(")
            value = self.number(opens + 1, self.text.behind(opens) - 1)
            return abs(value) if word == "abs" and value is not None else value, self.text.behind(opens)
        if word in _OF_SEVERAL and self.words[place + 1] == "(":
            stop = self.text.behind(place + 1)
            values, begin = [], place + 2
            while begin < stop - 1:
                comma = self.text.find((",",), begin, stop - 1)
                values.append(self.number(begin, comma))
                begin = comma + 1
            fits = len(values) == (3 if word == "clamp" else 2) and None not in values
            return _OF_SEVERAL[word](*values) if fits else None, stop
        found = _INTEGER.match(word)
        # Nobody means a number of more digits, and Python takes long for it.
        return (int(found[1], 0) if len(word) < 24 else None) if found else self.numbers.get(word), place + 1


def _round_up(size: int, step: int) -> int:
    return -(-size // step) * step


def _towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
