"""Launches beyond one plain dispatch: an indirect dispatch for every record of a buffer, and draws of points."""

from __future__ import annotations

import numpy as np
import pytest

import expandlab as xl
from expandlab.graph import Draws, Repeat

EACH = """
struct Record { x: u32, y: u32, z: u32, @size(244) first: u32 }
@group(0) @binding(0) var<uniform> record: Record;
@group(1) @binding(0) var<storage, read_write> seen: array<atomic<u32>>;
@compute @workgroup_size(4)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    atomicAdd(&seen[record.first + 4u * group.x + local], 1u + group.y);
}
"""
POINTS = """
@group(0) @binding(0) var<storage, read_write> seen: array<u32>;
@vertex
fn main(@builtin(vertex_index) i: u32, @builtin(instance_index) first: u32) -> @builtin(position) vec4<f32> {
    seen[first + i] += 1u;
    return vec4<f32>(2.0, 2.0, 2.0, 1.0);
}
"""
DRAWS = np.array([[3, 1, 0, 10], [0, 1, 0, 20], [2, 1, 5, 30], [9, 1, 0, 40]], np.uint32)


def records(*rows):
    table = np.zeros((len(rows), 64), np.uint32)
    table[:, :4] = rows
    return table


def each(count, *, stride=256, variable="record", size=None):
    def twin(b):
        for x, y, z, first in b.record.reshape(-1, 64)[:count, :4].tolist():
            b.seen[first : first + 4 * x] += np.uint32(z * y * (y + 1) // 2)

    graph = xl.FrameGraph()
    graph.buffer("records", 256 * count if size is None else size, imported=True)
    graph.buffer("seen", 400, imported=True)
    kernel = xl.Kernel(EACH, "main", ["records", "seen"], Repeat("records", count, stride, variable), twin=twin)
    uses = [xl.Access("records", "read", usage=usage) for usage in ("uniform", "indirect")]
    graph.add_pass("each", [*uses, ("seen", "read_write")], kernel=kernel)
    graph.output("seen")
    return graph


def points(most):
    graph = xl.FrameGraph()
    graph.buffer("draws", DRAWS.nbytes, imported=True)
    graph.buffer("drawn", 4, imported=True)
    graph.buffer("seen", 400, imported=True)
    uses = [xl.Access(name, "read", usage="indirect") for name in ("draws", "drawn")]
    kernel = xl.Kernel(POINTS, "main", ["seen"], Draws("draws", "drawn", most))
    graph.add_pass("draw", [*uses, ("seen", "read_write")], kernel=kernel)
    graph.output("seen")
    return graph


@pytest.mark.gpu
def test_every_record_has_its_dispatch_and_sees_itself_alone(every_device):
    table = records((1, 1, 1, 10), (0, 1, 1, 20), (2, 2, 1, 30), (1, 1, 3, 50))
    expected = np.zeros(100, np.uint32)
    expected[10:14], expected[30:38], expected[50:54] = 1, 3, 3
    with each(4).compile().program(every_device) as program:
        ran = program.run({"records": table, "seen": np.zeros(100, np.uint32)})
    assert np.array_equal(ran.arrays["seen"], expected)
    assert ran.passes[0].workgroups == (1 + 0 + 4 + 3, 1, 1)


@pytest.mark.gpu
def test_no_record_is_no_dispatch(every_device):
    seen = each(0, size=256).compile().run(every_device, {"seen": np.full(100, 7, np.uint32)})["seen"]
    assert (seen == 7).all()


@pytest.mark.gpu
@pytest.mark.parametrize(("drawn", "most", "vertices"), [(0, 4, 0), (1, 4, 3), (3, 4, 5), (3, 2, 3), (9, 4, 14)])
def test_the_gpu_says_how_many_draws_run_and_never_more_than_there_are(drawn, most, vertices, gpu):
    if "multi-draw-indirect-count" not in gpu.features or "vertex-writable-storage" not in gpu.features:
        pytest.skip("the device lacks a feature")
    expected = np.zeros(100, np.uint32)
    for count, _, first, instance in DRAWS[: min(drawn, most)].astype(int):
        expected[instance + first : instance + first + count] += 1
    with points(most).compile().program(gpu) as program:
        ran = program.run({"draws": DRAWS, "drawn": np.array([drawn], np.uint32), "seen": np.zeros(100, np.uint32)})
    assert np.array_equal(ran.arrays["seen"], expected) and expected.sum() == vertices
    assert ran.passes[0].workgroups == (vertices, 1, 1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: each(2, size=256), "2 records do not lie"),
        (lambda: each(2, stride=192), "multiple of 256"),
        (lambda: each(2, variable="seen"), "no uniform"),
        (lambda: points(5), "5 draws do not lie"),
    ],
)
def test_a_launch_that_does_not_fit_is_named(make, text):
    with pytest.raises(xl.GraphError, match=text):
        make()


def test_the_arguments_of_draws_are_declared_accesses():
    graph = points(4)
    kernel = graph.passes["draw"].kernel
    with pytest.raises(xl.GraphError, match="workgroups='drawn'"):
        graph.add_pass("again", [xl.Access("draws", "read", usage="indirect"), ("seen", "read_write")], kernel=kernel)
