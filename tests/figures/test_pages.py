"""Pages, the pictures of every panel but the expansion's: equal settings, equal bytes, in all formats."""

import csv
import json
from xml.etree import ElementTree

import pytest
from PIL import Image
from typer.testing import CliRunner

from expandlab import export
from expandlab import settings as s
from expandlab.cli import app
from expandlab.errors import UnsupportedError
from expandlab.figures.page import WIDTH, make

# Panels of counts that show one page.
COUNTED = {name for name, kind in s.panels().items() if issubclass(kind, s.CountsSettings)} - {"expansion"}
MEASURED = {
    "rows": [
        {"strategy": name, "src": src, "median_ms": ms * src, "q1_ms": ms * src, "q3_ms": 2 * ms * src, "samples": 5}
        for name, ms in (("dispatch_each", 0.5), ("prefix_search", 0.25))
        for src in (1, 3, 6, 16, 40)
    ],
    "device": "some adapter", "driver": "its driver", "timer": "wall clock", "software": True, "cancelled": False,
    "left_out": {"draw_indirect_count": "it lacks a feature"},
}  # fmt: skip
EXAMPLES = {
    "buckets": s.BucketSettings(source="list", values=[11, 9, 0, 14], src=1),
    "buckets of ranges": s.BucketSettings(source="geometric", items=30, strategy="po2_range", room=3),
    "a scan": s.SearchSettings(source="list", values=[3, 1, 2], view="workgroup", step=2),
    "three passes": s.SearchSettings(source="geometric", items=60, view="passes", step=6),
    "a binary search": s.SearchSettings(source="geometric", items=60, view="binary", thread=99, step=1),
    "a linear search": s.SearchSettings(items=10, view="linear", thread=5),
    "a 64-bit add": s.SearchSettings(items=10, view="add64", order=3, step=4),
    "look-back": s.SearchSettings(items=150, view="lookback", put_off=True, step=20),
    "four strategies": s.BalanceSettings(items=100, step=9),
    "a giant": s.BalanceSettings(source="one_giant", items=90, shown=["append", "flat"], subgroup_size=8, step=2),
    "a distribution": s.DistributionSettings(source="sparse", items=500),
    "two distributions": s.DistributionSettings(source="ramp", items=300, compare="zipf", bins="equal"),
    "paths, measured": s.PathSettings(items=40, mean=9.0, measured=MEASURED),
    "paths, not measured": s.PathSettings(source="geometric", items=30, shown=["po2_buckets", "flat"]),
    "buckets end to end": s.BucketSettings(source="uniform", items=20, rounded=False, subgroup_size=16),
}
EDGES = {"no src": [], "no items": [0, 0, 0], "one item": [1], "one giant": [60_000]}
pages = pytest.mark.parametrize("settings", EXAMPLES.values(), ids=EXAMPLES.keys())


def test_every_panel_has_an_example():
    assert {settings.panel for settings in EXAMPLES.values()} == COUNTED


@pytest.mark.parametrize("panel", sorted(s.panels()))
def test_a_panel_opens_on_something_that_can_be_drawn(panel):
    assert export.picture(s.panels()[panel](), "csv")


@pages
@pytest.mark.parametrize("fmt", export.FORMATS)
def test_a_page_is_exported_with_its_provenance_and_the_same_bytes_again(settings, fmt, tmp_path):
    path = export.save(tmp_path / f"x.{fmt}", settings)
    assert path.read_bytes() == export.picture(settings, fmt)
    found = export.read_provenance(path)
    assert s.from_json(found["settings"]) == settings
    assert set(found["shader_sha256"]) == set(settings.strategies)
    assert found["counts_sha256"] and found["device"] is None


@pages
def test_a_page_says_in_words_what_it_shows(settings, tmp_path):
    page = make(settings)
    assert len(page.description) > 80 and "src" in page.description
    tree = ElementTree.parse(export.save(tmp_path / "x.svg", settings)).getroot()
    assert tree.find("{http://www.w3.org/2000/svg}desc").text == page.description
    with Image.open(export.save(tmp_path / "x.png", settings)) as image:
        assert image.width == WIDTH * 3 // 2 and image.info["Title"] == page.title


@pages
def test_the_table_is_the_csv_and_stands_in_the_json(settings, tmp_path):
    page = make(settings)
    assert page.rows and all(len(row) == len(page.head) for row in page.rows)
    lines = export.save(tmp_path / "x.csv", settings).read_text().splitlines()
    rows = list(csv.reader(line for line in lines if not line.startswith("# ")))
    assert rows[0] == list(page.head) and len(rows) == len(page.rows) + 1
    held = json.loads(export.save(tmp_path / "x.json", settings).read_text())
    assert held["table"]["head"] == list(page.head) and len(held["table"]["rows"]) == len(page.rows)
    assert held["counts"] == settings.counts().tolist() and held["settings"] == settings.to_dict()


@pytest.mark.parametrize("panel", sorted(COUNTED))
@pytest.mark.parametrize("values", EDGES.values(), ids=EDGES.keys())
def test_edges_are_drawn_or_refused_in_words(panel, values):
    settings = s.panels()[panel](source="list", values=values)
    try:
        assert export.picture(settings, "png").startswith(b"\x89PNG")
    except UnsupportedError as error:
        assert len(values) and "lower" in str(error)


@pytest.mark.parametrize("panel", sorted(COUNTED))
def test_the_command_line_makes_the_same_bytes(panel, tmp_path):
    settings = next(item for item in EXAMPLES.values() if item.panel == panel)
    (tmp_path / "s.json").write_text(settings.to_json())
    done = CliRunner().invoke(app, ["figure", str(tmp_path / "s.json"), "-o", str(tmp_path / "x.svg")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "x.svg").read_bytes() == export.picture(settings, "svg")


def test_a_time_is_shown_where_it_was_measured_and_nowhere_else():
    rows = make(EXAMPLES["paths, measured"]).rows
    timed = {(row[0], row[2]): row[7] for row in rows if row[7] != ""}
    assert timed == {(row["strategy"], row["src"]): row["median_ms"] for row in MEASURED["rows"]}
    assert "500 us for each" in make(EXAMPLES["paths, measured"]).description
    assert "Not measured yet" in make(EXAMPLES["paths, not measured"]).description
    # A dispatch for each src, 32 for the buckets, one for a search; threads rounded up to whole workgroups of 64.
    last = {row[0]: row[4:7] for row in rows}
    total = int(EXAMPLES["paths, measured"].counts().sum())
    assert last["dispatch_each"] == (40, 40 * 64, 40 * 64 - total)
    assert last["po2_buckets"][0] == 32 and last["prefix_search"][0] == 1


def test_what_the_buckets_of_eleven_say():
    page = make(s.BucketSettings(source="list", values=[11]))
    assert (
        "0b1011: bucket 0: local 0, entry 0; bucket 1: local 1 to 2, entry 0; bucket 3: local 3 to 10"
        in page.description
    )
    assert [row[0] for row in page.rows if row[3]] == [0, 1, 3]
