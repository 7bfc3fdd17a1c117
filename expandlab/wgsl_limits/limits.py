"""The check of a shader before a compiler sees it.

naga and the drivers behind it end the process, or work for hours, on texts that nobody would write by hand: private
variables of 400 MB, ten thousand parentheses, a table of a million numbers. Where WGSL says how much an implementation
must support, that is the limit; the others are measured (`rules.py`, `nesting.py`).
"""

from __future__ import annotations

from expandlab import wgsl
from expandlab.wgsl_limits import nesting, rules
from expandlab.wgsl_limits.functions import Function, Reader
from expandlab.wgsl_limits.rules import Rules
from expandlab.wgsl_limits.tokens import Declaration, Text, in_order
from expandlab.wgsl_limits.values import Values

_ENTRIES = {"compute", "vertex", "fragment"}


def check(source: wgsl.Source, workgroup_bytes: int | None = None, *, by_naga: bool = True) -> None:
    """Raise ShaderError, with its place in the caller's text, for what a compiler need not survive.

    workgroup_bytes: what the device has for the variables in workgroup memory. by_naga: whether that is what compiles
    it. The package's own files pass unread.
    """
    if source.packaged:
        return
    text = Text(source)
    values = Values(text)
    rule = Rules(values)
    deep = nesting.too_deep(text)
    if deep is not None:
        rule.refuse(deep, f"{nesting.WHAT}: name parts of it with `let`, or use a function, a loop or a switch")
    declared = text.declarations()
    reader = Reader(rule, declared, by_naga)
    order, chain = in_order(text, declared)
    for name in order:
        if chain[name] > rules.CHAIN:
            told = f"{name} is the last of {chain[name]:,} declarations that each need the one before"
            rule.refuse(declared[name].begin - 1, f"{told}; at most {rules.CHAIN} are compiled: write some of them out")
        _declare(declared[name], rule, reader)
    for name, item in declared.items():
        if item.kind == "fn" and item.attributes & _ENTRIES:
            _entry(item, reader.functions[name], declared, rule, workgroup_bytes)


def _declare(item: Declaration, rule: Rules, reader: Reader) -> None:
    """One declaration; those that it uses are known."""
    values, place = rule.values, item.begin - 1
    if item.kind == "fn":
        reader.read(item)
        return
    found = values.declare(item)
    if item.kind == "struct":
        rule.most(place, len(found.members), rules.MEMBERS, f"members of {item.name}", "use arrays")
    elif item.kind != "alias":
        if item.kind != "var":
            rule.value(found, place)
        rule.constructors(item.begin, item.end)
    rule.nesting(found, place)


def _entry(
    item: Declaration, entry: Function, declared: dict[str, Declaration], rule: Rules, workgroup_bytes: int | None
) -> None:
    """What one shader comes to, with everything that it calls."""
    sizes = rule.values.variables
    shared = sorted(name for name in entry.uses if declared[name].space == "workgroup")
    if shared and "compute" not in item.attributes:
        # naga lets it pass, and lavapipe ends the process.
        place = max((declared[name].begin for name in shared), key=rule.is_callers) - 1
        stage = " and ".join(sorted(item.attributes & _ENTRIES))
        told = f"only compute shaders have workgroup memory, and this text runs in a {stage} shader"
        rule.refuse(place, f"{told}: use a private variable, a buffer, or another strategy")
    whose_entry = item.name if rule.is_callers(item.begin) else "the shader"
    for space, most, whose in (
        ("private", rules.PRIVATE_BYTES, "WGSL promises"),
        ("workgroup", workgroup_bytes, "the device has"),
    ):
        used = [declared[name] for name in sorted(entry.uses) if declared[name].space == space]
        for other in used:
            if sizes[other.name].size is None:
                rule.refuse(other.begin - 1, f"the size of the {space} variable {other.name} {rules.UNKNOWN}")
        total = sum(sizes[other.name].size for other in used)
        if most is not None and total > most:
            largest = max(used, key=lambda other: (rule.is_callers(other.begin), sizes[other.name].size))
            told = f"the {space} variables that {whose_entry} uses take {total:,} bytes"
            rule.refuse(largest.begin - 1, f"{told}; {whose} {most:,}: make them smaller, or use a buffer")
