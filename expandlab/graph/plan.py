"""A graph's plan: everything derived from what the passes access, and the run itself."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import GraphError
from expandlab.graph import barriers as _barriers
from expandlab.graph import checks
from expandlab.graph import connections as _connections
from expandlab.graph import copies as _copies
from expandlab.graph import dot as _dot
from expandlab.graph import hazards as _hazards
from expandlab.graph import layouts as _layouts
from expandlab.graph import memory as _memory
from expandlab.graph import recording as _recording
from expandlab.graph import schedule as _schedule
from expandlab.graph import simulate as _simulate
from expandlab.graph import snapshot as _snapshot
from expandlab.graph import validity as _validity
from expandlab.graph import waits as _waits
from expandlab.graph.declare import Pass
from expandlab.graph.devices import choices
from expandlab.graph.simulate import Machine, Timeline
from expandlab.results import to_plain

if TYPE_CHECKING:
    from expandlab.graph.frame_graph import FrameGraph

MODES = ("dag", "chain")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Planning makes many small tuples that live on and no cycles: looking for these would double its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(frozen=True)
class PassRun:
    """What one pass did in a run. `gpu_ms` is None where the device has no timer."""

    name: str
    workgroups: tuple[int, int, int]
    gpu_ms: float | None


@dataclass(frozen=True)
class PlanRun:
    """One run of a plan: output arrays (uint32), the passes in order, and the host's time around it all.

    transfer_ms: of `wall_ms`, what went by between the host and a device elsewhere; None where it is not.
    """

    arrays: dict[str, np.ndarray]
    passes: tuple[PassRun, ...]
    wall_ms: float
    transfer_ms: float | None = None


class Plan:
    """What follows from a graph, by name. The graph may change afterwards; the plan stays as it was compiled.

    `hazards`, `edges` (pairs), `order`, `barriers`, `layouts`, `waits`, `copies`, `culled`, `connections` and
    `memory`; `devices` has the device of each pass, and `passes` those that are kept. Hazards, edges and order are
    derived at once, because they find the graph's faults; the rest when it is first asked for.
    """

    @_uncollected()
    def __init__(self, graph: FrameGraph, mode: str = "dag", schedule: str = "depth", tags: bool = True):
        if not isinstance(mode, str) or mode not in MODES:
            raise GraphError(f"mode={mode!r}: use one of {', '.join(MODES)}")
        if not isinstance(schedule, str) or schedule not in _schedule.SCHEDULES:
            raise GraphError(f"schedule={schedule!r}: use one of {', '.join(_schedule.SCHEDULES)}")
        self.graph = graph
        self.mode, self.schedule, self.tags = mode, schedule, checks.flag("tags", tags)
        self._shot = shot = _snapshot.take(graph)
        self._connected = tuple(graph.connections)
        self._records, peers = _hazards.find(shot, tags=tags)
        found = _schedule.choose(shot, self._records, choices(shot, peers), mode, schedule)
        self._take(found[0])
        if len(found) > 1:
            # Of a few schedules the one with the shortest timeline, the first of equals.
            self._take(min(found, key=self._makespan))
        self.order: list[str] = [shot.names[number] for number in self._order]
        self.culled: list[str] = list(shot.culled)
        self.passes: dict[str, Pass] = dict(zip(shot.names, shot.passes, strict=True))
        self.devices: dict[str, str] = dict(zip(shot.names, self._placed, strict=True))
        self.queues: dict[str, str] = dict(zip(shot.names, shot.queues, strict=True))

    def __repr__(self) -> str:
        return f"<Plan: {' -> '.join(self.order) if len(self.order) <= 12 else f'{len(self.order)} passes'}>"

    @cached_property
    @_uncollected()
    def hazards(self) -> list[_hazards.Hazard]:
        """Every (producer, consumer, resource, range, kind), ranges as long as possible."""
        return list(_hazards.listed(self._shot, self._records))

    @cached_property
    def edges(self) -> list[tuple[str, str]]:
        """The transitive reduction of hazards and explicit edges (of the chain: of its links), sorted."""
        names = self._shot.names
        return sorted((names[first], names[second]) for second, all_ in enumerate(self._edges) for first in all_)

    @cached_property
    @_uncollected()
    def barriers(self) -> list[_barriers.Barrier]:
        """The global barriers within each queue, in order of the passes that they stand before."""
        aliases = _memory.aliases(self._shot, self._order, self._placed, self._places, tags=self.tags)
        found = _barriers.find(self._shot, self._order, self._edges, self._records, aliases, self._queues, self._clocks)
        return list(found)

    @cached_property
    def layouts(self) -> list[_layouts.LayoutChange]:
        """The layout changes of images, in order of the passes that they stand before."""
        return list(_layouts.find(self._shot, self._order, self._placed, self._moves))

    @cached_property
    def waits(self) -> list[_waits.Wait]:
        """The waits between queues, in order of the passes that wait."""
        names = self._shot.names
        return [
            _waits.Wait(names[number], queue, device, value) for number, (device, queue), value in self._clocks.waits
        ]

    @cached_property
    def copies(self) -> list[_copies.Copy]:
        """The copies between devices, in order of the passes that they stand before."""
        return list(_copies.listed(self._shot, self._moves))

    @cached_property
    @_uncollected()
    def validity(self) -> list[_validity.Validity]:
        """Where the bytes of each resource are valid: at the start, and after each pass of the order."""
        return _validity.find(self._shot, self._order, self._placed, tags=self.tags)

    @cached_property
    def memory(self) -> list[_memory.Placement]:
        """Where each transient buffer lies, on each device whose passes use it."""
        return list(_memory.listed(self._shot, self._places))

    @cached_property
    def connections(self) -> list[_connections.Connection]:
        """Of a graph from slots: each connection with whether a hazard exists along it, and each hazard without one."""
        return list(_connections.listed(self._connected, self.hazards))

    def recording_groups(self, parts: int) -> list[list[str]]:
        """The order cut into `parts` parts of similar cost, for recording on as many threads of the host.

        The costliest part is as cheap as can be. There are never more parts than passes.
        """
        if isinstance(parts, bool) or not isinstance(parts, int) or parts < 1:
            raise GraphError(f"parts={parts!r}: give how many parts, 1 or more")
        machine = Machine()
        ends = _recording.groups([machine.pass_time(self._shot, number) for number in self._order], parts)
        return [self.order[start:end] for start, end in pairwise([0, *ends])]

    def simulate(
        self, machine: Machine | None = None, *, measured_us: Mapping[str, float] | None = None, **costs: Any
    ) -> Timeline:
        """A simulated timeline: `.makespan_us`, `.critical_path`, `.lanes`.

        machine: what barriers, waits and copies cost; or its fields by name (`barrier_us`, `wait_us`, `copy_us`,
        `copy_gb_per_s`, `pass_us`, `peer_access`). `Machine` says where its defaults come from.
        measured_us: {pass: microseconds} in place of what the passes declare.
        """
        if machine is None:
            machine = _machine(Machine(), costs)
        elif not isinstance(machine, Machine):
            raise GraphError(f"machine={checks.short(machine)}: give a Machine, or its fields by name")
        elif costs:
            machine = _machine(machine, costs)
        names = {name: number for number, name in enumerate(self._shot.names)}
        dry = frozenset(names[item.before] for item in (*self.barriers, *self.layouts))
        shot = self._shot
        if measured_us is not None:
            shot = _simulate.measured(shot, measured_us)
        return _simulate.timeline(shot, self._order, self._queues, self._clocks, self._moves, dry, machine)

    def to_dot(self) -> str:
        """The plan as text for Graphviz: passes by queue, edges with their hazards, copies."""
        return _dot.text(self)

    def _take(self, chosen: _schedule.Schedule) -> None:
        for name in ("_queues", "_clocks", "_moves", "_places", "barriers", "layouts"):
            self.__dict__.pop(name, None)
        self._edges, self._order, self._placed = chosen.edges, chosen.order, chosen.placed

    def _makespan(self, chosen: _schedule.Schedule) -> float:
        self._take(chosen)
        return self.simulate().makespan_us

    @cached_property
    def _queues(self) -> list[tuple[str, str]]:
        return list(zip(self._placed, self._shot.queues, strict=True))

    @cached_property
    def _clocks(self) -> _waits.Clocks:
        return _waits.clocks(self._order, self._edges, self._queues)

    @cached_property
    @_uncollected()
    def _moves(self) -> list[_copies.Move]:
        return _copies.find(self._shot, self._order, self._placed, tags=self.tags)

    @cached_property
    @_uncollected()
    def _places(self) -> tuple[_memory.Place, ...]:
        return _memory.place(self._shot, self._order, self._edges, self._placed)

    def to_dict(self) -> dict[str, Any]:
        """Everything planned as plain Python that `json.dumps` accepts."""
        found: dict[str, Any] = {"mode": self.mode, "schedule": self.schedule, "tags": self.tags}
        for name in (
            "order", "culled", "devices", "hazards", "edges", "barriers", "layouts", "waits", "copies", "memory",
            "connections",
        ):  # fmt: skip
            found[name] = to_plain(getattr(self, name))
        return found

    def run(self, devices: Any = None, inputs: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
        """Run the plan; returns {output: uint32 array}.

        devices: an open device or the name of one, as `device=` elsewhere, which then runs the passes of all the
            graph's devices; or several, as a list in the order of the graph's devices or {the graph's device: device},
            with the plan's copies between them through the host's memory.
        inputs: {imported resource: array}, each of the declared size in bytes or shorter; the rest is zero.

        Raises GraphError naming what is missing, DeviceError with the passes that were in flight.
        """
        from expandlab.gpu import resolve
        from expandlab.graph.several import assigned

        given = {} if inputs is None else inputs
        several = assigned(self, devices)
        if several is None:
            with self.program(resolve(devices)) as program:
                return program.run(given).arrays
        with self.programs(several) as programs:
            return programs.run(given).arrays

    def programs(self, devices: Mapping[str, Any]) -> Any:
        """The plan made ready on several devices: {the graph's device: an open device or the name of one}."""
        from expandlab.gpu import resolve
        from expandlab.graph.several import Several

        self._check_kernels()
        return Several(self, {name: resolve(device) for name, device in devices.items()})

    def program(self, device: Any, external: Mapping[str, Any] | None = None) -> Any:
        """The plan made ready on `device`: buffers, pipelines and bindings are made once, runs are many.

        external: GPU buffers that belong to somebody else, by resource name, to be used instead of the plan's own.
        """
        self._check_kernels()
        if device.is_reference:
            from expandlab.graph.reference import ReferenceProgram

            return ReferenceProgram(self, device)
        if device.is_page:
            return device.program(self, external)
        from expandlab.graph.execute import Program

        return Program(self, device, external)

    def _check_kernels(self) -> None:
        for item in self.passes.values():
            if item.kernel is None:
                raise GraphError(
                    f"pass {item.name!r} has no kernel, so the plan can be looked at but not run; give it one"
                )
            for access in item.accesses:
                if self.graph.resources[access.resource].kind == "image":
                    raise GraphError(
                        f"pass {item.name!r} uses the image {access.resource!r}: images are planned and simulated, "
                        "not run; use a buffer"
                    )


def _machine(machine: Machine, costs: Mapping[str, Any]) -> Machine:
    known = [field.name for field in fields(Machine)]
    unknown = [name for name in costs if name not in known]
    if unknown:
        raise GraphError(f"simulate: {', '.join(unknown)}: use {', '.join(known)}")
    return replace(machine, **costs)
