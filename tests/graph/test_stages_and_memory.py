"""Barriers of several stages, layouts, waits and shared memory, each on the smallest plan that shows it."""

from __future__ import annotations

import pytest

import expandlab as xl


def use(name, mode="read", usage="storage"):
    return {"resource": name, "mode": mode, "usage": usage}


def plan_of(passes, *, buffers=(), images=(), queues=("q",), outputs=()):
    """passes: (name, accesses[, options]); all are kept."""
    graph = xl.FrameGraph({"gpu0": queues})
    for name in buffers:
        graph.buffer(name, 256, imported=name.isupper())
    for name in images:
        graph.image(name, mips=2, imported=name.isupper())
    for name, accesses, *options in passes:
        graph.add_pass(name, accesses, **{"side_effect": True, **(options[0] if options else {})})
    for name in outputs:
        graph.output(name)
    return graph.compile()


def masks(plan):
    return [
        (b.before, *("+".join(sorted(part)) for part in (b.src_stages, b.src_access, b.dst_stages, b.dst_access)))
        for b in plan.barriers
    ]


def test_a_later_reader_at_a_new_stage_has_a_barrier_of_its_own():
    plan = plan_of([("w", [use("x", "write")]), ("u", [use("x", usage="uniform")]), ("c", [use("x", usage="copy")]),
                    ("s", [use("x")])], buffers=["x"])  # fmt: skip
    # The storage read shares the uniform read's stage, so the barrier before that one carries its bit too.
    assert masks(plan) == [
        ("u", "COMPUTE_SHADER", "SHADER_WRITE", "COMPUTE_SHADER", "SHADER_READ+UNIFORM_READ"),
        ("c", "COMPUTE_SHADER", "SHADER_WRITE", "COPY", "TRANSFER_READ"),
    ]


def test_one_barrier_serves_all_hazards_at_its_place():
    plan = plan_of([("w", [use("x", "write"), use("y", "write", "copy")]), ("r", [use("x"), use("y", usage="index")])],
                   buffers=["x", "y"])  # fmt: skip
    assert masks(plan) == [
        ("r", "COMPUTE_SHADER+COPY", "SHADER_WRITE+TRANSFER_WRITE", "COMPUTE_SHADER+INDEX_INPUT",
         "INDEX_READ+SHADER_READ"),
    ]  # fmt: skip
    assert plan.barriers[0].resources == ("x", "y")


def test_a_hazard_goes_into_the_last_barrier_that_has_its_stages():
    plan = plan_of([("a", [use("x", "write")]), ("b", [use("Y", "read")]), ("c", [use("Y", "write")]),
                    ("d", [use("Y", "write")]), ("e", [use("x")])], buffers=["x", "Y"])  # fmt: skip
    # c and d each need a barrier; e needs none of its own, and its bit is in the one before it.
    assert [(m[0], m[4]) for m in masks(plan)] == [("c", "SHADER_READ"), ("d", "SHADER_WRITE")]


def test_attachments_have_their_own_stages_and_layouts():
    passes = [("draw", [use("i", "write", "color")]), ("blur", [use("i", usage="sampled")]),
              ("copy", [use("i", usage="copy")]), ("show", [use("i", usage="present")])]  # fmt: skip
    plan = plan_of(passes, images=["i"])
    assert masks(plan)[0] == (
        "blur", "COLOR_ATTACHMENT_OUTPUT", "COLOR_ATTACHMENT_WRITE", "COMPUTE_SHADER", "SHADER_READ",
    )  # fmt: skip
    assert [(c.before, c.old_layout, c.new_layout) for c in plan.layouts] == [
        ("draw", "UNDEFINED", "COLOR_ATTACHMENT_OPTIMAL"),
        ("blur", "COLOR_ATTACHMENT_OPTIMAL", "SHADER_READ_ONLY_OPTIMAL"),
        ("copy", "SHADER_READ_ONLY_OPTIMAL", "TRANSFER_SRC_OPTIMAL"),
        ("show", "TRANSFER_SRC_OPTIMAL", "PRESENT_SRC"),
    ]
    assert all(c.subresources == (0, 2) for c in plan.layouts)


