"""Passes and the resources that they declare to use, in submission order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from expandlab import wgsl as _wgsl
from expandlab.errors import GraphError, UninitialisedReadError, UnknownNameError
from expandlab.graph import launch as _launch

MODES = ("read", "write", "read_write")
READ_USAGES = ("storage", "copy", "uniform", "indirect", "index")
WRITE_USAGES = ("storage", "copy")


@dataclass(frozen=True)
class Resource:
    """A buffer of `size` bytes. An imported one has its contents from outside, others live within one run."""

    name: str
    size: int
    imported: bool = False


@dataclass(frozen=True)
class Access:
    """What a pass does with the bytes `range` (end excluded, None = all) of a resource.

    `mode` is `read`, `write` (overwrites the whole range) or `read_write`; `usage` is `storage` or `copy`, and for
    reads also `uniform`, `indirect` or `index`; writes with the same tag `independent` do not depend on each other.
    """

    resource: str
    mode: str
    range: tuple[int, int] | None = None
    usage: str = "storage"
    independent: str | None = None

    @property
    def reads(self) -> bool:
        """Whether earlier contents matter to the pass."""
        return self.mode != "write"

    @property
    def writes(self) -> bool:
        """Whether the pass changes the contents."""
        return self.mode != "read"


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
        variable, by its name. None = the pass cannot run there.
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


@dataclass(frozen=True)
class Pass:
    """One pass: a name, what it accesses, and what it does."""

    name: str
    accesses: tuple[Access, ...]
    kernel: Kernel | None = None


class FrameGraph:
    """Passes in submission order over declared resources.

    Add buffers and passes, name the outputs, then `compile()` and run the plan::

        graph = FrameGraph()
        graph.buffer("data", 4096, imported=True)
        graph.add_pass("double", [("data", "read_write")], kernel=Kernel(text, "main", ["data"], (16, 1, 1)))
        graph.output("data")
        result = graph.compile().run(inputs={"data": array})
    """

    def __init__(self) -> None:
        self.resources: dict[str, Resource] = {}
        self.passes: dict[str, Pass] = {}
        self.outputs: list[str] = []

    def __repr__(self) -> str:
        return f"<FrameGraph: {len(self.passes)} passes, {len(self.resources)} resources, outputs {self.outputs}>"

    def buffer(self, name: str, size: int, *, imported: bool = False) -> str:
        """Declare a buffer of `size` bytes; returns its name. Imported ones are given to `Plan.run` as inputs."""
        if name in self.resources:
            raise GraphError(f"name={name!r}: the graph has a resource of that name already; choose another")
        if size < 0:
            raise GraphError(f"size={size!r} of buffer {name!r}: give a number of bytes, 0 or more")
        self.resources[name] = Resource(name, int(size), imported)
        return name

    def add_pass(
        self, name: str, accesses: Sequence[Access | Mapping[str, Any] | Sequence[Any]], *, kernel: Kernel | None = None
    ) -> str:
        """Add a pass after those that are there; returns its name.

        accesses: `Access` objects, mappings with their fields, or tuples `(resource, mode[, range])`.
        Raises UnknownNameError for a resource that is not declared, GraphError for an access that makes no sense.
        """
        if name in self.passes:
            raise GraphError(f"name={name!r}: the graph has a pass of that name already; choose another")
        checked = tuple(self._access(name, access) for access in accesses)
        if kernel is not None:
            self._check_kernel(name, checked, kernel)
        self.passes[name] = Pass(name, checked, kernel)
        return name

    def output(self, name: str) -> None:
        """Mark a resource whose contents are wanted after the run."""
        self._known(name, "output")
        if name not in self.outputs:
            self.outputs.append(name)

    def compile(self) -> Any:
        """Check the graph and return its `Plan`. Raises UninitialisedReadError for bytes that nothing wrote."""
        from expandlab.graph.plan import Plan

        self._check_initialised()
        return Plan(self)

    def _known(self, name: str, what: str) -> None:
        if name not in self.resources:
            known = ", ".join(self.resources) or "none"
            raise UnknownNameError(f"{what}={name!r}: the graph has no such resource (declared: {known})")

    def _access(self, owner: str, access: Access | Mapping[str, Any] | Sequence[Any]) -> Access:
        if isinstance(access, Mapping):
            access = Access(**access)
        elif not isinstance(access, Access):
            access = Access(*access)
        where = f"pass {owner!r}, resource {access.resource!r}"
        self._known(access.resource, f"accesses of pass {owner!r}: resource")
        if access.mode not in MODES:
            raise GraphError(f"{where}: mode={access.mode!r}; use one of {', '.join(MODES)}")
        usages = WRITE_USAGES if access.writes else READ_USAGES
        if access.usage not in usages:
            raise GraphError(f"{where}: usage={access.usage!r} with mode {access.mode}; use one of {', '.join(usages)}")
        size = self.resources[access.resource].size
        if access.range is not None:
            low, high = access.range
            if not 0 <= low <= high <= size:
                raise GraphError(f"{where}: range={access.range!r} does not lie within 0 .. {size} bytes")
            access = Access(access.resource, access.mode, (int(low), int(high)), access.usage, access.independent)
        return access

    def _check_kernel(self, owner: str, accesses: tuple[Access, ...], kernel: Kernel) -> None:
        declared = {access.resource for access in accesses}
        written = {access.resource for access in accesses if access.writes}
        writes = {binding.name: binding.writes for binding in kernel.source.bindings}
        for variable, resource in kernel.resources().items():
            self._known(resource, f"bindings of pass {owner!r}: {variable}")
            if resource not in declared or (writes[variable] and resource not in written):
                what = "writes" if writes[variable] else "reads"
                raise GraphError(
                    f"pass {owner!r}: its kernel {what} {resource!r} (variable {variable}), "
                    "but its accesses do not say so; add the access"
                )
        indirect = {access.resource for access in accesses if access.usage == "indirect"}
        for name in kernel.arguments:
            self._known(name, f"workgroups of pass {owner!r}")
            if name not in indirect:
                raise GraphError(
                    f"pass {owner!r}: workgroups={name!r} is an indirect buffer; "
                    "add a read access with usage='indirect'"
                )
        if isinstance(kernel.workgroups, (_launch.Repeat, _launch.Draws)):
            sizes = {name: resource.size for name, resource in self.resources.items()}
            resources = kernel.resources()
            uniforms = {b.name: resources[b.name] for b in kernel.source.bindings if b.address == "uniform"}
            _launch.check(owner, kernel.workgroups, sizes, uniforms)
        elif kernel.indirect is not None:
            name, offset = kernel.indirect
            if offset % 4 or not 0 <= offset <= self.resources[name].size - 12:
                raise GraphError(f"pass {owner!r}: workgroups={kernel.workgroups!r}: no three u32 lie at that offset")

    def _check_initialised(self) -> None:
        """Every byte that a pass reads was written before, or came from outside."""
        written: dict[str, list[tuple[int, int]]] = {
            name: [(0, resource.size)] if resource.imported else [] for name, resource in self.resources.items()
        }
        for item in self.passes.values():
            for access in item.accesses:
                low, high = access.range or (0, self.resources[access.resource].size)
                gap = _first_gap(written[access.resource], low, high) if access.reads else None
                if gap is not None:
                    raise UninitialisedReadError(
                        f"pass {item.name!r} reads {access.resource!r} bytes {gap[0]} .. {gap[1]}, which no earlier "
                        "pass writes; write them first or declare the buffer with imported=True"
                    )
            for access in item.accesses:
                if access.writes:
                    written[access.resource].append(access.range or (0, self.resources[access.resource].size))


def _first_gap(intervals: list[tuple[int, int]], low: int, high: int) -> tuple[int, int] | None:
    """First part of low .. high that no interval covers, or None."""
    for start, end in sorted(intervals):
        if start > low:
            break
        low = max(low, end)
    if low >= high:
        return None
    return low, min([start for start, _ in intervals if start > low] + [high])
