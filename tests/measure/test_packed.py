"""Packed measurements say what the measurements said; what the package ships can be read and names its origin."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest
from measured import contender, measurements

import expandlab as xl
from expandlab.measuring import MeasurementsError, packed, views

NAMES = ("append", "flat", "tile_search")


@pytest.fixture(scope="module")
def some():
    options = {"device": "reference", "repeats": 3, "warm_up_s": 0.0, "batch_ms": 0.0}
    return [xl.measure(NAMES, {"kind": kind, "items": 200, "mean": 4.0}, **options) for kind in ("zipf", "uniform")]


def test_what_is_packed_is_what_is_unpacked(some, tmp_path):
    data = packed.pack(some, command="by hand")
    assert len(data["origins"]) == 1 and data["about"] == {"command": "by hand"}
    again = packed.unpack(data)
    assert len(again) == 2
    for old, new in zip(some, again, strict=True):
        assert (new.device, new.input["kind"], new.counts_sha256) == (old.device, old.input["kind"], old.counts_sha256)
        assert new.shader_sha256 == old.shader_sha256 and new.limit.name == old.limit.name
        for name in NAMES:
            assert np.allclose(new[name].gpu_ms, old[name].gpu_ms, rtol=1e-4)
            assert np.isclose(new.x_limit(name).median, old.x_limit(name).median, rtol=1e-3)
            assert (new[name].scratch_bytes, new[name].verified) == (old[name].scratch_bytes, "host")
    path = packed.write_packed(tmp_path / "x.json.gz", data)
    assert path.read_bytes() == packed.write_packed(tmp_path / "y.json.gz", data).read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("origins"),
        lambda data: data["measurements"][0].update(origin=7),
        lambda data: data["measurements"][0]["contenders"][0].update(gpu_ms=["x"]),
        lambda data: data["measurements"][0]["contenders"][0].update(gpu_ms=[]),
        lambda data: data["measurements"][0]["contenders"][0].pop("pass_ms"),
        lambda data: data.update(measurements=3),
    ],
)
def test_damaged_data_is_told_of(some, change):
    data = copy.deepcopy(packed.pack(some))
    change(data)
    with pytest.raises(MeasurementsError, match="damaged"):
        packed.unpack(data)
    with pytest.raises(MeasurementsError, match="no expandlab-timings"):
        packed.unpack([1])


@pytest.mark.parametrize("name", packed.shipped())
def test_what_the_package_ships_can_be_read_and_names_its_origin(name):
    found = packed.load_shipped(name)
    assert len(found) > 40 and packed.about_shipped(name)["command"]
    assert all(item.device and item.driver and item.versions for item in found)
    assert all(one.verified and one.shader_sha256 for item in found for one in item.of_role("contender"))
    assert all(item.limit is not None for item in found)
    known = set(xl.strategies())
    assert {one.name for item in found for one in item.of_role("contender")} <= known


def cell(kind, mean, power, at_once=1):
    given = {"kind": kind, "mean": mean, "src_count": 9, "total": 2**power, "counts_sha256": f"{kind}{mean}{power}"}
    rows = [contender(name, [1.0]) for name in ("append", "append unchecked", "flat")]
    others = [contender("fill", [1.0], role="limit"), contender("torch gather", [1.0], role="peer")]
    return measurements(*rows, *others, input=given, at_once=at_once)


EVERY = [cell(kind, mean, power) for kind in ("zipf", "lognormal") for mean in (2.0, 8.0) for power in (10, 14)]


def picked(view, **more):
    found = views.chosen([*EVERY, cell("zipf", 2.0, 10, 4)], views.Choice(view, ("append",), **more))
    return [(item.input["kind"], item.input["mean"], item.total.bit_length() - 1, item.at_once) for item in found]


def test_a_view_is_about_the_measurements_that_it_names():
    assert picked("time", kind="zipf", mean=2.0) == [("zipf", 2.0, 10, 1), ("zipf", 2.0, 14, 1)]
    assert len(picked("time")) == 8
    assert picked("memory", kind="zipf", mean=2.0, p2=14) == [("zipf", 2.0, 14, 1)]
    # The nearest of what was measured.
    assert picked("memory", kind="zipf", mean=300.0, p2=25) == [("zipf", 8.0, 14, 1)]
    assert {kind for kind, *_ in picked("time_skew", kind="zipf")} == {"lognormal"}
    assert len(picked("win_map", kind="zipf", mean=2.0, p2=10)) == 4
    assert picked("at_once", p2=20) == [("zipf", 2.0, 10, 1), ("zipf", 2.0, 10, 4)]
    assert picked("time", kind="ramp") == []


@pytest.mark.parametrize("peers", [True, False])
def test_only_the_contenders_shown_are_kept_with_their_limits(peers):
    (first, *_) = views.chosen(EVERY, views.Choice("time", ("append",), peers=peers))
    wanted = ["append", "append unchecked", "fill", *(["torch gather"] if peers else [])]
    assert [one.name for one in first.contenders] == wanted


@pytest.mark.parametrize("view", views.VIEWS)
def test_run_measures_what_the_view_shows(view):
    from expandlab.figures import sweeps

    choice = views.Choice(view, ("append", "tile_search"), "zipf", 4.0, 12)
    told = []
    said = {"append": 1.0, "tile_search": 2.0}
    found = views.measure_view(
        choice, device="reference", on_progress=told.append, predict=lambda counts: said if len(counts) else {}
    )
    assert len(found) == len(views.plan(choice)) > 2
    rows = sweeps.rows_of(view, views.chosen(found, choice))
    assert {row["name"] for row in rows} <= {"append", "tile_search"}
    assert told[-1].done <= told[-1].total and told[-1].seconds_left >= 0
    if view == "predicted":
        assert {row["predicted_ms"] for row in rows} == {1.0, 2.0}


@pytest.mark.parametrize("after", [0, 30, 70])
def test_a_cancelled_view_keeps_what_was_measured(after):
    cancel, news = threading.Event(), []

    def stop(progress):
        news.append(progress)
        if len(news) == after + 1:
            cancel.set()

    choice = views.Choice("time", ("append",), "zipf", 4.0, 14)
    found = views.measure_view(choice, device="reference", on_progress=stop, cancel=cancel)
    assert len(found) == {0: 0, 30: 1, 70: 3}[after] < 4
    assert all(item.of_role("contender") for item in found)
    assert [item.cancelled for item in found] == [False] * (len(found) - 1) + [True] * bool(found)
