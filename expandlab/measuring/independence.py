"""What declaring independence gains on a device: the frame graph's examples with real kernels, each in two forms.

wgpu sets its own barriers, one for each whole buffer that a dispatch binds read-write after another has bound it. So
the dependent form binds what the planner would have to assume (one buffer for all ranges, read-write where a read
would do, one histogram), and the independent form binds what its author knows (a buffer for each range, read-only, a
histogram for each writer). The passes do the same work, few threads for a long time, so that there is room for
another beside them; the results of both forms are compared with NumPy before anything is timed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.errors import DeviceError, UnsupportedError
from expandlab.gpu import Device, resolve
from expandlab.graph import Access, FrameGraph, Kernel, Plan
from expandlab.graph.native import emitted
from expandlab.measuring.progress import Clock, Progress
from expandlab.results import Result

# Elements of each buffer, a thread each: one workgroup, so that any GPU has room for more.
ITEMS = 64
# What a pass should take, and how many rounds a loop may have at most (llvmpipe ends it after 65 535).
PASS_US, MOST_ROUNDS = 20.0, 60_000
_A, _C = 1664525, 1013904223
_WARM_UP_S = 0.3
Values = dict[str, np.ndarray]


@dataclass(frozen=True)
class Gain(Result):
    """One form of one example. barriers: that wgpu sets in a run, edges: of the plan; times in us for a run."""

    example: str
    form: str
    passes: int
    edges: int
    barriers: int
    median_us: float
    q1_us: float
    q3_us: float
    samples: int


@dataclass(frozen=True)
class Gains(Result):
    """All forms, on one device. timer: `gpu timestamps` or `host clock`. software: no GPU, so nothing runs at once."""

    rows: tuple[Gain, ...]
    device: str
    driver: str
    timer: str
    software: bool
    rounds: int
    cancelled: bool = False

    @property
    def gained_us(self) -> dict[str, float]:
        """{example: median of its dependent form less that of its independent form}."""
        found: dict[str, list[float]] = {}
        for row in self.rows:
            found.setdefault(row.example, []).append(row.median_us)
        return {name: times[0] - times[1] for name, times in found.items()}


HEAD = ("example", "form", "passes", "edges", "barriers of wgpu", "us a run", "first quartile", "third quartile",
        "gain (us)")  # fmt: skip


def table_rows(found: Gains) -> list[tuple[Any, ...]]:
    """A row for each form; the gain stands beside the independent one."""
    return [
        (row.example, row.form, row.passes, row.edges, row.barriers, round(row.median_us, 2), round(row.q1_us, 2),
         round(row.q3_us, 2), round(found.gained_us[row.example], 2) if number % 2 else "")
        for number, row in enumerate(found.rows)
    ]  # fmt: skip


class _Form:
    """A graph under construction, and what NumPy says that its outputs hold."""

    def __init__(self, name: str, rounds: int):
        self.name = name
        self.rounds = rounds
        self.graph = FrameGraph()
        self.expected: Values = {}

    def buffer(self, name: str, items: int = ITEMS) -> str:
        if name not in self.graph.resources:
            self.graph.buffer(name, 4 * items)
        return name

    def add(self, name: str, body: str, uses: Mapping[str, tuple[str, str, tuple[int, int] | None]]) -> None:
        """A pass of one workgroup. uses: variable -> (resource, how it is bound: read, write, read_write or atomic,
        range in bytes)."""
        lines, accesses = [], []
        for number, (variable, (resource, how, span)) in enumerate(uses.items()):
            access = "read" if how == "read" else "read_write"
            kind = "array<atomic<u32>>" if how == "atomic" else "array<u32>"
            lines.append(f"@group(0) @binding({number}) var<storage, {access}> {variable}: {kind};")
            mode = {"write": "write", "read": "read"}.get(how, "read_write")
            tag = "atomic add" if how == "atomic" else None
            accesses.append(Access(resource, mode, range=span, independent=tag))
        lines.append(
            f"fn spin(start: u32) -> u32 {{ var x = start; for (var i = 0u; i < {self.rounds}u; i++) "
            f"{{ x = x * {_A}u + {_C}u; }} return x; }}"
            f"@compute @workgroup_size({ITEMS}) fn main(@builtin(local_invocation_index) id: u32) {{ {body} }}"
        )
        kernel = Kernel("\n".join(lines), "main", {v: use[0] for v, use in uses.items()}, (1, 1, 1))
        self.graph.add_pass(name, accesses, kernel=kernel)


def spun(start: np.ndarray, rounds: int) -> np.ndarray:
    """What `spin` makes of uint32 values: an affine map to the power `rounds`, by squaring."""
    a, c, power, shift = 1, 0, _A, _C
    while rounds:
        if rounds & 1:
            a, c = a * power % 2**32, (c * power + shift) % 2**32
        power, shift = power * power % 2**32, (shift * power + shift) % 2**32
        rounds >>= 1
    return ((start.astype(np.uint64) * a + c) % 2**32).astype(np.uint32)


def _writers(rounds: int, independent: bool, count: int) -> _Form:
    form = _Form("a buffer for each range" if independent else "ranges of one buffer", rounds)
    ids = np.arange(ITEMS, dtype=np.uint32)
    total = np.zeros(ITEMS, np.uint32)
    for number in range(count):
        target = form.buffer(f"data_{number}") if independent else form.buffer("data", count * ITEMS)
        first = 0 if independent else number * ITEMS
        form.add(f"fill_{number}", f"data[{first}u + id] = spin(id + {number}u);",
                 {"data": (target, "write", (4 * first, 4 * (first + ITEMS)))})  # fmt: skip
        total += spun(ids + np.uint32(number), rounds)
    form.buffer("sum")
    # A pass binds at most eight storage buffers by default, so of many writers the first few are added up.
    shown = min(count, 6)
    if independent:
        uses = {f"d{n}": (f"data_{n}", "read", None) for n in range(shown)}
        body = "sum[id] = " + " + ".join(f"d{n}[id]" for n in range(shown)) + ";"
    else:
        uses = {"d": ("data", "read", (0, 4 * ITEMS * count))}
        body = "sum[id] = " + " + ".join(f"d[{n * ITEMS}u + id]" for n in range(shown)) + ";"
    form.add("use", body, {**uses, "sum": ("sum", "write", None)})
    if shown < count:
        total = np.sum([spun(ids + np.uint32(n), rounds) for n in range(shown)], axis=0, dtype=np.uint32)
        for name in [item for item in form.graph.resources if item.startswith("data")]:
            form.graph.output(name)
    form.graph.output("sum")
    form.expected["sum"] = total
    return form


def _readers(rounds: int, independent: bool, injected: bool) -> _Form:
    form = _Form("bound read-only" if independent else "bound read-write", rounds)
    data = spun(np.arange(ITEMS, dtype=np.uint32), rounds)
    form.buffer("data")
    form.add("produce", "data[id] = spin(id);", {"data": ("data", "write", None)})
    if injected:
        form.add("inject", "data[id] = spin(data[id]);", {"data": ("data", "read_write", None)})
        data = spun(data, rounds)
    for number, name in enumerate(("left", "right")):
        out = form.buffer(f"{name}_out")
        how = "read" if independent else "read_write"
        form.add(name, f"out[id] = spin(data[id] + {number}u);",
                 {"data": ("data", how, None), "out": (out, "write", None)})  # fmt: skip
        form.graph.output(out)
        form.expected[out] = spun(data + np.uint32(number), rounds)
    return form


def _counters(rounds: int, independent: bool) -> _Form:
    form = _Form("a histogram for each" if independent else "one histogram", rounds)
    ids = np.arange(ITEMS, dtype=np.uint32)
    # Counted from what is there: a pass that cleared them would put a barrier before each counter, in both forms.
    for number in range(2):
        target = f"counts_{number}" if independent else "counts_0"
        if target not in form.graph.resources:
            form.graph.buffer(target, 4 * ITEMS, imported=True)
        form.add(f"count_{number}", f"atomicAdd(&counts[spin(id + {number}u) % {ITEMS}u], 1u);",
                 {"counts": (target, "atomic", None)})  # fmt: skip
    form.buffer("ranks")
    body = "ranks[id] = a[id] + b[id];" if independent else "ranks[id] = a[id];"
    uses = {"a": ("counts_0", "read", None), **({"b": ("counts_1", "read", None)} if independent else {})}
    form.add("rank", body, {**uses, "ranks": ("ranks", "write", None)})
    form.graph.output("ranks")
    form.expected["ranks"] = sum(
        np.bincount(spun(ids + np.uint32(n), rounds) % ITEMS, minlength=ITEMS) for n in range(2)
    ).astype(np.uint32)  # fmt: skip
    return form


# Example -> its form, dependent or independent.
EXAMPLES: Mapping[str, Callable[[int, bool], _Form]] = {
    "two writers, then a reader": lambda rounds, free: _writers(rounds, free, 2),
    "64 writers, then a reader": lambda rounds, free: _writers(rounds, free, 64),
    "one writer, two readers": lambda rounds, free: _readers(rounds, free, injected=False),
    "one writer, an injected pass, two readers": lambda rounds, free: _readers(rounds, free, injected=True),
    "two writers of the same bytes, declared independent": _counters,
}


def measure_independence(
    device: Device | str | int | None = None,
    *,
    repeats: int = 40,
    pass_us: float = PASS_US,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> Gains:
    """Time both forms of every example, in turns, on one device; each sample is one run in a submission of its own:
    wgpu sets the barriers towards the run before it at the submission's start, not between the passes.

    pass_us: how long a pass alone should take, in microseconds; the loop's rounds are chosen for it on the device.
    on_progress: called with a `Progress` before every round. cancel: ends it early and keeps what was measured.
    Raises UnsupportedError on the reference device, DeviceError where a form's results are wrong.
    """
    dev = resolve(device)
    cancel = cancel or threading.Event()
    if dev.is_reference:
        raise UnsupportedError("the reference device runs no shaders, so there is nothing to time; choose another")
    if dev.is_page:
        raise UnsupportedError(f"{dev.info.name}: its barriers cannot be told apart; choose a device of the kernel's")
    rounds = _calibrated(dev, pass_us)
    with ExitStack() as stack:
        made = []
        for example, build in EXAMPLES.items():
            for free in (False, True):
                form = build(rounds, free)
                plan = form.graph.compile()
                stopwatch = stack.enter_context(_Stopwatch(dev, plan))
                stopwatch.check(form.expected, f"{example}, {form.name}")
                made.append((example, form, plan, stopwatch, []))
        end = time.perf_counter() + _WARM_UP_S
        while time.perf_counter() < end:
            made[0][3].sample()
        clock = Clock(repeats, on_progress)
        for done in range(repeats):
            # One round at least, so that there is something to keep.
            if done and cancel.is_set():
                break
            clock.tick(f"round {done + 1} of {repeats}")
            for *_, stopwatch, times in made:
                times.append(stopwatch.sample())
    rows = []
    for example, form, plan, _, times in made:
        q1, median, q3 = np.percentile(times, (25, 50, 75)).tolist()
        count = sum(len(names) > 0 for names in emitted(plan).values())
        rows.append(Gain(example, form.name, len(plan.order), len(plan.edges), count, median, q1, q3, len(times)))
    timer = "host clock" if dev.timestamp_period_ns is None else "gpu timestamps"
    return Gains(tuple(rows), dev.info.name, dev.info.driver, timer, dev.info.kind == "cpu", rounds, cancel.is_set())


def _calibrated(device: Device, pass_us: float) -> int:
    """Rounds of the loop that take about `pass_us` on the device."""
    rounds = 2000
    for _ in range(3):
        form = _readers(rounds, True, injected=False)
        with _Stopwatch(device, form.graph.compile()) as stopwatch:
            # Three passes, two of which may run at once.
            took = min(stopwatch.sample() for _ in range(8)) / 2
        rounds = int(min(MOST_ROUNDS, max(100, rounds * pass_us / max(took, 0.1))))
    return rounds


class _Stopwatch:
    """A plan on a device, run many times in one submission."""

    def __init__(self, device: Device, plan: Plan):
        self._device, self._plan = device, plan
        self._program = plan.program(device)
        self._timed = device.timestamp_period_ns is not None
        self._queries: Any = None
        self._ticks: Any = None
        if self._timed:
            self._queries = device.gpu.create_query_set(type="timestamp", count=2)
            self._ticks = device.buffer(16, "QUERY_RESOLVE|COPY_SRC", "ticks")

    def __enter__(self) -> _Stopwatch:
        return self

    def __exit__(self, *_: Any) -> None:
        self._program.close()
        if self._timed:
            self._device.destroy(self._ticks, self._queries)

    def check(self, expected: Values, what: str) -> None:
        """Raise DeviceError unless the outputs are what NumPy says."""
        found = self._program.run({}).arrays
        for name, values in expected.items():
            if not np.array_equal(found[name][: len(values)], values):
                raise DeviceError(f"{what}: {name} is wrong on {self._device.info.name}, so nothing is timed")

    def sample(self) -> float:
        """Microseconds of one run."""
        device, last = self._device, len(self._plan.order) - 1
        with device.lock, device.errors("timing " + ", ".join(self._plan.order)):
            encoder = device.gpu.create_command_encoder()
            for index in range(last + 1):
                stamps: dict[str, Any] = {}
                if index == 0:
                    stamps["beginning_of_pass_write_index"] = 0
                if index == last:
                    stamps["end_of_pass_write_index"] = 1
                timed = {"query_set": self._queries, **stamps} if stamps and self._timed else None
                self._program.record_pass(encoder, index, timed)
            if self._timed:
                encoder.resolve_query_set(self._queries, 0, 2, self._ticks, 0)
            start = time.perf_counter()
            device.gpu.queue.submit([encoder.finish()])
            device.wait()
            if not self._timed:
                return (time.perf_counter() - start) * 1e6
            begin, end = device.read(self._ticks).view(np.uint64).tolist()
        return max(0, end - begin) * device.timestamp_period_ns * 1e-3
