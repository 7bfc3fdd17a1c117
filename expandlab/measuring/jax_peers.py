"""The same work by JAX, where it is installed, timed by the host's clock: JAX shows no other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import UnsupportedError
from expandlab.measuring.contender import Sample
from expandlab.measuring.peers import Peer, check_expansion
from expandlab.measuring.selection_peers import best_scores

if TYPE_CHECKING:
    from expandlab.measuring.selections import Selections
    from expandlab.measuring.workloads import Workload


class _Jax(Peer):
    """Times a compiled function."""

    def __init__(self, name: str):
        try:
            import jax
        except ImportError:
            raise UnsupportedError("peers='jax': JAX is not installed; pip install jax, or leave it out") from None
        self.jax, self.name = jax, f"jax {name}"
        self._inputs: tuple[Any, ...] | None = None
        self._way: Any = None

    def ready(self, way: Any, *inputs: np.ndarray) -> None:
        """Compile, and bring the inputs to JAX's device."""
        self._inputs = tuple(self.jax.device_put(values) for values in inputs)
        self._way = self.jax.jit(way)
        self.jax.block_until_ready(self.once())

    def once(self) -> Any:
        """One run."""
        return self._way(*self._inputs)

    def sample(self, runs: int) -> Sample:
        """`runs` runs, which the device does one after the other."""
        start = time.perf_counter()
        found = None
        for _ in range(runs):
            found = self.once()
        self.jax.block_until_ready(found)
        return Sample(None, (time.perf_counter() - start) * 1e3 / runs, ())

    def close(self) -> None:
        """Give the device's memory back."""
        self._inputs = self._way = None


class JaxExpansion(_Jax):
    """`jax.numpy.repeat` of the src and of their offsets, in int32."""

    def __init__(self, work: Workload):
        super().__init__("repeat")
        self.work = work

    def prepare(self) -> None:
        """Compile, and bring the counts to JAX's device."""
        if self.work.total >= 2**31:
            raise UnsupportedError("peers='jax': its int32 form ends at 2^31 items; measure fewer")
        np_, total = self.jax.numpy, self.work.total

        def way(counts: Any) -> Any:
            src = np_.repeat(np_.arange(len(counts), dtype=np_.int32), counts, total_repeat_length=total)
            starts = np_.cumsum(counts) - counts
            return src, np_.arange(total, dtype=np_.int32) - starts[src]

        self.ready(way, self.work.values.astype(np.int32))

    def check(self) -> str:
        """Compare with the definition, on JAX's device."""
        np_, (counts,) = self.jax.numpy, self._inputs
        starts = np_.cumsum(counts) - counts
        check_expansion(self, *self.once(), counts, starts, np_.arange(self.work.total, dtype=np_.int32))
        return "device" if self.jax.default_backend() != "cpu" else "host"


class JaxSelection(_Jax):
    """`jax.lax.top_k`."""

    def __init__(self, work: Selections):
        super().__init__("top_k")
        self.work = work

    def prepare(self) -> None:
        """Compile, and bring the scores to JAX's device."""
        top_k, k, sign = self.jax.lax.top_k, self.work.k, 1 if self.work.largest else -1
        # It knows only the largest.
        self.ready(lambda values: top_k(sign * values, k), self.work.values)

    def check(self) -> str:
        """Compare on the host."""
        values, indices = (np.asarray(part) for part in self.once())
        best_scores(self.work, values if self.work.largest else -values, indices, self.name)
        return "host"
