"""A work graph, modelled only: the thread of a src hands the system a record, and the system launches its items.

Wins where passes would wait for each other: items start as soon as their record is written, there is no second pass,
no prefix sum, no search, and the memory between is the system's. Loses where N is small: every record has to be
written, queued and taken up by the scheduler, a grid begins a workgroup of its own, and no wave holds threads of two
workgroups; and on hardware without it, which is most.
Source: "Gfx API Solutions" of "Efficient GPU Work Expansion" (DX12 Work Graphs).

No WebGPU has work graphs, so nothing of this is run and no time is given. What the model counts, and where from, all
in "D3D12 Work Graphs", DirectX specifications, https://microsoft.github.io/DirectX-Specs/d3d/WorkGraphs.html, unless
another source is named:

- a broadcasting node is launched as one grid of workgroups for each input record ("Broadcasting launch nodes"), each
  dimension at most 65 535 ("Thread Group");
- a workgroup writes at most 256 records and 32 KiB of them, together with 8 bytes for each record at most 48 KiB ("Node
  output limits"): a workgroup of 256 src and records of 24 bytes stay within, which is why a src hands over one
  record with its N and not N records;
- threads of different workgroups do not share a wave ("Thread visibility in wave operations"): the rest of a src's
  last workgroup idles;
- a record costs the scheduler something whatever its grid: "Tips, tricks, and best practices", AMD GPUOpen,
  https://gpuopen.com/learn/work_graphs_mesh_nodes/work_graphs_mesh_nodes-tips_tricks_best_practices/. The model has one
  step of one lane for every record there, and no number of microseconds.

The same launches as here, whole workgroups for every src with items, are what `dispatch_each` runs and records.
"""

from __future__ import annotations

import numpy as np

from expandlab.expansion.steps import own_launches
from expandlab.expansion.strategy import Sizes, Strategy
from expandlab.expansion.thread_map import MapBuilder, Memory, MemoryRow, ThreadMap
from expandlab.wgsl import anchor

_GRAPH = "expansion/work_graph/graph.hlsl"

# Of `Items` in shaders/expansion/work_graph/graph.hlsl.
RECORD_BYTES = 24
MOST_RECORDS = 256


def model(counts: np.ndarray, sizes: Sizes) -> ThreadMap:
    """Dispatch s is the grid that the record of src s launches."""
    m = MapBuilder("work_graph", sizes)
    one = m.lanes(len(counts))
    every, some = one.first(one.launched), one.active(counts > 0)
    m.step("sources", "take N", anchor(_GRAPH, "load"), one.first(len(counts)))
    m.step("sources", "reserve N places of the output", anchor(_GRAPH, "reserve"), some)
    m.step("sources", "ask for a record", anchor(_GRAPH, "record"), every)
    m.step("sources", "write the record", anchor(_GRAPH, "write"), some)
    owners = np.flatnonzero(counts)
    if len(owners):
        launch = anchor(_GRAPH, "launch")
        m.step("system", "take up one record, launch its grid", launch, np.ones(1, np.int32), len(owners))
    src, local, working = own_launches(m, counts)
    m.step("work", "compare local with N", anchor(_GRAPH, "early-out"), m.active_of(np.ones(len(src), bool)))
    m.step("work", "work", anchor(_GRAPH, "work"), m.active_of(working))
    record = np.full(len(counts), -1)
    record[owners] = np.arange(len(owners))
    starts = np.cumsum(counts, dtype=np.int64) - counts
    size = sizes.workgroup_size
    row = MemoryRow("records", len(counts), RECORD_BYTES, 1, owners.astype(np.int32))
    return m.build_rows(
        (Memory("records", "records on their way between the nodes", (row,)),),
        dispatch=src, workgroup=local // size, thread=local % size,
        src=np.where(working, src, -1), local=np.where(working, local, -1),
        dst=np.where(working, starts[src] + local, -1), entry=np.where(working, record[src], -1),
    )  # fmt: skip


STRATEGY = Strategy(
    name="work_graph",
    title="Work graph",
    solution=None,
    summary="Modelled: the thread of a src hands the system one record, and the system launches a grid for it.",
    modelled=True,
    model=model,
)
