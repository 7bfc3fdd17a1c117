"""The settings of an expansion panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from expandlab.settings import checks
from expandlab.settings.base import CountsSettings


@dataclass(frozen=True)
class ExpansionSettings(CountsSettings):
    """Everything that determines an expansion panel's picture.

    source, items, mean, max_n, seed, shape, file, column, values: as of `CountsSettings`.
    strategy, compare: names of `strategies()`; `compare` is a second one beside it, or None.
    workgroup_size, subgroup_size: of the model, in threads and lanes.
    step: which step is shown, from 0; None = the finished map. thread: the selected thread, or None.
    device: None for the model, else the device whose recorded map is shown.
    """

    panel: str = "expansion"
    strategy: str = "po2_merged"
    compare: str | None = None
    workgroup_size: int = 64
    subgroup_size: int = 32
    step: int | None = None
    thread: int | None = None
    device: str | None = None

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "strategy": checks.one_of(checks.strategy_names),
        "compare": checks.one_of(checks.strategy_names, optional=True),
        "workgroup_size": checks.one_of(lambda: [32, 64, 128, 256]),
        "subgroup_size": checks.one_of(lambda: [4, 8, 16, 32, 64]),
        "step": checks.whole(0, 2**31 - 1, optional=True),
        "thread": checks.whole(0, 2**31 - 1, optional=True),
        "device": checks.text,
    }

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategy, and the one beside it."""
        return tuple(dict.fromkeys(name for name in (self.strategy, self.compare) if name))

    @property
    def stem(self) -> str:
        """The strategies and the source."""
        names = "-vs-".join(name for name in (self.strategy, self.compare) if name)
        return f"{self.panel}-{names}-{self.source}"
