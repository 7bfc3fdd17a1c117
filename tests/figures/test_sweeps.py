"""Pictures of sweeps show the numbers that they are given, and carry them and their origin in every format."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from measured import contender, measurements

import expandlab as xl
from expandlab import export
from expandlab.figures import sweeps

SIZES = (2**12, 2**14, 2**16)


def cell(total, mean, cv, times, *, at_once=1, kind="zipf", **changes):
    rows = [
        contender(name, [ms, ms * 1.1, ms * 0.9], pass_ms={"count": [ms / 4] * 3, "work": [ms / 2] * 3},
                  scratch_bytes=size * total)
        for name, (ms, size) in times.items()
    ]  # fmt: skip
    given = {"kind": kind, "mean": mean, "max_n": None, "seed": 1, "shape": {}, "src_count": int(total / mean),
             "total": total, "counts_sha256": f"{total:064x}", "cv": cv, "widest": 9}  # fmt: skip
    return measurements(*rows, contender("fill", [0.01] * 3, role="limit"), input=given, at_once=at_once, **changes)


@pytest.fixture
def measured():
    return [
        cell(total, mean, cv, {
            "append": (1e-6 * total * (1 + cv), 8), "flat": (2e-6 * total, 1), "slow": (9e-6 * total, 9),
        })
        for total in SIZES for mean, cv in ((4, 0.1), (16, 2.0))
    ]  # fmt: skip


@pytest.fixture
def real():
    options = {"device": "reference", "repeats": 1, "warm_up_s": 0.0, "batch_ms": 0.0}
    return [
        xl.measure(["append", "flat"], {"kind": kind, "items": items, "mean": 6.0}, **options)
        for kind in ("geometric", "uniform") for items in (200, 400, 1600, 3200)
    ]  # fmt: skip


def marks(figure):
    return [a.get_segments()[0] for a in figure.axes[0].get_children() if a.get_gid() == "mark"]


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_lines_go_through_the_medians(measured):
    rows = sweeps.rows_of("time", measured)
    figure = sweeps.figure("time", measured)
    lines = [a.get_segments()[0] for a in figure.axes[0].get_children() if a.get_gid() == "series"]
    assert len(lines) == 3 and all(len(line) == len(SIZES) for line in lines)
    flat = next(
        line for line, name in zip(lines, dict.fromkeys(r["name"] for r in rows), strict=True) if name == "flat"
    )
    # Both scales are logarithmic, so a time in proportion to P2 is a straight line of equal steps.
    assert np.allclose(np.diff(flat[:, 0]), np.diff(flat[:, 0])[0]) and np.allclose(
        np.diff(flat[:, 1]), np.diff(flat[:, 1])[0]
    )
    assert {row["ms"] for row in rows if row["name"] == "flat"} == {2e-6 * total for total in SIZES}


def test_skew_is_drawn_in_bands_and_by_the_item(measured):
    rows = [row for row in sweeps.rows_of("time_skew", measured) if row["name"] == "flat"]
    assert {round(row["skew"], 3) for row in rows} == {0.1, 1.778}
    assert all(row["ns_per_item"] == pytest.approx(2.0) for row in rows)


def test_the_front_holds_what_nothing_beats_in_both(measured):
    front = {row["name"]: row["front"] for row in sweeps.rows_of("memory", measured)}
    assert front == {"append": True, "flat": True, "slow": False}
    assert any(a.get_gid() == "front" for a in sweeps.figure("memory", measured).axes[0].get_children())


def test_the_win_map_names_the_fastest_of_every_input(measured):
    found = {(row["mean"], row["total"]): (row["name"], row["second"]) for row in sweeps.rows_of("win_map", measured)}
    assert found == {(m, t): (("append", "flat") if m == 4 else ("flat", "append")) for m in (4, 16) for t in SIZES}
    figure = sweeps.figure("win_map", measured)
    assert len([a for a in figure.axes[0].get_children() if a.get_gid() == "winner"]) == 2
    assert {"append", "flat", "by 82%", "by 50%"} <= set(words(figure))


def test_k_at_once_is_the_time_of_each():
    items = [cell(4096, 4, 0.5, {"append": (0.01 * k**0.5, 8)}, at_once=k) for k in (1, 4, 16)]
    rows = sweeps.rows_of("at_once", items)
    assert [row["ms_each"] for row in rows] == pytest.approx([0.01, 0.005, 0.0025])
    with pytest.raises(ValueError, match="at_once above 1"):
        sweeps.rows_of("at_once", items[:1])


def test_passes_add_up_over_the_inputs(measured):
    rows = {(row["name"], row["pass"]): row["ms"] for row in sweeps.rows_of("passes", measured)}
    assert rows["flat", "count"] == pytest.approx(2 * sum(2e-6 * total / 4 for total in SIZES))
    bars = [a for a in sweeps.figure("passes", measured).axes[0].get_children() if a.get_gid() == "pass-time"]
    assert len(bars) == 6


def test_predictions_stand_beside_what_was_measured(real):
    rows = sweeps.rows_of("predicted", real)
    assert {row["name"] for row in rows} == {"append", "flat"} and len(rows) == 2 * len(real)
    assert all(row["predicted_ms"] > 0 for row in rows)
    assert len(marks(sweeps.figure("predicted", real))) >= len(rows)


@pytest.mark.parametrize("name", [name for name in sweeps.KINDS if name not in ("at_once", "predicted")])
@pytest.mark.parametrize("fmt", export.FORMATS)
def test_every_format_holds_provenance_and_is_the_same_each_time(measured, name, fmt, tmp_path):
    path = export.save_sweep(tmp_path / f"a.{fmt}", name, measured)
    assert path.read_bytes() == export.sweep_picture(fmt, name, measured)
    found = export.read_provenance(path)
    assert found["figure"] == name and len(found["measurements"]) == len(measured)
    assert found["measurements"][0]["device"] == "llvmpipe" and found["measurements"][0]["commit"]


def test_data_formats_hold_the_rows(measured, tmp_path):
    rows = sweeps.rows_of("x_limit", measured)
    text = export.save_sweep(tmp_path / "a.csv", "x_limit", measured).read_text()
    read = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("# ")))
    assert [float(row["x_limit"]) for row in read] == [row["x_limit"] for row in rows]
    data = json.loads(export.save_sweep(tmp_path / "a.json", "x_limit", measured).read_text())
    assert data["rows"] == rows and data["description"] == sweeps.alt("x_limit", measured)


def test_software_adapters_and_a_moving_clock_are_marked(measured):
    said = words(sweeps.figure("time", measured))
    assert "software adapter: the CPU is measured" in said and "CPU is measured" in sweeps.alt("time", measured)
    moved = [cell(4096, 4, 0.1, {"append": (1.0, 8)}, software=False)]
    moved[0] = measurements(*moved[0].contenders[:1], contender("fill", [1.0, 2.0, 3.0], role="limit"),
                            input=moved[0].input, software=False)  # fmt: skip
    said = words(sweeps.figure("time", moved))
    assert any("clock moved" in text for text in said) and not any("software" in text for text in said)


def test_unknown_pictures_and_empty_ones_are_refused(measured):
    with pytest.raises(ValueError, match="figure='pie': use one of time"):
        sweeps.figure("pie", measured)
    with pytest.raises(ValueError, match="nothing for it"):
        sweeps.figure("time", [])
