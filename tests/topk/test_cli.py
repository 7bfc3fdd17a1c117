"""`expandlab topk`: scores from files, text and JSON out, problems explained."""

from __future__ import annotations

import json

import numpy as np
import pytest
from topk_definition import order_of
from typer.testing import CliRunner

from expandlab.cli import app


def run(*arguments):
    return CliRunner().invoke(app, ["topk", *(str(item) for item in arguments), "--device", "reference"])


def test_json_has_everything(tmp_path):
    values = np.random.default_rng(1).standard_normal(500).astype(np.float32)
    np.save(tmp_path / "scores.npy", values)
    done = run(tmp_path / "scores.npy", "--k", 30, "--method", "radix_select", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["indices"] == order_of(values, True)[:30].tolist()
    assert told["count"] == 500 and told["dtype"] == "float32" and told["report"]["method"] == "radix_select"
    done = run(tmp_path / "scores.npy", "--k", 3, "--smallest", "--json")
    assert json.loads(done.stdout)["indices"] == order_of(values, False)[:3].tolist()


def test_text_shows_the_best_and_the_passes(tmp_path):
    np.save(tmp_path / "scores.npy", np.arange(100, dtype=np.int32))
    done = run(tmp_path / "scores.npy", "--k", 25)
    assert done.exit_code == 0 and "25 of 100" in done.stdout and "99" in done.stdout and "5 more" in done.stdout
    assert "rank" in done.stdout and "words back" in done.stdout


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("a.csv", "3\n9\n4\n", ()),
        ("a.csv", "score\n3\n9\n4\n", ()),
        ("a.csv", "x,score\n0,3\n0,9\n0,4\n", ("--column", "score")),
        ("a.json", "[3, 9, 4]", ()),
        ("a.json", '{"score": [3, 9, 4]}', ("--dtype", "int32")),
    ],
)
def test_tables_are_read(name, text, more, tmp_path):
    (tmp_path / name).write_text(text)
    done = run(tmp_path / name, "--k", 2, "--json", *more)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["indices"] == [1, 2]


def test_a_problem_is_explained(tmp_path):
    np.save(tmp_path / "double.npy", np.arange(3.0))
    np.save(tmp_path / "square.npy", np.zeros((2, 2), np.float32))
    (tmp_path / "two.csv").write_text("a,b\n1,2\n")
    (tmp_path / "words.csv").write_text("a\none\ntwo\n")
    (tmp_path / "half.json").write_text("[1.5]")
    for arguments, text in (
        (("nowhere.npy", "--k", 1), "no such file"),
        (("scores.txt", "--k", 1), ".npy"),
        ((tmp_path / "double.npy", "--k", 1), "--dtype float32"),
        ((tmp_path / "double.npy", "--k", 1, "--dtype", "float64"), "--dtype float64"),
        ((tmp_path / "square.npy", "--k", 1), "dimensions"),
        ((tmp_path / "two.csv", "--k", 1), "--column"),
        ((tmp_path / "words.csv", "--k", 1), "numbers"),
        ((tmp_path / "half.json", "--k", 1, "--dtype", "int32"), "whole numbers"),
        ((tmp_path / "double.npy", "--k", 4, "--dtype", "float32"), "k=4"),
        ((tmp_path / "double.npy", "--k", 1, "--dtype", "float32", "--method", "best"), "method='best'"),
    ):
        done = run(*arguments)
        assert done.exit_code == 1 and text in done.output and "Traceback" not in done.output, (arguments, done.output)
    assert run(tmp_path / "double.npy").exit_code == 2
