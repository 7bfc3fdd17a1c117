"""Top-k by other libraries, where they are installed, timed in the same rounds: `torch.topk`, `torch.sort`, and JAX's.

Their ties may come in another order and a NaN may stand elsewhere; what is checked is that the k scores are the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import DeviceError, UnsupportedError
from expandlab.measuring.contender import Runs
from expandlab.measuring.peers import TimedByTorch, torch_for
from expandlab.topk.keys import keys_of

if TYPE_CHECKING:
    from expandlab.measuring.selections import Selections

_DTYPES = ("float32", "float16", "int32")


def selection_peers(work: Selections, names: Sequence[str]) -> list[Runs]:
    """The peers named: `torch`, `jax`, `numpy`. Raises UnsupportedError where one is missing."""
    if work.form.name not in _DTYPES and set(names) - {"numpy"}:
        raise UnsupportedError(f"peers: they do not select from {work.form.name}; use one of {', '.join(_DTYPES)}")
    if "cupy" in names:
        raise UnsupportedError("peers='cupy': it is timed for expansions alone (its partition sorts); leave it out")
    found: list[Runs] = []
    if "torch" in names:
        torch = torch_for(work.device)
        found += [TorchSelection(torch, work, "topk", _topk), TorchSelection(torch, work, "sort", _sort),
                  TorchSum(torch, work)]  # fmt: skip
    if "jax" in names:
        from expandlab.measuring.jax_peers import JaxSelection

        found.append(JaxSelection(work))
    if "numpy" in names:
        from expandlab.measuring.numpy_peers import selection_by_numpy

        found += selection_by_numpy(work)
    return found


def _topk(torch: Any, values: Any, k: int, largest: bool) -> tuple[Any, Any]:
    found = torch.topk(values, k, largest=largest, sorted=True)
    return found.values, found.indices


def _sort(torch: Any, values: Any, k: int, largest: bool) -> tuple[Any, Any]:
    found = torch.sort(values, descending=largest)
    return found.values[:k], found.indices[:k]


def best_scores(work: Selections, values: np.ndarray, indices: np.ndarray, name: str) -> None:
    """Raise DeviceError unless `values` are the k best scores, best first, and stand at `indices`."""
    k, every = work.k, work.keys
    mine = keys_of(np.ascontiguousarray(values, work.values.dtype), work.largest)
    right = len(mine) == k and len(np.unique(indices)) == k and np.array_equal(every[indices], mine)
    if right and k:
        last = mine[-1]
        better, not_worse = int(np.count_nonzero(every < last)), int(np.count_nonzero(every <= last))
        right = bool(np.all(mine[1:] >= mine[:-1])) and better <= k <= not_worse and better == np.sum(mine < last)
    if not right:
        raise DeviceError(f"{name} gave a wrong selection, so it is not timed")


class TorchSelection(TimedByTorch):
    """A function of PyTorch that gives the k best."""

    def __init__(self, torch: Any, work: Selections, name: str, way: Callable[..., tuple[Any, Any]]):
        super().__init__(torch, work, name)
        self._way = way

    def prepare(self) -> None:
        """Bring the scores to the device."""
        self._values = self.torch.from_numpy(self.work.values).to(self.device)

    def once(self) -> tuple[Any, Any]:
        """Scores and indices."""
        return self._way(self.torch, self._values, self.work.k, self.work.largest)

    def check(self) -> str:
        """Compare on the host."""
        values, indices = (part.cpu().numpy() for part in self.once())
        best_scores(self.work, values, indices, self.name)
        return "host"

    def close(self) -> None:
        """Give the device's memory back."""
        self._values = None
        self.free()


class TorchSum(TimedByTorch):
    """PyTorch's sum of the scores: a read by somebody else."""

    role = "limit"

    def __init__(self, torch: Any, work: Selections):
        super().__init__(torch, work, "sum")

    def prepare(self) -> None:
        """Bring the scores to the device."""
        self._values = self.torch.from_numpy(self.work.words.view(np.float32)).to(self.device)

    def once(self) -> Any:
        """One sum."""
        return self._values.sum()

    def check(self) -> None:
        """Nothing to compare."""

    def close(self) -> None:
        """Give the device's memory back."""
        self._values = None
        self.free()
