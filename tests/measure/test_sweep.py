"""A sweep measures every cell once, whatever ends it in between, on one device or on a cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import expandlab as xl
from expandlab.measuring import GRIDS, GridError, StoreError, grid, store
from expandlab.measuring import sweep as sweep_function

TINY = {
    "kind": ["constant", {"kind": "zipf", "shape": {"exponent": 2.0}, "max_n": 99}], "mean": [1, 4], "p1": [8, 16],
    "strategies": ["append", "flat"], "repeats": 2, "warm_up_s": 0.0, "batch_ms": 0.0,
}  # fmt: skip


def run(where, what=TINY, **options):
    return sweep_function(what, **{"devices": "reference", "store": where / "s.jsonl", **options})


def test_a_grid_is_the_product_of_its_axes():
    found = grid.cells(TINY)
    assert len(found) == 8 and len({cell.key(None) for cell in found}) == 8
    assert [(c.kind, c.mean, c.items) for c in found[:4]] == [
        ("constant", 1, 8), ("constant", 1, 16), ("constant", 4, 8), ("constant", 4, 16),
    ]  # fmt: skip
    assert found[4].max_n == 99 and found[4].shape == {"exponent": 2.0} and found[0].max_n is None
    assert found[0].strategies == ("append", "flat")
    assert grid.cells([TINY, TINY]) == found
    assert [c.items for c in grid.cells({"kind": "zipf", "mean": [4, 64], "p2": 2**10})] == [256, 16]


@pytest.mark.parametrize("name", GRIDS)
def test_named_grids_have_cells(name):
    found = grid.cells(name)
    assert all(grid.Cell.from_dict(json.loads(json.dumps(cell.to_dict()))) == cell for cell in found)
    if name == "goals":
        assert len(found) == 72 and {c.items * 64 for c in found} == {2**k for k in range(16, 28)}
        assert len({c.kind for c in found}) == 6 and all(c.verify == "device" for c in found)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ({"kind": "zipf"}, "p1"),
        ({"kind": "zipf", "p1": 4, "p2": 4}, "p1"),
        ({"p1": 4}, "kind"),
        ({"kind": "normal", "p1": 4}, "kind='normal'"),
        ({"kind": {"name": "zipf"}, "p1": 4}, "kind="),
        ({"kind": "zipf", "p1": []}, "'p1' has no value"),
        ({"kind": "zipf", "p1": "many"}, "p1='many'"),
        ({"kind": "zipf", "p1": 4, "mean": 0}, "mean=0"),
        ({"kind": "zipf", "p1": 4, "colour": 1}, "'colour' is no axis"),
        ("best", "grid='best'"),
        ("nowhere.json", "cannot be read"),
        (7, "grid=7"),
        ([], "no cells"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(what, text):
    with pytest.raises(GridError, match=text):
        grid.cells(what)


def test_every_cell_is_measured_once_and_kept(tmp_path):
    told = []
    done = run(tmp_path, on_progress=told.append)
    assert done.complete and len(done.cells) == 8 and not done.failed
    assert [item.cell for item in done.cells] == grid.cells(TINY)
    assert all([row.name for row in found.totals] == ["append", "flat"] for found in done.measurements)
    assert told[-1].done == told[-1].total == 8 and [p.done for p in told] == sorted(p.done for p in told)
    before = (tmp_path / "s.jsonl").read_bytes()
    assert run(tmp_path) == done and (tmp_path / "s.jsonl").read_bytes() == before
    assert len(done.frame()) == sum(len(found.frame()) for found in done.measurements)
    stand = done.standings()
    assert stand["inputs"].max() == len(done.measurements) and stand["first"].sum() >= len(done.measurements)


def test_saved_sweeps_and_stores_load_as_the_same(tmp_path):
    done = run(tmp_path)
    assert xl.Sweep.load(done.save(tmp_path / "s.json")) == done == xl.Sweep.load(tmp_path / "s.jsonl")
    (tmp_path / "s.json").write_text('{"format": "expandlab-sweep", "version": 1, "cells": [3], "planned": 1}')
    with pytest.raises(xl.ExpandlabError, match="cell is damaged"):
        xl.Sweep.load(tmp_path / "s.json")


def test_a_grid_that_grew_measures_only_what_is_new(tmp_path):
    run(tmp_path, {**TINY, "mean": 1})
    kept = list(store.read(tmp_path / "s.jsonl"))
    assert run(tmp_path).complete
    found = list(store.read(tmp_path / "s.jsonl"))
    assert found[:4] == kept and len(found) == 8


def test_a_cancelled_sweep_keeps_finished_cells_and_goes_on(tmp_path):
    cancel = threading.Event()

    def stop(progress):
        if progress.done == 3 and "run 2" in progress.text:
            cancel.set()

    done = run(tmp_path, cancel=cancel, on_progress=stop)
    assert len(done.cells) == 3 and not done.complete
    assert not any(found.cancelled for found in done.measurements)
    assert run(tmp_path).complete


def test_a_time_limit_ends_a_sweep_between_cells(tmp_path):
    done = run(tmp_path, {**TINY, "warm_up_s": 0.2}, time_limit_s=0.5)
    assert 1 <= len(done.cells) < 8
    assert run(tmp_path, {**TINY, "warm_up_s": 0.2}, time_limit_s=0.0).cells == done.cells


def test_cells_that_cannot_be_measured_say_why_and_may_be_tried_again(tmp_path, monkeypatch):
    def lost(*_, **__):
        raise xl.DeviceError("lost")

    # The package's attribute of this name is the function.
    monkeypatch.setattr(sys.modules["expandlab.measuring.sweep"], "measure", lost)
    what = {**TINY, "mean": 1, "p1": 8}
    done = run(tmp_path, what)
    assert [item.error for item in done.failed] == ["DeviceError: lost"] * 2 and done.complete
    monkeypatch.undo()
    assert len(run(tmp_path, what).failed) == 2
    again = run(tmp_path, what, retry_failed=True)
    assert not again.failed and len(again.measurements) == 2 and run(tmp_path, what) == again


def test_strategies_that_refuse_a_cell_are_left_out_of_it(tmp_path):
    what = {"kind": "one_giant", "mean": 20_000, "p1": 4, "strategies": ["append", "flat"], "repeats": 1,
            "warm_up_s": 0.0, "batch_ms": 0.0}  # fmt: skip
    (found,) = run(tmp_path, what).measurements
    assert [row.name for row in found.totals] == ["flat"] and "65,535" in found.left_out["append"]


SCRIPT = "import sys, json, expandlab as xl\nxl.sweep(json.loads(sys.argv[1]), devices='reference', store=sys.argv[2])"


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_a_sweep_that_is_killed_again_and_again_loses_nothing_and_measures_nothing_twice(tmp_path):
    path = tmp_path / "s.jsonl"
    what = {**TINY, "p1": [8, 16, 24, 32], "warm_up_s": 0.02}
    planned = [cell.key(None) for cell in grid.cells(what)]
    line = [sys.executable, "-c", SCRIPT, json.dumps(what), str(path)]
    before = b""
    for wait in (0, 1, 3, 2):
        process = subprocess.Popen(line)
        lines = before.count(b"\n")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            data = path.read_bytes() if path.exists() else b""
            if data.count(b"\n") >= lines + wait:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        data = path.read_bytes() if path.exists() else b""
        assert data.startswith(before[: before.rfind(b"\n") + 1])
        before = data
    assert subprocess.run(line, check=False, timeout=120).returncode == 0
    data = path.read_bytes()
    entries = list(store.decode(data, path))[1:]
    assert data.startswith(before[: before.rfind(b"\n") + 1])
    assert len(entries) == len({entry["key"] for entry in entries}) == len(planned)
    done = xl.Sweep.load(path)
    assert sorted(item.cell.key(None) for item in done.cells) == sorted(planned) and not done.failed


def test_a_store_in_use_is_not_shared(tmp_path):
    with store.Store(tmp_path / "s.jsonl"), pytest.raises(StoreError, match="another process"):
        run(tmp_path)


@pytest.mark.gpu
def test_devices_are_measured_one_after_the_other(tmp_path, lavapipe):
    what = {**TINY, "mean": 1, "p1": 8}
    done = run(tmp_path, what, devices=[lavapipe, "reference"])
    assert [found.device for found in done.measurements] == [lavapipe.info.label] * 2 + [
        xl.device("reference").info.label
    ] * 2


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, env={"EXPANDLAB_DEVICE": "reference"}
    ) as found:
        yield found


def test_workers_share_the_cells_and_their_results_come_together(tmp_path, cluster):
    told = []
    done = run(tmp_path, devices=None, cluster=cluster.scheduler_address, on_progress=told.append)
    assert done.complete and not done.failed and [item.cell for item in done.cells] == grid.cells(TINY)
    assert {item.worker for item in done.cells} == set(cluster.scheduler_info["workers"])
    assert {found.device for found in done.measurements} == {xl.device("reference").info.label}
    assert all(found.commit and found.shader_sha256 for found in done.measurements)
    assert set(done.frame()["worker"]) == {item.worker for item in done.cells}
    before = (tmp_path / "s.jsonl").read_bytes()
    assert run(tmp_path, devices=None, cluster=cluster.scheduler_address) == done
    assert (tmp_path / "s.jsonl").read_bytes() == before


def test_a_worker_that_dies_costs_only_the_cell_that_it_had(tmp_path, cluster):
    from distributed import Client

    with Client(cluster) as client:
        victim = sorted(client.scheduler_info(n_workers=-1)["workers"])[0]

        def kill(progress):
            if progress.done == 1 and not killed:
                killed.append(victim)
                pid = client.run(os.getpid, workers=[victim])[victim]
                os.kill(pid, signal.SIGKILL)

        killed = []
        done = run(tmp_path, {**TINY, "warm_up_s": 0.1}, devices=None, cluster=client, on_progress=kill)
        assert killed and done.complete and not done.failed and len(done.cells) == 8
        assert client.status == "running"


def test_a_cell_that_kills_its_workers_is_given_up(tmp_path, cluster, monkeypatch):
    from expandlab.measuring import cluster as lanes

    def deadly(*_):
        import os  # it is sent to the workers
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(lanes, "LOSSES", 2)
    monkeypatch.setattr(lanes, "measure_there", deadly)
    done = run(tmp_path, {**TINY, "mean": 1, "p1": 8, "kind": "constant"}, devices=None,
               cluster=cluster.scheduler_address)  # fmt: skip
    assert [item.error for item in done.failed] == ["DeviceError: 2 workers died while they measured it"]


def test_a_cluster_without_the_device_says_so(tmp_path, cluster, monkeypatch):
    from expandlab.measuring import cluster as lanes

    monkeypatch.setattr(lanes, "CONNECT_S", 1)
    with pytest.raises(xl.DeviceError, match="no worker can measure on no such card"):
        run(tmp_path, devices="no such card", cluster=cluster.scheduler_address)
    with pytest.raises(ValueError, match="names"):
        run(tmp_path, devices=xl.device("reference"), cluster=cluster.scheduler_address)
    with pytest.raises(xl.DeviceError, match="no scheduler"):
        run(tmp_path, devices=None, cluster="tcp://127.0.0.1:1")
