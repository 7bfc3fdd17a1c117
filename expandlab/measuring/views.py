"""What a view of timings shows of many measurements, and what must be measured for it on a device at hand."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from expandlab.gpu import Device, resolve
from expandlab.measuring.grid import Cell
from expandlab.measuring.measurements import Measurements
from expandlab.measuring.progress import Progress
from expandlab.measuring.protocol import measure
from expandlab.measuring.workloads import from_recipe

# View -> what varies in it.
VIEWS = {
    "time": "size", "x_limit": "size", "time_skew": "skew", "x_limit_skew": "skew", "passes": "size", "memory": "size",
    "win_map": "map", "at_once": "at_once", "predicted": "size",
}  # fmt: skip
# The largest size is the one asked for; each step is a quarter of the next.
SIZE_STEPS = (6, 4, 2, 0)
SKEWS = (0.25, 0.5, 1.0, 2.0, 3.0)
MAP_MEANS, MAP_SKEWS = (2.0, 8.0, 32.0, 128.0), (0.25, 1.0, 2.0, 3.0)
AT_ONCE = (1, 2, 4, 8, 16, 32)
SMALLEST = 6
REPEATS, BATCH_MS, BUDGET_S = 7, 0.5, 0.3
_WARM_UP_S = (0.3, 0.02)


@dataclass(frozen=True)
class Choice:
    """Which measurements a view is about. kind, mean, p2 (power of two of the number of items): None = all of them."""

    view: str
    shown: tuple[str, ...]
    kind: str | None = None
    mean: float | None = None
    p2: int | None = None
    peers: bool = True


def chosen(measured: Iterable[Measurements], choice: Choice) -> list[Measurements]:
    """The measurements that a view is about, with the contenders shown. A mean or size that was not measured stands for
    the nearest that was."""
    varies = VIEWS[choice.view]
    found = [item for item in measured if item.total and not item.selects]
    if varies == "at_once":
        many = {_key(item) for item in found if item.at_once > 1}
        found = [item for item in found if _key(item) in many]
    else:
        found = [item for item in found if item.at_once == 1]
    if varies == "skew" and any(item.input.get("kind") == "lognormal" for item in found):
        found = [item for item in found if item.input.get("kind") == "lognormal"]
    elif varies in ("size", "at_once") and choice.kind is not None:
        mine = [item for item in found if item.input.get("kind") == choice.kind]
        # Many at once are seldom measured for every kind.
        found = mine if mine or varies == "size" else found
    if varies in ("size", "skew") and choice.mean is not None:
        found = _nearest(found, choice.mean, lambda item: float(item.input.get("mean") or 0))
    if choice.p2 is not None and (varies != "size" or choice.view in ("passes", "memory")):
        found = _nearest(found, 2.0**choice.p2, lambda item: 2.0 ** round(np.log2(item.total)))
    return [_with(item, choice) for item in found]


def _key(item: Measurements) -> tuple[str, str]:
    return item.counts_sha256, item.device


def _nearest(
    found: list[Measurements], wanted: float, value: Callable[[Measurements], float]
) -> list[Measurements]:  # fmt: skip
    values = {value(item) for item in found} - {0.0}
    if not values:
        return found
    best = min(values, key=lambda v: abs(np.log(v / wanted)))
    return [item for item in found if value(item) == best]


def _with(item: Measurements, choice: Choice) -> Measurements:
    kept = tuple(
        one for one in item.contenders
        if one.role in ("limit", "read")
        or (one.role == "peer" and choice.peers)
        or one.name.partition(" ")[0] in choice.shown
    )  # fmt: skip
    return dataclasses.replace(item, contenders=kept)


def plan(choice: Choice, seed: int = 0) -> list[Cell]:
    """The inputs that Run measures for a view, small ones first."""
    kind, mean = choice.kind or "uniform", choice.mean or 8.0
    top = max(SMALLEST, choice.p2 if choice.p2 is not None else 20)
    common = {"strategies": choice.shown, "repeats": REPEATS, "batch_ms": BATCH_MS, "budget_s": BUDGET_S, "seed": seed}

    def cell(power: int, kind: str = kind, mean: float = mean, **more: object) -> Cell:
        return Cell(kind=kind, items=max(1, round(2.0**power / mean)), mean=mean, **common, **more)

    varies = VIEWS[choice.view]
    if varies == "skew":
        return [cell(top, "lognormal", shape={"sigma": sigma}) for sigma in SKEWS]
    if varies == "map":
        return [cell(top, "lognormal", m, shape={"sigma": sigma}) for m in MAP_MEANS for sigma in MAP_SKEWS]
    if varies == "at_once":
        return [cell(max(SMALLEST, top - 5), at_once=k) for k in AT_ONCE]
    powers = sorted({max(SMALLEST, top - step) for step in SIZE_STEPS})
    return [cell(power) for power in powers]


def measure_view(
    choice: Choice,
    *,
    device: Device | str | int | None = None,
    seed: int = 0,
    predict: Callable[[np.ndarray], dict[str, float]] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> list[Measurements]:
    """Measure what a view shows. A cancelled run keeps the inputs that were measured, the last one with fewer samples.

    predict: says for counts the ms of every strategy before they are measured; kept beside the times.
    """
    dev, cancel = resolve(device), cancel or threading.Event()
    cells, found = plan(choice, seed), []
    for number, cell in enumerate(cells):
        if cancel.is_set():
            break
        options = cell.options() | {"warm_up_s": _WARM_UP_S[number > 0]}
        told = _of_all(on_progress, number, cells)
        predicted = None
        if predict is not None:
            if told is not None:
                told(Progress(0, 1, f"predicting for {dev.info.name}, which is measured once for it", 0.0))
            predicted = {"predicted_ms": predict(from_recipe(cell.recipe())[0])}
        taken = measure(
            cell.strategies, cell.recipe(), device=dev, cancel=cancel, leave_out=True,
            on_progress=told, about=predicted, **options,
        )  # fmt: skip
        if taken.of_role("contender") and taken.of_role("limit"):
            found.append(taken)
    return found


def _of_all(
    on_progress: Callable[[Progress], None] | None, number: int, cells: Sequence[Cell]
) -> Callable[[Progress], None] | None:  # fmt: skip
    """Progress of one input as a part of all."""
    if on_progress is None:
        return None

    def told(news: Progress) -> None:
        left = news.seconds_left * (len(cells) - number)
        text = f"{cells[number]}: {news.text}"
        on_progress(Progress(number * news.total + news.done, len(cells) * news.total, text, left))

    return told
