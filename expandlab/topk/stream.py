"""`TopKStream`: the best of scores that come in any number of pushes; only k pairs come back from each."""

from __future__ import annotations

from typing import Any

import numpy as np

from expandlab.errors import UnsupportedError
from expandlab.gpu import Device, resolve
from expandlab.gpu.callers import check_buffer
from expandlab.topk.arguments import check_largest, check_scores, pick_method, whole
from expandlab.topk.best import Best
from expandlab.topk.fold import fold_bytes, run_folded
from expandlab.topk.keys import FORMATS, Format, words_of
from expandlab.topk.method import Sizes
from expandlab.topk.prepared import LEAST_BINDING, Found, Prepared, fitting, report
from expandlab.topk.report import SelectionReport, TopK, merged


class TopKStream:
    """The k best of everything that is pushed.

    k, largest, device: as of `top_k`. timed: whether the times of the passes come back too (two 64-bit words for each
    pass); without, at most 2k + 4 words of 32 bits come back for a push: indices, scores and four of count and status.

    The worst of the k best so far goes to the device with the next push, and what is not better does not count there.
    `close()` gives the memory back; a stream is also a context manager.
    """

    def __init__(
        self, k: int, *, largest: bool = True, device: Device | str | int | None = None, timed: bool = False
    ):  # fmt: skip
        self.k = whole("k", k)
        self.largest = check_largest(largest)
        self.device = resolve(device)
        self.pushed = 0
        self._timed = bool(timed)
        self._form: Format | None = None
        self._best = Best(self.k, np.dtype(np.float32), self.largest)
        self._prepared: Prepared | None = None
        self._report: SelectionReport | None = None

    def __repr__(self) -> str:
        return f"<TopKStream: {len(self._best.keys):,} of {self.pushed:,} pushed, {self.device.info.name}>"

    def __enter__(self) -> TopKStream:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the device's memory back. What was found stays."""
        if self._prepared is not None:
            self._prepared.close()
            self._prepared = None

    def move(self, device: Device | str | int | None) -> None:
        """Go on with the next push on another device. What was found stays."""
        wanted = resolve(device)
        if wanted is not self.device:
            self.close()
            self.device = wanted

    def push(self, values: Any, base: int = 0, *, n: int | None = None) -> None:
        """Add scores with the indices `base + i`.

        values: a 1-D array as of `top_k`, of one dtype for the whole stream, or a GPU buffer of the stream's device
            with usage STORAGE (float32, unless arrays of another dtype came before), and COPY_SRC where it has fewer
            than 16 bytes or more than a binding. n: how many scores of the buffer.
        base: 0 or more; `base + i` has 64 bits. Pushes may overlap: each one's items are items of their own, and of
            equal score and index the earlier push's comes first.

        A push that fails changes nothing. Raises ValueError and TypeError naming the argument, and DeviceError.
        """
        base = whole("base", base)
        buffer = values if _is_buffer(values) else None
        scores, form = (None, self._form or FORMATS["float32"]) if buffer is not None else check_scores(values)
        if self._form not in (None, form):
            raise TypeError(f"values: dtype {form.name}; the pushes before had {self._form.name}")
        count = len(scores) if buffer is None else self._count(buffer, form, n)
        if buffer is None and n is not None:
            raise ValueError("n: only a GPU buffer needs it; push a slice of the array")
        if base + count > 2**64:
            raise ValueError(f"base={base}: {count:,} scores from there on pass index 2^64 - 1")
        before = self._form, self._best, self._report
        self._best = self._best.copy() if self._form else Best(self.k, form.dtype, self.largest)
        self._form = form
        try:
            if self.k and count:
                self._push(scores, buffer, count, base)
        except BaseException:
            if before[0] is None:
                # The next push may have another dtype.
                self.close()
            self._form, self._best, self._report = before
            raise
        self.pushed += count

    def result(self) -> TopK:
        """The best so far: k, or all where fewer were pushed; indices are uint64."""
        told = self._report or report(self._name(0), self.device, [])
        graph = self._prepared.built.graph if self._prepared else None
        return TopK(self._best.values.copy(), self._best.indices.copy(), told, graph)

    def _push(self, scores: np.ndarray | None, buffer: Any, count: int, base: int) -> None:
        prepared = self._prepare(count)
        step = prepared.sizes.max_n
        if buffer is not None:
            copied = buffer.size < LEAST_BINDING or count > step
            check_buffer(self.device, "values", buffer, "STORAGE|COPY_SRC" if copied else "STORAGE", "stream")
        # What is merged on the device has to fit a binding: k up to an eighth of its bytes.
        merges = fold_bytes(min(self.k, count)) <= self.device.limits["max_storage_buffer_binding_size"]
        on_host = self.device.is_reference or self.device.is_page
        if count > step and merges and not self._timed and not on_host:
            self._add(self._folded(prepared, scores, buffer, count, base), base)
            return
        for first in range(0, count, step):
            n = min(step, count - first)
            bound = self._best.bound(base + first)
            if scores is not None:
                found = prepared.run(words_of(scores[first : first + n]), n, bound, timed=self._timed)
            elif count <= step:
                found = prepared.run_buffer(buffer, n, bound, timed=self._timed)
            else:
                found = prepared.run_part(buffer, first, n, bound, timed=self._timed)
            self._add(found, base + first)

    def _folded(self, prepared: Prepared, scores: np.ndarray | None, buffer: Any, count: int, base: int) -> Found:
        """One result of a push that takes several runs."""

        def load(first: int, n: int) -> None:
            if scores is None:
                prepared.copy_in(buffer, first, n)
            else:
                prepared.program.upload({"values": words_of(scores[first : first + n])})

        return run_folded(
            prepared, min(self.k, count), count, load, lambda first: self._best.bound(base + first)
        )  # fmt: skip

    def _add(self, found: Found, base: int) -> None:
        self._best.add(found.values, found.indices, base)
        self._report = found.report if self._report is None else merged([self._report, found.report])

    def _prepare(self, count: int) -> Prepared:
        """The program for pushes of `count` scores: the last one, unless this push is larger."""
        if self._prepared is not None and count <= self._whole_push:
            return self._prepared
        self.close()
        method = pick_method("auto", count, min(self.k, count), self.device)
        sizes = Sizes(count, min(self.k, count), self._form, self.largest, self.device.info.is_software)
        self._prepared = Prepared(method, fitting(method, sizes, self.device), self.device)
        self._whole_push = count
        return self._prepared

    def _name(self, n: int) -> str:
        return self._prepared.method.name if self._prepared else pick_method("auto", n, 0, self.device).name

    def _count(self, buffer: Any, form: Format, n: int | None) -> int:
        if self.device.is_reference or self.device.is_page:
            raise UnsupportedError(f"{self.device.info.name}: it cannot read another device's buffer; push an array")
        held = buffer.size // form.dtype.itemsize
        count = held if n is None else whole("n", n)
        if count > held:
            raise ValueError(f"n={count:,}: the buffer holds {held:,} scores")
        return count


def _is_buffer(values: Any) -> bool:
    """Whether it is a GPU buffer of wgpu or of another module with the same interface."""
    return type(values).__name__ == "GPUBuffer" and hasattr(values, "usage")
