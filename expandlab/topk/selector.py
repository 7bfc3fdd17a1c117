"""`Selector`: a selection prepared once and run every frame, also from scores that never leave the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.errors import DeviceLimitError, UnsupportedError
from expandlab.gpu import Device, resolve
from expandlab.gpu.callers import RecordedNumbers, check_buffer, check_encoder
from expandlab.topk.arguments import check_largest, check_scores, pick_method, whole
from expandlab.topk.keys import format_of
from expandlab.topk.method import Sizes
from expandlab.topk.prepared import LEAST_BINDING, NO_BOUND, Prepared, fitting, params_words, report
from expandlab.topk.report import TopK
from expandlab.topk.run import select

# Bind groups are kept for the score buffers that were recorded last; a frame seldom has more.
_KEPT_BINDINGS = 16


class Selector:
    """The k best of at most `max_n` scores, prepared.

    k, largest, method, device: as of `top_k`. dtype: of the scores.

    `run(values)` is `top_k` without the preparation. `record(encoder, values_buffer, n)` records the passes into the
    caller's own command encoder, with scores that are already on the GPU, and reads nothing back. It leaves

    - `indices_buffer`: u32, best first,
    - `values_buffer`: the scores there, as they lie in the input (float16: two to a word, the lower half first),
    - `status_buffer`: four u32, the first one how many results there are: k, or all where the GPU's n is below k.

    `close()` gives the memory back; a selector is also a context manager.

    Raises ValueError and TypeError naming the argument, UnsupportedError and DeviceLimitError.
    """

    def __init__(
        self,
        k: int,
        *,
        max_n: int,
        largest: bool = True,
        dtype: Any = "float32",
        method: str = "auto",
        device: Device | str | int | None = None,
    ):
        form = format_of(dtype, "dtype")
        self.max_n = whole("max_n", max_n)
        if self.max_n >= 2**32:
            raise ValueError(f"max_n={max_n:,}: indices have 32 bits; push the scores into a TopKStream")
        self.k = whole("k", k)
        if self.k > self.max_n:
            raise ValueError(f"k={self.k:,}: more than max_n={self.max_n:,}")
        self.largest = check_largest(largest)
        self.device = resolve(device)
        self.method = pick_method(method, self.max_n, self.k, self.device)
        sizes = Sizes(max(1, self.max_n), max(1, self.k), form, self.largest, self.device.info.is_software)
        self._prepared = Prepared(self.method, fitting(self.method, sizes, self.device), self.device)
        self._numbers = RecordedNumbers(self.device, "n", "selector")
        self._dtype = form.dtype

    def __repr__(self) -> str:
        return f"<Selector {self.method.name}: {self.k:,} of {self.max_n:,} {self._dtype}, {self.device.info.name}>"

    def __enter__(self) -> Selector:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the device's memory back."""
        self._prepared.close()
        self._numbers.close()

    def run(self, values: Any) -> TopK:
        """The k best of `values`, from k to `max_n` of them, like `top_k`."""
        scores, form = check_scores(values)
        if form.dtype != self._dtype:
            raise TypeError(f"values: dtype {form.name}; the selector is prepared for {self._dtype}")
        if not self.k <= len(scores) <= self.max_n:
            raise ValueError(f"values: {len(scores):,} scores; the selector takes k={self.k:,} to max_n={self.max_n:,}")
        if self.k == 0:
            return TopK(scores[:0].copy(), np.zeros(0, np.uint32), report(self.method.name, self.device, []))
        return select(self._prepared, scores, self.k)

    def record(self, encoder: Any, values_buffer: Any, n: int | tuple[Any, int]) -> None:
        """Record the passes into `encoder`, a `wgpu.GPUCommandEncoder` of the selector's device.

        values_buffer: scores of the selector's dtype from its first byte on, with usage STORAGE; COPY_SRC as well where
            it has fewer than 16 bytes.
        n: how many of them, or `(buffer, offset)` where the GPU has the number: a u32 at a multiple of 4 bytes, with
            usage COPY_SRC; of more than the buffer or `max_n` hold the first ones count.
        """
        if self.device.is_reference:
            raise UnsupportedError("device='reference': NumPy has no command encoder; use run(), or a GPU")
        if self.method.finish is not None:
            raise UnsupportedError(
                f"method={self.method.name!r}: its last step is the host's, so it cannot be recorded. "
                "Nearest one that runs: 'radix_select'"
            )
        sizes, program = self._prepared.sizes, self._prepared.program
        if sizes.max_n < self.max_n:
            limit, needed = "max_storage_buffer_binding_size", 4 * sizes.form.words(self.max_n)
            raise DeviceLimitError(
                f"max_n={self.max_n:,}: one binding of {self.device.info.name} serves {sizes.max_n:,} scores at most; "
                f"record fewer at once{self.device.or_open_wider(limit, needed)}",
                required=self.max_n, capacity=sizes.max_n, limit=limit, required_bytes=needed,
                available_bytes=self.device.limits[limit],
            )  # fmt: skip
        with self.device.lock, self.device.errors("recording a selection"):
            params, small = program.buffer("params"), getattr(values_buffer, "size", LEAST_BINDING) < LEAST_BINDING
            check_encoder(self.device, encoder, "selector")
            usages = "STORAGE|COPY_SRC" if small else "STORAGE"
            check_buffer(self.device, "values_buffer", values_buffer, usages, "selector")
            source, offset = self._count_source(values_buffer, n)
            # A run may have left a bound of its own there.
            program.upload({"params": params_words(0, sizes, NO_BOUND)})
            encoder.copy_buffer_to_buffer(source, offset, params, 0, 4)
            replaced = {"values": values_buffer}
            if small:
                self._prepared.record_copy(encoder, values_buffer, 0, values_buffer.size // sizes.form.dtype.itemsize)
                replaced = None
            program.record(encoder, replaced=replaced, keep=_KEPT_BINDINGS)

    @property
    def indices_buffer(self) -> Any:
        """GPU buffer of the indices, u32, best first."""
        return self._prepared.program.buffer("out_indices")

    @property
    def values_buffer(self) -> Any:
        """GPU buffer of the scores at the indices."""
        return self._prepared.program.buffer("out_values")

    @property
    def status_buffer(self) -> Any:
        """GPU buffer of four u32: the number of results, and how many items the last steps looked at."""
        return self._prepared.program.buffer("status")

    def _count_source(self, values_buffer: Any, n: int | tuple[Any, int]) -> tuple[Any, int]:
        if isinstance(n, tuple):
            return self._numbers.given(n)
        count = whole("n", n)
        if not self.k <= count <= self.max_n:
            raise ValueError(f"n={count:,}: the selector takes k={self.k:,} to max_n={self.max_n:,} scores")
        if count * self._dtype.itemsize > values_buffer.size:
            raise ValueError(f"n={count:,}: values_buffer holds {values_buffer.size // self._dtype.itemsize:,} scores")
        return self._numbers.kept(count)
