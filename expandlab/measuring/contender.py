"""What takes part in a measurement: the protocol, and the contenders that are frame graphs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Protocol

import numpy as np

from expandlab.gpu import Device
from expandlab.graph import FrameGraph, Kernel
from expandlab.graph.joined import Joined
from expandlab.graph.launch import Draws, Repeat, launched
from expandlab.measuring.stopwatch import Stopwatch

# A batch records each of its dispatches anew, which costs the host tens of microseconds.
MOST_COMMANDS = 1024


class Sample(NamedTuple):
    """One sample: ms of one run on the GPU (None without a timer), on the wall, and of each pass (none without)."""

    gpu_ms: float | None
    wall_ms: float
    pass_ms: tuple[float, ...]


class Facts(NamedTuple):
    """What one run of a contender takes."""

    passes: tuple[str, ...] = ()
    scratch_bytes: int | None = None
    threads: int | None = None
    dispatches: int | None = None
    checked: bool | None = None
    shader_sha256: str | None = None


class Runs(Protocol):
    """What the protocol asks of a contender. It is prepared, checked, sampled many times, and closed."""

    name: str
    role: str
    # Set to False before `prepare` where the device's timestamps are not to be used.
    stamped: bool

    def prepare(self) -> None:
        """Make everything that one run needs: buffers, pipelines, inputs on the device."""

    def check(self) -> str | None:
        """Run once and compare the output with the definition; raise where it is wrong.

        Returns where it was compared, `host` or `device`; None where there is nothing to compare.
        """

    def sample(self, runs: int) -> Sample:
        """Run `runs` times, all state reset inside each, and return the times of one run."""

    def facts(self) -> Facts:
        """What one run takes; asked after `check`."""

    def most_runs(self) -> int:
        """Runs that one batch may have."""

    def close(self) -> None:
        """Give the device's memory back."""


