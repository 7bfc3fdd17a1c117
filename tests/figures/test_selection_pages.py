"""Pictures of top-k selections: every method in every view; what they say agrees with the definition."""

import csv
import json

import numpy as np
import pytest
from PIL import Image
from topk_definition import order_of
from typer.testing import CliRunner

import expandlab as xl
from expandlab import export
from expandlab import settings as s
from expandlab.cli import app
from expandlab.errors import UnsupportedError
from expandlab.figures.page import WIDTH, make
from expandlab.figures.selection.bus import words_back
from expandlab.figures.selection.frames import tell
from expandlab.figures.selection.steps import in_play
from expandlab.settings.selection import VIEWS
from expandlab.topk import inputs

METHODS = list(xl.top_k_methods())
# Methods that drop whatever is worse than something: what they keep is the best of all.
CLOSED = ("threshold_append", "radix_select", "sample_select", "delegate")
MEASURED = {
    "rows": [
        {"method": "readback_heap", "median_ms": 4.0, "q1_ms": 3.0, "q3_ms": 5.0, "gpu_ms": 0.5, "samples": 7,
         "words_back": 9000},
        {"method": "delegate", "median_ms": 2.0, "q1_ms": 1.5, "q3_ms": 2.5, "gpu_ms": None, "samples": 9,
         "words_back": 84},
    ],
    "device": "some adapter", "driver": "its driver", "timer": "wall clock", "software": True, "cancelled": True,
    "left_out": {"atomic_heap": "it takes fewer scores"},
}  # fmt: skip
EXAMPLES = {
    **{name: s.TopKSettings(n=9000, k=40, method=name, step=2) for name in METHODS},
    "a stream": s.TopKSettings(n=9000, k=40, kind="nan_inf", view="stream", pushes=7, step=3),
    "the bus, measured": s.TopKSettings(n=9000, k=40, view="bus", measured=MEASURED),
}
pages = pytest.mark.parametrize("settings", EXAMPLES.values(), ids=EXAMPLES.keys())


@pages
@pytest.mark.parametrize("fmt", export.FORMATS)
def test_a_page_is_exported_with_its_provenance_and_the_same_bytes_again(settings, fmt, tmp_path):
    path = export.save(tmp_path / f"x.{fmt}", settings)
    assert path.read_bytes() == export.picture(settings, fmt)
    found = export.read_provenance(path)
    assert s.from_json(found["settings"]) == settings
    assert set(found["shader_sha256"]) == set(settings.methods) and found["shader_sha256"][settings.method]
    assert len(found["scores_sha256"]) == 64
    if fmt == "png":
        with Image.open(path) as image:
            assert image.width == WIDTH * 3 // 2


@pages
def test_the_table_is_the_csv_and_stands_in_the_json(settings):
    page = make(settings)
    assert page.rows and all(len(row) == len(page.head) for row in page.rows) and len(page.description) > 120
    lines = export.picture(settings, "csv").decode().splitlines()
    rows = list(csv.reader(line for line in lines if not line.startswith("# ")))
    assert rows == [[str(value) for value in row] for row in (page.head, *page.rows)]
    held = json.loads(export.picture(settings, "json"))
    assert len(held["table"]["rows"]) == len(page.rows) and held["data"]["steps"] >= 1


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("kind", inputs.kinds())
@pytest.mark.parametrize("method", METHODS)
def test_every_step_of_every_method_keeps_what_is_wanted(method, kind, largest):
    settings = s.TopKSettings(n=5000, k=70, kind=kind, seed=5, method=method, largest=largest)
    told = tell(settings)
    order = order_of(settings.scores(), largest)
    assert told.right and told.indices.tolist() == order[:70].tolist()
    for frame in told.frames:
        alive = in_play(told, frame)
        assert alive[order[:70]].all(), frame.said
        assert frame.what == "bound" or alive.sum() == frame.left
        if method in CLOSED and frame.indices is not None:
            # Ties at a bound stay or go together.
            keys = told.row.keys
            assert alive.sum() == (keys <= keys[alive].max()).sum() or frame.left <= np.count_nonzero(alive)


@pytest.mark.parametrize("method", METHODS)
def test_every_step_is_drawn_and_said_in_words(method):
    settings = s.TopKSettings(n=5000, k=70, method=method)
    for step, frame in enumerate(tell(settings).frames):
        text = make(settings.replace(step=step)).description
        assert frame.said[1:] in text and "equals the definition in NumPy" in text


def test_the_digits_of_radix_select_leave_what_the_definition_says():
    settings = s.TopKSettings(n=20_000, k=50, kind="shared_bits", seed=1)
    keys = np.sort(tell(settings).row.keys)
    buckets = [frame for frame in tell(settings).frames if frame.what == "bucket"]
    assert len(buckets) >= 3
    mask = 0
    for frame, histogram in zip(buckets, [f for f in tell(settings).frames if f.what == "histogram"], strict=True):
        if histogram.data["of"] == "index":
            break
        mask |= (len(histogram.data["counts"]) - 1) << histogram.data["shift"]
        assert frame.left == (keys & np.uint32(mask) <= (keys[49] & np.uint32(mask))).sum()


@pytest.mark.parametrize("method", METHODS)
def test_the_bytes_of_the_bus_are_those_that_a_run_reports(method):
    scores = inputs.scores("random", 9000)
    assert words_back(method, 9000, 40) == xl.top_k(scores, 40, method=method, device="reference").report.words_back
    assert words_back("atomic_heap", 20_000, 40) is None and words_back("workgroup_select", 9000, 2000) is None


def test_times_are_shown_where_they_were_measured_and_nowhere_else():
    page = make(EXAMPLES["the bus, measured"])
    timed = {row[0]: row[6:] for row in page.rows if row[6] != ""}
    assert timed == {"readback_heap": (4.0, 3.0, 5.0, 0.5, 7), "delegate": (2.0, 1.5, 2.5, "", 9)}
    assert "33,554,432 bytes" in page.description and "cancelled: partial" in page.description
    assert "Not measured yet" in make(s.TopKSettings(view="bus", n=s.selection.MOST_SCORES)).description


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (300, 300), (2049, 5), (4096, 2048)])
def test_edges_are_drawn(view, n, k):
    for method in METHODS if view == "steps" else METHODS[:1]:
        try:
            assert make(s.TopKSettings(n=n, k=k, view=view, method=method, step=99)).description
        except UnsupportedError as error:
            assert "Nearest one that runs" in str(error)


def test_what_is_too_much_is_said_with_what_to_lower():
    with pytest.raises(UnsupportedError, match="lower n"):
        make(s.TopKSettings(n=2**21))
    with pytest.raises(UnsupportedError, match="at most 16,384 scores"):
        make(s.TopKSettings(method="atomic_heap"))
    with pytest.raises(s.SettingsError, match="k=300: there are only n=256") as caught:
        s.TopKSettings(n=256, k=300)
    assert caught.value.name == "k"
    for wrong in ({"rows": []}, {**MEASURED, "rows": [{"method": "none"}]}, {**MEASURED, "software": 1}):
        with pytest.raises(s.SettingsError, match="what Run measured"):
            s.TopKSettings(measured=wrong)


def test_the_command_line_makes_the_same_bytes(tmp_path):
    settings = EXAMPLES["a stream"]
    (tmp_path / "s.json").write_text(settings.to_json())
    done = CliRunner().invoke(app, ["figure", str(tmp_path / "s.json"), "-o", str(tmp_path / "x.svg")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "x.svg").read_bytes() == export.picture(settings, "svg")
