"""Exports: equal settings give equal bytes, every format carries its provenance, and nothing in it is unescaped."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from measured import contender, measurements
from PIL import Image

from expandlab import export
from expandlab.expansion.thread_map import thread_map
from expandlab.settings import ExpansionSettings

SETTINGS = ExpansionSettings(items=12, mean=3.0, strategy="po2_merged", compare="append", thread=4, step=2)
HOSTILE = "<script>alert('x')</script> & \"]]>-->\\)(/Keywords ($\\frac{\u2028日本\n# x.csv"


def hostile(tmp_path):
    """Settings with a file whose name means something to every format."""
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / HOSTILE.replace("/", "_")
    path.write_text("n\n3\n0\n5\n")
    return ExpansionSettings(source="file", file=str(path), column="n", items=None, strategy="append", thread=1)


@pytest.mark.parametrize("fmt", export.FORMATS)
def test_the_same_settings_give_the_same_bytes_whatever_the_process_and_style(fmt, tmp_path):
    with matplotlib.rc_context({"font.size": 30, "savefig.dpi": 20, "svg.fonttype": "none", "axes.facecolor": "red"}):
        here = export.picture(SETTINGS, fmt)
    assert here == export.picture(SETTINGS, fmt)
    (tmp_path / "s.json").write_text(SETTINGS.to_json())
    code = (
        "import sys, pathlib; from expandlab import export; from expandlab.settings import ExpansionSettings as S; "
        "export.save(sys.argv[2], S.from_json(pathlib.Path(sys.argv[1])))"
    )
    target = tmp_path / f"out.{fmt}"
    env = os.environ | {"PYTHONHASHSEED": "77", "MPLCONFIGDIR": str(tmp_path / "mpl"), "SOURCE_DATE_EPOCH": "1"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s.json"), str(target)], check=True, env=env)
    assert target.read_bytes() == here


@pytest.mark.parametrize("fmt", export.FORMATS)
def test_provenance_is_inside_and_comes_back(fmt, tmp_path):
    path = export.save(tmp_path / f"deep/er/x.{fmt}", SETTINGS)
    found = export.read_provenance(path)
    assert found == export.provenance(SETTINGS, counts=SETTINGS.counts())
    assert ExpansionSettings.from_json(found["settings"]) == SETTINGS
    assert set(found["versions"]) == {"expandlab", "numpy", "matplotlib", "wgpu"}
    assert set(found["shader_sha256"]) == {"po2_merged", "append"}
    assert all(len(digest) == 64 for passes in found["shader_sha256"].values() for digest in passes.values())
    assert found["device"] is None and found["seed"] == 0


@pytest.mark.parametrize("fmt", export.FORMATS)
def test_hostile_names_survive_in_every_format(fmt, tmp_path):
    settings = hostile(tmp_path)
    path = export.save(tmp_path / f"x.{fmt}", settings)
    assert export.read_provenance(path)["settings"]["file"] == settings.file
    data = path.read_bytes()
    if fmt in ("svg", "csv", "json"):
        assert data.decode()
    if fmt == "svg":
        assert b"<script" not in data
        ElementTree.fromstring(data)
    if fmt == "csv":
        rows = [line for line in data.decode().split("\n") if line and not line.startswith("# ")]
        assert rows[0].startswith("strategy,thread,") and all(row.count(",") == 10 for row in rows)


def test_pictures_carry_their_alternative_text(tmp_path):
    png, svg = (export.save(tmp_path / f"x.{fmt}", SETTINGS) for fmt in ("png", "svg"))
    with Image.open(png) as image:
        text, title = image.info["Description"], image.info["Title"]
        assert image.width == 1920
    assert "src spawn" in text and "utilisation" in text and "Step 3" in text and "thread 4" in text
    tree = ElementTree.parse(svg).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert tree.find(f"{space}title").text == title and tree.find(f"{space}desc").text == text
    assert tree.get("role") == "img"


def test_csv_holds_the_rows_of_both_maps(tmp_path):
    path = export.save(tmp_path / "x.csv", SETTINGS)
    rows = list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("# ")))
    for name in ("po2_merged", "append"):
        item = thread_map(SETTINGS.counts(), name)
        found = [row for row in rows if row["strategy"] == name]
        for column in export.MAP_COLUMNS:
            assert [int(row[column]) for row in found] == getattr(item, column).tolist()


def test_json_holds_settings_map_steps_memory_and_counts(tmp_path):
    found = json.loads(export.save(tmp_path / "x.json", SETTINGS).read_text())
    item = thread_map(SETTINGS.counts(), "po2_merged")
    assert found["map"]["src"] == item.src.tolist() and len(found["map"]["steps"]) == len(item.steps)
    assert found["map"]["memory"][0]["rows"] and found["compare"]["strategy"] == "append"
    assert found["counts"] == SETTINGS.counts().tolist() and found["settings"] == SETTINGS.to_dict()


@pytest.mark.parametrize("fmt", export.FORMATS)
def test_timings_are_exported_too(fmt, tmp_path):
    timings = measurements(
        contender("flat", [0.5, 0.6], pass_ms={"count": [0.5, 0.6]}, shader_sha256="11" * 32), driver="<Mesa>",
        timer="wall clock", cancelled=True, settings={"seed": 7},
    )  # fmt: skip
    found = export.read_provenance(export.write(tmp_path / f"t.{fmt}", None, timings=timings))
    assert found["device"] == {"name": "llvmpipe", "driver": "<Mesa>", "software": True}
    assert (found["timer"], found["seed"], found["timings"]["cancelled"]) == ("wall clock", 7, True)
    assert found["shader_sha256"] == {"flat": "11" * 32}


def test_an_existing_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    export.write(path, SETTINGS, map=thread_map(SETTINGS.counts(), "append"))
    assert path.read_text().startswith("# description") and [p.name for p in tmp_path.iterdir()] == ["x.csv"]


def test_unknown_formats_and_places_that_cannot_be_written_are_said_clearly(tmp_path):
    with pytest.raises(export.ExportError, match=r"use one of \.png, \.svg"):
        export.save(tmp_path / "x.gif", SETTINGS)
    with pytest.raises(export.ExportError, match="'bmp' is no format"):
        export.picture(SETTINGS, "bmp")
    (tmp_path / "file").write_text("")
    with pytest.raises(export.ExportError, match="cannot be written"):
        export.save(tmp_path / "file" / "x.csv", SETTINGS)
    with pytest.raises(export.ExportError, match="cannot be read"):
        export.read_provenance(tmp_path / "none.svg")


@pytest.mark.parametrize("fmt", export.FORMATS)
def test_a_file_without_provenance_is_told_from_one_with(fmt, tmp_path):
    (tmp_path / f"x.{fmt}").write_bytes(b"{}" if fmt == "json" else b"<svg/>" if fmt == "svg" else b"plain")
    with pytest.raises(export.ExportError, match="holds no provenance"):
        export.read_provenance(tmp_path / f"x.{fmt}")


def test_the_commit_is_read_from_a_checkout_a_worktree_and_packed_refs(tmp_path):
    sha = "ab" * 20
    git = tmp_path / "repo" / ".git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    assert export.commit(tmp_path / "repo") is None  # no commit yet
    export.commit.cache_clear()
    (git / "packed-refs").write_text(f"# pack-refs\n{sha} refs/heads/main\n")
    assert export.commit(tmp_path / "repo") == sha
    tree = git / "worktrees/w"
    tree.mkdir(parents=True)
    (tree / "HEAD").write_text("ref: refs/heads/main\n")
    (tree / "commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text(f"gitdir: {tree}\n")
    assert export.commit(tmp_path / "w") == sha
    assert export.commit(tmp_path) is None


@pytest.mark.gpu
def test_a_recorded_map_names_its_device(lavapipe, tmp_path):
    settings = SETTINGS.replace(device="lavapipe", compare=None, strategy="prefix_search")
    data = export.picture(settings, "json", device=lavapipe)
    found = json.loads(data)
    assert found["map"]["recorded"] == lavapipe.info.label
    assert found["provenance"]["device"]["name"] == lavapipe.info.name
    assert sorted(zip(found["map"]["src"], found["map"]["local"], strict=True))[-1] != (-1, -1)
    assert np.count_nonzero(np.array(found["map"]["src"]) >= 0) == settings.counts().sum()
