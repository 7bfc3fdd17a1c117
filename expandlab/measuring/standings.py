"""How each contender stands against the best one, over many inputs: what a choice costs where it is the wrong one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from expandlab.measuring.measurements import Measurements

if TYPE_CHECKING:
    import pandas as pd


def standings(measured: Iterable[Measurements]) -> pd.DataFrame:
    """The table of `Measurements.standings`."""
    import pandas as pd

    rows = []
    devices = set()
    if isinstance(measured, Measurements) or not isinstance(measured, Iterable):
        raise TypeError(f"measured={measured!r}: give a list of measurements; a sweep has them as .measurements")
    for item in measured:
        if not isinstance(item, Measurements):
            raise TypeError(f"measured: holds {item!r}; give measurements, as `measure` returns them")
        ms = {one.name: one.gpu.median for one in item.of_role("contender") if one.gpu_ms and one.gpu.median > 0}
        devices.add(item.device)
        best = min(ms.values(), default=0.0)
        rows += [{"contender": name, "ratio": value / best, "input": _told(item)} for name, value in ms.items()]
    if len(devices) > 1:
        raise ValueError(f"measured: of {len(devices)} devices ({', '.join(sorted(devices))}); give those of one")
    if not rows:
        raise ValueError("measured: holds no time; measure something first")
    table = pd.DataFrame(rows)
    ratio = table.groupby("contender")["ratio"]
    worst = table.loc[ratio.idxmax()].set_index("contender")["input"]
    found = pd.DataFrame(
        {
            "inputs": ratio.size(),
            "first": ratio.agg(lambda each: (each == 1).sum()),
            "within_10": ratio.agg(lambda each: (each <= 1.1).sum()),
            "median": ratio.median(),
            "worst": ratio.max(),
            "worst_at": worst,
        }
    )
    return found.sort_values(["median", "worst"]).rename_axis(None)


def _told(item: Measurements) -> str:
    mean = item.input.get("mean")
    return f"{item.input['kind']}{'' if mean is None else f', mean {mean:g}'}, {item.size}"
