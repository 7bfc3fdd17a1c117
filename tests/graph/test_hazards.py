"""Hazards, edges and errors: one rule a test, each on the smallest graph that shows it."""

from __future__ import annotations

import pytest

import expandlab as xl


def graph_of(*passes, resources=(("x", 64, True),), outputs=()):
    """Passes as (name, accesses[, options]) over buffers (name, size, imported); every pass is kept."""
    graph = xl.FrameGraph()
    for name, size, imported in resources:
        graph.buffer(name, size, imported=imported)
    for name, accesses, *options in passes:
        graph.add_pass(name, accesses, **{"side_effect": True, **(options[0] if options else {})})
    for name in outputs:
        graph.output(name)
    return graph


def write(tag=None, span=None, name="x", mode="write"):
    return {"resource": name, "mode": mode, "range": span, "independent": tag}


def adds(tag=None, span=None, name="x"):
    return write(tag, span, name, "read_write")


def found(plan):
    return {(h.producer, h.consumer, h.kind): h.range for h in plan.hazards}


def test_reads_do_not_depend_on_each_other():
    plan = graph_of(("a", [("x", "read")]), ("b", [("x", "read")])).compile()
    assert plan.hazards == [] and plan.edges == [] and plan.barriers == []


def test_a_read_write_depends_on_the_last_writer_although_a_reader_came_between():
    plan = graph_of(("w", [("x", "write")]), ("r", [("x", "read")]), ("m", [("x", "read_write")])).compile()
    assert found(plan) == {("w", "r", "RAW"): (0, 64), ("w", "m", "RAW"): (0, 64), ("r", "m", "WAR"): (0, 64)}
    assert plan.edges == [("r", "m"), ("w", "r")]
    # The data is made visible to the second pass as well, for writing too.
    assert [sorted(b.dst_access) for b in plan.barriers] == [["SHADER_READ"], ["SHADER_READ", "SHADER_WRITE"]]


def test_a_write_behind_a_reader_depends_on_the_reader_alone():
    plan = graph_of(("w", [("x", "write")]), ("r", [("x", "read")]), ("v", [("x", "write")])).compile()
    assert found(plan) == {("w", "r", "RAW"): (0, 64), ("r", "v", "WAR"): (0, 64)}
    assert [b.kind for b in plan.barriers] == ["memory", "execution"]


def test_peers_read_what_was_written_before_all_of_them():
    plan = graph_of(("w", [("x", "write")]), ("a", [adds("t")]), ("b", [adds("t")]), ("r", [("x", "read")])).compile()
    assert set(found(plan)) == {("w", "a", "RAW"), ("w", "b", "RAW"), ("a", "r", "RAW"), ("b", "r", "RAW")}
    assert len(plan.barriers) == 2


def test_different_tags_do_not_make_writes_independent():
    plan = graph_of(("a", [adds("s")]), ("b", [adds("t")])).compile()
    assert set(found(plan)) == {("a", "b", "RAW")}


def test_without_tags_the_declared_independence_is_ignored():
    graph = graph_of(("a", [adds("t")]), ("b", [adds("t")]), ("r", [("x", "read")]))
    assert set(found(graph.compile())) == {("a", "r", "RAW"), ("b", "r", "RAW")}
    assert set(found(graph.compile(tags=False))) == {("a", "b", "RAW"), ("b", "r", "RAW")}


def test_a_tag_on_a_read_has_no_effect():
    plan = graph_of(("a", [("x", "write")]), ("b", [{"resource": "x", "mode": "read", "independent": "t"}])).compile()
    assert set(found(plan)) == {("a", "b", "RAW")}


def test_accesses_of_one_pass_to_the_same_bytes_count_as_one():
    plan = graph_of(
        ("a", [("x", "write", (0, 32)), ("x", "read", (16, 48))]), ("b", [("x", "read", (0, 64))]),
        ("c", [("x", "write", (0, 64))]),
    ).compile()  # fmt: skip
    assert found(plan) == {("a", "b", "RAW"): (0, 32), ("a", "c", "WAR"): (32, 48), ("b", "c", "WAR"): (0, 64)}


