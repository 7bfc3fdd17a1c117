"""Pictures of frame graphs: equal settings, equal bytes; what they say is what the plan holds."""

import csv
import json
import math
from dataclasses import fields
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from expandlab import FrameGraph, export
from expandlab import settings as s
from expandlab.cli import app
from expandlab.errors import GraphError, UnsupportedError
from expandlab.figures.graphs import barriers, layout, memory, words
from expandlab.figures.graphs.page import sketch as sketched
from expandlab.figures.page import make
from expandlab.graph import documents
from expandlab.graph.examples import EXAMPLES
from expandlab.graph.native import emitted
from expandlab.graph.simulate import SOURCES, Machine

every_view = pytest.mark.parametrize("view", s.graphs.VIEWS)


def plan_of(example, mode="dag", **options):
    return documents.read(EXAMPLES[example].document).compile(mode, **options)


@every_view
@pytest.mark.parametrize("example", EXAMPLES)
def test_a_page_of_every_example_says_what_it_shows(example, view):
    settings = s.GraphSettings(example=example, view=view)
    page = make(settings)
    assert EXAMPLES[example].title in page.description and page.title.endswith(EXAMPLES[example].title)
    assert all(len(row) == len(page.head) for row in page.rows)
    # Only a graph from slots has connections.
    empty = view == "connections" and example != "slots"
    assert {row[0] for row in page.rows} == (set() if empty else {"chain", "graph"})
    held = json.loads(export.picture(settings, "json"))
    assert held["data"]["plans"]["dag"]["edges"] == [list(edge) for edge in plan_of(example).edges]
    assert held["data"]["dot"]["chain"].startswith("digraph")
    assert held["counts"] is None and s.from_json(held["provenance"]["settings"]) == settings


