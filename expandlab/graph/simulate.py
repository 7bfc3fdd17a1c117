"""A simulated timeline of a plan: which lane does what when, and the longest chain that explains the end.

The model is simple on purpose. A queue runs its passes one after the other, each for its `cost_us`. A barrier, or a
layout change, lets the queue run dry first. A wait releases its pass some time after the timeline has reached the
value. A copy has a lane of its own for each direction of each link, starts as soon as its bytes exist, and takes a
fixed time and its bytes divided by the bandwidth. Queues of one device do not slow each other down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from expandlab.errors import GraphError, UnknownNameError
from expandlab.graph import checks
from expandlab.graph.copies import Move
from expandlab.graph.declare import Image, Resource
from expandlab.graph.snapshot import Snapshot
from expandlab.graph.waits import Clocks, Queue
from expandlab.results import Result

# Of any cost: sums of them stay far from infinity.
MOST = 1e15
# Bytes of a texel, for the formats whose name does not say it.
_TEXEL = {
    "depth24plus": 4, "depth24plus-stencil8": 4, "stencil8": 1, "rgb10a2unorm": 4, "rgb10a2uint": 4, "rg11b10ufloat": 4,
    "rgb9e5ufloat": 4,
}  # fmt: skip


@dataclass(frozen=True)
class Machine(Result):
    """What a simulated machine costs; every number is a default to be replaced by a measured one.

    barrier_us: a queue runs dry and fills again. 0.5: the difference between 3.4 us per kernel and 2.9 us of work
        for dependent kernels in one CUDA graph on a V100 (A. Gray, "Getting Started with CUDA Graphs", NVIDIA
        developer blog, 2019).
    wait_us: from the signal of one queue to the start of the pass that waits on another. 10: the launch of a kernel
        from the host ("Dive into Deep Learning", section on hardware, table of latencies); for a timeline
        semaphore no figure was found, and a wait divides submissions as a launch does.
    copy_us: every copy between a device and the host, or between two devices. 6: the middle of 5 to 7 us per
        `cudaMemcpyAsync` (Wu et al., "DualPath", arXiv 2602.21548, section 5.2).
    copy_gb_per_s: 10^9 bytes a second each way. 31.5: PCI Express 4.0 with 16 lanes, 16 GT/s and 128 of 130 bits
        (PCI-SIG, PCI Express base specification 4.0).
    pass_us: a pass that does not say its cost. 10: an assumption, about twenty barriers.
    peer_access: whether devices copy from each other directly; without it (as in WebGPU, which has no memory shared
        by devices) a copy goes by way of the host.
    """

    barrier_us: float = 0.5
    wait_us: float = 10.0
    copy_us: float = 6.0
    copy_gb_per_s: float = 31.5
    pass_us: float = 10.0
    peer_access: bool = False

    def __post_init__(self) -> None:
        for name in ("barrier_us", "wait_us", "copy_us", "copy_gb_per_s", "pass_us"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST:
                raise GraphError(f"{name}={value!r}: give a number, 0 to {MOST:g}")
        checks.flag("peer_access", self.peer_access)
        if self.copy_gb_per_s == 0:
            raise GraphError("copy_gb_per_s=0: no copy would ever end; give more than 0")

    def pass_time(self, shot: Snapshot, number: int) -> float:
        """Microseconds of a pass."""
        given = shot.passes[number].cost_us
        return self.pass_us if given is None else given

    def hop(self, size: int) -> float:
        """Microseconds of one copy of `size` bytes over one link."""
        return self.copy_us + size / (self.copy_gb_per_s * 1e3)

    def transfer(self, size: int) -> float:
        """Microseconds of a copy from one device to another."""
        return self.hop(size) * (1 if self.peer_access else 2)


# Machine's field -> where its default comes from, in short; the docstring has it in full.
SOURCES: Mapping[str, str] = {
    "barrier_us": "a queue runs dry and fills again: 3.4 µs per dependent kernel less 2.9 µs of work (CUDA graphs on a "
    "V100; A. Gray, NVIDIA developer blog, 2019)",
    "wait_us": "a launch from the host (Dive into Deep Learning, table of latencies); no figure was found for a "
    "timeline semaphore",
    "copy_us": "the middle of 5 to 7 µs for each cudaMemcpyAsync (Wu et al., DualPath, arXiv 2602.21548, section 5.2)",
    "copy_gb_per_s": "PCI Express 4.0, 16 lanes, each way (PCI-SIG, base specification 4.0)",
    "pass_us": "an assumption, about twenty barriers, for passes that do not say their cost",
    "peer_access": "WebGPU has no memory that devices share: without it a copy goes by way of the host",
}


@dataclass(frozen=True)
class Span(Result):
    """Something that a lane does from `start_us` to `end_us`; kind: `pass`, `barrier` or `copy`."""

    name: str
    kind: str
    start_us: float
    end_us: float


@dataclass(frozen=True)
class Lane(Result):
    """A queue of a device, or one direction of a link (`queue` is then None), with its spans in order."""

    name: str
    device: str
    queue: str | None
    spans: tuple[Span, ...]

    def __repr__(self) -> str:
        return f"<Lane {self.name}: {len(self.spans)} spans>"


@dataclass(frozen=True)
class Timeline(Result):
    """A simulated run. critical_path: names of the passes and copies of the chain that ends last, first one first."""

    makespan_us: float
    critical_path: tuple[str, ...]
    lanes: tuple[Lane, ...]
    machine: Machine = field(default_factory=Machine)

    def __repr__(self) -> str:
        return f"<Timeline: {self.makespan_us:.1f} us on {len(self.lanes)} lanes>"


def measured(shot: Snapshot, times: Mapping[str, float]) -> Snapshot:
    """The snapshot with other costs: {pass: microseconds}; a pass that is culled, or None, is no error."""
    if not isinstance(times, Mapping):
        raise GraphError(f"measured_us={times!r}: give {{pass: microseconds}}")
    known = {*shot.names, *shot.culled}
    for name, value in times.items():
        if name not in known:
            raise UnknownNameError(f"measured_us[{name!r}]: the plan has no such pass")
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if value is not None and not (number and 0 <= value <= MOST):
            raise GraphError(f"measured_us[{name!r}]={value!r}: give microseconds, 0 to {MOST:g}")
    found = {name: float(value) for name, value in times.items() if value is not None}
    return replace(
        shot, passes=tuple(replace(item, cost_us=found.get(item.name, item.cost_us)) for item in shot.passes)
    )


def size_of(resource: Resource | Image, low: int, high: int) -> int:
    """Bytes of numbers low .. high: themselves, or what those subresources hold (0 where the size is not given)."""
    if isinstance(resource, Resource):
        return high - low
    if resource.size is None:
        return 0
    total = 0
    for number in range(low, high):
        texels = 1
        for length in resource.size:
            texels *= max(1, length >> (number % resource.mips))
        total += texels * _texel_bytes(resource.format)
    return total


def _texel_bytes(name: str | None) -> int:
    """Bytes of a texel of a WebGPU format, read off its name (rgba16float: 4 x 16 bits); 4 where it does not say."""
    if name in _TEXEL:
        return _TEXEL[name]
    head = (name or "").partition("-")[0]
    channels = len(head) - len(head.lstrip("rgbadepth"))
    digits = "".join(c for c in head[channels:] if c.isdigit())
    if not digits or not channels:
        return 4
    return max(1, (1 if head.startswith("depth") else channels) * int(digits) // 8)


@dataclass(eq=False)
class _Event:
    """A span while the timeline is made, with the event that it had to wait for."""

    span: Span
    cause: _Event | None


def timeline(
    shot: Snapshot,
    order: Sequence[int],
    queues: Sequence[Queue],
    clocks: Clocks,
    moves: Sequence[Move],
    dry: frozenset[int],
    machine: Machine,
) -> Timeline:
    """The timeline of passes in `order`; dry: the passes that a barrier or a layout change stands before."""
    lanes: dict[tuple[str, str | None], list[_Event]] = {}
    done: dict[int, _Event] = {}
    waits: dict[int, list[int]] = {}
    by_place = {(queues[number], clocks.place[number]): number for number in order}
    for number, queue, value in clocks.waits:
        waits.setdefault(number, []).append(by_place[queue, value])
    copies: dict[int, list[Move]] = {}
    for move in moves:
        copies.setdefault(move.before, []).append(move)
    uploaded: dict[tuple[int, int, int, tuple[int, ...]], _Event] = {}

    for number in order:
        lane = lanes.setdefault(queues[number], [])
        start, cause = (lane[-1].span.end_us, lane[-1]) if lane else (0.0, None)
        for other in waits.get(number, ()):
            if done[other].span.end_us + machine.wait_us > start:
                start, cause = done[other].span.end_us + machine.wait_us, done[other]
        for move in copies.get(number, ()):
            event = _copy(shot, move, lanes, done, uploaded, machine)
            if event.span.end_us + machine.wait_us > start:
                start, cause = event.span.end_us + machine.wait_us, event
        if number in dry and machine.barrier_us:
            lane.append(_Event(Span(shot.names[number], "barrier", start, start + machine.barrier_us), cause))
            start, cause = lane[-1].span.end_us, lane[-1]
        end = start + machine.pass_time(shot, number)
        done[number] = _Event(Span(shot.names[number], "pass", start, end), cause)
        lane.append(done[number])
    return _finished(lanes, machine)


def _copy(
    shot: Snapshot,
    move: Move,
    lanes: dict[tuple[str, str | None], list[_Event]],
    done: Mapping[int, _Event],
    uploaded: dict[tuple[int, int, int, tuple[int, ...]], _Event],
    machine: Machine,
) -> _Event:
    resource = shot.resources[move.resource]
    name = f"{resource.name} {move.low} .. {move.high}"
    time = machine.hop(size_of(resource, move.low, move.high))
    ready, cause = 0.0, None
    for writer in move.writers:
        if done[writer].span.end_us + machine.wait_us > ready:
            ready, cause = done[writer].span.end_us + machine.wait_us, done[writer]
    if machine.peer_access:
        return _hop(lanes, f"{move.source} -> {move.destination}", name, time, ready, cause)
    # A broadcast goes up to the host once, and down to each device.
    key = (move.resource, move.low, move.high, move.writers)
    if key not in uploaded:
        uploaded[key] = _hop(lanes, f"{move.source} -> host", name, time, ready, cause)
    up = uploaded[key]
    return _hop(lanes, f"host -> {move.destination}", name, time, up.span.end_us, up)


def _hop(
    lanes: dict[tuple[str, str | None], list[_Event]], link: str, name: str, time: float, ready: float,
    cause: _Event | None,
) -> _Event:  # fmt: skip
    lane = lanes.setdefault((link, None), [])
    if lane and lane[-1].span.end_us > ready:
        ready, cause = lane[-1].span.end_us, lane[-1]
    lane.append(_Event(Span(f"{name} {link}", "copy", ready, ready + time), cause))
    return lane[-1]


def _finished(lanes: Mapping[tuple[str, str | None], list[_Event]], machine: Machine) -> Timeline:
    events = [event for lane in lanes.values() for event in lane]
    last = max(events, key=lambda event: event.span.end_us, default=None)
    path: list[str] = []
    event = last
    while event is not None:
        if event.span.kind != "barrier":
            path.append(event.span.name)
        event = event.cause
    return Timeline(
        makespan_us=last.span.end_us if last else 0.0,
        critical_path=tuple(path[::-1]),
        lanes=tuple(
            Lane(device if queue is None else f"{device}.{queue}", device, queue, tuple(e.span for e in spans))
            for (device, queue), spans in lanes.items()
        ),
        machine=machine,
    )