def test_a_pass_that_writes_bytes_under_two_tags_is_nobodys_peer():
    plan = graph_of(("a", [write("s"), write("t")]), ("b", [write("t")])).compile()
    assert set(found(plan)) == {("a", "b", "WAW")}


def test_ranges_are_as_long_as_possible_but_no_longer():
    plan = graph_of(
        ("a", [("x", "write", (0, 16)), ("x", "write", (16, 32)), ("x", "write", (40, 48))]),
        ("b", [("x", "read", (8, 64))]),
    ).compile()
    assert [h.range for h in plan.hazards] == [(8, 32), (40, 48)]


def test_subresources_of_an_image_are_numbered_by_aspect_layer_and_mip():
    graph = xl.FrameGraph()
    graph.image("i", mips=4, layers=3, aspects=2, imported=True)
    graph.add_pass("a", [{"resource": "i", "mode": "write", "mips": (1, 3), "layers": (2, 3), "aspects": (1, 2)}])
    graph.add_pass("b", [{"resource": "i", "mode": "read"}], side_effect=True)
    first = (1 * 3 + 2) * 4 + 1
    assert [h.range for h in graph.compile().hazards] == [(first, first + 2)]


def test_two_mips_of_an_image_do_not_meet():
    graph = xl.FrameGraph()
    graph.image("i", mips=2, imported=True)
    for mip in (0, 1):
        graph.add_pass(f"p{mip}", [{"resource": "i", "mode": "write", "mips": (mip, mip + 1)}])
    assert graph.compile().hazards == []


def test_reading_what_only_a_peer_wrote_is_an_error_naming_pass_resource_and_range():
    graph = graph_of(("a", [write("t", (0, 32))]), ("b", [adds("t", (16, 32))]), resources=[("x", 64, False)])
    with pytest.raises(xl.UninitialisedReadError, match=r"'b' reads 'x' bytes 16 \.\. 32"):
        graph.compile()


def test_what_a_culled_pass_reads_need_not_be_there():
    graph = graph_of(("a", [("x", "read")], {"side_effect": False}), resources=[("x", 64, False)])
    assert graph.compile().culled == ["a"]


def test_a_pass_that_is_overwritten_before_anything_reads_it_is_culled():
    plan = graph_of(
        ("a", [write()], {"side_effect": False}), ("b", [write()], {"side_effect": False}), outputs=["x"]
    ).compile()
    assert plan.order == ["b"] and plan.culled == ["a"]


def test_a_tagged_write_overwrites_nothing_for_sure():
    for tags in (True, False):
        plan = graph_of(
            ("a", [write("t")], {"side_effect": False}), ("b", [write("t")], {"side_effect": False}), outputs=["x"]
        ).compile(tags=tags)
        assert plan.order == ["a", "b"]


def test_an_explicit_edge_keeps_nothing_alive_and_goes_with_its_pass():
    plan = graph_of(
        ("a", [write()], {"side_effect": False}), ("b", [], {"after": ["a"]}), resources=[("x", 64, False)]
    ).compile()
    assert plan.culled == ["a"] and plan.edges == []


def test_an_explicit_edge_that_a_longer_way_implies_needs_nothing():
    plan = graph_of(
        ("a", [write()]), ("b", [adds()]), ("c", [("x", "read"), ("y", "write")], {"after": ["a"]}),
        resources=[("x", 64, True), ("y", 64, True)],
    ).compile()  # fmt: skip
    assert plan.edges == [("a", "b"), ("b", "c")]
    assert len(plan.barriers) == 2


@pytest.mark.parametrize("key", ["after", "before"])
def test_an_unknown_name_in_an_explicit_edge_is_named_even_of_a_culled_pass(key):
    graph = graph_of(("a", [], {"side_effect": False, key: ["nowhere"]}))
    with pytest.raises(xl.UnknownNameError, match=f"{key}='nowhere' of pass 'a'"):
        graph.compile()


