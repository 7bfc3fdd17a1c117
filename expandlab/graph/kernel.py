"""The work of a pass on a device: a shader, its buffers and how much of it to launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab import wgsl as _wgsl
from expandlab.errors import GraphError
from expandlab.graph import launch as _launch
from expandlab.graph.checks import listed, short


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

    def __post_init__(self) -> None:
        if not isinstance(self.wgsl, (str, _wgsl.Source)):
            raise GraphError(f"wgsl={short(self.wgsl)}: give the shader as text")
        # Raises ShaderError for a text that no compiler takes.
        self.source  # noqa: B018
        if not isinstance(self.entry, str) or not self.entry:
            raise GraphError(f"entry={short(self.entry)}: give the name of the shader's entry point")
        given = self.bindings
        named = given.values() if isinstance(given, Mapping) else given
        names = listed("bindings", named, "resources, or {variable: resource}")
        if not all(isinstance(name, str) for name in [*names, *(given if isinstance(given, Mapping) else ())]):
            raise GraphError(f"bindings={short(given)}: variables and resources are names")
        if not _launchable(self.workgroups):
            raise GraphError(
                f"workgroups={short(self.workgroups)}: give (x, y, z), each from 0 to 2^32 - 1; or the buffer of an "
                "indirect dispatch, as its name or (name, offset in bytes); or a Repeat or Draws"
            )
        if self.twin is not None and not callable(self.twin):
            raise GraphError(f"twin={short(self.twin)}: give a function, or None")

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


def _launchable(groups: Any) -> bool:
    """Whether it says how much to launch, whatever the buffers hold."""
    if isinstance(groups, (str, _launch.Repeat, _launch.Draws)):
        return groups != ""
    if not isinstance(groups, Sequence) or isinstance(groups, bytes):
        return False
    if len(groups) == 2:
        return isinstance(groups[0], str) and _count(groups[1])
    return len(groups) == 3 and all(_count(part) for part in groups)


def _count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < 2**32
