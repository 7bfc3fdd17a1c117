"""Reading the two forms of relic files that people have on disk: scanners' exports and optimizers' saves.

Both are JSON with a list `relics`. An entry that makes no sense raises RelicsError with its position and the reason;
nothing is guessed and nothing is left out in silence.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from expandlab.errors import RelicsError
from expandlab.relics.model import Relic, Relics
from expandlab.relics.stats import MAIN, MAIN_OF_SLOT, MOST_LEVELS, SLOTS, SUB, largest_sub, main_value

_SCANNED_SLOTS = {**{slot: slot for slot in SLOTS}, "Planar Sphere": "PlanarSphere", "Link Rope": "LinkRope"}
# Scanners name a few stats in other ways than optimizers, and mark percentages with an underscore behind.
_SCANNED_STATS = {"CRIT Rate_": "CRIT Rate", "CRIT DMG_": "CRIT DMG", "Effect Hit Rate_": "Effect Hit Rate",
                  "Effect RES_": "Effect RES", "Break Effect_": "Break Effect", "HP_": "HP%", "ATK_": "ATK%",
                  "DEF_": "DEF%"}  # fmt: skip
_FLAT_MAINS = ("Head", "Hands")
# So much of a bad value stands in the message.
_SHOWN = 80
# A recognised value may be off by the digit that the game rounds away.
_SLACK = 1.02


def load(source: str | Path | Mapping[str, Any]) -> Relics:
    """Read relics from a JSON file of either form, or from the parsed JSON itself.

    Scanner export: entries with `slot`, `set`, `rarity`, `level`, `mainstat` and `substats` of `key` and `value`; a
    trailing underscore means percent; main stats have none even where they are percentages, and no size: it follows
    from rarity and level. Optimizer save: entries with `part`, `set`, `grade`, `enhance`, `main` and `substats` of
    `stat` and `value`. Extra fields are ignored; a relic without sub-stats is one.

    Raises RelicsError naming the first bad entry (counted from 0) and the reason, FileNotFoundError.
    """
    name, data = ("", source) if isinstance(source, Mapping) else (str(source), _parsed(Path(source)))
    entries = data.get("relics") if isinstance(data, Mapping) else None
    if not isinstance(entries, list):
        raise RelicsError(f"{name or 'source'}: has no list `relics`; give a scanner's export or an optimizer's save")
    relics = []
    for number, entry in enumerate(entries):
        try:
            relics.append(_relic(entry))
        except _Fault as fault:
            raise RelicsError(f"relics[{number}]: {fault}", entry=number) from None
    return Relics(tuple(relics), name)


class _Fault(Exception):
    """Why an entry is none."""


def _parsed(path: Path) -> Any:
    try:
        # Exports come with and without a byte-order mark.
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        # ValueError: no JSON, no UTF-8, or a number of thousands of digits.
        raise RelicsError(f"{path}: is not JSON ({error})") from None


def _relic(entry: Any) -> Relic:
    if not isinstance(entry, Mapping):
        raise _Fault(f"is {_shown(entry)}, not an object")
    if "slot" in entry or "mainstat" in entry:
        return _scanned(entry)
    if "part" in entry or "main" in entry:
        return _saved(entry)
    raise _Fault("has neither `slot` and `mainstat` (a scanner's export) nor `part` and `main` (an optimizer's save)")


def _scanned(entry: Mapping[str, Any]) -> Relic:
    slot = _one_of("slot", _field(entry, "slot"), _SCANNED_SLOTS)
    rarity, level = _stars(entry, "rarity"), _level(entry, "level", "rarity")
    stat = _scanned_main(slot, _field(entry, "mainstat"))
    subs = _subs(entry, "key", _scanned_sub)
    return Relic(slot, _set(entry), rarity, level, (stat, main_value(stat, rarity, level)), subs, _name(entry))


def _saved(entry: Mapping[str, Any]) -> Relic:
    slot = _one_of("part", _field(entry, "part"), {name: name for name in SLOTS})
    rarity, level = _stars(entry, "grade"), _level(entry, "enhance", "grade")
    main = _field(entry, "main")
    if not isinstance(main, Mapping):
        raise _Fault(f"main={_shown(main)} is not an object with `stat` and `value`")
    stat = _main_of(slot, _field(main, "stat", "main.stat"))
    size = _number("main.value", _field(main, "value", "main.value"))
    most = main_value(stat, rarity, MOST_LEVELS[rarity])
    # A main stat has its base at level 0 already, so 0 is a fault as well.
    if not 0 < size <= _SLACK * most:
        told = f"{stat} of a {rarity}-star relic lies above 0 and at most at {most:.4g}"
        raise _Fault(f"main.value={_shown(size)}: {told}")
    return Relic(slot, _set(entry), rarity, level, (stat, size), _subs(entry, "stat", _saved_sub), _name(entry))


def _scanned_main(slot: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _Fault(f"mainstat={_shown(value)} is not a text")
    stat = value.removesuffix("_")
    # HP, ATK and DEF are percentages everywhere but on the two slots that have flat ones.
    if slot not in _FLAT_MAINS and f"{stat}%" in MAIN:
        stat = f"{stat}%"
    return _main_of(slot, stat, "mainstat", value)


def _main_of(slot: str, stat: Any, field: str = "main.stat", given: Any = None) -> str:
    if isinstance(stat, str) and stat not in MAIN_OF_SLOT[slot] and f"{stat}%" in MAIN_OF_SLOT[slot]:
        stat = f"{stat}%"
    if stat not in MAIN_OF_SLOT[slot]:
        known = ", ".join(MAIN_OF_SLOT[slot])
        raise _Fault(f"{field}={_shown(given or stat)} cannot be on {slot}, which has one of {known}")
    return stat


def _scanned_sub(key: str) -> str:
    return _SCANNED_STATS.get(key, key)


def _saved_sub(key: str) -> str:
    return key


def _subs(entry: Mapping[str, Any], key: str, named: Callable[[str], str]) -> tuple[tuple[str, float], ...]:
    given = entry.get("substats", [])
    if not isinstance(given, list):
        raise _Fault(f"substats={_shown(given)} is not a list")
    if len(given) > 4:
        raise _Fault(f"substats: {len(given)} of them, and a relic has at most four")
    found: dict[str, float] = {}
    for number, item in enumerate(given):
        where = f"substats[{number}]"
        if not isinstance(item, Mapping):
            raise _Fault(f"{where}={_shown(item)} is not an object with `{key}` and `value`")
        stat = _field(item, key, f"{where}.{key}")
        stat = _one_of(f"{where}.{key}", named(stat) if isinstance(stat, str) else stat, {name: name for name in SUB})
        size = _number(f"{where}.value", _field(item, "value", f"{where}.value"))
        if stat in found:
            raise _Fault(f"{where}.{key}={_shown(stat)} stands there twice")
        if not 0 < size <= _SLACK * largest_sub(stat):
            raise _Fault(f"{where}.value={_shown(size)}: {stat} lies above 0 and at most at {largest_sub(stat):.4g}")
        found[stat] = size
    return tuple(found.items())


def _field(entry: Mapping[str, Any], name: str, where: str | None = None) -> Any:
    if name not in entry:
        raise _Fault(f"{where or name} is missing")
    return entry[name]


def _one_of(name: str, value: Any, known: Mapping[str, str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise _Fault(f"{name}={_shown(value)} is none of {', '.join(known)}")
    return known[value]


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
        raise _Fault(f"{name}={_shown(value)} is not a finite number")
    return float(value)


def _stars(entry: Mapping[str, Any], name: str) -> int:
    value = _field(entry, name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in MOST_LEVELS:
        raise _Fault(f"{name}={_shown(value)}: relics have {', '.join(map(str, sorted(MOST_LEVELS)))} stars")
    return int(value)


def _level(entry: Mapping[str, Any], name: str, stars: str) -> int:
    value, most = _field(entry, name), MOST_LEVELS[_stars(entry, stars)]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in range(most + 1):
        raise _Fault(f"{name}={_shown(value)}: with these stars a whole number from 0 to {most}")
    return int(value)


def _set(entry: Mapping[str, Any]) -> str:
    value = _field(entry, "set")
    if not isinstance(value, str) or not value:
        raise _Fault(f"set={_shown(value)} is not the name of a set")
    return _text("set", value)


def _name(entry: Mapping[str, Any]) -> str:
    for field in ("name", "_id", "id"):
        if isinstance(entry.get(field), str) and entry[field]:
            return _text(field, entry[field])
    return ""


def _text(name: str, value: str) -> str:
    """A text that can be printed and written to a file."""
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in value):
        raise _Fault(f"{name}={_shown(value)} has control characters, or half of a pair of surrogates")
    return value


def _shown(value: Any) -> str:
    """A value in a message: its beginning where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
