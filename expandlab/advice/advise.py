"""`advise`: the strategies ranked for some counts on a device, by a cost model that was fitted on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab import counts as _counts
from expandlab.advice.account import utilisation
from expandlab.advice.learning import SIZE, model_of
from expandlab.advice.model import CostModel, Prediction
from expandlab.expansion import strategies
from expandlab.expansion.arguments import obstacle
from expandlab.expansion.endings import store
from expandlab.expansion.passes import build, check_total
from expandlab.expansion.strategy import Sizes
from expandlab.gpu import Device, resolve
from expandlab.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Choice(Result):
    """One strategy as it is expected to do.

    predicted_ms: GPU time (on a software adapter and the reference, of the CPU). low_ms, high_ms: one standard
    deviation around it. scratch_bytes: between the passes. utilisation: of pass 2, as `ThreadMap.utilisation`.
    parts: ms by kind of work. reason: one sentence.
    """

    strategy: str
    predicted_ms: float
    low_ms: float
    high_ms: float
    scratch_bytes: int
    utilisation: float
    reason: str
    parts: dict[str, float]


@dataclass(frozen=True)
class Advice(Result):
    """The strategies for some counts, the fastest first.

    probability: that the first one is within 10 % of the truly fastest. refused: why others do not run here.
    """

    choices: tuple[Choice, ...]
    probability: float
    refused: dict[str, str]
    src_count: int
    total: int
    device: str
    timer: str
    software: bool

    def __repr__(self) -> str:
        return f"<Advice: {self.first.strategy}, {self.probability:.0%} sure, of {len(self.choices)} on {self.device}>"

    @property
    def first(self) -> Choice:
        """The one to take."""
        return self.choices[0]

    def __getitem__(self, name: str) -> Choice:
        """The choice called `name`."""
        for choice in self.choices:
            if choice.strategy == name:
                return choice
        raise KeyError(f"{name!r} is not ranked; there are {', '.join(item.strategy for item in self.choices)}")

    def frame(self) -> pd.DataFrame:
        """The ranking as a pandas table."""
        import pandas as pd

        names = ("strategy", "predicted_ms", "low_ms", "high_ms", "scratch_bytes", "utilisation", "reason")
        return pd.DataFrame([{name: getattr(item, name) for name in names} for item in self.choices])

    def _repr_html_(self) -> str:
        from html import escape

        note = "; software adapter: the CPU is measured" if self.software else ""
        head = f"{self.src_count:,} src, {self.total:,} items on {self.device}{note}; {self.probability:.0%} sure of "
        return f"<p>{escape(head + self.first.strategy)}</p>" + self.frame().to_html(
            index=False, float_format=lambda value: f"{value:.4g}"
        )


def advise(counts: Any, *, device: Device | str | int | None = None, refit: bool = False) -> Advice:
    """Rank the strategies for these counts on a device, without running them.

    counts: the N of every src, checked as `expand` checks them. device: as of `expand`.
    refit: measure the device again. The first call on a device measures all strategies on 22 small inputs for a second
        or two (some seconds on a software adapter) and keeps what an event of each kind costs there in the user's
        cache folder (EXPANDLAB_CACHE); later calls only count, which takes O(P1).

    Raises CountsError, DeviceError and OverflowError.
    """
    values = _counts.check(counts)
    total = check_total(values)
    dev = resolve(device)
    model = model_of(dev, refit=refit)
    s = model.statistics(values)
    refused, runs = {}, []
    for name, strategy in strategies().items():
        why = obstacle(strategy, values, dev)
        if why is None and name not in model.fits:
            why = f"it was not measured on {dev.info.name}"
        if why is None:
            runs.append(name)
        else:
            refused[name] = why
    found, sure = model.rank(runs, s)
    sizes = Sizes(len(values), total, SIZE, dev.subgroup_size)
    best = next(iter(found.values())).ms
    choices = tuple(
        _choice(name, each, s, sizes, best, number == 0) for number, (name, each) in enumerate(found.items())
    )
    return Advice(choices, sure, refused, len(values), total, dev.info.label, model.timer, dev.info.is_software)


def _choice(name: str, found: Prediction, s: Any, sizes: Sizes, best: float, first: bool) -> Choice:
    built = build(strategies()[name], sizes, store(sizes.max_dst))
    factor = float(np.exp(found.deviation))
    return Choice(
        strategy=name,
        predicted_ms=found.ms,
        low_ms=found.ms / factor,
        high_ms=found.ms * factor,
        scratch_bytes=built.scratch_bytes,
        utilisation=utilisation(name, s),
        reason=_reason(found, best, first),
        parts=found.parts,
    )


def _reason(found: Prediction, best: float, first: bool) -> str:
    """What most of the time goes into, and how it compares."""
    name = max(found.parts, key=lambda part: found.parts[part])
    share = found.parts[name] / found.ms if found.ms else 0.0
    head = "Fastest" if first else f"{found.ms / best:.3g} times the fastest" if best else "Slower"
    return f"{head}: {share:.0%} of its time goes into {found.says.get(name, name)}."


__all__ = ["Advice", "Choice", "CostModel", "advise"]
