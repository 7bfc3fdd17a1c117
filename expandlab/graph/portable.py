"""A frame graph as files for programs in other languages: WGSL, and a plan in JSON that says how to run it.

The plan names every buffer with its bytes, usages and first contents, every pass with its shader, entry point and
bind-group layout, and how each pass is launched. Buffers stand in the order in which the graph declares them, passes in
the order in which they run.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.errors import ExportError
from expandlab.graph.frame_graph import FrameGraph, Pass
from expandlab.graph.launch import Draws, Repeat

FORMAT = "expandlab-plan-1"
_USAGE = {"storage": "STORAGE", "uniform": "UNIFORM", "indirect": "INDIRECT", "copy": "COPY_SRC", "index": "INDEX"}
# The longest array of constants that is written as numbers.
_MOST_WORDS = 4096


def plan_of(graph: FrameGraph, constants: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The plan as plain Python.

    constants: first contents of imported buffers that follow from the sizes alone; other imported ones are the
    caller's. Raises ValueError where constants are too long for a text file.
    """
    return {
        "format": FORMAT,
        "buffers": [_buffer(graph, name, constants) for name in graph.resources],
        "passes": [_pass(item) for item in graph.passes.values()],
        "outputs": list(graph.outputs),
    }


def write(
    folder: str | Path, plan: Mapping[str, Any], sources: Mapping[str, wgsl.Source], copies: Iterable[Path] = ()
) -> None:
    """Write `plan.json`, one WGSL file for each shader, and `copies` of files into `folder`, which is made.

    Raises ExportError where that cannot be.
    """
    folder = Path(folder)
    files = {name: source.text for name, source in sources.items()} | {"plan.json": json.dumps(plan, indent=1) + "\n"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for path in copies:
            shutil.copyfile(path, folder / path.name)
    except OSError as error:
        told = f"out={str(folder)!r}: cannot be written ({error.strerror or error}); choose another folder"
        raise ExportError(told) from error


def sources_of(graph: FrameGraph) -> dict[str, wgsl.Source]:
    """The shaders of a graph by the names of their files. Passes with the same text share one."""
    return {_shader_name(item): item.kernel.source for item in graph.passes.values()}


def _shader_name(item: Pass) -> str:
    source = item.kernel.source
    # The same file with other constants is another shader.
    return f"{Path(source.name).stem}-{source.sha256[:8]}.wgsl"


def _buffer(graph: FrameGraph, name: str, constants: Mapping[str, np.ndarray]) -> dict[str, Any]:
    resource = graph.resources[name]
    usages = {_USAGE[a.usage] for item in graph.passes.values() for a in item.accesses if a.resource == name}
    found: dict[str, Any] = {
        "name": name,
        "bytes": max(4, -(-resource.size // 4) * 4),
        "usage": sorted(usages | {"COPY_SRC", "COPY_DST"}),
        "contents": "transient" if not resource.imported else "constant" if name in constants else "caller",
    }
    if name in constants:
        words = np.ascontiguousarray(constants[name]).view(np.uint32)
        if len(words) > _MOST_WORDS:
            raise ValueError(f"buffer {name!r}: {len(words):,} constants, and a plan lists at most {_MOST_WORDS:,}")
        found["words"] = words.tolist()
    return found


def _pass(item: Pass) -> dict[str, Any]:
    kernel = item.kernel
    resources = kernel.resources()
    kinds = {("uniform", False): "uniform", ("storage", False): "read-only-storage", ("storage", True): "storage"}
    return {
        "name": item.name,
        "shader": _shader_name(item),
        "entry": kernel.entry,
        "stage": "vertex" if isinstance(kernel.workgroups, Draws) else "compute",
        "bindings": [
            {
                "group": binding.group,
                "binding": binding.binding,
                "variable": binding.name,
                "type": kinds[binding.address, binding.writes],
                "buffer": resources[binding.name],
            }
            for binding in kernel.source.bindings
        ],
        "launch": _launch(kernel.workgroups),
    }


def _launch(workgroups: Any) -> dict[str, Any]:
    if isinstance(workgroups, Repeat):
        return {"repeat": {"buffer": workgroups.buffer, "count": workgroups.count, "stride": workgroups.stride,
                           "dynamic_offset": workgroups.variable}}  # fmt: skip
    if isinstance(workgroups, Draws):
        return {"multi_draw_indirect_count": {"buffer": workgroups.buffer, "count_buffer": workgroups.drawn,
                                              "most": workgroups.most}}  # fmt: skip
    if isinstance(workgroups, str):
        return {"indirect": {"buffer": workgroups, "offset": 0}}
    if len(workgroups) == 2:
        return {"indirect": {"buffer": workgroups[0], "offset": workgroups[1]}}
    return {"workgroups": list(workgroups)}
