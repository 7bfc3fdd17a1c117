"""What a twin writes down while it runs: histograms, chosen buckets, bounds, survivors, queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from expandlab.results import Result


@dataclass(frozen=True, eq=False)
class Step(Result):
    """One thing that happened in a pass.

    what: `histogram` (counts), `bucket` (digit, taken, inside), `bound` (key, index), `survivors` (count, indices),
    `queue` (indices), `runs` (length, count) and so on; the data are numbers and NumPy arrays by those names.
    """

    pass_name: str
    what: str
    data: dict[str, Any]
