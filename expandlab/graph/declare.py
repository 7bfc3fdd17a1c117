"""What a graph is made of: buffers, images, accesses and passes, each a plain frozen record."""

from __future__ import annotations

from dataclasses import dataclass

from expandlab.graph.kernel import Kernel

MODES = ("read", "write", "read_write")


@dataclass(frozen=True)
class Resource:
    """A buffer of `size` bytes. An imported one has its contents from outside, others live within one run."""

    name: str
    size: int
    imported: bool = False

    kind = "buffer"

    @property
    def extent(self) -> int:
        """How many bytes the planner tracks."""
        return self.size


@dataclass(frozen=True)
class Image:
    """An image. The planner tracks its subresources, numbered `(aspect * layers + layer) * mips + mip`.

    size: texels of the largest mip as (width, height) or (width, height, depth), and `format`: only the simulated
    time of a copy uses them.
    """

    name: str
    mips: int = 1
    layers: int = 1
    aspects: int = 1
    format: str | None = None
    size: tuple[int, ...] | None = None
    imported: bool = False

    kind = "image"

    @property
    def extent(self) -> int:
        """How many subresources the planner tracks."""
        return self.mips * self.layers * self.aspects


@dataclass(frozen=True)
class Access:
    """What a pass does with the bytes `range` (end excluded, None = all) of a buffer.

    `mode` is `read`, `write` (overwrites the whole range) or `read_write`; `usage` is `storage` or `copy`, and for
    reads also `uniform`, `indirect` or `index`; writes with the same tag `independent` do not depend on each other.
    An access of an image has `mips`, `layers` and `aspects` (end excluded, None = all) instead of a range, and may
    be of usage `color` or `depth`, and for reads `sampled` or `present`.
    """

    resource: str
    mode: str
    range: tuple[int, int] | None = None
    usage: str = "storage"
    independent: str | None = None
    mips: tuple[int, int] | None = None
    layers: tuple[int, int] | None = None
    aspects: tuple[int, int] | None = None

    @property
    def reads(self) -> bool:
        """Whether earlier contents matter to the pass."""
        return self.mode != "write"

    @property
    def writes(self) -> bool:
        """Whether the pass changes the contents."""
        return self.mode != "read"

    def intervals(self, resource: Resource | Image) -> list[tuple[int, int]]:
        """The bytes or subresources accessed, as (low, high) in rising order."""
        if isinstance(resource, Resource):
            return [self.range or (0, resource.size)]
        low, high = self.mips or (0, resource.mips)
        found: list[tuple[int, int]] = []
        for aspect in range(*(self.aspects or (0, resource.aspects))):
            for layer in range(*(self.layers or (0, resource.layers))):
                base = (aspect * resource.layers + layer) * resource.mips
                if found and found[-1][1] == base + low:
                    found[-1] = (found[-1][0], base + high)
                else:
                    found.append((base + low, base + high))
        return found


@dataclass(frozen=True)
class Pass:
    """One pass: a name, what it accesses, where it runs, and what it does.

    devices: those that it may run on (the scheduler chooses one); empty = the graph's default. queue: None = the
    default. cost_us: its time alone, for schedules and simulated timelines.
    """

    name: str
    accesses: tuple[Access, ...]
    kernel: Kernel | None = None
    devices: tuple[str, ...] = ()
    queue: str | None = None
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    side_effect: bool = False
    cost_us: float | None = None