class GraphRuns:
    """A contender that is one frame graph, or several at once.

    graphs: each with its inputs by resource name. All of them are recorded pass by pass side by side, so that the
        device may overlap what does not depend on each other. external: buffers that contenders share, by resource
        name, for each graph.
    inspect: called by `check` after a run with this contender; returns what `check` does.
    """

    def __init__(
        self,
        name: str,
        role: str,
        device: Device,
        graphs: Sequence[tuple[FrameGraph, Mapping[str, np.ndarray]]],
        *,
        external: Sequence[Mapping[str, Any]] = (),
        inspect: Callable[[GraphRuns], str | None] | None = None,
        facts: Facts = Facts(),  # noqa: B008 - a tuple, so it cannot change
        threads_of: Callable[[FrameGraph, str], int] = lambda graph, name: 1,
    ):
        self.name, self.role = name, role
        self.device = device
        self._graphs = graphs
        self._external = external or [{} for _ in graphs]
        self._inspect = inspect
        self._facts = facts
        self._threads_of = threads_of
        self._stack = ExitStack()
        self._stopwatch: Stopwatch | None = None
        self.programs: list[Any] = []
        self.stamped = True

    def __repr__(self) -> str:
        return f"<contender {self.name} on {self.device.info.name}>"

    def prepare(self) -> None:
        """Make programs and bring the inputs to the device."""
        for (graph, inputs), external in zip(self._graphs, self._external, strict=True):
            program = self._stack.enter_context(graph.compile().program(self.device, external))
            program.upload(inputs)
            self.programs.append(program)
        if self.device.timestamp_period_ns is not None and self.stamped and not self.device.is_page:
            self._stopwatch = Stopwatch(self.device, 1 + len(self._order))
            self._stack.callback(self._stopwatch.close)

    def check(self) -> str | None:
        """Run once and look at the output."""
        self.sample(1)
        return None if self._inspect is None else self._inspect(self)

    def close(self) -> None:
        """Give the device's memory back."""
        self._stack.close()
        self.programs.clear()

    def read(self, name: str, at: int = 0) -> np.ndarray:
        """The words of a buffer of one of the graphs, brought to the host: uint32."""
        program = self.programs[at]
        if self.device.is_page:
            return program.words(name)
        words = self._graphs[at][0].resources[name].size // 4
        if self.device.is_reference:
            return program.words(name)[:words]
        with self.device.lock, self.device.errors(f"reading {name} back"):
            return self.device.read(program.buffer(name))[:words]

    def facts(self) -> Facts:
        """What one run of all graphs takes, its threads among it."""
        threads = 0
        for at, (graph, _) in enumerate(self._graphs):
            for name, item in graph.passes.items():
                groups = launched(item.kernel, {buffer: self.read(buffer, at) for buffer in _arguments(item.kernel)})
                threads += int(np.prod(groups, dtype=np.int64)) * self._threads_of(graph, name)
        return self._facts._replace(passes=tuple(self._order), threads=threads, dispatches=self._commands())

    def _commands(self) -> int:
        return sum(_dispatches(item.kernel) for graph, _ in self._graphs for item in graph.passes.values())

    @property
    def _order(self) -> list[str]:
        return self.programs[0].plan.order

    def most_runs(self) -> int:
        """Runs that one batch may have."""
        return max(1, MOST_COMMANDS // max(1, self._commands()))

    def sample(self, runs: int) -> Sample:
        """One batch, and behind a batch of several runs one more that is timed pass by pass."""
        if self.device.is_reference:
            walls = [program.sample()[1] for program in self.programs for _ in range(runs)]
            return Sample(None, sum(walls) / runs, ())
        if self.device.is_page:
            return Sample(*self.device.batch(self.programs, runs, self.stamped))
        start = time.perf_counter()
        with self.device.lock, self.device.errors(f"running {self.name}"):
            encoder = self.device.gpu.create_command_encoder()
            if self._stopwatch is None:
                with Joined(encoder) as joined:
                    for _ in range(runs):
                        self._record_joined(joined)
                self.device.gpu.queue.submit([encoder.finish()])
                self.device.wait()
                return Sample(None, (time.perf_counter() - start) * 1e3 / runs, ())
            # One run alone is its own batch: the same stamps tell of its passes and of the whole.
            batched = runs > 1 or len(self.programs) > 1
            if batched:
                self._record_batch(encoder, runs)
            self._record_apart(encoder)
            self._stopwatch.resolve(encoder, 0 if batched else 1)
            self.device.gpu.queue.submit([encoder.finish()])
            spans = self._stopwatch.read_ms(0 if batched else 1)
        wall_ms = (time.perf_counter() - start) * 1e3 / (runs + batched)
        # Some drivers return an end before its beginning when the counter restarts; such a sample says nothing.
        lengths = np.maximum(spans[:, 1] - spans[:, 0], 0.0)
        whole = lengths[0] / runs if batched else max(spans[-1, 1] - spans[0, 0], 0.0)
        return Sample(float(whole), wall_ms, tuple(lengths[1:].tolist() if batched else lengths.tolist()))

    def _record(self, encoder: Any, stamps: Callable[[int, int], Any]) -> None:
        for index in range(len(self._order)):
            for at, program in enumerate(self.programs):
                program.record_pass(encoder, index, stamps(index, at))

    def _record_batch(self, encoder: Any, runs: int) -> None:
        if not any(program.draws for program in self.programs):
            with Joined(encoder, self._stopwatch.stamps(begins=0, ends=0)) as joined:
                for _ in range(runs):
                    self._record_joined(joined)
            return
        last = (len(self._order) - 1, len(self.programs) - 1)
        for run in range(runs):

            def stamps(index: int, at: int, run: int = run) -> Any:
                begins = 0 if (run, index, at) == (0, 0, 0) else None
                ends = 0 if run == runs - 1 and (index, at) == last else None
                return self._stopwatch.stamps(begins=begins, ends=ends)

            self._record(encoder, stamps)

    def _record_joined(self, joined: Joined) -> None:
        for index in range(len(self._order)):
            for program in self.programs:
                program.record_joined(joined, index)

    def _record_apart(self, encoder: Any) -> None:
        """One run of the first graph with every pass timed."""
        for index in range(len(self._order)):
            self.programs[0].record_pass(encoder, index, self._stopwatch.stamps(begins=1 + index, ends=1 + index))


def _arguments(kernel: Kernel) -> tuple[str, ...]:
    """The buffers that say how much a pass launches."""
    if isinstance(kernel.workgroups, (Repeat, Draws)):
        return kernel.workgroups.reads
    return () if kernel.indirect is None else kernel.indirect[:1]


def _dispatches(kernel: Kernel) -> int:
    """Commands that a pass records; many draws from one buffer are one."""
    return kernel.workgroups.count if isinstance(kernel.workgroups, Repeat) else 1


def graph_digest(graph: FrameGraph) -> str:
    """One SHA-256 over the shaders of every pass, in order."""
    digest = hashlib.sha256()
    for item in graph.passes.values():
        digest.update(item.kernel.source.text.encode())
    return digest.hexdigest()
