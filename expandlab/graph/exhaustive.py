"""The best of all orders and devices of a few passes: branch and bound over partial schedules.

A partial schedule is left when even without further barriers, waits and copies it would end no earlier than the best
one known, or when another one with the same passes, devices and barriers so far is nowhere later. Counted are passes,
barriers, waits and copies as in the simulated timeline; not layout changes, barriers for shared memory, and copies that
stand in each other's way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from expandlab.graph.barriers import Need, need, stages_of
from expandlab.graph.devices import Choices
from expandlab.graph.edges import successors
from expandlab.graph.hazards import Record
from expandlab.graph.simulate import Machine
from expandlab.graph.snapshot import Snapshot

Queue = tuple[str, str]


class _Line(NamedTuple):
    """A queue so far: when it is free, the passes that waits have shown to be done, the passes since each barrier
    as (stages of the barrier, passes), and all its passes."""

    free: float
    known: int
    parts: tuple[tuple[tuple[int, int], int], ...]
    passes: int


class _State(NamedTuple):
    done: int
    lines: dict[Queue, _Line]
    ends: tuple[float, ...]
    knew: tuple[int, ...]
    placed: tuple[str, ...]
    order: tuple[int, ...]


@dataclass(eq=False)
class _Search:
    shot: Snapshot
    choices: Choices
    edges: Sequence[Sequence[int]]
    machine: Machine
    moved: Mapping[tuple[int, int], int]

    def __post_init__(self) -> None:
        count = len(self.shot.names)
        self.times = [self.machine.pass_time(self.shot, number) for number in range(count)]
        self.after = successors(self.edges)
        self.masks = [sum(1 << other for other in passes) for passes in self.edges]
        self.reads: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for (producer, consumer), size in self.moved.items():
            self.reads[consumer].append((producer, size))
        self.tail = [0.0] * count
        self.needs: list[dict[int, set[tuple[int, int]]]] = [{} for _ in range(count)]
        self.best = float("inf")
        self.found: _State | None = None
        self.seen: dict[tuple, list[tuple[float, ...]]] = {}

    def prepare(self, records: Sequence[Record], along: Sequence[int]) -> None:
        direct = set()
        for r in records:
            asked: Need = need(r.first, r.second)
            direct.add((r.producer, r.consumer))
            self.needs[r.consumer].setdefault(r.producer, set()).add((asked.src_stages, asked.dst_stages))
        for number, passes in enumerate(self.edges):
            for other in passes:
                if (other, number) not in direct:
                    stages = (stages_of(self.shot, other), stages_of(self.shot, number))
                    self.needs[number].setdefault(other, set()).add(stages)
        self.users = [0] * len(self.times)
        for number, asked_of in enumerate(self.needs):
            for other in asked_of:
                self.users[other] |= 1 << number
        for number in reversed(along):
            self.tail[number] = self.times[number] + max((self.tail[other] for other in self.after[number]), default=0)

    def start(self) -> _State:
        count = len(self.times)
        return _State(0, {}, (0.0,) * count, (0,) * count, ("",) * count, ())

    def add(self, state: _State, number: int, device: str) -> _State:
        """The schedule with one more pass at its end."""
        shot, machine = self.shot, self.machine
        queue = (device, shot.queues[number])
        line = state.lines.get(queue, _Line(0.0, 0, (((0, 0), 0),), 0))
        start, known = line.free, line.known
        for other in self.edges[number]:
            if (state.placed[other], shot.queues[other]) != queue:
                start = max(start, state.ends[other] + machine.wait_us)
                known |= state.knew[other]
        for other, size in self.reads[number]:
            if state.placed[other] != device:
                start = max(start, state.ends[other] + 2 * machine.wait_us + machine.transfer(size))
        source = destination = 0
        for other, asked in self.needs[number].items():
            if line.passes >> other & 1 and not known >> other & 1:
                for first, second in asked:
                    if not _barred(line.parts, other, first, second):
                        source |= first
                        destination |= second
        parts = line.parts
        if source or destination:
            start += machine.barrier_us
            parts = (*parts, ((source, destination), 0))
        bit = 1 << number
        parts = (*parts[:-1], (parts[-1][0], parts[-1][1] | bit))
        end = start + self.times[number]
        lines = dict(state.lines)
        lines[queue] = _Line(end, known, parts, line.passes | bit)
        return _State(
            state.done | bit, lines, _with(state.ends, number, end),
            _with(state.knew, number, known | line.passes | bit), _with(state.placed, number, device),
            (*state.order, number),
        )  # fmt: skip

    def bound(self, state: _State) -> float:
        """A time that no schedule that goes on from here ends before."""
        least = max((line.free for line in state.lines.values()), default=0.0)
        load: dict[tuple[tuple[str, ...], str], float] = {}
        for number, time in enumerate(self.times):
            if state.done >> number & 1:
                continue
            ready = max((state.ends[other] for other in self.edges[number] if state.done >> other & 1), default=0.0)
            least = max(least, ready + self.tail[number])
            key = (self._devices(state, number), self.shot.queues[number])
            load[key] = load.get(key, 0.0) + time
        for (devices, queue), time in load.items():
            free = sum(state.lines[d, queue].free if (d, queue) in state.lines else 0.0 for d in devices)
            least = max(least, (free + time) / len(devices))
        return least

    def go(self, state: _State) -> None:
        if len(state.order) == len(self.times):
            end = max(state.ends, default=0.0)
            if end < self.best:
                self.best, self.found = end, state
            return
        if self.bound(state) >= self.best - 1e-9 or self._dominated(state):
            return
        steps = []
        for number in range(len(self.times)):
            if state.done >> number & 1 or self.masks[number] & ~state.done:
                continue
            for device in self._devices(state, number):
                steps.append(self.add(state, number, device))
        steps.sort(key=lambda item: item.ends[item.order[-1]])
        for item in steps:
            self.go(item)

    def _devices(self, state: _State, number: int) -> tuple[str, ...]:
        for other in state.order:
            if self.choices.group[other] == self.choices.group[number]:
                return (state.placed[other],)
        return self.choices.of(number)

    def _dominated(self, state: _State) -> bool:
        """Whether a schedule with the same future was seen that is nowhere later; keeps this one otherwise."""
        open_ = [n for n in state.order if self.users[n] & ~state.done]
        queues = sorted(state.lines)
        key = (
            state.done,
            state.placed,
            tuple((state.lines[queue].known, state.lines[queue].parts) for queue in queues),
            tuple(state.knew[number] for number in sorted(open_)) if len(queues) > 1 else (),
        )
        times = (*(state.lines[queue].free for queue in queues), *(state.ends[number] for number in sorted(open_)))
        kept = self.seen.setdefault(key, [])
        if any(all(a <= b for a, b in zip(old, times, strict=True)) for old in kept):
            return True
        kept.append(times)
        return False


def _barred(parts: Sequence[tuple[tuple[int, int], int]], other: int, first: int, second: int) -> bool:
    """Whether a barrier with these stages stands after pass `other`."""
    for (source, destination), passes in reversed(parts):
        if passes >> other & 1:
            return False
        if not first & ~source and not second & ~destination:
            return True
    return False


def _with(values: tuple, place: int, value: object) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


def search(
    shot: Snapshot,
    records: Sequence[Record],
    choices: Choices,
    edges: Sequence[Sequence[int]],
    tried: Sequence[tuple[Sequence[int], Sequence[str]]],
    machine: Machine,
    moved: Mapping[tuple[int, int], int],
) -> tuple[list[int], list[str]]:
    """The order and devices with the earliest end. tried: schedules to start from."""
    work = _Search(shot, choices, edges, machine, moved)
    work.prepare(records, tried[0][0])
    for order, placed in tried:
        state = work.start()
        for number in order:
            state = work.add(state, number, placed[number])
        if max(state.ends, default=0.0) < work.best or work.found is None:
            work.best, work.found = max(state.ends, default=0.0), state
    work.go(work.start())
    return list(work.found.order), list(work.found.placed)
