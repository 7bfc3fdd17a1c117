"""`expandlab graph`: a plan as text, as JSON and for Graphviz; exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from expandlab.cli import app

GRAPH = {
    "devices": {"d0": ["compute"], "d1": ["compute"]},
    "resources": {"x": {"kind": "buffer", "size": 64}, "y": {"kind": "buffer", "size": 64}},
    "passes": [
        {"name": "make", "device": "d0", "accesses": [{"resource": "x", "mode": "write"}]},
        {"name": "spare", "device": "d0", "accesses": [{"resource": "y", "mode": "write"}]},
        {"name": "add", "device": "d0", "accesses": [{"resource": "x", "mode": "read_write"}]},
        {
            "name": "use", "device": "d1",
            "accesses": [{"resource": "x", "mode": "read"}, {"resource": "y", "mode": "write"}],
        },
    ],
    "outputs": ["y"],
}  # fmt: skip
SLOTS = {
    "passes": [
        {"name": "make", "slots": [{"name": "out", "type": "Output"}]},
        {"name": "use", "slots": [{"name": "in", "type": "Input"}]},
    ],
    "connections": [{"from": "make.out", "to": "use.in"}],
}


def run(tmp_path, document, *arguments):
    file = tmp_path / "graph.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return CliRunner().invoke(app, ["graph", str(file), *arguments], env={"COLUMNS": "200"})


def test_the_plan_is_printed_pass_by_pass(tmp_path):
    done = run(tmp_path, GRAPH)
    assert done.exit_code == 0, done.output
    for text in (
        "3 passes, 2 edges, 1 barriers, 1 waits, 1 copies", "culled: spare", "wait for d0.compute = 2",
        "copy x 0 .. 64 from d0 to d1",
        "memory barrier: COMPUTE_SHADER (SHADER_WRITE) to COMPUTE_SHADER (SHADER_READ + SHADER_WRITE)",
    ):  # fmt: skip
        assert text in done.stdout


def test_the_plan_is_printed_as_json(tmp_path):
    done = run(tmp_path, GRAPH, "--json", "--mode", "chain", "--schedule", "list")
    told = json.loads(done.stdout)
    assert (told["mode"], told["schedule"], told["order"]) == ("chain", "list", ["make", "add", "use"])
    assert told["waits"] == [{"before": "use", "queue": "compute", "device": "d0", "value": 2}]
    assert told["timeline"]["makespan_us"] > 30


def test_the_plan_is_printed_for_graphviz(tmp_path):
    done = run(tmp_path, GRAPH, "--dot")
    assert done.exit_code == 0 and done.stdout.startswith("digraph plan {")
    assert '"make" -> "add" [label="RAW x 0..64"];' in done.stdout


def test_a_graph_of_slots_shows_its_connections(tmp_path):
    done = run(tmp_path, SLOTS)
    assert done.exit_code == 0, done.output
    assert "make.out" in done.stdout and "RAW" in done.stdout


@pytest.mark.parametrize(
    ("document", "arguments", "code", "text"),
    [
        ("{", (), 1, "not valid JSON"),
        ([], (), 1, "is no object"),
        ({**GRAPH, "outputs": ["z"]}, (), 1, "output='z'"),
        (GRAPH, ("--mode", "tree"), 2, "tree"),
        (GRAPH, ("--schedule", "best"), 2, "best"),
        (GRAPH, ("--dot", "--json"), 2, "not both"),
    ],
)
def test_a_problem_is_explained_and_has_its_exit_code(tmp_path, document, arguments, code, text):
    done = run(tmp_path, document, *arguments)
    assert done.exit_code == code
    assert text in done.output + (done.stderr or "")


FILES = {
    "cut short": (b'{"passes": [{"name": "a', "not valid JSON: Unterminated string"),
    "empty": (b"", "not valid JSON"),
    "no text": (b"\xff\xfe\x00", "not a text in UTF-8"),
    "a list": (b"[1]", "[1] is no object; give one with devices, resources, passes, outputs"),
    "of another schema": (b'{"nodes": []}', "unknown key 'nodes'; use devices, resources, passes, outputs"),
    "endless": (b"[" * 100_000, "not valid JSON"),
    "with a name twice": (
        b'{"resources": {"b": {"kind": "buffer", "size": 1}, "b": {"kind": "buffer"}}}', "'b' is there twice",
    ),
    "with half a character": (b'{"passes": [{"name": "\\ud800"}]}', "surrogate"),
    "with an endless number": (b'{"passes": [{"name": "a", "cost_us": 1' + b"0" * 400 + b"}]}", "cost_us"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_faulty_file_is_named_with_what_is_wrong(tmp_path, name):
    content, told = FILES[name]
    file = tmp_path / "graph.json"
    file.write_bytes(content)
    done = CliRunner().invoke(app, ["graph", str(file)])
    said = done.output + (done.stderr or "")
    assert done.exit_code == 1 and f"expandlab: {file}: " in said and told in said


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    def refuse(self, **_):
        raise PermissionError(13, "Permission denied")

    for file in (tmp_path / "none.json", tmp_path):
        done = CliRunner().invoke(app, ["graph", str(file)])
        said = done.output + (done.stderr or "")
        assert done.exit_code == 1 and f"{file}: cannot be read (" in said and "give a file" in said
    monkeypatch.setattr(Path, "read_text", refuse)
    done = CliRunner().invoke(app, ["graph", "kept.json"])
    assert done.exit_code == 1 and "kept.json: cannot be read (Permission denied)" in done.output + (done.stderr or "")


def test_a_byte_order_mark_is_no_fault(tmp_path):
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(GRAPH), encoding="utf-8-sig")
    assert CliRunner().invoke(app, ["graph", str(file)]).exit_code == 0