@pytest.mark.parametrize("fmt", export.FORMATS)
def test_exports_are_the_same_again_and_from_the_command_line(fmt, tmp_path):
    settings = s.GraphSettings(example="own", graph=EXAMPLES["two_devices"].document, view="timeline")
    (tmp_path / "s.json").write_text(settings.to_json())
    done = CliRunner().invoke(app, ["figure", str(tmp_path / "s.json"), "-o", str(tmp_path / f"x.{fmt}")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / f"x.{fmt}").read_bytes() == export.picture(settings, fmt)
    assert s.from_json(export.read_provenance(tmp_path / f"x.{fmt}")["settings"]) == settings


@every_view
def test_the_edges_of_what_can_be_drawn(view):
    empty = s.GraphSettings(example="own", graph={}, view=view)
    assert export.picture(empty, "png").startswith(b"\x89PNG")
    many = {"resources": {"b": {"kind": "buffer", "size": 512}}, "outputs": ["b"], "passes": [
        {"name": f"p{n}", "accesses": [{"resource": "b", "mode": "write", "range": [n, n + 1]}]} for n in range(200)
    ]}  # fmt: skip
    assert export.picture(s.GraphSettings(example="own", graph=many, view=view), "png").startswith(b"\x89PNG")
    many["passes"].append({"name": "one more", "accesses": [], "side_effect": True})
    with pytest.raises(UnsupportedError, match="201 passes"):
        make(s.GraphSettings(example="own", graph=many, view=view))


def test_what_is_declared_first_stays_first():
    graph = {
        "devices": {"second": ["compute"], "first": ["compute"]},
        "resources": {name: {"kind": "buffer", "size": 64} for name in "zay"},
        "passes": [{"name": name, "accesses": [{"resource": name, "mode": "write"}], "side_effect": True}
                   for name in "zay"],
    }  # fmt: skip
    settings = s.GraphSettings(example="own", graph=graph, view="memory", mode="dag")
    again = s.from_json(settings.to_json())
    assert list(again.graph["resources"]) == ["z", "a", "y"] and again.to_json() == settings.to_json()
    assert make(again).rows == make(settings).rows
    assert {row[5] for row in make(settings).rows} == {"second"}
    stored = s.from_json(json.loads(export.picture(settings, "json"))["provenance"]["settings"])
    assert stored.to_json() == settings.to_json()


def test_what_is_wrong_with_settings_is_named():
    with pytest.raises(s.SettingsError, match="graph=None"):
        s.GraphSettings(example="own")
    with pytest.raises(GraphError, match="pass 'a'"):
        make(s.GraphSettings(example="own", graph={"passes": [{"name": "a", "accesses": [{"resource": "b"}]}]}))


def test_an_edge_says_why_it_stands():
    chain = {edge[:2]: edge for edge in words.edges(plan_of("two_readers", "chain"))}
    assert chain["left", "right"].reasons == ("link of data",)
    assert chain["produce", "left"].reasons == ("RAW data",)
    both = {edge[:2]: edge.reasons for edge in words.edges(plan_of("two_writers"))}
    assert both == {
        ("fill_low", "use"): ("RAW data 0..2,048",), ("fill_high", "use"): ("RAW data 2,048..4,096",),
    }  # fmt: skip
    graph = FrameGraph()
    graph.buffer("b", 8)
    graph.add_pass("a", [("b", "write")])
    graph.add_pass("c", [], side_effect=True, after=["a"])
    graph.output("b")
    assert words.edges(graph.compile()) == [words.Edge("a", "c", "explicit", ("explicit",))]


def test_wgpu_sets_whole_buffer_barriers():
    # Disjoint writes of one buffer, and tagged ones, get one all the same; so does the first read of what was written.
    assert emitted(plan_of("two_writers")) == {"fill_low": (), "fill_high": ("data",), "use": ("data",)}
    assert emitted(plan_of("tagged_writers"))["count_right"] == ("histogram",)
    # Two reads have none between them.
    assert emitted(plan_of("two_readers")) == {"produce": (), "left": ("data",), "right": ()}
    # Each device is a wgpu device of its own; images are not run.
    assert emitted(plan_of("two_devices"))["right"] == ()
    assert emitted(plan_of("compute_chain"))["user_interface"] == ()


def test_the_barrier_table_has_masks_layouts_and_waits():
    rows = barriers.table(plan_of("compute_chain"))
    assert rows[0] == (
        "CP2", "memory", "COMPUTE_SHADER", "SHADER_WRITE", "COMPUTE_SHADER", "SHADER_READ + SHADER_WRITE",
        "work, picture", "work",
    )  # fmt: skip
    assert [row.kind for row in rows if row.before == "user_interface"] == ["memory", "layout"]
    graph = FrameGraph()
    graph.buffer("b", 8, imported=True)
    graph.add_pass("read", [("b", "read")], side_effect=True)
    graph.add_pass("write", [("b", "write")])
    (row,) = barriers.table(graph.compile())
    assert row[1:6] == ("execution", "COMPUTE_SHADER", "none", "COMPUTE_SHADER", "none")
    waits = [row for row in barriers.table(plan_of("two_writers")) if row.kind == "wait"]
    assert [(row.before, row.source_stages) for row in waits] == [("use", "gpu0.async reaches 1")]


def test_lifetimes_follow_the_order():
    found = {life.resource: life for life in memory.lives(plan_of("injected"))}
    assert found["data"].uses == [(0, False, True), (1, True, True), (2, True, False), (3, True, False)]
    assert found["data"].last == 3 and found["data"].kept == "transient"
    assert found["left_out"].kept == "output" and found["left_out"].last == 3


@pytest.mark.parametrize("count", [1, 7, 60])
def test_boxes_keep_their_rows_and_never_overlap(count):
    names = [f"p{n}" for n in range(count)]
    # A binary tree, in two lanes.
    edges = [(f"p{(n - 1) // 2}", f"p{n}") for n in range(1, count)]
    lane_of = {name: "ab"[n % 3 == 0] for n, name in enumerate(names)}
    made = layout.arrange(names, lane_of, edges, 10.0, 500.0, ["a", "b"])
    level = {name: int(math.log2(n + 1)) for n, name in enumerate(names)}
    for name, box in made.boxes.items():
        assert made.levels[box.row] == level[name]
        (lane,) = [lane for lane in made.lanes if lane[0] == lane_of[name]]
        assert lane[1] <= box.middle - box.width / 2 and box.middle + box.width / 2 <= lane[1] + lane[2] + 1e-6
    rows = {}
    for box in made.boxes.values():
        rows.setdefault(box.row, []).append((box.middle - box.width / 2, box.middle + box.width / 2))
    for row in rows.values():
        ordered = sorted(row)
        assert all(first[1] < second[0] for first, second in pairwise(ordered))
    for first, second in edges:
        assert made.boxes[first].row < made.boxes[second].row
        assert len(made.gaps[first, second]) == made.boxes[second].row - made.boxes[first].row - 1


def test_the_csv_has_the_table():
    settings = s.GraphSettings(example="injected", mode="dag")
    text = export.picture(settings, "csv").decode().splitlines()
    rows = list(csv.reader(line for line in text if not line.startswith("# ")))
    assert rows[1:] == [[str(value) for value in row] for row in make(settings).rows]


def test_writers_of_two_halves_run_at_once_in_the_simulated_timeline():
    rows = make(s.GraphSettings(view="timeline")).rows
    at = {(row[0], row[2]): row[4:6] for row in rows if row[3] == "pass"}
    assert at["graph", "fill_low"][0] < at["graph", "fill_high"][1] and at["graph", "fill_high"][0] == 0
    assert at["chain", "fill_high"][0] >= at["chain", "fill_low"][1]
    assert at["graph", "use"][1] < at["chain", "use"][1]


@every_view
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_screen_and_the_paper_show_the_same(example, view):
    settings = s.GraphSettings(example=example, view=view)
    sketch, printed = sketched(settings), make(settings)
    assert (sketch.title, sketch.description, sketch.head, sketch.rows) == (
        printed.title, printed.description, printed.head, printed.rows,
    )  # fmt: skip
    on_paper = [text.get_text() for text in printed.figure.axes[0].texts]
    assert [mark[3] for mark in sketch.scene["marks"] if mark[0] == "t"] == on_paper
    width, height = printed.figure.get_size_inches() * 100
    assert (sketch.scene["width"], sketch.scene["height"]) == pytest.approx((width, height))
    json.dumps(sketch.scene, allow_nan=False)
    ids = [target["id"] for target in sketch.scene["targets"]]
    assert len(set(ids)) == len(ids)
    for target in sketch.scene["targets"]:
        assert target["says"] and set(target["near"]) <= set(ids)


def test_costs_change_the_timeline_and_are_said():
    page = make(s.GraphSettings(view="timeline", mode="dag", wait_us=0, barrier_us=0))
    assert "wait 0" in " ".join(text.get_text() for text in page.figure.axes[0].texts)
    assert max(row[5] for row in page.rows) == 60
    for name, value in (("wait_us", -1), ("barrier_us", "1"), ("copy_gb_per_s", 0), ("peer_access", 1)):
        with pytest.raises(s.SettingsError, match=name):
            s.GraphSettings(**{name: value})


def test_every_cost_names_its_source():
    assert set(SOURCES) == set(s.graphs.COSTS) == {item.name for item in fields(Machine)}


def test_schedules_are_set_beside_the_optimum():
    rows = {row[1]: row for row in make(s.GraphSettings(example="two_devices", view="schedules", mode="dag")).rows}
    assert set(rows) == {"depth", "list", "heft", "optimal"}
    best = plan_of("two_devices", schedule="optimal").simulate().makespan_us
    assert rows["optimal"][2] == pytest.approx(best) == min(row[2] for row in rows.values())
    assert all(row[3] == pytest.approx(100 * (row[2] / best - 1), abs=0.01) for row in rows.values())
