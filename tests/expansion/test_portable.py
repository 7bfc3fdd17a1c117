"""Exported shaders: run by a program that knows nothing but the files."""

from __future__ import annotations

import json

import pytest
from definition import assert_expands
from player import Player

import expandlab as xl
from expandlab.expansion import portable

RUNS = [name for name, item in xl.strategies().items() if not item.modelled]


def params(player, src_count, capacity):
    known = player.plan["inputs"]["params"]["values"] | {"src_count": src_count, "capacity": capacity}
    return [known[name] for name in player.plan["inputs"]["params"]["fields"]]


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNS)
def test_a_program_made_from_the_files_alone_expands(name, lavapipe, tmp_path):
    if missing := set(xl.strategies()[name].needs) - set(lavapipe.features):
        pytest.skip(f"no {', '.join(missing)}")
    counts = xl.counts.make("zipf", 500, mean=6.0, seed=4)
    plan = portable.export(name, tmp_path, max_src=1000, max_dst=8000, workgroup_size=64)
    if any({"repeat", "multi_draw_indirect_count"} & set(item["launch"]) for item in plan["passes"]):
        assert plan == json.loads((tmp_path / "plan.json").read_text())
        pytest.skip("its launches take more than this player has")
    player = Player(tmp_path, lavapipe.gpu)
    total = int(counts.sum())
    for capacity, found in ((8000, total), (total - 1, 0), (total, total)):
        player.write("counts", counts)
        player.write("params", params(player, len(counts), capacity))
        player.run()
        items, failure, required = player.read("state", 3).tolist()
        assert (items, required) == (found, total)
        assert failure == (0 if found else plan["failures"]["capacity"])
        if found:
            assert_expands(counts, player.read("out_src", total), player.read("out_local", total))


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("nothing", {}, ValueError),
        ("flat", {"max_src": -1}, ValueError),
        ("flat", {"workgroup_size": 48}, ValueError),
        ("linear_search", {"max_src": 10**6}, xl.UnsupportedError),
        *((item.name, {}, xl.UnsupportedError) for item in xl.strategies().values() if item.modelled),
    ],
)
def test_what_cannot_be_exported_is_refused_by_name(name, options, error, tmp_path):
    with pytest.raises(error, match=r"name=|max_src=|workgroup_size="):
        portable.export(name, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
