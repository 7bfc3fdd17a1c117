"""What one function takes: bytes of variables, tokens, what it uses; and what breaks a rule inside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from expandlab.wgsl_limits import rules
from expandlab.wgsl_limits.numbers import Number
from expandlab.wgsl_limits.rules import Rules
from expandlab.wgsl_limits.sizes import OTHER, Type
from expandlab.wgsl_limits.tokens import Declaration

# A name, and the type and the number that it stood for before.
Hidden = tuple[str, Type | None, Number | None]


@dataclass(frozen=True)
class Function:
    """A function with all that it calls, each call counted. uses: the variables at module scope.

    tokens: those of the text, and one for each `rules.BYTES_A_TOKEN` of an array or struct that is used as a whole.
    """

    tokens: int
    bytes: int
    uses: frozenset[str]


class Reader:
    """Reads functions, each behind those that it calls."""

    def __init__(self, rule: Rules, declared: Mapping[str, Declaration], by_naga: bool):
        self.by_naga = by_naga
        self.rule, self.values, self.words, self.text = rule, rule.values, rule.words, rule.text
        self.declared = declared
        self.functions: dict[str, Function] = {}

    def read(self, item: Declaration) -> None:
        """Add the function that `item` declares. Raises ShaderError for what breaks a rule."""
        if item.end - item.begin > rules.TOKENS:
            told = f"{item.name} has {item.end - item.begin:,} words"
            self.rule.refuse(item.begin - 1, f"{told}; at most {rules.TOKENS:,} are compiled: use loops")
        module, numbers = self.values.variables, self.values.numbers
        # What is declared inside hides what is outside, and is gone behind it.
        self.values.variables, self.values.numbers = dict(module), dict(numbers)
        close = self.text.behind(item.begin) - 1
        self._parameters(item, close)
        self.values.results[item.name] = self._result(item, close)
        begin = self.text.find(("{",), close, item.end)
        own, moved = self._variables(begin, item.end)
        words = self.words[begin : item.end]
        called = [word for word in words if word in self.functions]
        calls = [self.functions[word] for word in called]
        moved += sum(self.values.results[word].size or 0 for word in called)
        uses = {word for word in words if word in module}
        found = Function(
            len(words) + moved // rules.BYTES_A_TOKEN + sum(call.tokens for call in calls),
            own + sum(call.bytes for call in calls),
            frozenset(uses).union(*(call.uses for call in calls)),
        )
        self.functions[item.name] = found
        self.values.variables, self.values.numbers = module, numbers
        if found.bytes > rules.CALLED_BYTES:
            told = f"the variables of {item.name} and of all functions that it calls take {found.bytes:,} bytes"
            advice = "use buffers, or call in a loop"
            self.rule.refuse(self._blamed(item), f"{told}; at most {rules.CALLED_BYTES:,} are compiled: {advice}")
        if found.tokens > rules.TOKENS:
            told = f"{item.name} comes to {found.tokens:,} words with the functions written out where they are called"
            advice = "use loops, or fewer calls"
            self.rule.refuse(self._blamed(item), f"{told}; at most {rules.TOKENS:,} are compiled: {advice}")

    def _blamed(self, item: Declaration) -> int:
        """The place of the function, or of the caller's own that one of the package's calls."""
        while not self.rule.is_callers(item.begin):
            called = {word for word in self.words[item.begin : item.end] if word in self.functions} - {item.name}
            if not called:
                break
            item = self.declared[max(called, key=lambda name: self.functions[name].tokens)]
        return item.begin - 1

    def _parameters(self, item: Declaration, close: int) -> None:
        count = self.values.arguments(item.begin)
        advice = "pass a struct or an array"
        self.rule.most(item.begin - 1, count, rules.PARAMETERS, f"parameters of {item.name}", advice)
        for place in range(item.begin + 1, close):
            if self.words[place] == ":":
                found, _ = self.values.type_at(place + 1)
                self._check(found, place - 1)
                self.values.variables[self.words[place - 1]] = found

    def _result(self, item: Declaration, close: int) -> Type:
        place = close + 1
        if self.words[place] != "->":
            return OTHER
        place += 1
        while self.words[place] == "@":
            place = self.text.behind(place + 2) if self.words[place + 2] == "(" else place + 2
        found, _ = self.values.type_at(place)
        self._check(found, place)
        return found

    def _check(self, found: Type, place: int) -> None:
        self.rule.nesting(found, place)
        self.rule.value(found, place)

    def _variables(self, begin: int, end: int) -> tuple[int, int]:
        """Bytes of the variables between two tokens, and of what is used there as a whole."""
        total = moved = 0
        # Of each block that is open: where it ends, and what its names stood for before.
        blocks: list[tuple[int, list[Hidden]]] = [(end + 1, [])]
        for place in range(begin, end):
            word = self.words[place]
            while place >= blocks[-1][0]:
                self._leave(blocks.pop()[1])
            moved += self.rule.constructors(place, place + 1)
            if word == "{":
                blocks.append((self.text.behind(place), []))
            elif word == "for":
                # What it declares is known in its block, which follows its head.
                blocks.append((self.text.behind(self.text.behind(place + 1)), []))
            elif word == "var":
                name = self.words[self._name_of(place)]
                blocks[-1][1].append(self._hidden(name))
                total += self._variable(place, end)
                if total > rules.FUNCTION_BYTES:
                    told = f"the variables of this function take {total:,} bytes so far"
                    most = rules.FUNCTION_BYTES
                    self.rule.refuse(place, f"{told}; WGSL promises {most:,}: use a buffer, or workgroup memory")
            elif word in ("let", "const"):
                stop = self.text.find((";",), place, end)
                found = self.values.declared_type(place + 2, stop)
                self._check(found, place)
                blocks[-1][1].append(self._hidden(self.words[place + 1]))
                self.values.variables[self.words[place + 1]] = found
                if word == "const":
                    self.values.keep_number(self.words[place + 1], place + 2, stop)
            elif word == "switch":
                self._switch(place, end)
            elif word in self.values.variables and self.words[place - 1] not in ("&", "."):
                moved += self._whole(place)
            elif word in self.functions and self.by_naga:
                self._pointers(place)
        return total, moved

    def _hidden(self, name: str) -> Hidden:
        return name, self.values.variables.get(name), self.values.numbers.get(name)

    def _leave(self, hidden: list[Hidden]) -> None:
        """At the end of a block its names stand for what they did before."""
        for name, found, number in reversed(hidden):
            for known, before in ((self.values.variables, found), (self.values.numbers, number)):
                if before is None:
                    known.pop(name, None)
                else:
                    known[name] = before

    def _name_of(self, place: int) -> int:
        """The name of the `var` at `place`."""
        return self.text.template_end(place + 1) + 1 if self.words[place + 1] == "<" else place + 1

    def _variable(self, place: int, end: int) -> int:
        name = self._name_of(place)
        found = self.values.declared_type(name + 1, self.text.find((";",), name, end))
        self.rule.nesting(found, name)
        if found.size is None:
            self.rule.refuse(name, f"the size of {self.words[name]} {rules.UNKNOWN}")
        self.values.variables[self.words[name]] = found
        return found.size

    def _whole(self, place: int) -> int:
        """Bytes of the variable at `place`, or of what is taken of it, that are used as one value."""
        found = self.values.variables[self.words[place]]
        if self.words[place - 1] == "*" or self.words[place + 1] in (".", "["):
            found = found.pointee or found
        behind = self.words[place + 1] == ")" and self.words[place + 2] in (".", "[")
        found, _ = self.values.follow(found, place + 1, int(behind))
        self.rule.value(found, place)
        return found.size or 0

    def _pointers(self, place: int) -> None:
        """The pointers among the arguments of a call."""
        end, at = self.text.behind(place + 1) - 1, place + 2
        while self.words[place + 1] == "(" and at < end:
            stop = self.text.find((",",), at, end)
            if self.values.type_of(at, stop).part:
                # "Expression is not cached" in back/spv/block.rs of naga 29.0.3, which ends the process.
                told = f"{self.words[place]} is given a pointer to a part of a variable, which naga cannot compile"
                self.rule.refuse(at, f"{told}: copy the part to a variable, point to that, and write it back")
            at = stop + 1

    def _switch(self, place: int, end: int) -> None:
        """The values of the cases, `default` among them."""
        opens = self.text.find(("{",), place, end)
        close, count, at = self.text.behind(opens) - 1, 0, opens + 1
        while at < close:
            stop = self.text.find(("{", ":"), at, close)
            while at < stop:
                at, count = self.text.find((",",), at, stop) + 1, count + (self.words[at] != ":")
            body = self.text.find(("{",), stop, close)
            at = self.text.behind(body) if body < close else close
        self.rule.most(place, count, rules.SELECTORS, "values of a switch", "use an array or a buffer")
