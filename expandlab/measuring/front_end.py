"""What the front end of a device costs: the same strategies on more and more src, all else equal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.gpu import Device, resolve
from expandlab.measuring.progress import Progress
from expandlab.measuring.protocol import measure
from expandlab.results import Result

# Sizes of a series, and rounds of each. A strategy that is slow takes part in the first rounds only.
SIZES, REPEATS, BUDGET_S = 5, 9, 1.5
# The device is warm after the first size.
_WARM_UP_S = (0.3, 0.05)


@dataclass(frozen=True)
class SeriesTime(Result):
    """Time of one run of a strategy on the first `src` src: median and quartiles, in ms, over `samples` runs."""

    strategy: str
    src: int
    median_ms: float
    q1_ms: float
    q3_ms: float
    samples: int


@dataclass(frozen=True)
class Series(Result):
    """Times over growing numbers of src on one device. left_out: strategy -> why it has no time. cancelled: sizes or
    runs are missing."""

    rows: tuple[SeriesTime, ...]
    device: str
    driver: str
    timer: str
    software: bool
    cancelled: bool
    left_out: dict[str, str]


def sizes_of(src_count: int, most: int = SIZES) -> list[int]:
    """Growing numbers of src from 1 to all, by about the same factor each."""
    if src_count < 1:
        return []
    return sorted({int(size) for size in np.geomspace(1, src_count, most).round()})


def measure_series(
    names: Sequence[str],
    counts: np.ndarray,
    *,
    device: Device | str | int | None = None,
    workgroup_size: int = 64,
    repeats: int = REPEATS,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> Series:
    """Times of the strategies on the first 1, ..., all of the counts; arguments as of `measure`.

    A strategy that cannot run on the device, or not with so many src, is left out with the reason. A modelled one is
    never measured.
    """
    dev = resolve(device)
    cancel = cancel or threading.Event()
    sizes = sizes_of(len(counts))
    rows: list[SeriesTime] = []
    left_out: dict[str, str] = {}
    timers: list[str] = []
    for number, size in enumerate(sizes):
        if cancel.is_set():
            break
        found = measure(
            list(names), counts[:size], device=dev, workgroup_size=workgroup_size, repeats=repeats, cancel=cancel,
            on_progress=_of_series(on_progress, number, len(sizes), size), warm_up_s=_WARM_UP_S[number > 0],
            budget_s=BUDGET_S, leave_out=True,
        )  # fmt: skip
        rows += [
            SeriesTime(row.name, size, row.median_ms, row.q1_ms, row.q3_ms, row.samples)
            for row in found.totals
            if row.samples
        ]
        left_out |= found.left_out
        timers.append(found.timer)
    return Series(
        rows=tuple(rows),
        device=dev.info.label,
        driver=dev.info.driver,
        timer=", ".join(dict.fromkeys(timers)) or "none",
        software=dev.info.is_software,
        cancelled=cancel.is_set(),
        left_out=left_out,
    )


def _of_series(
    on_progress: Callable[[Progress], None] | None, number: int, count: int, size: int
) -> Callable[[Progress], None] | None:
    """Progress of one size as a part of the whole series."""
    if on_progress is None:
        return None

    def told(news: Progress) -> None:
        left = news.seconds_left * (count - number)
        on_progress(
            Progress(number * news.total + news.done, count * news.total, f"{size:,} src: {news.text}", left)
        )  # fmt: skip

    return told


def per_src(rows: Sequence[Any]) -> tuple[float, float] | None:
    """(ms for nothing, us for each src) of times that grow in proportion to the src, or None below three sizes.

    Least squares of the relative errors, so that small sizes count as much as large ones; neither is below 0.
    """
    if len(rows) < 3:
        return None
    src = np.array([row.src for row in rows], float)
    time = np.maximum(np.array([row.median_ms for row in rows], float), 1e-9)
    table = np.stack([np.ones_like(src), src], axis=1) / time[:, None]
    (fixed, slope), *_ = np.linalg.lstsq(table, np.ones_like(src), rcond=None)
    if slope < 0 or fixed < 0:
        # One of the two explains the times alone.
        column = 0 if slope < 0 else 1
        best = float(table[:, column] @ np.ones_like(src) / (table[:, column] @ table[:, column]))
        fixed, slope = (best, 0.0) if column == 0 else (0.0, best)
    return float(fixed), float(slope) * 1000
