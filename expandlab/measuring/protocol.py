"""The protocol: checked first, warmed up, taken in turns, beside the limits of the device. See docs/measuring.md."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from expandlab.errors import DeviceError, DeviceLimitError, UnsupportedError
from expandlab.gpu import Device, resolve
from expandlab.measuring.contender import Runs, Sample
from expandlab.measuring.measurements import Contender, Measurements
from expandlab.measuring.peers import PEERS
from expandlab.measuring.progress import Clock, Progress
from expandlab.measuring.references import stamps_hold
from expandlab.measuring.workloads import named, wanted, workload
from expandlab.results import to_plain
from expandlab.versions import commit, versions

# An idle GPU runs at a fraction of its clock; 300 ms of work bring it up.
WARM_UP_S = 0.3
# A sample shorter than this says more about its ends than about the work.
BATCH_MS = 1.0
# A sample lasts so many steps of a coarsened timer, so that a step is at most 5 % of it.
STEPS = 20
# A contender that takes much longer than the others has at least so many samples, however little time it is given.
FEWEST = 3


def measure(
    what: str | Sequence[str],
    counts_or_values: Any,
    *,
    device: Device | str | int | None = None,
    repeats: int = 20,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
    k: int | None = None,
    largest: bool = True,
    checked: bool | str = True,
    workgroup_size: int = 256,
    at_once: int = 1,
    peers: Sequence[str] = (),
    verify: str = "auto",
    warm_up_s: float = WARM_UP_S,
    batch_ms: float = BATCH_MS,
    budget_s: float | None = None,
    leave_out: bool = False,
    about: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Measurements:
    """Time strategies on the same counts and device, in turns, beside fills of the same output bytes.

    With `k`: methods of top-k on the same scores, beside a read of them.

    what: names of `strategies()`, or with `k` of `top_k_methods()`; `"all"` for those that take the input. `"NAME
        unchecked"` is a strategy whose shaders run without run-time checks.
    counts_or_values: counts as `expand` takes them, or a recipe for them: `{"kind": "zipf", "items": 65536, "mean":
        8.0, "max_n": None, "seed": 0, "shape": {"exponent": 2.0}}`, which is then kept beside the times. With `k`:
        scores as `top_k` takes them, or `{"scores": "random", "items": 8388608, "seed": 0}`, where scores is one of
        `random ascending descending equal shared`.
    k, largest: as of `top_k`. Scores are on the device before, and results stay there, but for a method whose last step
        is the host's: it is timed with the host's clock.
    repeats: rounds; in each every contender and reference is sampled once.
    on_progress: called with a `Progress` before every step. cancel: ends the run early and keeps what was measured.
    checked: True, False, or `"both"`, for every name that does not say so itself.
    workgroup_size: threads in a workgroup. at_once: so many independent expansions of the same counts side by side.
    peers: `"torch"` adds three ways to write the same arrays with PyTorch, and its fill, or `torch.topk`, `torch.sort`
        and a sum; `"cupy"` CUB's scan and CuPy's search, for expansions; `"jax"` its repeat or its top-k, `"numpy"`
        `numpy.repeat` with the local index or `argpartition`, both by the host's clock. UnsupportedError where one is
        not installed.
    verify: where outputs are compared with the definition: `"host"`, `"device"` or `"auto"`.
    warm_up_s: seconds that the device is kept busy before the first sample. batch_ms: what a sample lasts at least,
        where the kernel is short. budget_s: seconds for the samples of one contender; one that is too slow for all
        rounds takes part in the first ones, three at least.
    leave_out: leave contenders out that cannot run or give a wrong output, and say why in `left_out`, instead of
        raising. Those that `"all"` stands for are left out where they cannot run in any case.
    about: more to keep beside the input, such as where counts come from. settings: of a panel.

    Output is checked before anything is timed. Times are the device's, of whole runs; see docs/measuring.md.

    Raises what `expand` raises for a strategy that is named and cannot run, and DeviceError where an output is wrong.
    """
    if isinstance(repeats, bool) or not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise ValueError(f"repeats={repeats!r}: give a number of rounds, 1 or more")
    if unknown := [name for name in peers if name not in PEERS]:
        raise ValueError(f"peers={unknown!r}: use {', '.join(map(repr, PEERS))}")
    dev = resolve(device)
    cancel = cancel or threading.Event()
    with ExitStack() as stack:
        work = workload(
            counts_or_values, dev, k=k, largest=largest, workgroup_size=workgroup_size, at_once=at_once, verify=verify,
            about=about,
        )  # fmt: skip
        stack.callback(work.close)
        asked = [
            _Asked(named(name, how), lambda name=name, how=how: work.contender(name, how), optional, leave_out)
            for name, how, optional in wanted(what, checked, work.names())
        ]  # fmt: skip
        others = work.references() + (work.peers(peers) if peers else [])
        asked += [_Asked(item.name, lambda item=item: item) for item in others]
        clock = Clock(len(asked) * (repeats + 1), on_progress)
        left_out: dict[str, str] = {}
        stamped = not any(_spoils_stamps(dev, name) for name in (item.name for item in asked)) and stamps_hold(dev)
        entrants = _prepared(asked, stack, clock, dev, cancel, left_out, stamped)
        _warm_up([entrant.runs for entrant in entrants], warm_up_s, cancel)
        for entrant in entrants:
            if not cancel.is_set():
                entrant.settle(batch_ms, budget_s, repeats, dev.timer_step_ms)
        _rounds(entrants, repeats, clock, dev, cancel)
        return Measurements(
            contenders=tuple(entrant.taken() for entrant in entrants),
            device=dev.info.label,
            driver=dev.info.driver,
            backend=dev.info.backend,
            kind=dev.info.kind,
            timer=_timer(dev, stamped),
            software=dev.info.is_software,
            cancelled=cancel.is_set(),
            input=to_plain(work.about()),
            input_bytes=work.input_bytes,
            output_bytes=work.output_bytes,
            workgroup_size=workgroup_size,
            at_once=at_once,
            repeats=int(repeats),
            warm_up_s=warm_up_s,
            batch_ms=batch_ms,
            versions=versions(),
            commit=commit(),
            left_out=left_out,
            settings=to_plain(dict(settings or {})),
        )


class _Asked(NamedTuple):
    """A contender that is asked for. may_refuse: one that cannot run is left out; may_fail: a wrong one is too."""

    name: str
    make: Callable[[], Runs]
    may_refuse: bool = False
    may_fail: bool = False


class _Entrant:
    """A contender with its samples."""

    def __init__(self, runs: Runs, verified: str | None):
        self.runs = runs
        self._verified = verified
        self._facts = runs.facts()
        self._batch = 1
        self.last_round = 0
        self._samples: list[tuple[int, Sample]] = []

    def settle(self, batch_ms: float, budget_s: float | None, repeats: int, step_ms: float) -> None:
        """Choose the runs in a batch, and in how many rounds to take part, from one sample."""
        first, most = self.runs.sample(1), self.runs.most_runs()
        step_ms = 0.0 if first.gpu_ms is None else step_ms
        least_ms = max(batch_ms, STEPS * step_ms)
        once = _once(first)
        # What lasts few steps is known too badly to be multiplied: a larger batch tells more.
        while step_ms and once * self._batch < 4 * step_ms and self._batch < most:
            self._batch = min(most, 8 * self._batch)
            once = _once(self.runs.sample(self._batch))
        self._batch = max(1, min(math.ceil(least_ms / once) if once > 0 else most, most))
        self.last_round = repeats
        # Every round needs its references.
        if budget_s is not None and first.wall_ms > 0 and self.runs.role not in ("limit", "read"):
            rounds = int(budget_s * 1e3 / (first.wall_ms * self._batch))
            self.last_round = max(min(FEWEST, repeats), min(repeats, rounds))

    def take(self, round_: int) -> None:
        """Take one sample."""
        self._samples.append((round_, self.runs.sample(self._batch)))

    def taken(self) -> Contender:
        """The samples as a result."""
        samples = [sample for _, sample in self._samples]
        passes = self._facts.passes if samples and samples[0].pass_ms else ()
        return Contender(
            name=self.runs.name,
            role=self.runs.role,
            gpu_ms=tuple(s.wall_ms if s.gpu_ms is None else s.gpu_ms for s in samples),
            wall_ms=tuple(sample.wall_ms for sample in samples),
            pass_ms={name: tuple(sample.pass_ms[at] for sample in samples) for at, name in enumerate(passes)},
            runs=self._batch,
            rounds=tuple(round_ for round_, _ in self._samples),
            scratch_bytes=self._facts.scratch_bytes,
            threads=self._facts.threads,
            dispatches=self._facts.dispatches,
            checked=self._facts.checked,
            shader_sha256=self._facts.shader_sha256,
            verified=self._verified,
        )


def step_text(dev: Device) -> str:
    """How coarse the device's timestamps are made on purpose, for the name of a timer."""
    step_ns = dev.timer_step_ms * 1e6
    if not step_ns:
        return ""
    return f" in steps of {step_ns:.3g} ns" if step_ns < 1000 else f" in steps of {step_ns / 1000:.4g} us"


