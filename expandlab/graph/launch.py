"""How a pass is launched where one plain dispatch is not all: many dispatches, or draws without a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.errors import GraphError

# An offset that every device allows for a binding (min_uniform_buffer_offset_alignment of the default limits).
OFFSET_STEP = 256
DRAW_BYTES = 16


@dataclass(frozen=True)
class Repeat:
    """One indirect dispatch for each of `count` records, recorded one after the other.

    buffer: of the records, `stride` bytes each, a multiple of 256. A record begins with the (x, y, z) of its dispatch.
    variable: the shader's uniform that shows a dispatch its own record.
    """

    buffer: str
    count: int
    stride: int
    variable: str

    @property
    def reads(self) -> tuple[str, ...]:
        """The buffers with arguments."""
        return (self.buffer,)


@dataclass(frozen=True)
class Draws:
    """Draws of points whose vertex stage is the work; nothing is rasterised.

    buffer: draws of four u32 each (vertices, instances, first vertex, first instance). drawn: the buffer whose first
    u32 says how many of them are drawn. most: how many there can be.
    """

    buffer: str
    drawn: str
    most: int

    @property
    def reads(self) -> tuple[str, ...]:
        """The buffers with arguments."""
        return (self.buffer, self.drawn)


def check(owner: str, launch: Repeat | Draws, sizes: Mapping[str, int], variables: Mapping[str, str]) -> None:
    """Raise GraphError where a launch of pass `owner` does not fit its buffers or its shader.

    sizes: bytes of every resource. variables: {uniform of the shader: resource}.
    """
    if isinstance(launch, Draws):
        if not 0 <= DRAW_BYTES * launch.most <= sizes[launch.buffer] or sizes[launch.drawn] < 4:
            raise GraphError(f"pass {owner!r}: workgroups={launch!r}: {launch.most:,} draws do not lie in the buffers")
        return
    if variables.get(launch.variable) != launch.buffer:
        raise GraphError(f"pass {owner!r}: workgroups={launch!r}: {launch.variable!r} is no uniform of that buffer")
    if launch.stride <= 0 or launch.stride % OFFSET_STEP:
        raise GraphError(f"pass {owner!r}: workgroups={launch!r}: stride must be a multiple of {OFFSET_STEP}")
    if not 0 <= launch.count * launch.stride <= sizes[launch.buffer]:
        raise GraphError(f"pass {owner!r}: workgroups={launch!r}: {launch.count:,} records do not lie in the buffer")


def launched(kernel: Any, arrays: Mapping[str, np.ndarray]) -> tuple[int, int, int]:
    """Workgroups that a kernel launched, from the contents of the buffers.

    Of many dispatches their sum, as (sum, 1, 1); of draws the vertices, each a workgroup of its own.
    """
    launch = kernel.workgroups
    if isinstance(launch, Repeat):
        words = launch.stride // 4
        records = arrays[launch.buffer][: words * launch.count].reshape(-1, words)
        return int(records[:, :3].prod(axis=1, dtype=np.int64).sum()), 1, 1
    if isinstance(launch, Draws):
        count = min(int(arrays[launch.drawn][0]), launch.most)
        draws = arrays[launch.buffer][: 4 * count].reshape(-1, 4)
        return int(draws[:, :2].prod(axis=1, dtype=np.int64).sum()), 1, 1
    if kernel.indirect is None:
        return launch
    name, offset = kernel.indirect
    x, y, z = (int(n) for n in arrays[name][offset // 4 : offset // 4 + 3])
    return x, y, z
