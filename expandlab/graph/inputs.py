"""What a run is given, and what a device allows: both are looked at before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import DeviceError, GraphError, UnknownNameError
from expandlab.graph import checks

if TYPE_CHECKING:
    from expandlab.graph.frame_graph import FrameGraph


def input_words(graph: FrameGraph, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """`inputs` as flat uint32 arrays, checked against the imported resources of `graph`."""
    if not isinstance(inputs, Mapping):
        raise GraphError(f"inputs={checks.short(inputs)}: give {{imported resource: array}}")
    words = {}
    for name, array in inputs.items():
        resource = graph.resources.get(name)
        if resource is None or not resource.imported:
            known = ", ".join(r.name for r in graph.resources.values() if r.imported) or "none"
            raise UnknownNameError(f"inputs[{name!r}]: the graph imports no such resource (imported: {known})")
        try:
            data = np.ascontiguousarray(array).reshape(-1)
        except (TypeError, ValueError) as error:
            raise GraphError(f"inputs[{name!r}] is no array: {error}") from None
        if data.nbytes > max(4, -(-resource.size // 4) * 4):
            raise GraphError(
                f"inputs[{name!r}] has {data.nbytes} bytes ({data.dtype}); the resource holds {resource.size}"
            )
        if data.dtype.kind not in "uif" or data.dtype.itemsize > 4:
            raise GraphError(
                f"inputs[{name!r}] has dtype {data.dtype}, and WGSL has no such numbers; give a NumPy array of "
                "integers or floats of at most 32 bits"
            )
        data = data.astype(data.dtype.newbyteorder("="), copy=False)
        if data.nbytes % 4:
            data = np.frombuffer(data.tobytes() + b"\0" * (-data.nbytes % 4), np.uint8)
        words[name] = data.view(np.uint32)
    return words


def over_limit(graph: FrameGraph, limits: Mapping[str, int]) -> tuple[str, int, str] | None:
    """The first buffer that the limits do not allow, as (name, bytes, name of the limit), or None."""
    for resource in graph.resources.values():
        if resource.kind == "image":
            continue
        for limit in ("max_storage_buffer_binding_size", "max_buffer_size"):
            if resource.size > limits[limit]:
                return resource.name, resource.size, limit
    return None


def check_limits(graph: FrameGraph, device: Any) -> None:
    """Raise DeviceError for a buffer or a direct dispatch that the device does not allow."""
    most = device.limits["max_compute_workgroups_per_dimension"]
    for item in graph.passes.values():
        if item.kernel is not None and item.kernel.indirect is None and max(item.kernel.workgroups) > most:
            raise DeviceError(
                f"pass {item.name!r}: workgroups={item.kernel.workgroups}; {device.info.name} allows {most:,} in each "
                "dimension (max_compute_workgroups_per_dimension). Fold them into two dimensions"
            )
    found = over_limit(graph, device.limits)
    if found:
        name, size, limit = found
        raise DeviceError(
            f"buffer {name!r} needs {size:,} bytes; {device.info.name} allows {device.limits[limit]:,} ({limit}). "
            f"Give it less work{device.or_open_wider(limit, size)}"
        )
