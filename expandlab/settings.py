"""The settings of a panel as data: canonical JSON in, the same canonical JSON out, and nothing else accepted."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import ExpandlabError
from expandlab.results import Result

# A map of more threads than this is no longer a picture; the panels' controls stay below it.
MAX_PANEL_ITEMS = 1_000_000


class SettingsError(ExpandlabError, ValueError):
    """A setting that is unknown, of the wrong type, or out of range. `name` says which."""

    def __init__(self, message: str, *, name: str | None = None):
        super().__init__(message)
        self.name = name


@dataclass(frozen=True)
class ExpansionSettings(Result):
    """Everything that determines an expansion panel's picture.

    source: a kind of `counts.kinds()`, `standard_library`, or `file` (then `file` is its path, `column` its column).
    items, mean, max_n, seed, shape: as in `counts.make`. Of real data the first `items` are taken (None = all).
    strategy, compare: names of `strategies()`; `compare` is a second one beside it, or None.
    workgroup_size, subgroup_size: of the model, in threads and lanes.
    step: which step is shown, from 0; None = the finished map. thread: the selected thread, or None.
    device: None for the model, else the device whose recorded map is shown.
    """

    panel: str = "expansion"
    source: str = "zipf"
    items: int | None = 48
    mean: float = 6.0
    max_n: int | None = None
    seed: int = 0
    shape: Mapping[str, float] = field(default_factory=dict)
    file: str | None = None
    column: str | None = None
    strategy: str = "po2_merged"
    compare: str | None = None
    workgroup_size: int = 64
    subgroup_size: int = 32
    step: int | None = None
    thread: int | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            complaint = check(getattr(self, name))
            if complaint:
                raise SettingsError(f"{name}={getattr(self, name)!r}: {complaint}", name=name)
        if self.items is None and self.source not in ("standard_library", "file"):
            raise SettingsError("items=None: give the number of src when source is a distribution", name="items")
        if self.source == "file" and not self.file:
            raise SettingsError("file=None: give the path of the counts when source is 'file'", name="file")

    def counts(self) -> np.ndarray:
        """The N of every src that the settings mean: uint32. Raises CountsError, or ValueError for a bad shape."""
        if self.source == "standard_library":
            return _counts.standard_library()[: self.items]
        if self.source == "file":
            return _counts.load(self.file, column=self.column)[: self.items]
        return _counts.make(
            self.source, self.items, mean=self.mean, max_n=self.max_n, seed=self.seed, **dict(self.shape)
        )

    def replace(self, **changes: Any) -> ExpansionSettings:
        """The settings with some of them changed, checked again."""
        return dataclasses.replace(self, **changes)

    def to_json(self) -> str:
        """Canonical JSON: sorted keys, no blanks to differ in."""
        return json.dumps(self.to_dict(), sort_keys=True, indent=1)

    @classmethod
    def from_json(cls, text: str | Mapping[str, Any] | Path) -> ExpansionSettings:
        """Settings from JSON text, a mapping or a file. Raises SettingsError naming what is wrong."""
        if isinstance(text, Path):
            try:
                text = text.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(f"{text}: cannot be read as settings ({error})") from None
        if isinstance(text, str):
            try:
                text = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise SettingsError(f"the settings are not JSON ({error}); paste what Copy settings gave") from None
        if not isinstance(text, Mapping):
            raise SettingsError("the settings must be a JSON object; paste what Copy settings gave")
        known = {f.name for f in dataclasses.fields(cls)}
        unknown = sorted(set(text) - known)
        if unknown:
            raise SettingsError(f"{unknown[0]!r} is no setting; use {', '.join(sorted(known))}", name=unknown[0])
        return cls(**text)


def _whole(low: int, high: int, *, optional: bool = False) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        if value is None and optional:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
            return f"use a whole number from {low} to {high}" + (" or null" if optional else "")
        return None

    return check


def _one_of(names: Callable[[], list[Any]], *, optional: bool = False) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        allowed = names()
        if (value is None and optional) or (isinstance(value, type(allowed[0])) and value in allowed):
            return None
        return "use one of " + ", ".join(map(str, allowed)) + (" or null" if optional else "")

    return check


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, str) else "use text or null"


def _mean(value: Any) -> str | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if number and math.isfinite(value) and 0 <= value <= 2**32 - 1 else "use a number from 0 to 2^32 - 1"


def _shape(value: Any) -> str | None:
    good = isinstance(value, Mapping) and all(
        isinstance(k, str) and isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)
        for k, v in value.items()
    )
    return None if good else 'use an object of numbers, such as {} or {"exponent": 1.5}'


def _strategy_names() -> list[str]:
    from expandlab.expansion import strategies

    return list(strategies())


_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "panel": _one_of(lambda: ["expansion"]),
    "source": _one_of(lambda: [*_counts.kinds(), "standard_library", "file"]),
    "items": _whole(0, MAX_PANEL_ITEMS, optional=True),
    "mean": _mean,
    "max_n": _whole(0, 2**32 - 1, optional=True),
    "seed": _whole(0, 2**63 - 1),
    "shape": _shape,
    "file": _text,
    "column": _text,
    "strategy": _one_of(_strategy_names),
    "compare": _one_of(_strategy_names, optional=True),
    "workgroup_size": _one_of(lambda: [32, 64, 128, 256]),
    "subgroup_size": _one_of(lambda: [4, 8, 16, 32, 64]),
    "step": _whole(0, 2**31 - 1, optional=True),
    "thread": _whole(0, 2**31 - 1, optional=True),
    "device": _text,
}
