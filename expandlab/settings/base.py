"""What the settings of every panel share: where the N come from, and how settings are checked, written and read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import ExpandlabError
from expandlab.results import Result
from expandlab.settings import checks

# A map of more threads than this is no longer a picture; the panels' controls stay below it.
MAX_PANEL_ITEMS = 1_000_000
# Sources that are not made from a seed.
REAL = ("standard_library", "file", "list")
Same = TypeVar("Same", bound="PanelSettings")


class SettingsError(ExpandlabError, ValueError):
    """A setting that is unknown, of the wrong type, or out of range. `name` says which."""

    def __init__(self, message: str, *, name: str | None = None):
        super().__init__(message)
        self.name = name


@dataclass(frozen=True)
class PanelSettings(Result):
    """What determines a panel's picture. Settings are checked when made; equal ones make equal pictures."""

    panel: str = ""

    # Setting -> what is wrong with its value, or None. Those of a class come on top of those that it is built on.
    CHECKS: ClassVar[Mapping[str, Callable[[Any], str | None]]] = {}

    def __post_init__(self) -> None:
        for name, check in self._checks().items():
            complaint = check(getattr(self, name))
            if complaint:
                raise SettingsError(f"{name}={getattr(self, name)!r}: {complaint}", name=name)

    @classmethod
    def _checks(cls) -> dict[str, Callable[[Any], str | None]]:
        """The checks of the class and of those that it is built on; `panel` must be the class's own."""
        found: dict[str, Any] = {"panel": checks.one_of(lambda: [cls.panel])}
        for part in reversed(cls.__mro__):
            found |= part.__dict__.get("CHECKS", {})
        return found

    @property
    def strategies(self) -> tuple[str, ...]:
        """Names of the strategies whose shaders the picture shows, each once."""
        return ()

    @property
    def stem(self) -> str:
        """What a file with the picture is called, without its suffix."""
        return self.panel

    def replace(self: Same, **changes: Any) -> Same:
        """The settings with some of them changed, checked again."""
        return dataclasses.replace(self, **changes)

    def to_json(self) -> str:
        """Canonical JSON: sorted keys (those of a `graph` aside), no blanks to differ in."""
        return json.dumps(by_key(self.to_dict()), indent=1)

    @classmethod
    def from_json(cls: type[Same], text: str | Mapping[str, Any] | Path) -> Same:
        """Settings from JSON text, a mapping or a file. Raises SettingsError naming what is wrong."""
        found = plain(text)
        if found.get("panel", cls.panel) != cls.panel:
            told = f"panel={found['panel']!r}: these are settings of another panel; this one takes {cls.panel!r}"
            raise SettingsError(told, name="panel")
        known = {f.name for f in dataclasses.fields(cls)}
        unknown = sorted(set(found) - known)
        if unknown:
            raise SettingsError(f"{unknown[0]!r} is no setting; use {', '.join(sorted(known))}", name=unknown[0])
        return cls(**found)


@dataclass(frozen=True)
class CountsSettings(PanelSettings):
    """Where the N of every src come from: the part of a panel's settings that all panels of expansion have.

    source: a kind of `counts.kinds()`; `standard_library`; `file` (then `file` is its path, `column` its column); or
    `list` (then `values` are the N themselves).
    items, mean, max_n, seed, shape: as in `counts.make`. Of real data the first `items` are taken (None = all); a list
    is taken as it is.
    """

    source: str = "zipf"
    items: int | None = 48
    mean: float = 6.0
    max_n: int | None = None
    seed: int = 0
    shape: Mapping[str, float] = field(default_factory=dict)
    file: str | None = None
    column: str | None = None
    values: tuple[int, ...] | None = None

    CHECKS: ClassVar[Mapping[str, Callable[[Any], str | None]]] = {
        "source": checks.one_of(lambda: [*_counts.kinds(), *REAL]),
        "items": checks.whole(0, MAX_PANEL_ITEMS, optional=True),
        "mean": checks.mean,
        "max_n": checks.whole(0, 2**32 - 1, optional=True),
        "seed": checks.whole(0, 2**63 - 1),
        "shape": checks.shape,
        "file": checks.text,
        "column": checks.text,
        "values": checks.whole_numbers(2**32 - 1, 4096),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values is not None:
            object.__setattr__(self, "values", tuple(int(value) for value in self.values))
        if self.items is None and self.source not in REAL:
            raise SettingsError("items=None: give the number of src when source is a distribution", name="items")
        if self.source == "file" and not self.file:
            raise SettingsError("file=None: give the path of the counts when source is 'file'", name="file")
        if self.source == "list" and self.values is None:
            raise SettingsError("values=None: give the N themselves when source is 'list'", name="values")

    def counts(self) -> np.ndarray:
        """The N of every src that the settings mean: uint32. Raises CountsError, or ValueError for a bad shape."""
        if self.source == "standard_library":
            return _counts.standard_library()[: self.items]
        if self.source == "file":
            return _counts.load(self.file, column=self.column)[: self.items]
        if self.source == "list":
            return np.array(self.values, np.uint32)
        return _counts.make(
            self.source, self.items, mean=self.mean, max_n=self.max_n, seed=self.seed, **dict(self.shape)
        )

    @property
    def stem(self) -> str:
        """The panel and the source."""
        return f"{self.panel}-{self.source}"


def by_key(value: Any) -> Any:
    """The same with sorted keys. A graph keeps its own order: its plan follows from what is declared first."""
    if isinstance(value, Mapping):
        return {key: part if key == "graph" else by_key(part) for key, part in sorted(value.items())}
    return [by_key(part) for part in value] if isinstance(value, (list, tuple)) else value


def plain(text: str | Mapping[str, Any] | Path) -> Mapping[str, Any]:
    """Settings as a mapping, not checked yet."""
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
    return text
