"""The measured timeline of a plan on several devices beside the simulated one.

What the simulation needs is measured first, each thing alone: every pass and every copy in turn, the time that a
thread takes to notice that another one has gone on, and the two ends of a copy for few and many bytes. Then the plan
runs as it is meant to, and the two makespans are compared. The clock is the host's: a pass ends when the host knows.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import GraphError
from expandlab.graph.several import SeveralRun, Span
from expandlab.graph.simulate import Machine, Timeline
from expandlab.graph.standin import inputs_of, with_kernels
from expandlab.results import Result

if TYPE_CHECKING:
    from expandlab.gpu import Device
    from expandlab.graph.frame_graph import FrameGraph
    from expandlab.graph.plan import Plan

_SMALL = 64
_LARGE = 2**22


@dataclass(frozen=True)
class TimedPlan(Result):
    """A plan's measured timeline beside its simulated one.

    costs_us: of each pass alone. machine: what else was measured. simulated: with these. measured_us: makespans of the
    runs, sorted; spans: of the run in their middle. devices: {the graph's device: label}. cancelled: whether runs are
    missing.
    """

    devices: dict[str, str]
    costs_us: dict[str, float]
    machine: Machine
    simulated: Timeline
    measured_us: tuple[float, ...]
    spans: tuple[Span, ...]
    software: bool
    cancelled: bool = False

    @property
    def makespan_us(self) -> float:
        """The median of the measured makespans."""
        return statistics.median(self.measured_us)

    @property
    def difference(self) -> float:
        """(simulated - measured) / measured makespan: 0.1 where the simulation is 10 % too long."""
        return self.simulated.makespan_us / self.makespan_us - 1.0

    def __repr__(self) -> str:
        return (
            f"<TimedPlan: {self.makespan_us:,.0f} us measured, {self.simulated.makespan_us:,.0f} us simulated "
            f"({self.difference:+.0%})>"
        )


def time_plan(
    plan: Plan,
    devices: Mapping[str, Device],
    inputs: Mapping[str, np.ndarray],
    *,
    repeats: int = 7,
    on_progress: Callable[[int, int], None] | None = None,
    cancel: threading.Event | None = None,
) -> TimedPlan:
    """Measure a plan on `devices`, {the graph's device: an open device}, and simulate it with what was measured.

    repeats: runs of each kind. on_progress: called with (runs done, of how many). cancel: ends with what there is.
    Raises GraphError where it is cancelled before the first run, and what running a plan raises.
    """
    total, done = 2 * repeats + 2, 0

    def news() -> bool:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(min(done, total), total)
        return cancel is not None and cancel.is_set()

    machine = machine_of(list(devices.values()))
    with plan.programs(devices) as programs:
        # The first run compiles what a driver compiles late.
        programs.run(inputs, timed=True)
        news()
        alone = _runs(programs, inputs, repeats, news, in_turn=True)
        together = _runs(programs, inputs, repeats, news, in_turn=False)
    if not alone or not together:
        raise GraphError("cancelled before anything was measured")
    costs = {
        name: statistics.median(span.end_us - span.begin_us for run in alone for span in run.spans
                                if span.kind == "pass" and span.name == name)
        for name in plan.order
    }  # fmt: skip
    ordered = sorted(together, key=makespan)
    return TimedPlan(
        devices={name: device.info.label for name, device in devices.items()},
        costs_us=costs,
        machine=machine,
        simulated=plan.simulate(machine, measured_us=costs),
        measured_us=tuple(makespan(run) for run in ordered),
        spans=_from_zero(ordered[len(ordered) // 2].spans),
        software=any(device.info.is_software for device in devices.values()),
        cancelled=len(alone) + len(together) < 2 * repeats,
    )


def makespan(run: SeveralRun) -> float:
    """Microseconds from the first pass or copy to the end of the last one."""
    return max(span.end_us for span in run.spans) - min(span.begin_us for span in run.spans)


def machine_of(devices: Sequence[Device]) -> Machine:
    """What waits and copies cost on these devices: medians of measurements of each alone.

    A barrier costs 0: wgpu sets its own, and they are in the passes' times.
    """
    few, many = [], []
    for device in devices:
        few.append(_copy_us(device, _SMALL))
        many.append(_copy_us(device, _LARGE))
    small, large = statistics.mean(few), statistics.mean(many)
    rate = (_LARGE - _SMALL) / max(large - small, 1e-3) * 1e-3
    return Machine(barrier_us=0.0, wait_us=_wake_us(), copy_us=small, copy_gb_per_s=rate)


def runnable(graph: FrameGraph, devices: Mapping[str, Device], us_per_us: float) -> FrameGraph:
    """The graph with stand-in kernels that last `us_per_us` times what their passes declare, each on its device."""
    speeds = {name: rounds_per_us(device, _words(graph, name)) for name, device in devices.items()}
    rounds = {}
    for name, item in graph.passes.items():
        where = graph.placed(item)[0][0]
        rounds[name] = int((item.cost_us or 10.0) * us_per_us * speeds[where])
    return with_kernels(graph, rounds)


def rounds_per_us(device: Device, words: int) -> float:
    """How many rounds of a stand-in's loop the threads of `words` words go through in a microsecond."""
    if device.is_reference:
        return 1.0
    rounds, spent = 256, 0.0
    while True:
        spent = _loop_us(device, words, rounds)
        if spent > 5000 or rounds >= 2**26:
            break
        rounds *= 4
    base = _loop_us(device, words, 0)
    return rounds / max(spent - base, 1.0)


def _loop_us(device: Device, words: int, rounds: int) -> float:
    from expandlab.graph.frame_graph import FrameGraph

    graph = FrameGraph()
    graph.buffer("words", 4 * words)
    graph.add_pass("loop", [("words", "write")], side_effect=True)
    plan = with_kernels(graph, {"loop": rounds}).compile()
    with plan.programs({"gpu0": device}) as programs:
        programs.run({}, timed=True)
        return min(makespan(programs.run({}, timed=True)) for _ in range(3))


def _words(graph: FrameGraph, device: str) -> int:
    sizes = [
        graph.resources[access.resource].extent // 4
        for item in graph.passes.values()
        for access in item.accesses
        if graph.placed(item)[0][0] == device
    ]
    return max(sizes, default=64)


def _runs(
    programs: Any, inputs: Mapping[str, np.ndarray], repeats: int, news: Callable[[], bool], *, in_turn: bool
) -> list[SeveralRun]:
    found = []
    for _ in range(repeats):
        found.append(programs.run(inputs, timed=True, in_turn=in_turn))
        if news():
            break
    return found


def _from_zero(spans: Sequence[Span]) -> tuple[Span, ...]:
    first = min(span.begin_us for span in spans)
    moved = (Span(s.device, s.kind, s.name, s.begin_us - first, s.end_us - first) for s in spans)
    return tuple(sorted(moved, key=lambda span: (span.begin_us, span.device)))


def _copy_us(device: Device, size: int) -> float:
    """Microseconds of one hop between the device and the host: the mean of the two directions."""
    from expandlab.graph.sending import Sent

    if device.is_reference:
        words = np.zeros(size // 4, np.uint32)
        return statistics.median(_timed(words.copy) for _ in range(9))
    size = min(size, device.limits["max_buffer_size"])
    words = np.zeros(size // 4, np.uint32)
    buffer = device.buffer(size, "COPY_SRC|COPY_DST", "there and back")

    def up() -> None:
        Sent(device, buffer, 0, size, "a copy's cost").words()

    def down() -> None:
        with device.lock, device.errors("measuring a copy"):
            device.gpu.queue.write_buffer(buffer, 0, words)

    try:
        up()
        times = []
        for _ in range(9):
            ways = _timed(down)
            device.wait()
            times.append((ways + _timed(up)) / 2)
        return statistics.median(times)
    finally:
        device.destroy(buffer)


def _wake_us() -> float:
    """Microseconds from a notification to the thread that waits for it: half a turn of a ball between two threads."""
    turns, news, state = 200, threading.Condition(), [0]

    def other() -> None:
        for number in range(turns):
            with news:
                news.wait_for(lambda number=number: state[0] == 2 * number + 1)
                state[0] += 1
                news.notify_all()

    thread = threading.Thread(target=other, name="a ball back")
    thread.start()

    def play() -> None:
        for number in range(turns):
            with news:
                state[0] += 1
                news.notify_all()
                news.wait_for(lambda number=number: state[0] == 2 * number + 2)

    spent = _timed(play)
    thread.join()
    return spent / (2 * turns)


def _timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e6


__all__ = ["TimedPlan", "inputs_of", "machine_of", "makespan", "rounds_per_us", "runnable", "time_plan"]
