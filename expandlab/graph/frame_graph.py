"""Passes and the resources that they declare to use, in submission order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from expandlab.errors import GraphError, UnknownNameError
from expandlab.graph import checks
from expandlab.graph import launch as _launch
from expandlab.graph.declare import MODES, Access, Image, Pass, Resource
from expandlab.graph.kernel import Kernel
from expandlab.graph.usage import BUFFER_USAGES, IMAGE_USAGES

if TYPE_CHECKING:
    from expandlab.graph.plan import Plan

DEFAULT_DEVICES = {"gpu0": ("compute",)}
# More than any device has, and little enough for sums over a whole graph to stay exact.
MOST_BYTES, MOST_SUBRESOURCES, MOST_TEXELS, MOST_US = 2**48, 2**16, 2**31, 1e15
AccessLike = Access | Mapping[str, Any] | Sequence[Any]


class FrameGraph:
    """Passes in submission order over declared resources.

    Add buffers and passes, name the outputs, then `compile()` and run the plan::

        graph = FrameGraph()
        graph.buffer("data", 4096, imported=True)
        graph.add_pass("double", [("data", "read_write")], kernel=Kernel(text, "main", ["data"], (16, 1, 1)))
        graph.output("data")
        result = graph.compile().run(inputs={"data": array})

    devices: {device: its queues}; by default one device `gpu0` with one queue `compute`.
    """

    def __init__(self, devices: Mapping[str, Sequence[str]] | None = None) -> None:
        self.devices: dict[str, tuple[str, ...]] = {}
        self.resources: dict[str, Resource | Image] = {}
        self.passes: dict[str, Pass] = {}
        self.outputs: list[str] = []
        # Filled by `from_slots`: what its document connects.
        self.connections: tuple[Any, ...] = ()
        if devices is not None and not isinstance(devices, Mapping):
            raise GraphError(f"devices={devices!r}: give {{device: its queues}}, or None for one device")
        for name, queues in (devices or {}).items():
            self.device(name, queues)

    def __repr__(self) -> str:
        return f"<FrameGraph: {len(self.passes)} passes, {len(self.resources)} resources, outputs {self.outputs}>"

    def device(self, name: str, queues: Sequence[str] = ("compute",)) -> str:
        """Declare a device and its queues; returns its name. The first one declared takes the place of `gpu0`."""
        checks.text("name", name)
        if name in self.devices:
            raise GraphError(f"name={name!r}: the graph has a device of that name already; choose another")
        given = checks.listed(f"queues of device {name!r}", queues, "names")
        named = tuple(checks.text(f"queues of device {name!r}", queue) for queue in given)
        if not named or len(set(named)) < len(named):
            raise GraphError(f"queues={queues!r} of device {name!r}: give one name or more, each once, as a list")
        self.devices[name] = named
        return name

    def buffer(self, name: str, size: int, *, imported: bool = False) -> str:
        """Declare a buffer of `size` bytes; returns its name. Imported ones are given to `Plan.run` as inputs."""
        self._new_resource(name)
        what = f"of buffer {name!r}"
        size, imported = checks.whole(f"size {what}", size, 0, MOST_BYTES), checks.flag(f"imported {what}", imported)
        self.resources[name] = Resource(name, size, imported)
        return name

    def image(
        self,
        name: str,
        *,
        mips: int = 1,
        layers: int = 1,
        aspects: int = 1,
        format: str | None = None,
        size: Sequence[int] | None = None,
        imported: bool = False,
    ) -> str:
        """Declare an image; returns its name. Images are planned and simulated; a plan that uses one does not run.

        aspects: 2 for depth and stencil planes. format (as `rgba8unorm`), size (texels of the largest mip as
        (width, height[, depth])): for the simulated time of copies.
        """
        self._new_resource(name)
        mips, layers, aspects = (
            checks.whole(f"{what} of image {name!r}", value, 1)
            for what, value in (("mips", mips), ("layers", layers), ("aspects", aspects))
        )
        if mips * layers * aspects > MOST_SUBRESOURCES:
            raise GraphError(
                f"mips={mips}, layers={layers}, aspects={aspects} of image {name!r}: these are more than "
                f"{MOST_SUBRESOURCES:,} subresources; no device has such an image"
            )
        if format is not None:
            checks.text(f"format of image {name!r}", format)
        if size is not None:
            if isinstance(size, (str, bytes)) or not isinstance(size, Sequence) or not 1 <= len(size) <= 3:
                raise GraphError(f"size={size!r} of image {name!r}: give (width, height) or (width, height, depth)")
            size = tuple(checks.whole(f"size of image {name!r}", part, 1, MOST_TEXELS) for part in size)
        imported = checks.flag(f"imported of image {name!r}", imported)
        self.resources[name] = Image(name, mips, layers, aspects, format, size, imported)
        return name

    def add_pass(
        self,
        name: str,
        accesses: Iterable[AccessLike],
        *,
        device: str | Sequence[str] | None = None,
        queue: str | None = None,
        after: Sequence[str] = (),
        before: Sequence[str] = (),
        side_effect: bool = False,
        cost_us: float | None = None,
        kernel: Kernel | None = None,
    ) -> str:
        """Add a pass after those that are there; returns its name.

        accesses: `Access` objects, mappings with their fields, or tuples `(resource, mode[, range])`.
        device: the one that it runs on, or a list of those that it may run on. after, before: passes to run after or
        before, besides what the accesses ask for; they may be added later. side_effect: never culled.
        cost_us: its time alone, in microseconds.
        Raises UnknownNameError for a resource, device or queue that is not declared, GraphError for an argument that
        makes no sense.
        """
        self.passes[name] = self._pass(name, accesses, device, queue, after, before, side_effect, cost_us, kernel)
        return name

    def insert(
        self,
        name: str,
        accesses: Iterable[AccessLike],
        *,
        at_before: str | None = None,
        at_after: str | None = None,
        **options: Any,
    ) -> str:
        """Add a pass at a position of the submission order: right before or right after another pass.

        Everything is derived anew from the new order; nothing is rewired by hand. options: as of `add_pass`; its
        `after` and `before` are explicit edges, here as there.
        """
        if (at_before is None) == (at_after is None):
            raise GraphError(f"at_before={at_before!r}, at_after={at_after!r}: give exactly one of them")
        place = at_after if at_before is None else at_before
        if not isinstance(place, str) or place not in self.passes:
            which = "at_after" if at_before is None else "at_before"
            raise UnknownNameError(f"{which}={place!r}: the graph has no such pass")
        self.add_pass(name, accesses, **options)
        added = self.passes.pop(name)
        items = list(self.passes.items())
        at = next(index for index, (other, _) in enumerate(items) if other == place) + (at_before is None)
        self.passes = dict([*items[:at], (name, added), *items[at:]])
        return name

    def output(self, name: str) -> None:
        """Mark a resource whose contents are wanted after the run."""
        self._known(name, "output")
        if name not in self.outputs:
            self.outputs.append(name)

    def compile(self, mode: str = "dag", *, schedule: str = "depth", tags: bool = True) -> Plan:
        """Derive the plan: hazards, edges, order, barriers, waits, copies, memory.

        mode: `dag`, or `chain`: every access linked to the one before it on the same resource and device, as older
        frame graphs did; for comparison. schedule: how the order is chosen: `depth` (groups independent passes),
        `list` (longest cost to the end first), `heft` (earliest finish over the devices that a pass may use) or
        `optimal` (exhaustive, at most 10 passes). tags: False ignores declared independence.

        Raises UnknownNameError, UninitialisedReadError, CycleError, IndependenceError, GraphError.
        """
        from expandlab.graph.plan import Plan

        return Plan(self, mode, schedule, tags)

    def to_json(self) -> str:
        """The graph as JSON text, in the schema that `from_json` reads. Kernels are not part of it."""
        import json

        from expandlab.graph.schema import to_dict

        return json.dumps(to_dict(self), indent=1)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python."""
        from expandlab.graph.schema import to_dict

        return to_dict(self)

    @staticmethod
    def from_json(source: str | bytes | Mapping[str, Any]) -> FrameGraph:
        """A graph from JSON text, or from what `json.loads` makes of it. Raises GraphError naming what is wrong."""
        from expandlab.graph.schema import from_json

        return from_json(source)

    @staticmethod
    def from_slots(source: str | bytes | Mapping[str, Any]) -> FrameGraph:
        """A graph from passes with slots and connections between them (see `docs/frame-graph.md`).

        A connection only says that two slots use the same resource; `dependency: false` says besides that the two
        accesses do not depend on each other. Raises UnknownNameError, GraphError naming what is wrong.
        """
        from expandlab.graph.slots import from_slots

        return from_slots(source)

    def placed(self, item: Pass) -> tuple[tuple[str, ...], str]:
        """(devices that a pass may run on, its queue), with the defaults filled in."""
        known = self.devices or DEFAULT_DEVICES
        devices = item.devices or (("gpu0",) if "gpu0" in known else (next(iter(known)),))
        if item.queue is not None:
            return devices, item.queue
        shared = [queue for queue in known[devices[0]] if all(queue in known[other] for other in devices)]
        if not shared:
            raise GraphError(f"device={list(devices)!r} of pass {item.name!r}: they share no queue")
        return devices, "compute" if "compute" in shared else shared[0]

    def _new_resource(self, name: str) -> None:
        checks.text("name", name)
        if name in self.resources:
            raise GraphError(f"name={name!r}: the graph has a resource of that name already; choose another")

    def _known(self, name: str, what: str) -> None:
        if not isinstance(name, str) or name not in self.resources:
            known = ", ".join(self.resources) or "none"
            raise UnknownNameError(f"{what}={name!r}: the graph has no such resource (declared: {known})")

    def _pass(
        self,
        name: str,
        accesses: Iterable[AccessLike],
        device: str | Sequence[str] | None,
        queue: str | None,
        after: Sequence[str],
        before: Sequence[str],
        side_effect: bool,
        cost_us: float | None,
        kernel: Kernel | None,
    ) -> Pass:
        checks.text("name", name)
        if name in self.passes:
            raise GraphError(f"name={name!r}: the graph has a pass of that name already; choose another")
        if cost_us is not None:
            if isinstance(cost_us, bool) or not isinstance(cost_us, (int, float)) or not 0 <= cost_us <= MOST_US:
                raise GraphError(f"cost_us={cost_us!r} of pass {name!r}: give microseconds, 0 to {MOST_US:g}, or None")
            cost_us = float(cost_us)
        listed = checks.listed(f"accesses of pass {name!r}", accesses, "accesses")
        checked = tuple(self._placed_access(name, place, access) for place, access in enumerate(listed))
        if kernel is not None:
            if not isinstance(kernel, Kernel):
                raise GraphError(f"kernel={kernel!r} of pass {name!r}: give a Kernel, or None")
            self._check_kernel(name, checked, kernel)
        return Pass(
            name, checked, kernel, self._devices(name, device, queue), queue,
            checks.names(f"after of pass {name!r}", after), checks.names(f"before of pass {name!r}", before),
            checks.flag(f"side_effect of pass {name!r}", side_effect), cost_us,
        )  # fmt: skip

    def _devices(self, owner: str, device: str | Sequence[str] | None, queue: str | None) -> tuple[str, ...]:
        if device is None and queue is None:
            return ()
        known = self.devices or DEFAULT_DEVICES
        given = () if device is None else checks.names(f"device of pass {owner!r}", device)
        for name in given:
            if name not in known:
                raise UnknownNameError(
                    f"device={name!r} of pass {owner!r}: the graph has no such device (declared: {', '.join(known)})"
                )
        if device is not None and not given:
            raise GraphError(f"device={device!r} of pass {owner!r}: name one device or more, or leave it out")
        if queue is not None:
            checks.text(f"queue of pass {owner!r}", queue)
            for name in given or self.placed(Pass(owner, (), queue=queue))[0]:
                if queue not in known[name]:
                    raise UnknownNameError(
                        f"queue={queue!r} of pass {owner!r}: device {name!r} has no such queue "
                        f"(declared: {', '.join(known[name])})"
                    )
        return tuple(dict.fromkeys(given))

    def _placed_access(self, owner: str, place: int, access: AccessLike) -> Access:
        try:
            return self._access(owner, access)
        except GraphError as error:
            raise error.at(passes=(owner,), access=place) from None

    def _access(self, owner: str, access: AccessLike) -> Access:
        try:
            if isinstance(access, Mapping):
                access = Access(**access)
            elif not isinstance(access, Access):
                access = Access(*access)
        except TypeError:
            raise GraphError(
                f"accesses of pass {owner!r}: {access!r} is no access; give (resource, mode[, range]), or a mapping "
                "with resource, mode and, where wanted, range, usage, independent, mips, layers, aspects"
            ) from None
        where = f"pass {owner!r}, resource {access.resource!r}"
        self._known(access.resource, f"accesses of pass {owner!r}: resource")
        if not isinstance(access.mode, str) or access.mode not in MODES:
            raise GraphError(f"{where}: mode={access.mode!r}; use one of {', '.join(MODES)}")
        resource = self.resources[access.resource]
        usages = (BUFFER_USAGES if resource.kind == "buffer" else IMAGE_USAGES)[access.mode]
        if not isinstance(access.usage, str) or access.usage not in usages:
            raise GraphError(
                f"{where}: usage={access.usage!r} with mode {access.mode} of a {resource.kind}; "
                f"use one of {', '.join(usages)}"
            )
        if access.independent is not None:
            checks.text(f"independent of {where}", access.independent)
        parts = {}
        for part, limit in _parts(resource):
            value = getattr(access, part)
            if value is not None:
                if limit is None:
                    raise GraphError(f"{where}: {part}={value!r} does not go with a {resource.kind}")
                parts[part] = checks.span(f"{where}: {part}", value, limit, "bytes" if part == "range" else part)
        if not parts:
            return access
        return Access(access.resource, access.mode, usage=access.usage, independent=access.independent, **parts)

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
            sizes = {name: resource.extent for name, resource in self.resources.items()}
            resources = kernel.resources()
            uniforms = {b.name: resources[b.name] for b in kernel.source.bindings if b.address == "uniform"}
            _launch.check(owner, kernel.workgroups, sizes, uniforms)
        elif kernel.indirect is not None:
            name, offset = kernel.indirect
            if offset % 4 or not 0 <= offset <= self.resources[name].extent - 12:
                raise GraphError(f"pass {owner!r}: workgroups={kernel.workgroups!r}: no three u32 lie at that offset")


def _parts(resource: Resource | Image) -> tuple[tuple[str, int | None], ...]:
    """The fields of an access that choose a part of a resource, each with its end, or None where it has none."""
    if isinstance(resource, Resource):
        return ("range", resource.size), ("mips", None), ("layers", None), ("aspects", None)
    return ("range", None), ("mips", resource.mips), ("layers", resource.layers), ("aspects", resource.aspects)
