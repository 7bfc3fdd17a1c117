"""The limits in numbers, and how a text that goes beyond one is refused.

What WGSL promises that every implementation supports: "Limits", https://www.w3.org/TR/WGSL/#limits.
"""

from __future__ import annotations

from typing import NoReturn

from expandlab import wgsl
from expandlab.wgsl_limits.sizes import Type
from expandlab.wgsl_limits.values import Values

# WGSL's: bytes of a function's variables, and of the private ones that a shader uses; elements of an array value;
# composite types one inside the other; members; parameters; values of a switch.
FUNCTION_BYTES = PRIVATE_BYTES = 8192
ELEMENTS, COMPOSITES, MEMBERS, PARAMETERS, SELECTORS = 2047, 15, 1023, 255, 1023
# The largest value: as many elements as WGSL promises, each a mat4x4<f32>.
VALUE_BYTES = ELEMENTS * 64
# Ours. With a stack of 512 KiB naga ended the process between 1000 and 3000 declarations that each need the next.
CHAIN = 512
# Drivers put a function's code where it is called. lavapipe (LLVM 15) took 25 s for 14 000 tokens of statements that
# store, and four times as long for twice as many.
TOKENS = 2**16
# It took as long for whole arrays, element by element.
BYTES_A_TOKEN = 64
# Each call has variables of its own, for each of the up to 16 lanes that a CPU driver runs at once on one stack.
CALLED_BYTES = 16 * FUNCTION_BYTES

UNKNOWN = "cannot be worked out; write the number of elements as a number, or as a const that is one"


class Rules:
    """Each method raises ShaderError where the text breaks the rule."""

    def __init__(self, values: Values):
        self.values, self.text, self.words = values, values.text, values.words

    def refuse(self, place: int, reason: str) -> NoReturn:
        """The error, at a token."""
        raise wgsl.fault_at(self.text.source, self.text.at[place], reason)

    def is_callers(self, place: int) -> bool:
        """Whether a token stands in text that is not the package's."""
        source = self.text.source
        return source.is_callers(source.line_at(self.text.at[place]))

    def most(self, place: int, count: int, most: int, what: str, advice: str) -> None:
        """No more than WGSL promises of something that is counted."""
        if count > most:
            self.refuse(place, f"{count:,} {what}; WGSL promises {most:,}: {advice}")

    def nesting(self, found: Type, place: int) -> None:
        """Composite types one inside the other."""
        advice = "use a flat array and compute the index"
        self.most(place, found.depth, COMPOSITES, "arrays, structs and vectors one inside the other", advice)

    def value(self, found: Type, place: int) -> None:
        """A value that is held as one: a constant, an argument, what a variable is set to."""
        if (found.size or 0) > VALUE_BYTES:
            told = f"a value of {found.size:,} bytes; at most {VALUE_BYTES:,} are held as one"
            self.refuse(place, f"{told}: keep it in a buffer and read single elements")

    def constructors(self, begin: int, end: int) -> int:
        """Arrays and structs that are made between two tokens; returns their bytes."""
        made = 0
        for place in range(begin, end):
            word, advice = self.words[place], "keep it in a buffer"
            called = self.words[place + 1] == "("
            if word == "array" and called:
                self.most(place, self.values.arguments(place + 1), ELEMENTS, "elements of an array value", advice)
            elif word == "array" or (called and word in self.values.types):
                found, behind = self.values.type_at(place)
                if self.words[behind] == "(":
                    self.most(place, found.count or 0, ELEMENTS, "elements of an array value", advice)
                    self.value(found, place)
                    made += found.size or 0
        return made
