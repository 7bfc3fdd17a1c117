"""The same arrays by other libraries, where they are installed, timed in the same rounds: three formulations of PyTorch
and its fill, JAX's repeat, CuPy's scan and search, and NumPy's.

A peer is asked for by name; nothing here loads a library before. On CUDA PyTorch is timed with CUDA events, elsewhere
with the host's clock. The GPU is torch's current one; on a host with several, choose it with CUDA_VISIBLE_DEVICES.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import DeviceError, UnsupportedError
from expandlab.measuring.contender import Facts, Runs, Sample

if TYPE_CHECKING:
    from expandlab.measuring.workloads import Workload

Pair = tuple[Any, Any]


PEERS = ("torch", "jax", "cupy", "numpy")


class Peer:
    """What all peers have in common. `name` is theirs."""

    role = "peer"
    stamped = True

    def facts(self) -> Facts:
        """Nothing is known of its kernels."""
        return Facts()

    def most_runs(self) -> int:
        """Runs that one batch may have."""
        return 256


def check_expansion(peer: Peer, src: Any, local: Any, counts: Any, starts: Any, items: Any) -> None:
    """Compare (src, local), in order of their items, with the definition: by the arrays' own library, where they are.

    starts: of the src, in order. items: 0 .. P2 - 1. Raises DeviceError that names the peer where they are wrong.
    """
    right = len(src) == len(local) == len(items)
    # First, for a src out of range would be looked up next.
    right = right and bool(((src >= 0) & (src < len(counts))).all())
    right = right and bool(((local >= 0) & (local < counts[src]) & (starts[src] + local == items)).all())
    if not right:
        raise DeviceError(f"{peer.name} gave a wrong expansion, so it is not timed")


def expansion_peers(work: Workload, names: Sequence[str]) -> list[Runs]:
    """The peers of an expansion: `torch`, `jax`, `cupy`, `numpy`. Raises UnsupportedError where one is missing."""
    found: list[Runs] = []
    if "torch" in names:
        torch = torch_for(work.device)
        ways = {"gather": _gather, "offsets": _offsets, "searchsorted": _search}
        found += [*(TorchExpansion(torch, work, name, way) for name, way in ways.items()), TorchFill(torch, work)]
    if "jax" in names:
        from expandlab.measuring.jax_peers import JaxExpansion

        found.append(JaxExpansion(work))
    if "cupy" in names:
        from expandlab.measuring.cupy_peers import CupyExpansion

        found.append(CupyExpansion(work))
    if "numpy" in names:
        from expandlab.measuring.numpy_peers import expansion_by_numpy

        found += expansion_by_numpy(work)
    return found


def torch_for(device: Any) -> Any:
    """PyTorch. Raises UnsupportedError where it is missing, or has no GPU and a GPU is measured."""
    try:
        import torch
    except ImportError:
        raise UnsupportedError("peers='torch': PyTorch is not installed; pip install torch, or leave it out") from None
    if not (torch.cuda.is_available() or device.info.is_software):
        raise UnsupportedError("peers='torch': this PyTorch has no GPU, and a GPU is measured; leave it out")
    return torch


class _Inputs:
    """What the formulations read: counts, starts and ends (int32) and the number of items."""

    def __init__(self, torch: Any, counts: np.ndarray, total: int, device: Any):
        ends = np.cumsum(counts, dtype=np.int64)
        self.torch, self.total = torch, total
        self.counts, self.starts, self.ends = (
            torch.from_numpy(values.astype(np.int32)).to(device) for values in (counts, ends - counts, ends)
        )
        self.src = torch.arange(len(counts), dtype=torch.int32, device=device)

    def items(self) -> Any:
        """0 .. P2 - 1, a part of every formulation."""
        return self.torch.arange(self.total, dtype=self.torch.int32, device=self.counts.device)

    def repeated(self, values: Any) -> Any:
        """Each value as often as its count says. With the size given nothing waits for the device."""
        return self.torch.repeat_interleave(values, self.counts, output_size=self.total)


def _gather(x: _Inputs) -> Pair:
    src = x.repeated(x.src)
    return src, x.items() - x.starts[src]


def _offsets(x: _Inputs) -> Pair:
    return x.repeated(x.src), x.items() - x.repeated(x.starts)


def _search(x: _Inputs) -> Pair:
    items = x.items()
    src = x.torch.searchsorted(x.ends, items, right=True, out_int32=True)
    return src, items - x.starts[src]


class TimedByTorch(Peer, ABC):
    """Times a function with CUDA events, or on the host."""

    def __init__(self, torch: Any, work: Any, name: str):
        self.torch, self.work, self.name = torch, work, f"torch {name}"
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    @abstractmethod
    def once(self) -> Any:
        """One run."""

    def sample(self, runs: int) -> Sample:
        """`runs` runs after each other."""
        start = time.perf_counter()
        if self.device.type != "cuda":
            for _ in range(runs):
                self._all()
            return Sample(None, (time.perf_counter() - start) * 1e3 / runs, ())
        cuda = self.torch.cuda
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(runs):
            self._all()
        end.record()
        end.synchronize()
        return Sample(begin.elapsed_time(end) / runs, (time.perf_counter() - start) * 1e3 / runs, ())

    def free(self) -> None:
        """Give the device's memory back that PyTorch keeps."""
        if self.device.type == "cuda":
            self.torch.cuda.empty_cache()

    def _all(self) -> None:
        for _ in range(self.work.at_once):
            self.once()


class TorchExpansion(TimedByTorch):
    """One formulation of (src, local) in int32."""

    def __init__(self, torch: Any, work: Any, name: str, way: Callable[[_Inputs], Pair]):
        super().__init__(torch, work, name)
        self._way = way

    def prepare(self) -> None:
        """Bring the counts to the device."""
        if self.work.total >= 2**31:
            raise UnsupportedError("peers='torch': its int32 formulations end at 2^31 items; measure fewer")
        self._inputs = _Inputs(self.torch, self.work.values, self.work.total, self.device)

    def once(self) -> Pair:
        """The two arrays."""
        return self._way(self._inputs)

    def check(self) -> str:
        """Compare with the definition, where the arrays are."""
        given = self._inputs
        check_expansion(self, *self.once(), given.counts, given.starts, given.items())
        return "device" if self.device.type == "cuda" else "host"

    def close(self) -> None:
        """Give the device's memory back."""
        self._inputs = None
        self.free()


class TorchFill(TimedByTorch):
    """`fill_` over as many bytes as the output has."""

    role = "limit"

    def __init__(self, torch: Any, work: Any):
        super().__init__(torch, work, "fill_")

    def prepare(self) -> None:
        """Make the array."""
        self._words = self.torch.empty(2 * self.work.total, dtype=self.torch.int32, device=self.device)

    def once(self) -> None:
        """One fill."""
        self._words.fill_(1)

    def check(self) -> None:
        """Nothing to compare."""

    def close(self) -> None:
        """Give the device's memory back."""
        self._words = None
        self.free()
