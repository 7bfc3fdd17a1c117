"""The types of values: enough of WGSL's inference to know which are arrays and structs, and how large."""

from __future__ import annotations

from expandlab.wgsl_limits import numbers
from expandlab.wgsl_limits.sizes import OTHER, Sizes, Type, array_of
from expandlab.wgsl_limits.tokens import Declaration, Text, in_order


class Values(Sizes):
    """variables: types of variables and constants by the names that they have where the text has come to. results: what
    the functions so far give back.
    """

    def __init__(self, text: Text):
        super().__init__(text)
        self.variables: dict[str, Type] = {}
        self.results: dict[str, Type] = {}

    def declare(self, item: Declaration) -> Type:
        """Add what is declared at module scope, a function aside; what it uses is known. Returns its type."""
        if item.kind == "struct":
            found = self.types[item.name] = self.struct(item)
        elif item.kind == "alias":
            found = self.types[item.name] = self.type_at(item.begin + 1)[0]
            alone = self.words[item.begin + 2] == ";"
            self.scalars[item.name] = self.scalars.get(self.words[item.begin + 1], "") if alone else ""
        else:
            found = self.variables[item.name] = self.declared_type(item.begin, item.end)
            if item.kind != "var":
                self.keep_number(item.name, item.begin, item.end)
        return found

    def declared_type(self, place: int, end: int) -> Type:
        """The type behind a name: the one written, or that of the value."""
        if self.words[place] == ":":
            return self.type_at(place + 1)[0]
        return self.type_of(place + 1, end) if self.words[place] == "=" else OTHER

    def keep_number(self, name: str, place: int, end: int) -> None:
        """The number of a const whose name stands before `place`, or that it has none."""
        equals = self.text.find(("=",), place, end)
        found = self.number_at(equals + 1, end) if equals < end else None
        if self.words[place] == ":":
            kind = self.scalars.get(self.words[place + 1], "")
            found = numbers.typed(found, kind) if kind in ("u32", "i32") else None
        if found is None:
            self.numbers.pop(name, None)
        else:
            self.numbers[name] = found

    def type_of(self, place: int, end: int) -> Type:
        """The type of the expression from `place` to `end` where it is an array, a struct or a pointer to one."""
        words, text = self.words, self.text
        signs: list[str] = []
        while place < end and words[place] in ("*", "&", "("):
            signs.append(words[place])
            place += 1
        name, called = words[place], words[place + 1] == "("
        behind = text.behind(place + 1) if called else place + 1
        if name == "array" and called:
            element = self.type_of(place + 2, text.find((",",), place + 2, behind - 1))
            found = array_of(element if element.size else Type(4), self.arguments(place + 1))
        elif called and name in self.results:
            found = self.results[name]
        elif not called and name in self.variables:
            found = self.variables[name]
        elif self.is_type(name):
            found, behind = self.type_at(place)
            behind = text.behind(behind) if words[behind] == "(" else end
        else:
            return OTHER
        part = found.part
        if found.pointee and ("*" in signs or words[behind] in (".", "[")):
            found = found.pointee
        # What follows the name binds tighter than the signs, what follows the brackets does not.
        found, place = self.follow(found, behind)
        part, closing = part or place > behind, signs.count("(")
        while closing and words[place] == ")":
            closing, place = closing - 1, place + 1
        more = words[place] in (".", "[")
        address = "&" in signs[:1] or (not more and next((sign for sign in signs if sign != "("), "") == "&")
        found, place = self.follow(found, place)
        if place < end and words[place] not in (",", ";", ")"):
            # Operators take no arrays and no structs, and make none.
            return OTHER
        return Type(0, pointee=found, part=part or more) if address else found

    def follow(self, found: Type, place: int, closing: int = 0) -> tuple[Type, int]:
        """The type that members and elements behind a value lead to, out of `closing` brackets around it."""
        while True:
            word = self.words[place]
            if word == ".":
                found, place = (found.members or {}).get(self.words[place + 1], OTHER), place + 2
            elif word == "[":
                found, place = found.element or OTHER, self.text.behind(place)
            elif word == ")" and closing:
                closing, place = closing - 1, place + 1
            else:
                return found, place

    def arguments(self, opens: int) -> int:
        """How many stand between the bracket at `opens` and its partner."""
        end, count, place = self.text.behind(opens) - 1, 0, opens + 1
        while place < end:
            place, count = self.text.find((",",), place, end) + 1, count + 1
        return count


def values_of(text: Text) -> Values:
    """What a text declares at module scope, functions aside."""
    values, declared = Values(text), text.declarations()
    for name in in_order(text, declared)[0]:
        if declared[name].kind != "fn":
            values.declare(declared[name])
    return values
