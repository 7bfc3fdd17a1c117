"""How deep expressions and statements nest: compilers walk both by recursion, on the stack of the thread that calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from expandlab.wgsl_limits.tokens import Text

# Levels that a bracket, an operator and an `else` count for, by the stack that naga 29 used: in a thread with 512 KiB
# it ended the process between 128 and 150 brackets, 400 and 600 operators, 300 and 500 `else if`.
BRACKET, OPERATOR, ELSE = 4, 1, 2
MOST = 400
WHAT = f"more than {MOST} levels (an operator is one, a bracket {BRACKET}), too deep for the stack of a compiler"
# From loose to tight. What stands in brackets, signs in front and what follows a value come after all of them.
_CLASSES = (("||", "&&"), ("|", "^", "&"), ("<", ">", "<=", ">=", "==", "!="), ("<<",), ("+", "-"), ("*", "/", "%"))
_CLASS = {word: number for number, words in enumerate(_CLASSES) for word in words}
_TIGHT = len(_CLASSES)
_SIGNS = {"-", "--", "!", "~", "&", "&&", "*"}
_ENDS_VALUE = {")", "]"}


@dataclass
class _Level:
    """Between two brackets. depths: of the part of the expression that each class of operators made so far."""

    bracket: str
    depths: list[int] = field(default_factory=lambda: [0] * (_TIGHT + 1))
    # Of the expressions and statements before this one, and of the `else` that lead here.
    done: int = 0
    elses: int = 0

    def operator(self, number: int) -> int:
        """Everything tighter becomes the left side of an operator of class `number`."""
        depth = max(self.depths[number:]) + OPERATOR
        self.depths[number:] = [depth] + [0] * (_TIGHT - number)
        return depth

    def inside(self, depth: int) -> int:
        """The value here has something in brackets, a sign or a member, `depth` levels high."""
        self.depths[_TIGHT] += depth
        return self.depths[_TIGHT]

    def finish(self) -> int:
        """The expression ends; the levels of the deepest so far."""
        self.done = max(self.done, *self.depths)
        self.depths = [0] * (_TIGHT + 1)
        return self.done


def too_deep(text: Text) -> int | None:
    """The token at which something nests deeper than `MOST` levels, or None."""
    levels = [_Level("")]
    before = ""
    for place in range(text.count):
        word, level = text.words[place], levels[-1]
        depth = 0
        if word in ("(", "[", "{"):
            if word == "{":
                level.finish()
            levels.append(_Level(word))
        elif word in (")", "]", "}"):
            if len(levels) > 1:
                depth = levels.pop().finish()
                level = levels[-1]
            if word == "}":
                level.done = depth = max(level.done, depth + OPERATOR + ELSE * level.elses)
                level.elses = level.elses + 1 if text.words[place + 1] == "else" else 0
            else:
                depth = level.inside(depth + BRACKET)
        elif word in (",", ";", "="):
            depth = level.finish()
        elif word == ".":
            depth = level.inside(OPERATOR)
        elif word in _SIGNS and not (before in _ENDS_VALUE or before[:1].isalnum() or before[:1] == "_"):
            depth = level.inside(len(word) * OPERATOR)
        elif word in _CLASS:
            depth = level.operator(_CLASS[word])
        if depth > MOST:
            return place
        before = word
    # Brackets that are never closed nest all the same.
    depth = 0
    for level in reversed(levels):
        depth += level.finish() + BRACKET
    return text.count - 1 if depth > MOST + BRACKET else None