def test_an_imported_image_comes_in_the_layout_of_its_first_use():
    plan = plan_of([("a", [use("I", usage="sampled")]), ("b", [use("I")])], images=["I"])
    assert [(c.before, c.new_layout) for c in plan.layouts] == [("b", "GENERAL")]
    assert plan.barriers == []


def test_an_edge_without_a_hazard_takes_all_stages_of_both_passes_and_no_access():
    plan = plan_of([("a", [use("x", "write", "copy"), use("y", "write")]), ("b", [], {"after": ["a"]})], buffers="xy")
    assert masks(plan) == [("b", "COMPUTE_SHADER+COPY", "", "COMPUTE_SHADER", "")]
    assert plan.barriers[0].kind == "execution"


def test_waits_that_lead_back_to_a_queue_leave_no_barrier_to_do():
    plan = plan_of([("a", [use("x", "write")], {"queue": "p"}), ("b", [use("x", "read_write")], {"queue": "q"}),
                    ("c", [use("x")], {"queue": "p"})], buffers=["x"], queues=("p", "q"))  # fmt: skip
    assert [(w.before, w.queue, w.value) for w in plan.waits] == [("b", "p", 1), ("c", "q", 1)]
    assert plan.barriers == []


def test_of_several_producers_on_one_queue_the_largest_value_is_waited_for():
    plan = plan_of([("a", [use("x", "write")], {"queue": "p"}), ("b", [use("y", "write")], {"queue": "p"}),
                    ("c", [use("x"), use("y")], {"queue": "q"})], buffers=["x", "y"], queues=("p", "q"))  # fmt: skip
    assert [(w.before, w.queue, w.value) for w in plan.waits] == [("c", "p", 2)]


RING = [("a", [use("x", "write")]), ("b", [use("x"), use("y", "write")]), ("c", [use("y"), use("z", "write")]),
        ("d", [use("z")])]  # fmt: skip


def test_buffers_whose_lifetimes_cannot_overlap_share_memory():
    plan = plan_of(RING, buffers=["x", "y", "z"])
    assert [(p.resource, p.offset) for p in plan.memory] == [("x", 0), ("y", 256), ("z", 0)]


def test_outputs_live_to_the_end_and_imported_buffers_lie_elsewhere():
    assert [p.offset for p in plan_of(RING, buffers=["x", "y", "z"], outputs=["x"]).memory] == [0, 256, 512]
    last = plan_of(RING, buffers=["x", "y", "z"], outputs=["z"])
    assert [p.offset for p in last.memory] == [0, 256, 0]
    assert plan_of([("a", [use("X", "write")])], buffers=["X"]).memory == []


def test_memory_is_not_shared_because_the_list_happens_to_have_an_order():
    passes = [("a", [use("x", "write")]), ("b", [use("x")]), ("c", [use("y", "write")]), ("d", [use("y")])]
    assert [p.offset for p in plan_of(passes, buffers=["x", "y"]).memory] == [0, 256]
    ordered = [*passes[:2], ("c", [use("y", "write")], {"after": ["b"]}), passes[3]]
    assert [p.offset for p in plan_of(ordered, buffers=["x", "y"]).memory] == [0, 0]


@pytest.mark.parametrize(("usage", "stages"), [("index", "INDEX_INPUT"), ("copy", "COPY"), ("uniform", None)])
def test_memory_that_is_used_again_is_covered_by_a_barrier(usage, stages):
    """The index read of x must be done before z takes its place, though no hazard says so."""
    ring = [RING[0], ("b", [use("x", usage=usage), use("y", "write")]), *RING[2:]]
    plan = plan_of(ring, buffers=["x", "y", "z"])
    assert not any(h.producer == "b" and h.consumer == "c" and h.resource == "z" for h in plan.hazards)
    before_c = next(b for b in plan.barriers if b.before == "c")
    assert (stages in before_c.src_stages) if stages else before_c.src_stages == {"COMPUTE_SHADER"}
