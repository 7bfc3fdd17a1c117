"""The settings of the timings panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from expandlab import counts as _counts
from expandlab.measuring.measurements import MeasurementsError
from expandlab.measuring.packed import shipped, unpack
from expandlab.measuring.views import SMALLEST, VIEWS, Choice
from expandlab.settings import checks
from expandlab.settings.base import PanelSettings, SettingsError

# What Run measured on the user's own device.
OWN = "own"
MOST_SHOWN, LARGEST = 24, 25
MEANS = (2.0, 8.0, 24.0, 64.0, 256.0)


def sources() -> list[str]:
    """Where times may come from: the names of the package's own, and `OWN`."""
    return [*shipped(), OWN]


def _mean(value: Any) -> str | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if value is None or (number and 0 < value < 2**32) else "use a number above 0, or null for all"


def _packed(value: Any) -> str | None:
    if value is None:
        return None
    try:
        unpack(dict(value) if isinstance(value, Mapping) else value, "it")
    except MeasurementsError as error:
        return f"use what Run measured, or null; {error}"
    return None


@dataclass(frozen=True)
class TimingSettings(PanelSettings):
    """Everything that determines a picture of times.

    view: one of `VIEWS`. data: a name of `measuring.packed.shipped()`, or `own`: what `measured` holds.
    shown: names of `strategies()`. kind, mean, p2: which inputs, None = all; p2 is the power of two of the number of
    items. A mean or size that was not measured stands for the nearest that was. peers: whether other libraries are
    shown. seed: of what Run measures. measured: what Run found, as `measuring.packed.pack` writes it; None before.
    """

    panel: str = "timings"
    view: str = "x_limit"
    data: str = ""
    shown: tuple[str, ...] = (
        "append", "prefix_search", "lookback_search", "po2_buckets", "po2_merged", "po2_range", "workgroup_scan",
        "tile_search", "size_classes",
    )  # fmt: skip
    kind: str | None = "zipf"
    mean: float | None = 8.0
    p2: int | None = 20
    peers: bool = True
    seed: int = 0
    measured: Mapping[str, Any] | None = None

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "view": checks.one_of(lambda: list(VIEWS)),
        "data": checks.one_of(lambda: sources()),
        "shown": checks.some_of(checks.strategy_names, MOST_SHOWN),
        "kind": checks.one_of(lambda: [*_counts.kinds(), "standard_library"], optional=True),
        "mean": _mean,
        "p2": checks.whole(SMALLEST, LARGEST, optional=True),
        "peers": checks.flag,
        "seed": checks.whole(0, 2**53 - 1),
        "measured": _packed,
    }

    def __post_init__(self) -> None:
        if self.data == "":
            # The first that the package carries; without any there is only what is measured here.
            object.__setattr__(self, "data", sources()[0])
        super().__post_init__()
        object.__setattr__(self, "shown", tuple(self.shown))
        if self.measured is not None and self.data != OWN:
            raise SettingsError(f"data={self.data!r}: with measured times use 'own'", name="data")

    @property
    def choice(self) -> Choice:
        """Which measurements the picture is about."""
        return Choice(self.view, self.shown, self.kind, self.mean, self.p2, self.peers)

    @property
    def strategies(self) -> tuple[str, ...]:
        """None: the digests of the shaders that were timed are in the measurements."""
        return ()

    @property
    def stem(self) -> str:
        """The view and where the times come from."""
        return f"{self.panel}-{self.view}-{self.data}"
