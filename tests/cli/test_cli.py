"""The command line: output as text and as JSON, and exit codes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from definition import assert_expands
from typer.testing import CliRunner

import expandlab as xl
from expandlab.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(item) for item in arguments])


def run_json(*arguments):
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.gpu
def test_expand_prints_every_pass(gpu):
    done = run("expand", "--kind", "zipf", "--items", 4096, "--strategy", "po2_merged", "--device", gpu.info.index)
    assert done.exit_code == 0
    for name in ("reset", "place", "setup", "unpack", "software adapter", "po2_merged"):
        assert name in done.stdout


def test_expand_prints_json(tmp_path):
    given = tmp_path / "counts.csv"
    given.write_text("n\n3\n1\n2\n")
    out = tmp_path / "deep" / "map.npy"
    told = run_json("expand", "--counts", given, "--strategy", "append", "--device", "reference", "-o", out)
    assert (told["src_count"], told["total"]) == (3, 6)
    assert [item["name"] for item in told["report"]["passes"]] == ["reset", "append", "setup", "consume"]
    table = np.load(out)
    assert_expands([3, 1, 2], table[:, 0], table[:, 1])


def test_expand_writes_csv(tmp_path):
    out = tmp_path / "map.csv"
    assert (
        run("expand", "--kind", "constant", "--items", 2, "--mean", 2, "--device", "reference", "-o", out).exit_code
        == 0
    )
    assert out.read_text().splitlines() == ["src,local", "0,0", "0,1", "1,0", "1,1"]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("expand",), 2, "either --counts FILE or --kind NAME"),
        (("expand", "--kind", "zipf", "--counts", "x.csv"), 2, "either"),
        (("expand", "--kind", "zipf", "--items", "-1"), 2, "--items"),
        (("nonsense",), 2, "nonsense"),
        (("expand", "--kind", "normal"), 1, "kind='normal'"),
        (("expand", "--counts", "nowhere.csv"), 1, "no such file"),
        (("expand", "--kind", "constant", "--device", "no such card"), 1, "no such card"),
        (("expand", "--kind", "constant", "--capacity", "5", "--device", "reference"), 1, "capacity="),
        (("expand", "--kind", "constant", "--device", "reference", "-o", "map.txt"), 1, ".npy"),
        (("expand", "--kind", "constant", "--device", "reference", "--strategy", "best"), 1, "strategy='best'"),
        (("figure", "nowhere.json", "-o", "a.png"), 1, "nowhere.json"),
    ],
)
def test_a_problem_is_explained_and_has_its_exit_code(arguments, code, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == code
    assert text in done.output and "Traceback" not in done.output


def test_doctor_tells_of_every_device_and_of_the_browser():
    told = run_json("doctor")
    assert [item["info"]["name"] for item in told["devices"]] == [item.name for item in xl.devices()]
    assert all(item["works"] for item in told["devices"])
    assert "browser" in told and told["packages"]["wgpu"].startswith("0.32")
    text = run("doctor").stdout
    assert "reference" in text and "Vulkan loader" in text


def test_doctor_says_what_to_install_when_there_is_no_driver(monkeypatch):
    from expandlab import doctor

    monkeypatch.setattr(doctor, "devices", lambda: xl.devices()[-1:])
    monkeypatch.setattr(doctor, "open_device", lambda index: xl.device("reference"))
    monkeypatch.setattr(doctor, "_browser", lambda: None)
    monkeypatch.setenv("EXPANDLAB_DEVICE", "no such card")
    advice = " ".join(doctor.examine().advice)
    assert "Vulkan driver" in advice and "Chromium" in advice and "no such card" in advice


def test_lab_starts_jupyter_on_the_loopback_and_ends_as_it_does(monkeypatch, tmp_path):
    # An installed package has no notebooks beside it; then those of the current folder are meant.
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "00_start_here.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    import subprocess

    lines = []

    def start(line, **options):
        lines.append(line)
        return subprocess.CompletedProcess(line, 3)

    monkeypatch.setattr(subprocess, "run", start)
    assert run("lab", "--no-browser", "--port", 0).exit_code == 3
    assert {"jupyterlab", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--no-browser"} <= set(lines[0])


def test_bench_times_every_pass_and_says_with_what():
    told = run_json("bench", "--kind", "constant", "--items", 50, "--repeats", 2, "--device", "reference")
    assert told["timer"] == "wall clock" and told["software"]
    runs = {name for name, strategy in xl.strategies().items() if not strategy.modelled}
    assert {row["name"] for row in told["totals"]} == runs
    assert all(row["samples"] == 2 for row in told["totals"])
    assert told["input"]["kind"] == "constant" and told["limit"] in ("fill", "clear_buffer")
    text = run("bench", "--items", 50, "--repeats", 1, "--device", "reference").stdout
    assert "wall clock" in text and "x limit" in text


def test_bench_writes_data_and_pictures(tmp_path):
    line = ("bench", "--items", 50, "--repeats", 2, "--device", "reference", "--strategy", "flat", "--checked", "both")
    for name in ("a.json", "b.svg", "c.csv"):
        assert run(*line, "-o", tmp_path / name).exit_code == 0
    found = xl.Measurements.load(tmp_path / "a.json")
    assert [row.name for row in found.totals] == ["flat", "flat unchecked"]
    assert "<svg" in (tmp_path / "b.svg").read_text() and "flat unchecked" in (tmp_path / "c.csv").read_text()
    assert run(*line, "-o", tmp_path / "d.txt").exit_code == run(*line[:-1], "maybe").exit_code == 1


def test_shaders_writes_a_strategy_for_other_languages(tmp_path):
    out = tmp_path / "files"
    ran = run("shaders", "prefix_search", "--out", str(out), "--max-src", "100", "--max-dst", "1000", "--json")
    assert ran.exit_code == 0
    plan = json.loads(ran.stdout)
    assert plan == json.loads((out / "plan.json").read_text())
    assert {item["shader"] for item in plan["passes"]} == {path.name for path in out.glob("*.wgsl")}
    assert run("shaders", "nothing", "--out", str(out)).exit_code == 1
    assert run("shaders", "flat").exit_code == 2
    (file := tmp_path / "file").write_text("mine")
    for name in ("flat", "radix_select"):
        ran = run("shaders", name, "--out", str(file))
        assert ran.exit_code == 1 and f"out='{file}': cannot be written" in " ".join(ran.stderr.split())
    assert file.read_text() == "mine"


def test_bench_measures_a_grid_and_takes_it_up_again(tmp_path):
    out = tmp_path / "quick.json"
    line = ("bench", "--grid", "quick", "--device", "reference", "--strategy", "append", "--repeats", 1, "-o", out)
    assert run(*line, "--minutes", 0).exit_code == 0
    assert xl.Sweep.load(out).cells == ()
    done = run(*line)
    assert done.exit_code == 0 and "8 of 8 cells" in done.stdout
    found = xl.Sweep.load(out)
    assert found.complete and found == xl.Sweep.load(tmp_path / "quick.jsonl")
    assert {row.name for item in found.measurements for row in item.totals} == {"append"}
    assert run("bench", "--grid", "quick").exit_code == 2
    assert run("bench", "--grid", "quick", "-o", tmp_path / "a.txt").exit_code == 1


def test_sweep_prints_and_writes_every_cell(tmp_path):
    grid = tmp_path / "grid.json"
    grid.write_text('{"kind": "constant", "p1": [4, 8], "repeats": 1, "warm_up_s": 0, "strategies": "flat"}')
    line = ("sweep", grid, "--store", tmp_path / "s.jsonl", "--device", "reference", "-o", tmp_path / "s.csv")
    assert len(run_json(*line)["cells"]) == 2
    assert (tmp_path / "s.csv").read_text().count("flat") == 4
    assert "software adapter" in run(*line).stdout
    for name, figure in (("t.svg", "time"), ("m.csv", "memory"), ("x.png", None)):
        chosen = ("--figure", figure) if figure else ()
        assert run(*line[:-1], tmp_path / name, *chosen).exit_code == 0 and (tmp_path / name).stat().st_size
    assert run(*line[:-1], tmp_path / "y.png", "--figure", "pie").exit_code == 1
    assert run("sweep", "nowhere.json", "--store", tmp_path / "t.jsonl").exit_code == 1
    assert run("sweep", grid).exit_code == 2
