"""Task and mesh shaders, modelled only: a task workgroup launches mesh workgroups for its src, as many as it counts.

Wins where src stand for meshes and items for their pieces: one draw, no buffer between the passes, no global prefix
sum, and the number of workgroups is decided where the counts are known. Loses where N is below a mesh workgroup,
because one works for a single src and its other threads idle; where a few src hold most items, because one task
workgroup then launches nearly everything; and where the work is no mesh: the stages belong to the graphics pipeline.
Source: "Gfx API Solutions" of "Efficient GPU Work Expansion" (Mesh Shader Dispatch API).

No WebGPU has these stages, so nothing of this is run and no time is given. What the model counts, and where from:

- a mesh or task workgroup has at most 128 threads, a task workgroup one payload of at most 16 KiB (here 1.5 KiB), a
  launch at most 65 535 workgroups in a dimension and 2^22 in all: "Mesh Shader", DirectX specifications,
  https://microsoft.github.io/DirectX-Specs/d3d/MeshShader.html (numthreads, DispatchMesh); Vulkan's limits of the same
  meaning (maxMeshWorkGroupInvocations, maxTaskPayloadSize, maxMeshWorkGroupCount, maxMeshWorkGroupTotalCount):
  "VkPhysicalDeviceMeshShaderPropertiesEXT",
  https://docs.vulkan.org/refpages/latest/refpages/source/VkPhysicalDeviceMeshShaderPropertiesEXT.html;
- the payload is kept small: "Advanced API Performance: Mesh Shaders", NVIDIA,
  https://developer.nvidia.com/blog/advanced-api-performance-mesh-shaders/;
- a workgroup of items for one src, as a meshlet is a piece of one mesh: "Optimization and best practices", AMD
  GPUOpen, https://gpuopen.com/learn/mesh_shaders/mesh_shaders-optimization_and_best_practices.

The same launches as here, whole workgroups for every src, are what `dispatch_each` runs and records.
"""

from __future__ import annotations

import numpy as np

from expandlab.expansion.steps import folded, search
from expandlab.expansion.strategy import Sizes, Strategy
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap
from expandlab.wgsl import anchor

_TASK, _MESH = "expansion/task_mesh/task.glsl", "expansion/task_mesh/mesh.glsl"

MOST_THREADS = 128
PAYLOAD_BYTES = 16384
# Of the payload: end, N and place of each src.
ENTRY_BYTES = 12


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Dispatch g is what task workgroup g launches; each of its mesh workgroups works for one src."""
    m = MapBuilder("task_mesh", sizes)
    # Both stages have workgroups of this size, also where the expansion asks for larger ones.
    size = m.workgroup_size = min(sizes.workgroup_size, MOST_THREADS)
    m.subgroup_size = min(m.subgroup_size, size)
    tasks = -(-len(counts) // size)
    groups = -(-counts.astype(np.int64) // size)
    mine = np.zeros(tasks * size, np.int64)
    mine[: len(counts)] = groups
    of_task = mine.reshape(-1, size).sum(axis=1)
    _task_steps(m, counts, tasks, size)

    launched = folded(of_task)
    m.lanes(int(launched.sum()) * size)
    task = np.repeat(np.arange(tasks), launched)
    group = np.arange(len(task)) - (np.cumsum(launched) - launched)[task]
    ends = np.cumsum(mine)
    begins = np.cumsum(of_task) - of_task
    src, probes = search(ends, begins[task] + group, "right", task * size, (task + 1) * size)
    found = group < of_task[task]
    src = np.where(found, src, 0)
    piece = begins[task] + group - (ends[src] - mine[src]) if len(task) else group
    thread = np.tile(np.arange(size), len(task))
    local = np.repeat(piece, size) * size + thread
    owner = np.repeat(src, size)
    working = np.repeat(found, size) & (local < np.append(counts, 0)[np.minimum(owner, len(counts))])
    for probe in range(int(probes.max(initial=0))):
        m.step("mesh", f"probe {probe + 1}", anchor(_MESH, "search"), m.active_of(np.repeat(probes > probe, size)))
    m.step("mesh", "compare local with N", anchor(_MESH, "early-out"), m.active_of(np.repeat(found, size)))
    m.step("mesh", "work", anchor(_MESH, "work"), m.active_of(working))
    starts = np.append(np.cumsum(counts, dtype=np.int64) - counts, 0)[np.minimum(owner, len(counts))]
    return m.build_rows(
        _memory(counts, tasks * size), dispatch=np.repeat(task, size), workgroup=np.repeat(group, size), thread=thread,
        src=np.where(working, owner, -1), local=np.where(working, local, -1),
        dst=np.where(working, starts + local, -1), entry=np.where(working, owner, -1),
    )  # fmt: skip


def _task_steps(m: MapBuilder, counts: np.ndarray, tasks: int, size: int) -> None:
    lanes = m.lanes(tasks * size)
    every = lanes.first(lanes.launched)
    leaders = np.zeros(lanes.launched, bool)
    leaders[:: lanes.workgroup_size] = True
    m.step("task", "take N", anchor(_TASK, "load"), lanes.first(len(counts)))
    m.step("task", "add up the workgroup", anchor(_TASK, "scan"), every, size.bit_length() - 1)
    m.step("task", "reserve the places of its items", anchor(_TASK, "reserve"), lanes.active(leaders))
    m.step("task", "write the payload", anchor(_TASK, "write"), every)
    m.step("task", "launch mesh workgroups", anchor(_TASK, "emit"), lanes.active(leaders))


def _memory(counts: np.ndarray, capacity: int) -> tuple[Memory, ...]:
    row = MemoryRow("payload entries", capacity, ENTRY_BYTES, 1, np.arange(len(counts), dtype=np.int32))
    return (Memory("payload", "payloads of the task workgroups, on the chip", (row,)),)


STRATEGY = Strategy(
    name="task_mesh",
    title="Task and mesh shaders",
    solution=None,
    summary="Modelled: a task workgroup launches the mesh workgroups of its src. No buffer in between, no global scan.",
    modelled=True,
    model=model,
)
