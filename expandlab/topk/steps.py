"""What a twin writes down while it runs: histograms, chosen buckets, bounds, survivors, queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from expandlab.results import Result

HOST = "host"


@dataclass(frozen=True, eq=False)
class Step(Result):
    """One thing that happened in a pass.

    pass_name: a pass, or `HOST` for what the host does behind the last one.
    what: `histogram` (counts), `bucket` (digit, taken, inside), `bound` (key, index), `survivors` (count, indices),
    `queue` (indices), `heap` (seen, inserted, indices, the worst first), `runs` (length, count, indices as they lie),
    `order` (indices as they lie; 2^32 - 1 where no item is) and so on; the data are
    numbers and NumPy arrays by those names.
    """

    pass_name: str
    what: str
    data: dict[str, Any]
