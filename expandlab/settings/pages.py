"""The settings of the panels that show one page: what is drawn follows from them alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from expandlab.settings import checks
from expandlab.settings.base import CountsSettings

BUCKET_STRATEGIES = ("po2_buckets", "po2_merged", "po2_range")


@dataclass(frozen=True)
class BucketSettings(CountsSettings):
    """Everything that determines the picture of a bucket layout.

    strategy: one of `BUCKET_STRATEGIES`. src: the one whose bits are shown.
    room: the buffers are sized for so many times the src and the items that there are.
    rounded: whether each bucket's threads are rounded up to whole subgroups; False shows what happens without.
    workgroup_size, subgroup_size: of the model, in threads and lanes.
    """

    panel: str = "buckets"
    strategy: str = "po2_merged"
    src: int = 0
    room: int = 1
    rounded: bool = True
    workgroup_size: int = 64
    subgroup_size: int = 8

    CHECKS: ClassVar[Mapping[str, checks.Check]] = {
        "strategy": checks.one_of(lambda: list(BUCKET_STRATEGIES)),
        "src": checks.whole(0, 2**31 - 1),
        "room": checks.whole(1, 4096),
        "rounded": checks.flag,
        "workgroup_size": checks.one_of(lambda: [32, 64, 128, 256]),
        "subgroup_size": checks.one_of(lambda: [4, 8, 16, 32, 64]),
    }

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategy."""
        return (self.strategy,)

    @property
    def stem(self) -> str:
        """The strategy and the source."""
        return f"{self.panel}-{self.strategy}-{self.source}"
