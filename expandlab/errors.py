"""The errors of the public contract: each names the argument, what was wrong with it and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self


class ExpandlabError(Exception):
    """Base of every error that expandlab raises on purpose (`OverflowError` for P2 >= 2^32 aside)."""


class CountsError(ExpandlabError, ValueError):
    """The counts are not one row of whole numbers in 0 .. 2^32 - 1.

    `row` is the first bad row, counted from 0, or `None` where the fault is not in one row (a 2-D array, say).
    """

    def __init__(self, message: str, *, row: int | None = None):
        super().__init__(message)
        self.row = row


class RelicsError(ExpandlabError, ValueError):
    """A file of relics that cannot be read. `entry` is the first bad one, counted from 0; None: the whole file."""

    def __init__(self, message: str, *, entry: int | None = None):
        super().__init__(message)
        self.entry = entry


class DeviceError(ExpandlabError, RuntimeError):
    """A device cannot be found or opened, or it failed while it worked.

    in_flight: of a plan on several devices, the passes that were under way, as (device, pass). token: of a search,
    what goes on with it on the devices that are left.
    """

    in_flight: tuple[tuple[str, str], ...] = ()
    token: dict[str, Any] | None = None


class ShaderError(DeviceError):
    """WGSL did not compile. `file`, `line` and `column` (from 1) say where, in the file that the user can open."""

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None, column: int | None = None):
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column


class UnsupportedError(ExpandlabError, RuntimeError):
    """The strategy or method cannot run here: a feature is missing, it is modelled only, or its input is capped."""


class CapacityError(ExpandlabError, RuntimeError):
    """More dst items than `capacity` allows. `required` is P2 exactly; both are counted in dst items."""

    def __init__(self, message: str, *, required: int, capacity: int):
        super().__init__(message)
        self.required = required
        self.capacity = capacity


class DeviceLimitError(CapacityError):
    """Scratch or output does not fit the device. `limit` names the device limit that is too small.

    `required_bytes` and `available_bytes` compare with that limit.
    """

    def __init__(
        self, message: str, *, required: int, capacity: int, limit: str, required_bytes: int, available_bytes: int
    ):
        super().__init__(message, required=required, capacity=capacity)
        self.limit = limit
        self.required_bytes = required_bytes
        self.available_bytes = available_bytes


class GraphError(ExpandlabError, ValueError):
    """A frame graph that cannot be planned.

    where: what the error is about, as far as that is known: `passes` (their names), `access` (its place among those of
    the pass, from 0), `resource`, `device`, `field`.
    """

    where: Mapping[str, Any] = MappingProxyType({})

    def at(self, **where: Any) -> Self:
        """The same error, with more about where it is; what it knew already stays."""
        self.where = {**where, **self.where}
        return self


class CycleError(GraphError):
    """The edges close a cycle. `cycle` lists it as (producer, consumer, reason)."""

    def __init__(self, message: str, *, cycle: list[tuple[str, str, str]]):
        super().__init__(message)
        self.cycle = cycle


class UninitialisedReadError(GraphError):
    """A pass reads bytes that no earlier pass wrote and that are not imported."""


class UnknownNameError(GraphError):
    """A pass, resource, device, queue or output that the graph does not have."""


class IndependenceError(GraphError):
    """Passes that declare independent writes to the same bytes run on different devices."""


class ExportError(ExpandlabError, OSError):
    """An export cannot be written there, or read back, or not as this kind of file."""

    # OSError's own would print two arguments as `[Errno ...]`.
    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
