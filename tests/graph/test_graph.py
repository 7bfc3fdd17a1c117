"""The frame graph: declarations are checked, passes run in order, every pass is timed."""

from __future__ import annotations

import numpy as np
import pytest

import expandlab as xl

DOUBLE = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&data)) { data[id.x] = data[id.x] * 2u; }
}
"""
ADD = """
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> sum: array<u32>;
@compute @workgroup_size(1)
fn main() { sum[0] = 0u; for (var i = 0u; i < arrayLength(&data); i++) { sum[0] += data[i]; } }
"""


def two_passes():
    graph = xl.FrameGraph()
    graph.buffer("data", 400, imported=True)
    graph.buffer("sum", 4)
    graph.add_pass("double", [("data", "read_write")], kernel=xl.Kernel(DOUBLE, "main", ["data"], (2, 1, 1)))
    graph.add_pass(
        "add",
        [xl.Access("data", "read"), {"resource": "sum", "mode": "write"}],
        kernel=xl.Kernel(ADD, "main", {"data": "data", "sum": "sum"}, (1, 1, 1)),
    )
    graph.output("sum")
    return graph


@pytest.mark.gpu
def test_passes_run_in_the_order_in_which_they_were_added(gpu):
    plan = two_passes().compile()
    assert plan.order == ["double", "add"]
    assert plan.run(gpu, {"data": np.arange(100, dtype=np.uint32)}) == {"sum": [9900]}


@pytest.mark.gpu
def test_every_pass_has_a_time(gpu):
    with two_passes().compile().program(gpu) as program:
        ran = program.run({"data": np.arange(100, dtype=np.uint32)})
    assert [item.name for item in ran.passes] == ["double", "add"]
    assert all(item.gpu_ms >= 0 for item in ran.passes) and ran.wall_ms > 0


@pytest.mark.gpu
def test_a_plan_runs_many_times_with_different_inputs(gpu):
    with two_passes().compile().program(gpu) as program:
        for factor in (1, 2, 3):
            ran = program.run({"data": np.full(100, factor, np.uint32)})
            assert ran.arrays["sum"][0] == 200 * factor


@pytest.mark.gpu
def test_an_indirect_dispatch_takes_its_size_from_a_buffer(gpu):
    graph = xl.FrameGraph()
    graph.buffer("data", 400, imported=True)
    graph.buffer("args", 12, imported=True)
    kernel = xl.Kernel(DOUBLE, "main", ["data"], "args")
    graph.add_pass("double", [("data", "read_write"), xl.Access("args", "read", usage="indirect")], kernel=kernel)
    graph.output("data")
    for groups, doubled in ((0, 0), (1, 64), (2, 100)):
        inputs = {"data": np.ones(100, np.uint32), "args": np.array([groups, 1, 1], np.uint32)}
        assert np.count_nonzero(graph.compile().run(gpu, inputs)["data"] == 2) == doubled


def graph_with_data():
    graph = xl.FrameGraph()
    graph.buffer("data", 400)
    return graph


def test_reading_bytes_that_nothing_wrote_is_an_error():
    graph = graph_with_data()
    graph.add_pass("half", [("data", "write", (0, 200))])
    graph.add_pass("read", [("data", "read", (100, 300))], side_effect=True)
    with pytest.raises(xl.UninitialisedReadError, match=r"'read' reads 'data' bytes 200 \.\. 300"):
        graph.compile()


def test_two_writes_together_make_a_range_valid():
    graph = graph_with_data()
    graph.add_pass("low", [("data", "write", (0, 200))])
    graph.add_pass("high", [("data", "write", (200, 400))])
    graph.add_pass("read", [("data", "read")], side_effect=True)
    assert graph.compile().order == ["low", "high", "read"]


@pytest.mark.parametrize(
    ("access", "error", "text"),
    [
        (("nothing", "read"), "UnknownNameError", "nothing"),
        (("data", "erase"), "GraphError", "mode='erase'"),
        (("data", "write", (0, 401)), "GraphError", "range"),
        (("data", "write", (8, 4)), "GraphError", "range"),
        ({"resource": "data", "mode": "write", "usage": "uniform"}, "GraphError", "usage"),
    ],
)
def test_an_access_that_makes_no_sense_is_refused(access, error, text):
    with pytest.raises(getattr(xl, error), match=text):
        graph_with_data().add_pass("p", [access])


def test_names_are_unique_and_outputs_known():
    graph = graph_with_data()
    graph.add_pass("p", [("data", "write")])
    with pytest.raises(xl.GraphError, match="'p'"):
        graph.add_pass("p", [])
    with pytest.raises(xl.GraphError, match="'data'"):
        graph.buffer("data", 4)
    with pytest.raises(xl.UnknownNameError, match="nothing"):
        graph.output("nothing")


def test_a_kernel_that_writes_what_its_pass_only_reads_is_refused():
    graph = xl.FrameGraph()
    graph.buffer("data", 400, imported=True)
    with pytest.raises(xl.GraphError, match="writes 'data'"):
        graph.add_pass("p", [("data", "read")], kernel=xl.Kernel(DOUBLE, "main", ["data"], (1, 1, 1)))


@pytest.mark.parametrize("bindings", [[], ["data", "data"], {}, {"data": "data", "more": "data"}])
def test_bindings_that_do_not_fit_the_shader_are_refused(bindings):
    graph = xl.FrameGraph()
    graph.buffer("data", 400, imported=True)
    with pytest.raises(xl.GraphError, match="bindings"):
        graph.add_pass("p", [("data", "read_write")], kernel=xl.Kernel(DOUBLE, "main", bindings, (1, 1, 1)))


def test_a_pass_without_a_kernel_can_be_planned_but_not_run():
    graph = graph_with_data()
    graph.add_pass("p", [("data", "write")])
    graph.output("data")
    plan = graph.compile()
    assert plan.order == ["p"]
    with pytest.raises(xl.GraphError, match="no kernel"):
        plan.run("reference")


def test_wgsl_alone_does_not_run_on_the_reference():
    with pytest.raises(xl.UnsupportedError, match="twin"):
        two_passes().compile().run("reference", {"data": np.zeros(100, np.uint32)})


@pytest.mark.parametrize(("inputs", "text"), [({"sum": np.zeros(1)}, "sum"), ({"data": np.zeros(200)}, "1600 bytes")])
def test_inputs_that_do_not_fit_are_named(inputs, text, lavapipe):
    with pytest.raises(xl.GraphError, match=text):
        two_passes().compile().run(lavapipe, inputs)


def test_a_buffer_beyond_the_devices_limits_is_refused_and_the_device_stays_usable(lavapipe):
    graph = xl.FrameGraph()
    graph.buffer("data", 2**28, imported=True)
    graph.add_pass("p", [("data", "read_write")], kernel=xl.Kernel(DOUBLE, "main", ["data"], (1, 1, 1)))
    with pytest.raises(xl.DeviceError, match="max_storage_buffer_binding_size"):
        graph.compile().run(lavapipe)
    assert two_passes().compile().run(lavapipe, {"data": np.ones(100, np.uint32)})["sum"][0] == 200
