"""Order-preserving keys: the better of two scores has the smaller uint32. The twin of `shaders/lib/keys.wgsl`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# What stands where there is no item: no index is 2^32 - 1.
NO_ITEM = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Format:
    """How scores lie in words. `code` is the constant in the shader, `per_word` how many scores a word holds."""

    name: str
    code: int
    per_word: int

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype."""
        return np.dtype(self.name)

    def words(self, count: int) -> int:
        """Words of `count` scores."""
        return -(-count // self.per_word)


FORMATS = {
    name: Format(name, code, per_word)
    for code, (name, per_word) in enumerate({"float32": 1, "float16": 2, "int32": 1, "uint32": 1}.items())
}


def format_of(dtype: Any, name: str = "values") -> Format:
    """The format of a dtype. Raises TypeError naming the argument for one that is not selected from."""
    try:
        found = FORMATS.get(np.dtype(dtype).newbyteorder("=").name)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(
            f"{name}: dtype {dtype} is not one of {', '.join(FORMATS)}; convert it first, for example with "
            ".astype(np.float32)"
        )
    return found


def words_of(values: np.ndarray) -> np.ndarray:
    """The scores as they lie in a buffer: uint32 words, the last one filled up with zero."""
    raw = np.ascontiguousarray(values).view(np.uint8)
    if raw.nbytes % 4:
        raw = np.concatenate([raw, np.zeros(-raw.nbytes % 4, np.uint8)])
    return raw.view(np.uint32)


def scores_of(words: np.ndarray, form: Format, count: int) -> np.ndarray:
    """The first `count` scores of a buffer's words; the inverse of `words_of`."""
    return words[: form.words(count)].view(form.dtype)[:count]


def keys_of(values: np.ndarray, largest: bool) -> np.ndarray:
    """Keys of scores, uint32: smaller is better, NaN last, both zeros equal.

    A float16's key stands in the upper half.
    """
    bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").astype(np.uint32)
    used = np.uint32(0xFFFFFFFF)
    if values.dtype == np.float16:
        bits, used = bits << np.uint32(16), np.uint32(0xFFFF0000)
    if values.dtype.kind == "f":
        magnitude = bits & np.uint32(0x7FFFFFFF)
        sign = np.uint32(0x80000000)
        ordered = np.where(bits >= sign, ~bits & used, bits | sign)
        ordered = np.where(magnitude == 0, sign, ordered)
    elif values.dtype.kind == "i":
        ordered = bits ^ np.uint32(0x80000000)
    else:
        ordered = bits
    key = ~ordered & used if largest else ordered
    return np.where(np.isnan(values), used, key) if values.dtype.kind == "f" else key


def pairs_of(keys: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Items as uint64: the key above, the index below; their order is the order of the selection."""
    return keys.astype(np.uint64) << np.uint64(32) | indices.astype(np.uint64)


def split(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(keys, indices) of items."""
    return (pairs >> np.uint64(32)).astype(np.uint32), (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32)
