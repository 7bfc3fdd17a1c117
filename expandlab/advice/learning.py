"""Short measurements of all strategies on one device, from which its cost model is fitted and kept."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from expandlab.advice.account import account
from expandlab.advice.model import Case, CostModel, cache_path, cases_of, fitted
from expandlab.advice.statistics import Statistics
from expandlab.errors import ExpandlabError
from expandlab.expansion import strategies
from expandlab.expansion.arguments import runs
from expandlab.expansion.endings import store
from expandlab.expansion.passes import build
from expandlab.expansion.strategy import Sizes
from expandlab.gpu import Device, open_device
from expandlab.measuring import Measurements, Progress, measure
from expandlab.measuring.contender import graph_digest
from expandlab.measuring.workloads import from_recipe
from expandlab.versions import commit

SIZE = 256
# The inputs: kind, parameters, mean, and the share of the largest size. They span even and skewed N, few and many
# empty src, and sizes from launch-bound to bandwidth-bound. Shares are less where the largest is small, so that the
# smallest input has SHORTEST items: with fewer a run is all front end.
_ZIPF = {"max_n": 4096}
INPUTS: tuple[tuple[str, dict, float, int], ...] = (
    ("uniform", {}, 16, 1),
    ("zipf", _ZIPF, 16, 1),
    ("lognormal", {"shape": {"sigma": 1.0}}, 64, 1),
    ("one_giant", {}, 64, 1),
    ("bimodal", {}, 32, 4),
    ("geometric", {}, 6, 4),
    ("sparse", {}, 12, 4),
    ("constant", {}, 64, 4),
    ("lognormal", {"shape": {"sigma": 2.0}}, 128, 4),
    ("uniform", {}, 2, 16),
    ("zipf", _ZIPF, 64, 16),
    ("sparse", {"shape": {"fraction": 0.1}}, 64, 16),
    ("constant", {}, 1, 16),
    ("geometric", {}, 256, 16),
    ("one_giant", {}, 32, 16),
    ("uniform", {}, 8, 128),
    ("bimodal", {}, 256, 128),
    ("zipf", _ZIPF, 4, 128),
    ("sparse", {}, 16, 128),
    ("constant", {}, 32, 1024),
    ("lognormal", {"shape": {"sigma": 1.5}}, 128, 1024),
    ("geometric", {}, 2, 1024),
)
# Models that come with the package: docs/data/fit_h200.py makes that of an H200.
DEFAULTS = Path(__file__).parent / "defaults"
# The largest input takes about this long to be filled, within what every device's default limits hold.
_FILL_MS = 0.05
SMALLEST, LARGEST = 2**12, 2**23
# On a software adapter a fill says what else the processor does, so the size is given, and what it does disturbs times,
# so they are taken more often.
LARGEST_SOFTWARE, REPEATS, REPEATS_SOFTWARE = 2**16, 3, 5
SHORTEST = 2**9
# A strategy is not measured on inputs where it would do so many times the work of the others; there it has lost.
_WORK = 24


def learn(
    device: Device, *, repeats: int | None = None, on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> CostModel:  # fmt: skip
    """Measure and fit. Takes a second or two on a GPU, some seconds on a software adapter. A cancelled one fits what
    there is."""
    cancel = cancel or threading.Event()
    largest, first = _largest(device)
    repeats = repeats or (REPEATS_SOFTWARE if device.info.is_software else REPEATS)
    taken: list[Measurements] = []
    for number, (kind, more, mean, share) in enumerate(INPUTS):
        if cancel.is_set():
            break
        items = max(1, round(largest / share ** _narrowed(largest) / mean))
        recipe = {"kind": kind, "items": items, "mean": mean, "seed": 101 + number, **more}
        if on_progress is not None:
            on_progress(Progress(number, len(INPUTS), f"{kind}, mean {mean:g}, on {device.info.name}", 0.0))
        taken += measured(recipe, device, repeats)
    lanes = _lanes(device)
    return fitted(
        cases_of(taken, lanes, SIZE, fills=[first]),
        device=device.info.label, driver=device.info.driver, software=device.info.is_software,
        timer=taken[0].timer if taken else "none", lanes=lanes, workgroup_size=SIZE,
        shader_sha256=shaders(device.subgroup_size), commit=commit(),
    )  # fmt: skip


def _narrowed(largest: int) -> float:
    """The power of every share with which the smallest input has SHORTEST items; at most 1."""
    widest = max(share for *_, share in INPUTS)
    return float(min(1.0, max(0.0, np.log(largest / SHORTEST) / np.log(widest)))) if widest > 1 else 1.0


def _lanes(device: Device) -> int:
    return Sizes(1, 1, SIZE, device.subgroup_size).align


def measured(recipe: dict, device: Device, repeats: int) -> list[Measurements]:
    """What runs there within reason; drawing apart, for it can spoil a software driver's timestamps for good."""
    values, _ = from_recipe(recipe)
    s = Statistics(values, _lanes(device), SIZE)
    names = [name for name in strategies() if runs(name, values, device) and _reasonable(name, s)]
    apart = [name for name in names if name == "draw_indirect_count" and device.info.kind == "cpu"]
    options = {"repeats": repeats, "batch_ms": 0.1, "budget_s": 0.1, "leave_out": True, "verify": "auto"}
    hot = 0.0 if device.info.is_software else 0.02
    found = [measure([n for n in names if n not in apart], recipe, device=device, warm_up_s=hot, **options)]
    if apart and (own := _another(device)) is not None:
        found.append(measure(apart, recipe, device=own, warm_up_s=0.0, **options))
    return found


