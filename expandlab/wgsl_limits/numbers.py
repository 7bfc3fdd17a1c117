"""Whole numbers as WGSL's constants hold them: signed or unsigned 32 bits, or 64 before a type is given.

None stands for what cannot be worked out, or is no WGSL: https://www.w3.org/TR/WGSL/#arithmetic-expr and #bit-expr.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# The smallest and the greatest of a type; "" is AbstractInt.
_RANGES = {"": (-(2**63), 2**63 - 1), "i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1)}
_BITS = {"": 64, "i32": 32, "u32": 32}
_LITERAL = re.compile(r"(0[xX][\da-fA-F]+|0|[1-9]\d*)([iu]?)\Z")
# Nobody means a number of more digits, and Python takes long for it.
_DIGITS = 24
# How tight each binds.
PRECEDENCE = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_COUNTS = {"min": 2, "max": 2, "clamp": 3, "abs": 1}


class Number(NamedTuple):
    """A value and its type: `u32`, `i32`, or empty where it has none yet."""

    value: int
    kind: str = ""


def literal(word: str) -> Number | None:
    """What a token stands for."""
    found = _LITERAL.match(word) if len(word) < _DIGITS else None
    return _fit(int(found[1], 0), {"": "", "i": "i32", "u": "u32"}[found[2]]) if found else None


def typed(number: Number | None, kind: str) -> Number | None:
    """The number where one of `kind` is needed."""
    return _fit(number.value, kind) if number and number.kind in ("", kind) else None


def cast(number: Number | None, kind: str) -> Number | None:
    """`u32(number)` or `i32(number)`: the bits stay where there is a type."""
    if number is None or kind not in ("u32", "i32"):
        return None
    if number.kind == "":
        return _fit(number.value, kind)
    value = number.value % 2**32
    return Number(value - 2**32 if kind == "i32" and value >= 2**31 else value, kind)


def unary(sign: str, number: Number | None) -> Number | None:
    """`-number` or `~number`."""
    if number is None or (sign == "-" and number.kind == "u32"):
        return None
    value = -number.value if sign == "-" else ~number.value
    return _fit(value % 2**32 if number.kind == "u32" else value, number.kind)


def binary(sign: str, left: Number | None, right: Number | None) -> Number | None:
    """`left sign right`."""
    if left is None or right is None:
        return None
    if sign in ("<<", ">>"):
        if right.kind == "i32" or not 0 <= right.value < _BITS[left.kind]:
            return None
        value = left.value << right.value if sign == "<<" else left.value >> right.value
        found = _fit(value % 2**32 if left.kind == "u32" else value, left.kind)
        # A compiler may give the left one a type because the right one has one.
        return found if found is None or left.kind or not right.kind else typed(found, "i32") and found
    a, b = _same(left, right)
    if a is None or (sign in ("/", "%") and b.value == 0):
        return None
    quotient = abs(a.value) // max(1, abs(b.value)) * (1 if (a.value < 0) == (b.value < 0) else -1)
    value = {
        "|": a.value | b.value, "^": a.value ^ b.value, "&": a.value & b.value, "+": a.value + b.value,
        "-": a.value - b.value, "*": a.value * b.value, "/": quotient, "%": a.value - b.value * quotient,
    }[sign]  # fmt: skip
    return _fit(value % 2**32 if a.kind == "u32" else value, a.kind)


def call(name: str, given: list[Number | None]) -> Number | None:
    """`min`, `max`, `clamp` or `abs` of the numbers."""
    if len(given) != _COUNTS[name] or None in given:
        return None
    if name == "abs":
        return _fit(abs(given[0].value), given[0].kind)
    kinds = {number.kind for number in given if number.kind}
    kind = kinds.pop() if kinds else ""
    same = [typed(number, kind) for number in given]
    if kinds or None in same:
        return None
    first, *others = (number.value for number in same)
    value = min(max(first, others[0]), others[1]) if name == "clamp" else {"min": min, "max": max}[name](first, *others)
    return Number(value, kind)


def is_call(name: str) -> bool:
    """Whether `call` knows the function."""
    return name in _COUNTS


def _same(left: Number, right: Number) -> tuple[Number | None, Number | None]:
    """Both with the type that one of them has."""
    kind = left.kind or right.kind
    a, b = typed(left, kind), typed(right, kind)
    return (a, b) if a and b else (None, None)


def _fit(value: int, kind: str) -> Number | None:
    low, high = _RANGES[kind]
    return Number(value, kind) if low <= value <= high else None
