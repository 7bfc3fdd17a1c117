"""Comparing an expansion with its definition, on the host or on the device that made it.

Both count how many items are wrong. The pairs (src, local) must be every (s, j) with 0 <= j < N[s], each once, in any
order. In the definition's own order (s, j) has the place start[s] + j; with as many items as places, no item out of
range and no place met twice every place is met.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.errors import DeviceError
from expandlab.gpu import Device
from expandlab.graph.fold import fold_threads

# Up to here the output is brought back and compared in NumPy; larger ones are compared where they are.
HOST_ITEMS = 1 << 22
# What NumPy works on at a time: it stays in a cache, and needs little memory beside the output.
_BLOCK = 1 << 20


def wrong_items(counts: np.ndarray, src: np.ndarray, local: np.ndarray) -> int:
    """How many of the items are wrong: O(P2) time, P2 bytes of memory besides.

    counts: uint32 (P1,). src, local: uint32 (P2,), in any order.
    """
    total = int(counts.sum(dtype=np.uint64))
    if len(src) != total or len(local) != total:
        return abs(total - len(src)) + abs(total - len(local))
    if not len(counts):
        return 0
    starts = np.cumsum(counts, dtype=np.int64) - counts
    met = np.zeros(total, bool)
    wrong = 0
    for first in range(0, total, _BLOCK):
        s, j = src[first : first + _BLOCK], local[first : first + _BLOCK]
        inside = np.minimum(s, len(counts) - 1)
        good = (s < len(counts)) & (j < counts[inside])
        met[(starts[inside] + j)[good]] = True
        wrong += len(s) - int(np.count_nonzero(good))
    # What was met twice leaves as many places that were never met.
    return wrong + (total - wrong - int(np.count_nonzero(met)))


class DeviceCheck:
    """Counts wrong items on a GPU, from buffers that stay there; four bytes come back.

    It is tried out on a planted error before it is believed, see `try_out`.
    """

    def __init__(self, device: Device, counts: np.ndarray, counts_buffer: Any, workgroup_size: int = 256):
        self._device = device
        self._total = int(counts.sum(dtype=np.uint64))
        self._groups = fold_threads(self._total, workgroup_size)
        starts = (np.cumsum(counts, dtype=np.uint64) - counts).astype(np.uint32)
        params = np.array([len(counts), self._total, 0, 0], np.uint32)
        self._counts = counts_buffer
        self._params = device.buffer(16, "UNIFORM|COPY_DST", "check params")
        self._starts = device.buffer(max(4, starts.nbytes), label="starts")
        self._met = device.buffer(max(4, -(-self._total // 32) * 4), label="met")
        self._wrong = device.buffer(48, label="wrong")
        self._pipeline = device.pipeline(wgsl.load("measuring/check.wgsl", constants={"WG": workgroup_size}), "check")
        device.gpu.queue.write_buffer(self._params, 0, params)
        if len(starts):
            device.gpu.queue.write_buffer(self._starts, 0, starts)

    def wrong(self, out_src: Any, out_local: Any) -> int:
        """How many items of these GPU buffers are wrong."""
        if not self._total:
            return 0
        buffers = (self._params, self._counts, self._starts, out_src, out_local, self._met, self._wrong)
        gpu = self._device.gpu
        with self._device.lock, self._device.errors("comparing the output"):
            group = self._device.bind(self._pipeline, 0, {at: (b, 0, b.size) for at, b in enumerate(buffers)})
            encoder = gpu.create_command_encoder()
            encoder.clear_buffer(self._met)
            encoder.clear_buffer(self._wrong)
            work = encoder.begin_compute_pass()
            work.set_pipeline(self._pipeline)
            work.set_bind_group(0, group)
            work.dispatch_workgroups(*self._groups)
            work.end()
            gpu.queue.submit([encoder.finish()])
            return int(self._device.read(self._wrong, 0, 4)[0])

    def try_out(self, out_src: Any, out_local: Any) -> None:
        """Plant one wrong item in an output that is right, and see that it is found. The output is repaired.

        Raises DeviceError where the check finds nothing: then it says nothing about other outputs either.
        """
        if not self._total:
            return
        queue, at = self._device.gpu.queue, 4 * (self._total // 2)
        for buffer in (out_src, out_local):
            kept = self._device.read(buffer, at, 4)
            # 2^32 - 1 is no src, and no local of an N below 2^32.
            queue.write_buffer(buffer, at, np.array([0xFFFFFFFF], np.uint32))
            found = self.wrong(out_src, out_local)
            queue.write_buffer(buffer, at, kept)
            if not found:
                raise DeviceError(
                    f"{self._device.info.name}: the check of outputs on the device misses an error that was planted; "
                    "use verify='host'"
                )

    def close(self) -> None:
        """Give the device's memory back."""
        self._device.destroy(self._params, self._starts, self._met, self._wrong)
