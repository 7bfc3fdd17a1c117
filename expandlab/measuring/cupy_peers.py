"""The same expansion by CuPy, where it is installed: CUB's scan and a search, timed with CUDA events."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import UnsupportedError
from expandlab.measuring.contender import Sample
from expandlab.measuring.peers import Peer, check_expansion

if TYPE_CHECKING:
    from expandlab.measuring.workloads import Workload


class CupyExpansion(Peer):
    """`cupy.cumsum` of the counts (CUB's scan), `cupy.searchsorted` for each item, and the local index, in int32."""

    name = "cupy scan + search"

    def __init__(self, work: Workload):
        try:
            import cupy
        except ImportError:
            raise UnsupportedError(
                "peers='cupy': CuPy is not installed; pip install cupy-cuda13x (or your CUDA's), or leave it out"
            ) from None
        if not cupy.cuda.is_available():
            raise UnsupportedError("peers='cupy': this CuPy has no GPU; leave it out")
        self.cupy, self.work = cupy, work
        self._counts: Any = None

    def prepare(self) -> None:
        """Bring the counts to the device."""
        if self.work.total >= 2**31:
            raise UnsupportedError("peers='cupy': its int32 form ends at 2^31 items; measure fewer")
        self._counts = self.cupy.asarray(self.work.values.astype(np.int32))

    def once(self) -> tuple[Any, Any]:
        """The two arrays."""
        cupy, counts = self.cupy, self._counts
        ends = cupy.cumsum(counts, dtype=cupy.int32)
        items = cupy.arange(self.work.total, dtype=cupy.int32)
        src = cupy.searchsorted(ends, items, side="right").astype(cupy.int32)
        return src, items - (ends - counts)[src]

    def check(self) -> str:
        """Compare with the definition, on the device."""
        cupy, counts = self.cupy, self._counts
        starts = cupy.cumsum(counts, dtype=cupy.int32) - counts
        check_expansion(self, *self.once(), counts, starts, cupy.arange(self.work.total, dtype=cupy.int32))
        return "device"

    def sample(self, runs: int) -> Sample:
        """`runs` runs after each other."""
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        start = time.perf_counter()
        begin.record()
        for _ in range(runs * self.work.at_once):
            self.once()
        end.record()
        end.synchronize()
        gpu_ms = self.cupy.cuda.get_elapsed_time(begin, end) / runs
        return Sample(gpu_ms, (time.perf_counter() - start) * 1e3 / runs, ())

    def close(self) -> None:
        """Give the device's memory back."""
        self._counts = None
        self.cupy.get_default_memory_pool().free_all_blocks()