def _timer(dev: Device, stamped: bool) -> str:
    """What the times were taken with."""
    if dev.timestamp_period_ns is None or not stamped:
        return "wall clock"
    return "timestamp-query" + step_text(dev)


def _once(sample: Sample) -> float:
    return sample.gpu_ms if sample.gpu_ms is not None else sample.wall_ms


def _prepared(
    asked: Sequence[_Asked], stack: ExitStack, clock: Clock, dev: Device, cancel: threading.Event,
    left_out: dict[str, str], stamped: bool,
) -> list[_Entrant]:  # fmt: skip
    """Every contender made ready and checked; `left_out` says which were not."""
    entrants = []
    for name, make, may_refuse, may_fail in asked:
        if cancel.is_set():
            break
        runs = None
        clock.tick(f"checking {name} on {dev.info.name}")
        try:
            runs = make()
            runs.stamped = stamped
            runs.prepare()
            entrants.append(_Entrant(runs, runs.check()))
            stack.callback(runs.close)
        except BaseException as error:
            if runs is not None:
                runs.close()
            refused = isinstance(error, (UnsupportedError, DeviceLimitError)) and (may_refuse or may_fail)
            if not refused and not (may_fail and isinstance(error, DeviceError)):
                raise
            left_out[name] = str(error)
    return entrants


def _spoils_stamps(dev: Device, name: str) -> bool:
    """Whether a contender draws on a driver whose timestamps do not survive that; see `stamps_hold`."""
    return dev.info.is_software and name.partition(" ")[0] == "draw_indirect_count"


def _warm_up(contenders: Sequence[Runs], seconds: float, cancel: threading.Event) -> None:
    """Keep the device busy for so long; a slow contender's turn is not begun twice."""
    end = time.perf_counter() + seconds
    while contenders and time.perf_counter() < end and not cancel.is_set():
        for runs in contenders:
            if time.perf_counter() >= end:
                return
            runs.sample(1)


def _rounds(
    entrants: Sequence[_Entrant], repeats: int, clock: Clock, dev: Device, cancel: threading.Event
) -> None:  # fmt: skip
    for round_ in range(repeats):
        for entrant in entrants:
            if cancel.is_set():
                return
            clock.tick(f"{entrant.runs.name}, run {round_ + 1} of {repeats} on {dev.info.name}")
            if round_ < entrant.last_round:
                entrant.take(round_)
