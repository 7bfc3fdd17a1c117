"""The work of a pass on a device: a shader, its buffers and how much of it to launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from expandlab import wgsl as _wgsl
from expandlab.errors import GraphError
from expandlab.graph import launch as _launch


@dataclass(frozen=True)
class Kernel:
    """The work of a pass: a compute dispatch, or what `expandlab.graph.launch` describes.

    wgsl: the shader's text, or a `Source` of `expandlab.wgsl`.
    entry: its entry point.
    bindings: {variable of the shader: resource}, or the resources in order of group and binding number.
    workgroups: (x, y, z), or the buffer that holds the three u32 of an indirect dispatch: its name, or (name, offset
        in bytes); or a `Repeat` or `Draws`.
    checked: whether the implementation's run-time checks of bounds and loops stay in; leave them out only for a
        shader that cannot go out of bounds whatever its inputs.
    twin: the same work in NumPy for the reference device: a function of a namespace with one uint32 array for each
        variable, by its name; a twin of draws sees their arguments too. None = the pass cannot run there.
    """

    wgsl: str | _wgsl.Source
    entry: str
    bindings: Mapping[str, str] | Sequence[str]
    workgroups: tuple[int, int, int] | str | tuple[str, int] | _launch.Repeat | _launch.Draws
    checked: bool = True
    twin: Callable[[Any], None] | None = field(default=None, compare=False)

    @property
    def source(self) -> _wgsl.Source:
        """The shader as a `Source`."""
        return _wgsl.from_text(self.wgsl) if isinstance(self.wgsl, str) else self.wgsl

    @property
    def indirect(self) -> tuple[str, int] | None:
        """Buffer and offset of the (first) indirect dispatch's arguments, or None for a direct one."""
        if isinstance(self.workgroups, str):
            return self.workgroups, 0
        if isinstance(self.workgroups, (_launch.Repeat, _launch.Draws)):
            return self.workgroups.buffer, 0
        return self.workgroups if len(self.workgroups) == 2 else None

    @property
    def arguments(self) -> tuple[str, ...]:
        """The buffers with the arguments of an indirect launch."""
        if isinstance(self.workgroups, (_launch.Repeat, _launch.Draws)):
            return self.workgroups.reads
        return () if self.indirect is None else self.indirect[:1]

    def resources(self) -> dict[str, str]:
        """{variable: resource} for every buffer that the shader declares. Raises GraphError where they disagree."""
        declared = [binding.name for binding in self.source.bindings]
        if isinstance(self.bindings, Mapping):
            named = dict(self.bindings)
        else:
            if len(self.bindings) != len(declared):
                raise GraphError(
                    f"bindings={list(self.bindings)!r}: {self.source.name} declares {len(declared)} buffers "
                    f"({', '.join(declared) or 'none'}); give one resource for each, in that order"
                )
            named = dict(zip(declared, self.bindings, strict=True))
        missing = [name for name in declared if name not in named]
        extra = [name for name in named if name not in declared]
        if missing or extra:
            raise GraphError(
                f"bindings of {self.source.name}: "
                + "; ".join(
                    text
                    for text, names in (
                        (f"no resource for {', '.join(missing)}", missing),
                        (f"no such variable: {', '.join(extra)}", extra),
                    )
                    if names
                )
            )
        return named
