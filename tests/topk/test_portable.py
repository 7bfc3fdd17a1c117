"""Exported methods: run by a program that knows nothing but the files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from player import Player
from topk_definition import order_of
from typer.testing import CliRunner

import expandlab as xl
from expandlab.cli import app
from expandlab.topk import portable
from expandlab.topk.keys import words_of


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name, item in xl.top_k_methods().items() if item.finish is None])
def test_a_program_made_from_the_files_alone_selects(name, lavapipe, tmp_path):
    plan = portable.export(name, tmp_path, max_n=6000, k=40, dtype="float16", largest=False)
    assert plan == json.loads((tmp_path / "plan.json").read_text())
    player = Player(tmp_path, lavapipe.gpu)
    for n in (5001, 40):
        values = np.random.default_rng(n).integers(0, 900, n).astype(np.float16)
        player.write("values", words_of(values))
        given = player.plan["inputs"]["params"]
        player.write("params", [(given["values"] | {"n": n})[field] for field in given["fields"]])
        player.run()
        expected = order_of(values, False)[:40]
        assert player.read("status", 1).tolist() == [40]
        assert player.read("out_indices", 40).tolist() == expected.tolist()
        assert np.array_equal(player.read("out_values", 20).view(np.float16), values[expected])


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("nothing", {}, ValueError),
        ("bitonic", {"k": 0}, ValueError),
        ("bitonic", {"k": 5, "max_n": 4}, ValueError),
        ("bitonic", {"dtype": "float64"}, TypeError),
        ("readback_heap", {}, xl.UnsupportedError),
        ("atomic_heap", {"max_n": 10**6}, xl.UnsupportedError),
        ("workgroup_select", {"k": 5000}, xl.UnsupportedError),
    ],
)
def test_what_cannot_be_exported_is_named(name, options, error, tmp_path):
    with pytest.raises(error, match=r"name=|k=|max_n=|dtype"):
        portable.export(name, tmp_path, **options)


def test_the_command_line_writes_them(tmp_path):
    arguments = ["shaders", "delegate", "--out", str(tmp_path / "x"), "--max-n", "5000", "--k", "9", "--json"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    plan = json.loads(done.stdout)
    assert plan["k"] == 9 and all((tmp_path / "x" / item["shader"]).is_file() for item in plan["passes"])
