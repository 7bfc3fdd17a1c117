"""What every round is compared with: fills of the output's bytes, and a read of the input's."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.gpu import Device
from expandlab.graph import Access, FrameGraph, Kernel
from expandlab.graph.fold import fold_threads
from expandlab.measuring.contender import Facts, GraphRuns, Sample, graph_digest
from expandlab.measuring.stopwatch import Stopwatch

_FOLDER = "measuring"
# Vectors that a thread of the read adds up: enough to have several loads under way.
_READ_VECTORS = 4
_FILL_VALUE = 0x01010101
COLUMNS = ("out_src", "out_local")
# A fill of 8 MiB takes a software adapter about a millisecond, far more than recording it.
_PROBE_ITEMS = 1 << 20


def fill(device: Device, total: int, external: list[Mapping[str, Any]], workgroup_size: int) -> GraphRuns:
    """A fill of both columns of the output, 16 bytes a store."""
    vectors = -(-total // 4)
    source = wgsl.load(f"{_FOLDER}/fill.wgsl", constants={"WG": workgroup_size})
    graph = FrameGraph()
    graph.buffer("params", 16, imported=True)
    for name in COLUMNS:
        graph.buffer(name, max(16, 16 * vectors))
        graph.output(name)

    def twin(b: Any) -> None:
        for name in COLUMNS:
            getattr(b, name)[: 4 * vectors] = _FILL_VALUE

    names = ("params", *COLUMNS)
    kernel = Kernel(source, "fill", {n: n for n in names}, fold_threads(vectors, workgroup_size), True, twin)
    graph.add_pass("fill", [Access("params", "read", usage="uniform"), *(Access(n, "write") for n in COLUMNS)],
                   kernel=kernel)  # fmt: skip
    params = np.array([vectors, _FILL_VALUE, 0, 0], np.uint32)
    return _reference("fill", "limit", device, graph, {"params": params}, external, workgroup_size)


def read(
    device: Device, counts: np.ndarray, external: list[Mapping[str, Any]], workgroup_size: int, role: str = "read"
) -> GraphRuns:  # fmt: skip
    """A read of the counts, or of other words, added up and not written. Where they lie in an external buffer already,
    they are not written there again."""
    vectors = -(-len(counts) // 4)
    threads = -(-vectors // _READ_VECTORS)
    source = wgsl.load(f"{_FOLDER}/read_input.wgsl", constants={"WG": workgroup_size})
    graph = FrameGraph()
    graph.buffer("params", 16, imported=True)
    graph.buffer("counts", max(16, 16 * vectors), imported=True)
    graph.buffer("sink", 48, imported=True)

    def twin(b: Any) -> None:
        np.sum(b.counts, dtype=np.uint32)

    kernel = Kernel(source, "read_input", {n: n for n in ("params", "counts", "sink")},
                    fold_threads(threads, workgroup_size), True, twin)  # fmt: skip
    accesses = [Access("params", "read", usage="uniform"), Access("counts", "read"), Access("sink", "read_write")]
    graph.add_pass("read_input", accesses, kernel=kernel)
    params = np.array([vectors, threads, 0, 0], np.uint32)
    inputs = {"params": params}
    if role == "read" or device.is_reference:
        inputs["counts"] = counts
    return _reference("read", role, device, graph, inputs, external, workgroup_size)


def stamps_hold(device: Device) -> bool:
    """Whether the device's timestamps can be believed now.

    After the first draw on a device, Mesa's llvmpipe takes the stamp of a pass's begin when its end is reached (it bins
    the query with the scene to be rasterised), so that every pass seems to take no time. There the device is the host,
    so the host's clock can tell. Hardware is believed.
    """
    if device.timestamp_period_ns is None or not device.info.is_software or device.is_page:
        return True
    with ExitStack() as stack:
        shared = {}
        for name in COLUMNS:
            shared[name] = device.buffer(4 * _PROBE_ITEMS, label=name)
            stack.callback(shared[name].destroy)
        probe = fill(device, _PROBE_ITEMS, [shared], 256)
        stack.callback(probe.close)
        probe.prepare()
        probe.sample(1)
        # A pass alone: in a batch, which is one pass of many dispatches, only the first of them would be missing.
        taken = [probe.sample(1) for _ in range(8)]
        # Other work on the host makes the wall clock longer: the shortest says most. Broken stamps are too short by
        # a factor of ten at least.
        return sum(s.gpu_ms for s in taken) > 0.2 * len(taken) * min(s.wall_ms for s in taken)


def _reference(
    name: str, role: str, device: Device, graph: FrameGraph, inputs: Mapping[str, np.ndarray],
    external: list[Mapping[str, Any]], workgroup_size: int,
) -> GraphRuns:  # fmt: skip
    shared = [{key: value for key, value in buffers.items() if key in graph.resources} for buffers in external]
    return GraphRuns(
        name, role, device, [(graph, inputs) for _ in shared], external=shared,
        facts=Facts(scratch_bytes=0, checked=True, shader_sha256=graph_digest(graph)),
        threads_of=lambda graph, name: workgroup_size,
    )  # fmt: skip


class Clear:
    """`clear_buffer` over both columns of the output: what the driver itself takes."""

    name, role = "clear_buffer", "limit"
    stamped = True

    def __init__(self, device: Device, total: int, external: list[Mapping[str, Any]]):
        self.device = device
        self._bytes = max(4, 4 * total)
        self._external = external
        self._arrays = [np.empty(self._bytes // 4, np.uint32) for _ in COLUMNS] if device.is_reference else []
        self._stopwatch: Stopwatch | None = None

    def prepare(self) -> None:
        """Make the marks: two dispatches of one workgroup, between whose stamps the clears are done."""
        if self.device.timestamp_period_ns is not None and self.stamped and not self.device.is_page:
            self._stopwatch = Stopwatch(self.device, 2)
            self._pipeline = self.device.pipeline(wgsl.load(f"{_FOLDER}/mark.wgsl"), "mark")

    def check(self) -> None:
        """Nothing to compare."""

    def facts(self) -> Facts:
        """No threads of ours."""
        return Facts(passes=(), scratch_bytes=0)

    def most_runs(self) -> int:
        """Runs that one batch may have."""
        return 512

    def sample(self, runs: int) -> Sample:
        """`runs` clears of both columns."""
        start = time.perf_counter()
        if self.device.is_reference:
            for _ in range(runs):
                for _ in self._external:
                    for array in self._arrays:
                        array.fill(0)
            return Sample(None, (time.perf_counter() - start) * 1e3 / runs, ())
        if self.device.is_page:
            buffers = [each[name] for each in self._external for name in COLUMNS]
            return Sample(*self.device.clear(buffers, self._bytes, runs, self.stamped), ())
        gpu = self.device.gpu
        with self.device.lock, self.device.errors("running clear_buffer"):
            encoder = gpu.create_command_encoder()
            # The first mark's end and the second one's begin enclose what lies between them.
            self._mark(encoder, 0)
            for _ in range(runs):
                for buffers in self._external:
                    for name in COLUMNS:
                        encoder.clear_buffer(buffers[name], 0, self._bytes)
            self._mark(encoder, 1)
            gpu_ms = None
            if self._stopwatch is None:
                gpu.queue.submit([encoder.finish()])
                self.device.wait()
            else:
                self._stopwatch.resolve(encoder)
                gpu.queue.submit([encoder.finish()])
                spans = self._stopwatch.read_ms()
                gpu_ms = max(float(spans[1, 0] - spans[0, 1]), 0.0) / runs
        return Sample(gpu_ms, (time.perf_counter() - start) * 1e3 / runs, ())

    def _mark(self, encoder: Any, number: int) -> None:
        if self._stopwatch is None:
            return
        work = encoder.begin_compute_pass(timestamp_writes=self._stopwatch.stamps(begins=number, ends=number))
        work.set_pipeline(self._pipeline)
        work.dispatch_workgroups(1)
        work.end()

    def close(self) -> None:
        """Give the device's memory back."""
        if self._stopwatch is not None:
            self._stopwatch.close()
