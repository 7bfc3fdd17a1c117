"""WebGPU's default limits: what every conforming implementation grants, so what fits them runs anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# https://www.w3.org/TR/webgpu/#limits, column "Default", of the limits that compute work can meet.
DEFAULT_LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "max_bind_groups": 4,
        "max_bindings_per_bind_group": 1000,
        "max_buffer_size": 268435456,
        "max_compute_invocations_per_workgroup": 256,
        "max_compute_workgroup_size_x": 256,
        "max_compute_workgroup_size_y": 256,
        "max_compute_workgroup_size_z": 64,
        "max_compute_workgroup_storage_size": 16384,
        "max_compute_workgroups_per_dimension": 65535,
        "max_dynamic_storage_buffers_per_pipeline_layout": 4,
        "max_dynamic_uniform_buffers_per_pipeline_layout": 8,
        "max_storage_buffer_binding_size": 134217728,
        "max_storage_buffers_per_shader_stage": 8,
        "max_uniform_buffer_binding_size": 65536,
        "max_uniform_buffers_per_shader_stage": 12,
        "min_storage_buffer_offset_alignment": 256,
        "min_uniform_buffer_offset_alignment": 256,
    }
)


def standard_limits(native: Mapping[str, int]) -> dict[str, int]:
    """Limits under the standard's names (snake case), of any implementation's spelling."""
    return {name.replace("-", "_"): int(value) for name, value in native.items()}


def required_limits(available: Mapping[str, int], limits: str) -> dict[str, int]:
    """What to ask an adapter for: `"default"` or all that the `"adapter"` has, under the native (hyphened) names.

    `available` are the adapter's, under either spelling. Every limit is named, because an implementation may give
    more than the default for those that are not.
    """
    available = standard_limits(available)
    if limits == "adapter":
        wanted = dict(available)
    elif limits == "default":
        wanted = {}
        for name, value in DEFAULT_LIMITS.items():
            have = available.get(name)
            if have is not None:
                wanted[name] = max(value, have) if name.startswith("min_") else min(value, have)
    else:
        raise ValueError(f'limits={limits!r}: use "default" or "adapter"')
    return {name.replace("_", "-"): value for name, value in wanted.items()}
