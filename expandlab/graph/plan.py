"""A checked graph with the order of its passes, ready to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import DeviceError, GraphError, UnknownNameError

if TYPE_CHECKING:
    from expandlab.graph.frame_graph import FrameGraph


@dataclass(frozen=True)
class PassRun:
    """What one pass did in a run. `gpu_ms` is None where the device has no timer."""

    name: str
    workgroups: tuple[int, int, int]
    gpu_ms: float | None


@dataclass(frozen=True)
class PlanRun:
    """One run of a plan: output arrays (uint32), the passes in order, and the host's time around it all."""

    arrays: dict[str, np.ndarray]
    passes: tuple[PassRun, ...]
    wall_ms: float


class Plan:
    """The order in which a graph's passes run, and the run itself."""

    def __init__(self, graph: FrameGraph):
        self.graph = graph
        self.order: list[str] = list(graph.passes)

    def __repr__(self) -> str:
        return f"<Plan: {' -> '.join(self.order)}>"

    def run(self, devices: Any = None, inputs: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
        """Run the plan on a device; returns {output: uint32 array}.

        devices: an open device or the name of one, as `device=` elsewhere.
        inputs: {imported resource: array}, each of the declared size in bytes or shorter; the rest is zero.
        """
        from expandlab.gpu import resolve

        with self.program(resolve(devices)) as program:
            return program.run(inputs or {}).arrays

    def program(self, device: Any, external: Mapping[str, Any] | None = None) -> Any:
        """The plan made ready on `device`: buffers, pipelines and bindings are made once, runs are many.

        external: GPU buffers that belong to somebody else, by resource name, to be used instead of the plan's own.
        """
        self._check_kernels()
        if device.is_reference:
            from expandlab.graph.reference import ReferenceProgram

            return ReferenceProgram(self, device)
        from expandlab.graph.execute import Program

        return Program(self, device, external)

    def _check_kernels(self) -> None:
        idle = [item.name for item in self.graph.passes.values() if item.kernel is None]
        if idle:
            raise GraphError(f"pass {idle[0]!r} has no kernel, so the plan can be looked at but not run; give it one")


def input_words(graph: FrameGraph, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """`inputs` as flat uint32 arrays, checked against the imported resources of `graph`."""
    words = {}
    for name, array in inputs.items():
        resource = graph.resources.get(name)
        if resource is None or not resource.imported:
            known = ", ".join(r.name for r in graph.resources.values() if r.imported) or "none"
            raise UnknownNameError(f"inputs[{name!r}]: the graph imports no such resource (imported: {known})")
        data = np.ascontiguousarray(array).reshape(-1)
        if data.nbytes % 4:
            data = np.frombuffer(data.tobytes() + b"\0" * (-data.nbytes % 4), np.uint8)
        if data.nbytes > max(4, -(-resource.size // 4) * 4):
            raise GraphError(f"inputs[{name!r}] has {data.nbytes} bytes; the resource holds {resource.size}")
        words[name] = data.view(np.uint32)
    return words


def over_limit(graph: FrameGraph, limits: Mapping[str, int]) -> tuple[str, int, str] | None:
    """The first buffer that the limits do not allow, as (name, bytes, name of the limit), or None."""
    for resource in graph.resources.values():
        for limit in ("max_storage_buffer_binding_size", "max_buffer_size"):
            if resource.size > limits[limit]:
                return resource.name, resource.size, limit
    return None


def check_limits(graph: FrameGraph, device: Any) -> None:
    """Raise DeviceError for a buffer that the device does not allow."""
    found = over_limit(graph, device.limits)
    if found:
        name, size, limit = found
        raise DeviceError(
            f"buffer {name!r} needs {size:,} bytes; {device.info.name} allows {device.limits[limit]:,} ({limit}). "
            "Open the device with limits='adapter' or give it less work"
        )
