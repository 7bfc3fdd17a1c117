"""The settings of the top-k panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from expandlab.settings import checks
from expandlab.settings.base import PanelSettings, SettingsError
from expandlab.topk import inputs, top_k_methods

# The document's own number of scores.
MOST_SCORES = 8_388_608
VIEWS = {
    "steps": "step by step, as the method's twin wrote it down",
    "stream": "bound by bound: the row in several passes, the bound carried on",
    "bus": "bytes over the bus, and times",
}
_TEXTS, _FLAGS = ("device", "driver", "timer"), ("software", "cancelled")
_NUMBERS = ("median_ms", "q1_ms", "q3_ms", "samples", "words_back")


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e12


def _row(row: Any) -> bool:
    return (
        isinstance(row, Mapping)
        and set(row) == {"method", "gpu_ms", *_NUMBERS}
        and isinstance(row["method"], str)
        and row["method"] in top_k_methods()
        and all(_number(row[name]) for name in _NUMBERS)
        and (row["gpu_ms"] is None or _number(row["gpu_ms"]))
    )


def _measured(value: Any) -> str | None:
    """A `SelectionTimes` as plain data, or None."""
    if value is None:
        return None
    told = "use what Run measured, or null"
    if not isinstance(value, Mapping) or set(value) != {"rows", "left_out", *_TEXTS, *_FLAGS}:
        return told
    good = isinstance(value["rows"], (list, tuple)) and all(map(_row, value["rows"]))
    good = good and all(isinstance(value[name], str) for name in _TEXTS)
    good = good and all(isinstance(value[name], bool) for name in _FLAGS)
    return None if good and isinstance(value["left_out"], Mapping) else told


@dataclass(frozen=True)
class TopKSettings(PanelSettings):
    """Everything that determines the picture of a top-k selection.

    n, k: the k best of n scores. kind, seed: of `expandlab.topk.inputs.scores`. largest: False for the smallest.
    method: a name of `top_k_methods()`. view: one of `VIEWS`. step: which one is shown, from 0; one beyond the last is
    the last. pushes: in how many passes a stream takes the row. measured: what Run found, a `SelectionTimes` as plain
    data, so that the picture follows from its settings alone; None before.
    """

    panel: str = "top_k"
    n: int = 65_536
    k: int = 64
    kind: str = "random"
    seed: int = 0
    largest: bool = True
    method: str = "radix_select"
    view: str = "steps"
    step: int = 0
    pushes: int = 10
    measured: Mapping[str, Any] | None = None

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "n": checks.whole(1, MOST_SCORES),
        "k": checks.whole(1, MOST_SCORES),
        "kind": checks.one_of(lambda: list(inputs.kinds())),
        "seed": checks.whole(0, 2**63 - 1),
        "largest": checks.flag,
        "method": checks.one_of(lambda: list(top_k_methods())),
        "view": checks.one_of(lambda: list(VIEWS)),
        "step": checks.whole(0, 2**31 - 1),
        "pushes": checks.whole(1, 64),
        "measured": _measured,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k > self.n:
            raise SettingsError(f"k={self.k:,}: there are only n={self.n:,} scores; lower k or raise n", name="k")

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods whose shaders the picture shows, each once."""
        timed = [row["method"] for row in self.measured["rows"]] if self.measured and self.view == "bus" else []
        return tuple(dict.fromkeys([self.method, *timed]))

    def scores(self) -> np.ndarray:
        """The scores that the settings mean: float32 `(n,)`."""
        return inputs.scores(self.kind, self.n, seed=self.seed)

    @property
    def stem(self) -> str:
        """The method, the scores and the view."""
        return f"{self.panel}-{self.method}-{self.kind}-{self.view}"
