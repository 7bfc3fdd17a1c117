"""Scores to select from, made from a recipe, and the check of a selection against its definition."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.errors import DeviceError
from expandlab.gpu import Device
from expandlab.topk.arguments import check_scores
from expandlab.topk.keys import Format, keys_of, pairs_of

# `ascending`: every score beats all before it. `shared`: the leading 24 bits are the same, so that the first two digits
# of a radix selection tell nothing apart.
ORDERS = ("random", "ascending", "descending", "equal", "shared")
_MOST_GROUPS = 4096
_WORKGROUP = 256


def from_recipe(recipe: Mapping[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """(scores, what they are) of `{"scores": "random", "items": 1048576, "seed": 0}`: float32 in the order named."""
    known = ("scores", "items", "seed")
    unknown = sorted(set(recipe) - set(known))
    if unknown or recipe.get("scores") not in ORDERS:
        raise ValueError(f"values={dict(recipe)!r}: give 'scores', one of {', '.join(ORDERS)}, and 'items' and 'seed'")
    items, seed = recipe.get("items", 2**20), recipe.get("seed", 0)
    for name, value in (("items", items), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**32:
            raise ValueError(f"values: {name}={value!r}; give a whole number from 0 to 2^32 - 1")
    rng = np.random.default_rng(seed)
    order = recipe["scores"]
    if order == "random":
        values = rng.random(items, dtype=np.float32)
    elif order == "equal":
        values = np.full(items, 3.0, np.float32)
    elif order == "shared":
        values = (np.uint32(0x3F800000) + rng.integers(0, 256, items, dtype=np.uint32)).view(np.float32)
    else:
        # Beyond 2^24 floats no longer hold every number: neighbours are equal, but never out of order.
        values = np.arange(items, dtype=np.float32)
        values = values[::-1].copy() if order == "descending" else values
    return values, {"kind": order, "seed": int(seed)}


def digest(values: np.ndarray) -> str:
    """SHA-256 of the scores' bytes."""
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(memoryview(little).cast("B")).hexdigest()


def wrong_order(values: np.ndarray, indices: np.ndarray, found: np.ndarray, largest: bool) -> str | None:
    """What is wrong with a selection by itself: indices out of range, scores that are not theirs, not best first."""
    if len(indices) and int(indices.max()) >= len(values):
        return f"index {int(indices.max()):,} of {len(values):,} scores"
    own = values[indices]
    bits = f"u{values.dtype.itemsize}"
    if not np.array_equal(np.ascontiguousarray(own).view(bits), np.ascontiguousarray(found).view(bits)):
        return "scores that are not those at the indices"
    pairs = pairs_of(keys_of(own, largest), indices)
    if np.any(pairs[1:] <= pairs[:-1]):
        return "items that are not best first, each once"
    return None


class SelectionCheck:
    """Says whether a selection is the k best, by one read of the scores on the device or in NumPy.

    values: scores; buffer: where they lie on the device, None for the host.
    """

    def __init__(self, device: Device, values: np.ndarray, form: Format, largest: bool, buffer: Any | None):
        self._device, self._values, self._form, self._largest = device, values, form, largest
        self._buffer = buffer
        if buffer is None:
            return
        constants = {"WG": _WORKGROUP, "FORMAT": form.code, "PER_WORD": form.per_word, "LARGEST": int(largest)}
        self._pipeline = device.pipeline(wgsl.load("measuring/count_before.wgsl", constants=constants), "count_before")
        self._params = device.buffer(16, "UNIFORM|COPY_DST", "check params")
        self._found = device.buffer(48, label="found")

    def not_after(self, key: int, index: int) -> int:
        """How many items are not after the item (key, index)."""
        n = len(self._values)
        if self._buffer is None:
            last = np.uint64(key) << np.uint64(32) | np.uint64(index)
            pairs = pairs_of(keys_of(self._values, self._largest), np.arange(n, dtype=np.uint32))
            return int(np.count_nonzero(pairs <= last))
        gpu = self._device.gpu
        with self._device.lock, self._device.errors("checking a selection"):
            gpu.queue.write_buffer(self._params, 0, np.array([n, key, index, 0], np.uint32))
            bound = {at: (b, 0, b.size) for at, b in enumerate((self._params, self._buffer, self._found))}
            encoder = gpu.create_command_encoder()
            encoder.clear_buffer(self._found)
            work = encoder.begin_compute_pass()
            work.set_pipeline(self._pipeline)
            work.set_bind_group(0, self._device.bind(self._pipeline, 0, bound))
            work.dispatch_workgroups(max(1, min(_MOST_GROUPS, -(-n // _WORKGROUP))))
            work.end()
            gpu.queue.submit([encoder.finish()])
            return int(self._device.read(self._found, 0, 4)[0])

    def wrong(self, indices: np.ndarray, found: np.ndarray, k: int) -> str | None:
        """What is wrong with a selection of k, or None. Raises DeviceError where the check itself cannot count."""
        if len(indices) != k:
            return f"{len(indices):,} results of {k:,}"
        if problem := wrong_order(self._values, indices, found, self._largest):
            return problem
        if not k:
            return None
        keys = keys_of(self._values[indices], self._largest)
        # Tried out before it is believed: the item before the last must count one less, and all items all.
        shorter = self.not_after(int(keys[-2]), int(indices[-2])) if k > 1 else 0
        count = self.not_after(int(keys[-1]), int(indices[-1]))
        if self.not_after(0xFFFFFFFF, 0xFFFFFFFF) != len(self._values):
            raise DeviceError(f"{self._device.info.name}: the check of selections miscounts; use verify='host'")
        if count != k or shorter != k - 1:
            return f"{count - k:,} better items were not selected" if count > k else f"{k - count:,} items too many"
        return None

    def close(self) -> None:
        """Give the device's memory back."""
        if self._buffer is not None:
            self._device.destroy(self._params, self._found)


def checked_scores(values: Any) -> tuple[np.ndarray, Format, dict[str, Any]]:
    """(scores, format, what is known of them) of an array or a recipe."""
    known: dict[str, Any] = {}
    if isinstance(values, Mapping):
        values, known = from_recipe(values)
    scores, form = check_scores(values)
    return scores, form, known
