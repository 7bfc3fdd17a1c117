"""`Expander`: an expansion prepared once and run every frame, also from counts that never leave the GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import CapacityError, UnsupportedError
from expandlab.expansion.arguments import pick_prepared, power_of_two, true_or_false
from expandlab.expansion.body import body_ending, naming_buffers, results
from expandlab.expansion.endings import store
from expandlab.expansion.passes import check_state, check_total, refuse_oversize
from expandlab.expansion.report import Expansion, report_of
from expandlab.expansion.strategy import Passes, Sizes, params_words
from expandlab.gpu import Device, resolve
from expandlab.gpu.callers import RecordedNumbers, check_buffer, check_encoder
from expandlab.user_wgsl import mapping_of

# Bind groups are kept for the counts buffers that were recorded last; a frame seldom has more.
_KEPT_BINDINGS = 16


class Expander:
    """An expansion prepared for at most `max_src` src and `max_dst` items.

    strategy, device, body, buffers, workgroup_size, checked: as of `expand`; `"auto"` too, but that a
    `max_src` whose entries do not fit one binding is left to `prefix_search`.

    `run(counts)` is `expand` without the preparation. `record(encoder, counts_buffer, src_count)` records the passes
    into the caller's own command encoder, with counts that are already on the GPU, and reads nothing back. It leaves

    - `src_buffer`, `local_buffer`: u32 for each item (None with a body),
    - `total_buffer`: total, failure word, required size (u32 each); on failure the total is 0 and nothing is
      expanded. Failure bits: 1 capacity, 2 the sum is 2^32 or more, 4 and 8 an N too large for the strategy, 16 more
      src than prepared for,
    - `indirect_buffer`: three u32 that launch one thread for each item in workgroups of `workgroup_size`, folded to
      two dimensions (the linear workgroup is `id.y * num_workgroups.x + id.x`),
    - `buffers`: the body's buffers, by name.

    Two expanders chain: the first one's body writes the counts of the second, and its `total_buffer` is the second
    one's number of src. `close()` gives the memory back; an expander is also a context manager.

    Raises UnsupportedError, DeviceLimitError, ShaderError, and ValueError naming the argument.
    """

    def __init__(
        self,
        strategy: str = "auto",
        *,
        max_src: int,
        max_dst: int,
        device: Device | str | int | None = None,
        body: str | None = None,
        buffers: Mapping[str, Any] | None = None,
        workgroup_size: int = 256,
        checked: bool = True,
    ):
        power_of_two("workgroup_size", workgroup_size, 32, 256)
        checked = true_or_false("checked", checked)
        self.max_src = _whole("max_src", max_src)
        self.max_dst = _whole("max_dst", max_dst)
        self.device = resolve(device)
        self.strategy = pick_prepared(strategy, self.max_src, self.max_dst, self.device, body=body is not None)
        self._sizes = Sizes(self.max_src, self.max_dst, workgroup_size, self.device.subgroup_size)
        self._body, self._given = body, dict(mapping_of(buffers))
        if body is None and buffers:
            raise ValueError("buffers: only a body uses them; give body= as well, or leave them out")
        ending = store(self.max_dst) if body is None else body_ending(body, buffers)
        self._built = Passes(self.strategy, self._sizes, ending, prepared=True, checked=checked)
        self.strategy.passes(self._built)
        self._built.publish()
        sizes = f"max_src={self.max_src:,}, max_dst={self.max_dst:,}"
        refuse_oversize(self._built, self.device, self.max_dst, sizes)
        with naming_buffers():
            self._program = self._built.graph.compile().program(self.device)
        self._program.upload({"params": self._params(0), **self._built.imported})
        self._numbers = RecordedNumbers(self.device, "src_count", "expander")

    def __repr__(self) -> str:
        return f"<Expander {self.strategy.name}: {self.max_src:,} src, {self.max_dst:,} items, {self.device.info.name}>"

    def __enter__(self) -> Expander:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the device's memory back."""
        self._program.close()
        self._numbers.close()

    def run(self, counts: Any) -> Expansion:
        """Expand `counts`, at most `max_src` of them, like `expand`. A body's buffers start as they were given."""
        values = _counts.check(counts)
        if len(values) > self.max_src:
            raise ValueError(f"counts: {len(values):,} src; the expander is prepared for max_src={self.max_src:,}")
        total = check_total(values)
        if total > self.max_dst:
            raise CapacityError(
                f"max_dst={self.max_dst:,}: the counts spawn {total:,} items; prepare an expander for that many",
                required=total,
                capacity=self.max_dst,
            )
        ran = self._program.run({"counts": values, "params": self._params(len(values)), **self._built.imported})
        check_state(ran.arrays["state"], self.max_dst, self._built, self.device)
        return Expansion(
            src=ran.arrays["out_src"][:total] if self._body is None else None,
            local=ran.arrays["out_local"][:total] if self._body is None else None,
            total=total,
            buffers=results(ran.arrays, self._given),
            report=report_of(self._built, ran, self.strategy, self._sizes, self.device, values, total),
            graph=self._built.graph,
        )

    def record(self, encoder: Any, counts_buffer: Any, src_count: int | tuple[Any, int]) -> None:
        """Record the passes into `encoder`, a `wgpu.GPUCommandEncoder` of the expander's device.

        counts_buffer: u32 counts from its first byte on, with usage STORAGE.
        src_count: how many of them, or `(buffer, offset)` where the GPU has the number: a u32 at a multiple of 4
            bytes, with usage COPY_SRC. More than `max_src` is failure 16 of the total buffer.
        """
        self._on_gpu("command encoder")
        with self.device.lock, self.device.errors("recording an expansion"):
            params = self._program.buffer("params")
            check_encoder(self.device, encoder, "expander")
            check_buffer(self.device, "counts_buffer", counts_buffer, "STORAGE", "expander")
            source, offset = self._count_source(counts_buffer, src_count)
            encoder.copy_buffer_to_buffer(source, offset, params, 0, 4)
            self._program.record(encoder, replaced={"counts": counts_buffer}, keep=_KEPT_BINDINGS)

    @property
    def src_buffer(self) -> Any:
        """GPU buffer of the src of every item, u32; None with a body."""
        self._on_gpu("buffers")
        return None if self._body is not None else self._program.buffer("out_src")

    @property
    def local_buffer(self) -> Any:
        """GPU buffer of the local index of every item, u32; None with a body."""
        self._on_gpu("buffers")
        return None if self._body is not None else self._program.buffer("out_local")

    @property
    def total_buffer(self) -> Any:
        """GPU buffer of total, failure word and required size."""
        self._on_gpu("buffers")
        return self._program.buffer("state")

    @property
    def indirect_buffer(self) -> Any:
        """GPU buffer of the arguments of a dispatch with one thread for each item."""
        self._on_gpu("buffers")
        return self._program.buffer("next")

    @property
    def buffers(self) -> dict[str, Any]:
        """GPU buffers of the body, by name."""
        self._on_gpu("buffers")
        return {name: self._program.buffer(f"body.{name}") for name in self._given}

    def _on_gpu(self, what: str) -> None:
        if self.device.is_reference:
            raise UnsupportedError(f"device='reference': NumPy has no {what} of a GPU; use run(), or a GPU")

    def _params(self, src_count: int) -> np.ndarray:
        return params_words(src_count, self.max_dst, self._sizes)

    def _count_source(self, counts_buffer: Any, src_count: int | tuple[Any, int]) -> tuple[Any, int]:
        if isinstance(src_count, tuple):
            return self._numbers.given(src_count)
        count = _whole("src_count", src_count)
        if count > self.max_src:
            raise ValueError(f"src_count={count:,}: the expander is prepared for max_src={self.max_src:,}")
        if 4 * count > counts_buffer.size:
            raise ValueError(f"src_count={count:,}: counts_buffer holds {counts_buffer.size // 4:,} counts")
        return self._numbers.kept(count)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**32:
        raise ValueError(f"{name}={value!r}: give a whole number from 0 to 2^32 - 1")
    return int(value)
