"""Bytes and nesting of the types of a WGSL text, and the whole numbers that its constants stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from expandlab.wgsl_limits import numbers
from expandlab.wgsl_limits.numbers import Number
from expandlab.wgsl_limits.tokens import Declaration, Text

_SCALARS = {"u32": 4, "i32": 4, "f32": 4, "bool": 4, "f16": 2, "u64": 8, "i64": 8, "f64": 8}
_SUFFIX = {"u": "u32", "i": "i32", "f": "f32", "h": "f16"}
_VECTOR, _MATRIX = re.compile(r"vec([234])([uifh]?)\Z"), re.compile(r"mat([234])x([234])([fh]?)\Z")
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
        self.numbers: dict[str, Number] = {}
        # What an alias of a scalar stands for.
        self.scalars = {name: name for name in _SCALARS}

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
        found = self.number_at(place, end)
        return found.value if found else None

    def number_at(self, place: int, end: int) -> Number | None:
        """That number with its type."""
        found, stop = self._number(place, end, 0)
        return found if stop == end else None

    def _number(self, place: int, end: int, least: int) -> tuple[Number | None, int]:
        """By precedence: a value and the operators behind it that bind as tight as `least` or tighter."""
        found, place = self._operand(place, end)
        while place < end and found is not None:
            # The tokens of `>>` stand alone, because `>` may end a template list.
            twice = self.words[place] == ">" and self.words[place + 1] == ">"
            sign = ">>" if twice else self.words[place]
            tight = numbers.PRECEDENCE.get(sign, -1)
            if tight < least:
                break
            right, place = self._number(place + 1 + twice, end, tight + 1)
            found = numbers.binary(sign, found, right)
        return found, place

    def _operand(self, place: int, end: int) -> tuple[Number | None, int]:
        word = self.words[place]
        if place >= end:
            return None, place
        if word in ("-", "~"):
            found, place = self._operand(place + 1, end)
            return numbers.unary(word, found), place
        if word == "(":
            return self.number_at(place + 1, self.text.behind(place) - 1), self.text.behind(place)
        if self.words[place + 1] != "(":
            return numbers.literal(word) or self.numbers.get(word), place + 1
        given, stop = self._arguments(place + 1), self.text.behind(place + 1)
        if numbers.is_call(word):
            return numbers.call(word, given), stop
        return numbers.cast(given[0], self.scalars.get(word, "")) if len(given) == 1 else None, stop

    def _arguments(self, opens: int) -> list[Number | None]:
        """The numbers between the bracket at `opens` and its partner."""
        found, at, close = [], opens + 1, self.text.behind(opens) - 1
        while at < close:
            comma = self.text.find((",",), at, close)
            found.append(self.number_at(at, comma))
            at = comma + 1
        return found


def _round_up(size: int, step: int) -> int:
    return -(-size // step) * step
