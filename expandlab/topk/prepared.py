"""A method made ready on a device for a size: its graph, its program, and one run over scores that fit a binding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from expandlab.errors import DeviceError, DeviceLimitError
from expandlab.expansion.report import PassReport
from expandlab.gpu import Device
from expandlab.graph import PlanRun
from expandlab.graph.inputs import over_limit
from expandlab.topk.keys import scores_of
from expandlab.topk.method import WORKGROUP, Method, Selection, Sizes, params_words
from expandlab.topk.report import SelectionReport
from expandlab.topk.steps import HOST

NO_BOUND = (0xFFFFFFFF, 0xFFFFFFFF)
# Bytes that a binding must have where the shaders read sixteen at a time.
LEAST_BINDING = 16


@dataclass(frozen=True, eq=False)
class Found:
    """One run's result, best first: indices of this run's scores, and the scores."""

    indices: np.ndarray
    values: np.ndarray
    report: SelectionReport


def build(method: Method, sizes: Sizes, *, checked: bool = False) -> Selection:
    """The frame graph of a selection."""
    built = Selection(method, sizes, checked=checked)
    method.passes(built)
    return built


def fitting(method: Method, sizes: Sizes, device: Device) -> Selection:
    """The passes for all scores at once, or for halves, quarters ... until every buffer fits the device's limits.

    Raises DeviceLimitError where even the smallest does not.
    """
    now = sizes
    while True:
        built = build(method, now)
        found = over_limit(built.graph, device.limits)
        if found is None:
            return built
        half = -(-now.max_n // 2)
        # Whole quads, so that a part of a buffer starts at a quad of its own.
        half = -(-half // 8) * 8
        if half >= now.max_n:
            refuse(built, device)
        now = replace(now, max_n=half, k=min(sizes.k, half))


def refuse(built: Selection, device: Device) -> None:
    """Raise DeviceLimitError for a buffer that does not fit the device."""
    found = over_limit(built.graph, device.limits)
    if found:
        name, size, limit = found
        raise DeviceLimitError(
            f"selecting from {built.sizes.max_n:,} scores needs {size:,} bytes for the buffer {name!r}; "
            f"{device.info.name} allows {device.limits[limit]:,} ({limit}). Select from fewer at once"
            f"{device.or_open_wider(limit, size)}",
            required=built.sizes.max_n,
            capacity=device.limits[limit] // 4,
            limit=limit,
            required_bytes=size,
            available_bytes=device.limits[limit],
        )


class Prepared:
    """A method's program on a device, for at most `sizes.max_n` scores at a time."""

    def __init__(self, method: Method, built: Selection, device: Device):
        self.method = method
        self.built = built
        self.sizes = built.sizes
        self.device = device
        self.program = built.graph.compile().program(device)
        self.program.upload(built.imported)

    def close(self) -> None:
        """Give the device's memory back."""
        self.program.close()

    def __enter__(self) -> Prepared:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def inputs(self, words: np.ndarray, n: int, bound: tuple[int, int] = NO_BOUND) -> dict[str, np.ndarray]:
        """What a run uploads."""
        return {"params": params_words(n, self.sizes, bound), "values": words}

    def run(self, words: np.ndarray, n: int, bound: tuple[int, int] = NO_BOUND, *, timed: bool = True) -> Found:
        """Select from `n` scores in host memory, given as words; only items before `bound` count.

        timed=False: nothing comes back but the result, so no times of the passes.
        """
        self.built.steps.clear()
        ran = self.program.run(self.inputs(words, n, bound), timed=timed)
        return self._found(ran, n, bound, words)

    def rerun(self, words: np.ndarray, n: int, *, timed: bool = True) -> Found:
        """Select from the scores that are on the device from an earlier `upload`; words: the same ones on the host."""
        self.built.steps.clear()
        ran = self.program.run({"params": params_words(n, self.sizes, NO_BOUND)}, timed=timed)
        return self._found(ran, n, NO_BOUND, words)

    def run_buffer(self, buffer: Any, n: int, bound: tuple[int, int] = NO_BOUND, *, timed: bool = True) -> Found:
        """Select from the first `n` scores of a GPU buffer with usage STORAGE."""
        inputs = {"params": params_words(n, self.sizes, bound)}
        if buffer.size < LEAST_BINDING:
            return self.run_part(buffer, 0, n, bound, timed=timed)
        ran = self.program.run(inputs, replaced={"values": buffer}, timed=timed)
        return self._found(ran, n, bound, None)

    def run_part(self, buffer: Any, first: int, n: int, bound: tuple[int, int], *, timed: bool = True) -> Found:
        """Select from `n` scores of a GPU buffer with usage COPY_SRC, from score `first` on."""
        self.copy_in(buffer, first, n)
        ran = self.program.run({"params": params_words(n, self.sizes, bound)}, timed=timed)
        return self._found(ran, n, bound, None)

    def copy_in(self, buffer: Any, first: int, n: int) -> None:
        """Copy scores of a GPU buffer into the program's own."""
        gpu = self.device.gpu
        with self.device.lock, self.device.errors("copying scores"):
            encoder = gpu.create_command_encoder()
            self.record_copy(encoder, buffer, first, n)
            gpu.queue.submit([encoder.finish()])

    def record_copy(self, encoder: Any, buffer: Any, first: int, n: int) -> None:
        """Record a copy of scores of a GPU buffer into the program's own."""
        offset, size = 4 * self.sizes.form.words(first), 4 * self.sizes.form.words(n)
        encoder.copy_buffer_to_buffer(buffer, offset, self.program.buffer("values"), 0, size)

    def _found(self, ran: PlanRun, n: int, bound: tuple[int, int], words: np.ndarray | None) -> Found:
        back = sum(array.size for array in ran.arrays.values())
        if self.method.finish is not None:
            # On a device nobody reads what is written down, and writing costs time.
            log = self.built.log_of(HOST) if self.device.is_reference else None
            indices = self.method.finish(ran.arrays, n, self.sizes, bound, log)
            values = scores_of(words, self.sizes.form, n)[indices]
        else:
            count = int(ran.arrays["status"][0])
            if count > self.sizes.k:
                raise DeviceError(f"{self.device.info.name}: {count} results of {self.sizes.k}; run it again")
            indices = ran.arrays["out_indices"][:count]
            values = scores_of(ran.arrays["out_values"], self.sizes.form, count)
        return Found(indices, values, self._report(ran, n, back))

    def _report(self, ran: PlanRun, n: int, back: int) -> SelectionReport:
        passes = []
        for item in ran.passes:
            threads = int(np.prod(item.workgroups, dtype=np.int64)) * WORKGROUP
            useful = min(self.built.useful[item.name](n), threads)
            passes.append(PassReport(item.name, item.workgroups, threads, threads - useful, item.gpu_ms))
        timed = any(item.gpu_ms is not None for item in ran.passes)
        return report(self.method.name, self.device, passes, self.built.scratch_bytes, ran.wall_ms, back, timed,
                      transfer_ms=ran.transfer_ms)  # fmt: skip


def report(
    method: str,
    device: Device,
    passes: list[PassReport],
    scratch_bytes: int = 0,
    wall_ms: float = 0.0,
    back: int = 0,
    timed: bool = False,
    runs: int = 1,
    transfer_ms: float | None = None,
) -> SelectionReport:
    """A report of one run; with no passes, of a run that had nothing to do."""
    return SelectionReport(
        passes=tuple(passes),
        scratch_bytes=scratch_bytes,
        wall_ms=wall_ms,
        device=device.info.label,
        timer="timestamp-query" if timed else "none",
        method=method,
        software=device.info.is_software,
        words_back=back,
        words_back_per_push=back,
        chunks=runs,
        transfer_ms=transfer_ms,
    )