def test_the_shortest_cycle_is_listed_with_the_reason_of_each_edge():
    graph = graph_of(
        ("a", [write()], {"after": ["d"]}), ("b", [adds()]), ("c", [adds()], {"before": ["b"]}), ("d", [adds()])
    )
    with pytest.raises(xl.CycleError, match="'b' before 'c'") as caught:
        graph.compile()
    assert sorted(caught.value.cycle) == [("b", "c", "x 0 .. 64 RAW"), ("c", "b", "explicit")]


def test_a_pass_after_itself_is_a_cycle_of_one():
    with pytest.raises(xl.CycleError) as caught:
        graph_of(("a", [], {"after": ["a"]})).compile()
    assert caught.value.cycle == [("a", "a", "explicit")]


def test_peers_on_two_devices_cannot_be_merged():
    graph = xl.FrameGraph({"d0": ["q"], "d1": ["q"]})
    graph.buffer("x", 64, imported=True)
    graph.add_pass("a", [adds("t")], device="d0")
    graph.add_pass("b", [adds("t")], device="d1")
    with pytest.raises(xl.IndependenceError, match="'a' on d0, 'b' on d1"):
        graph.compile()
    assert len(graph.compile(tags=False).copies) == 1


def test_peers_that_may_run_anywhere_are_put_on_one_device():
    graph = xl.FrameGraph({"d0": ["q"], "d1": ["q"]})
    graph.buffer("x", 64, imported=True)
    graph.add_pass("a", [adds("t")], device=["d0", "d1"])
    graph.add_pass("b", [adds("t")], device="d1")
    for schedule in ("depth", "list", "heft", "optimal"):
        assert graph.compile(schedule=schedule).devices == {"a": "d1", "b": "d1"}


def test_the_chain_links_what_the_graph_leaves_free_and_keeps_the_hazards():
    graph = graph_of(("a", [write(span=(0, 32))]), ("b", [write(span=(32, 64))]), ("c", [("x", "read")]))
    chain, dag = graph.compile("chain"), graph.compile()
    assert chain.edges == [("a", "b"), ("b", "c")] and dag.edges == [("a", "c"), ("b", "c")]
    assert chain.hazards == dag.hazards
    assert [b.kind for b in chain.barriers] == ["execution", "memory"]


def test_the_chain_does_not_link_devices_that_only_read():
    graph = xl.FrameGraph({"d0": ["q"], "d1": ["q"]})
    graph.buffer("x", 64, imported=True)
    for device in ("d0", "d1"):
        graph.add_pass(device, [("x", "read")], device=device, side_effect=True)
    assert graph.compile("chain").edges == []


def test_hazards_and_edges_stay_when_a_pass_moves():
    def plan(device, queue):
        graph = xl.FrameGraph({"d0": ["q", "r"], "d1": ["q"]})
        graph.buffer("x", 64)
        graph.add_pass("a", [write()])
        graph.add_pass("b", [adds()], device=device, queue=queue)
        graph.add_pass("c", [("x", "read")], side_effect=True)
        return graph.compile()

    plans = [plan(*place) for place in (("d0", "q"), ("d0", "r"), ("d1", "q"))]
    assert plans[0].hazards == plans[1].hazards == plans[2].hazards
    assert plans[0].edges == plans[1].edges == plans[2].edges
    assert [len(p.waits) for p in plans] == [0, 2, 2] and [len(p.copies) for p in plans] == [0, 0, 2]


def test_a_plan_stays_as_it_was_when_its_graph_changes():
    graph = graph_of(("a", [write()]), ("b", [("x", "read")]))
    plan = graph.compile()
    graph.insert("m", [adds()], at_after="a")
    assert plan.edges == [("a", "b")] and len(plan.hazards) == 1 and len(plan.barriers) == 1
    assert graph.compile().order == ["a", "m", "b"]


@pytest.mark.parametrize("option", [{"mode": "tree"}, {"schedule": "best"}])
def test_an_unknown_way_to_compile_is_named(option):
    with pytest.raises(xl.GraphError, match=next(iter(option))):
        graph_of(("a", [])).compile(**option)
