"""Shader modules without naga's run-time checks, for shaders that were written and tested here.

wgpu-py does not show `wgpuDeviceCreateShaderModuleTrusted`, so this builds the descriptor as its
`create_shader_module` does. The last argument is the set of checks to keep.
"""

from __future__ import annotations

from typing import Any

_KEEP_NO_CHECKS = 0


def trusted_module(gpu: Any, label: str, code: str) -> Any:
    """A compiled module that checks neither bounds nor loops. Never for WGSL that a user wrote."""
    from wgpu.backends.wgpu_native import _api

    text = _api.new_struct_p("WGPUShaderSourceWGSL *", code=_api.to_c_string_view(code))
    text[0].chain.next = _api.ffi.NULL
    text[0].chain.sType = _api.lib.WGPUSType_ShaderSourceWGSL
    descriptor = _api.new_struct_p(
        "WGPUShaderModuleDescriptor *",
        nextInChain=_api.ffi.cast("WGPUChainedStruct *", text),
        label=_api.to_c_string_view(label),
    )
    handle = _api.libf.wgpuDeviceCreateShaderModuleTrusted(gpu._internal, descriptor, _KEEP_NO_CHECKS)
    return _api.GPUShaderModule(label, handle, gpu)