@lru_cache(maxsize=4)
def _another(device: Device) -> Device | None:
    """The same adapter opened once more; None for a device of the user's own."""
    with contextlib.suppress(ExpandlabError):
        return open_device(device.info.index) if device.info.index >= 0 else None
    return None


def _reasonable(name: str, s: Statistics) -> bool:
    """Whether a strategy's work is within a factor of what all must do."""
    if name == "dispatch_each":
        return s.src <= 256
    if name == "atomic64_cas":
        return s.busy_src <= 1024
    heaviest = max((term.events for term in account(name).terms(s) if term.name not in ("probes",)), default=0.0)
    return heaviest <= _WORK * (s.src + s.items)


def _largest(device: Device) -> tuple[int, Measurements]:
    """Items of the largest input, from a fill of a middling one; and what that took at the full clock."""
    items = 2**16
    done = measure(["prefix_search"], {"kind": "constant", "items": items // 16, "mean": 16}, device=device, repeats=3,
                   warm_up_s=0.0 if device.info.is_software else 0.3, batch_ms=0.2)  # fmt: skip
    fill = done["fill"].gpu.median or 1e-3
    wanted = items * _FILL_MS / max(fill, 1e-6)
    if device.info.is_software:
        return LARGEST_SOFTWARE, done
    return int(min(max(2 ** round(np.log2(wanted)), SMALLEST), LARGEST)), done


@lru_cache(maxsize=4)
def _digests(subgroup_size: int | None) -> tuple[tuple[str, str], ...]:
    sizes = Sizes(1, 1, SIZE, subgroup_size)
    return tuple(
        (name, graph_digest(build(item, sizes, store(1)).graph)) for name, item in strategies().items() if item.passes
    )  # fmt: skip


def shaders(subgroup_size: int | None) -> dict[str, str]:
    """A digest of every strategy's shaders, so that a model of older ones is not believed."""
    return dict(_digests(subgroup_size))


def model_of(device: Device, *, refit: bool = False) -> CostModel:
    """The device's model: kept from before, shipped with the package, or fitted now and kept."""
    path = cache_path(device, SIZE)
    if not refit:
        for found in (_kept(path), _shipped(device)):
            if found is not None and found.shader_sha256 == shaders(device.subgroup_size):
                return found
    found = learn(device)
    # A folder that cannot be written costs the next process a second, not this one its answer.
    with contextlib.suppress(ExpandlabError):
        found.save(path)
    return found


def _kept(path: Path) -> CostModel | None:
    with contextlib.suppress(ExpandlabError):
        return CostModel.load(path) if path.is_file() else None
    return None


def _shipped(device: Device) -> CostModel | None:
    """The model in `defaults/` of a device of that name and driver."""
    for path in sorted(DEFAULTS.glob("*.json")):
        found = _kept(path)
        if found is not None and (found.device, found.driver) == (device.info.label, device.info.driver):
            return found
    return None


__all__ = ["Case", "learn", "model_of", "shaders"]
