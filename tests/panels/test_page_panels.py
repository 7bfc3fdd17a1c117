"""Panels of one page without a browser: every control, errors, Export, settings, Reset."""

import json

import pytest

from expandlab import export, panels
from expandlab import settings as s
from expandlab.figures.page import make
from expandlab.measuring.front_end import sizes_of
from expandlab.panels import paths

# Panels of counts that show one page.
COUNTED = {name for name, kind in s.panels().items() if issubclass(kind, s.CountsSettings)} - {"expansion"}
OPEN = {
    "api_paths": panels.api_paths,
    "balance": panels.balance,
    "buckets": panels.buckets,
    "distribution": panels.distribution,
    "search": panels.search,
}
# Panel -> (setting, value that a user may choose).
MOVES = {
    "api_paths": {"shown": ("append", "dispatch_each"), "workgroup_size": 256},
    "balance": {"shown": ("append", "tile_search"), "workgroup_size": 32, "subgroup_size": 8, "step": 7},
    "buckets": {
        "strategy": "po2_range", "src": 3, "room": 4, "rounded": False, "workgroup_size": 128, "subgroup_size": 32,
    },
    "distribution": {"bins": "equal", "compare": "uniform"},
    "search": {
        "view": "lookback", "threads": 64, "thread": 3, "order": 2, "put_off": True, "step": 1,
    },
}  # fmt: skip
# What else must be set for a control to change the picture.
NEEDED = {
    ("search", "thread"): {"view": "binary"},
    ("search", "order"): {"view": "add64"},
    ("search", "put_off"): {"view": "lookback", "items": 150, "threads": 4, "step": 9},
}
# What a panel is opened with, so that all of its views can be drawn.
FIRST = {"search": {"threads": 32, "items": 20}}
SOURCE_MOVES = {"source": "ramp", "items": 20, "mean": 9.5, "limited": True, "seed": 5}
every = pytest.mark.parametrize("panel", OPEN)


@pytest.fixture
def open_page(tmp_path, monkeypatch):
    """Opens a panel in a folder of its own, closed after the test."""
    monkeypatch.chdir(tmp_path)
    opened = []

    def open_one(panel, **settings):
        opened.append(OPEN[panel](**{**FIRST.get(panel, {}), **settings}))
        assert opened[-1].settle()
        return opened[-1]

    yield open_one
    for panel in opened:
        panel.close()


def test_every_panel_of_one_page_is_tested_here():
    assert set(OPEN) == set(MOVES) == COUNTED


def check_shown(panel):
    assert panel.error == ""
    assert panel.view.png.startswith(b"\x89PNG")
    assert panel.view.alt == make(panel.settings).description


@pytest.mark.parametrize(("panel", "setting"), [(p, name) for p, moves in MOVES.items() for name in moves])
def test_a_control_of_its_own_changes_its_setting_and_the_picture(open_page, panel, setting):
    shown = open_page(panel, **NEEDED.get((panel, setting), {}))
    before = shown.view.png
    control = shown.controls.own[setting]
    assert control.tooltip and control.description
    control.value = MOVES[panel][setting]
    assert shown.settle()
    assert getattr(shown.settings, setting) == MOVES[panel][setting]
    check_shown(shown)
    assert shown.view.png != before


@every
def test_every_setting_of_its_own_has_a_control(open_page, panel):
    # What was measured is a setting, and Run is its control.
    own = set(s.panels()[panel]().to_dict()) - set(s.CountsSettings.__dataclass_fields__) - {"measured"}
    assert set(open_page(panel).controls.own) == own == set(MOVES[panel])


@every
def test_the_sources_controls_change_the_counts(open_page, panel):
    shown = open_page(panel, source="geometric", items=12, mean=4)
    for control, value in SOURCE_MOVES.items():
        before = shown.view.drawn
        getattr(shown.controls, control).value = value
        assert shown.settle()
        check_shown(shown)
        assert shown.view.drawn > before
    assert shown.page.counts.tolist() == shown.settings.counts().tolist()


@every
def test_a_list_is_typed_and_what_is_wrong_with_it_shows(open_page, panel):
    shown = open_page(panel)
    shown.controls.source.value = "list"
    assert shown.settle()
    assert shown.page.counts.tolist() == [3, 1, 2]
    shown.controls.values.value = "4, -1"
    assert "values='4, -1'" in shown.error
    shown.controls.values.value = "[4, 0 7]"
    assert shown.settle()
    check_shown(shown)
    assert shown.settings.values == (4, 0, 7)


@every
def test_what_is_wrong_with_a_file_shows_and_the_picture_stays(open_page, panel, tmp_path):
    shown = open_page(panel)
    before = shown.view.png
    (tmp_path / "bad.csv").write_text("n\n3\n-1\n")
    shown.controls.source.value = "file"
    assert "path" in shown.error
    shown.controls.file.value = "bad.csv"
    assert shown.settle()
    assert "row 1" in shown.error and shown.view.png == before
    (tmp_path / "good.csv").write_text("n\n3\n1\n")
    shown.controls.file.value = "good.csv"
    assert shown.settle()
    check_shown(shown)


@every
def test_settings_are_copied_loaded_and_reset(open_page, panel):
    shown = open_page(panel, items=9)
    first = shown.settings
    for name, value in MOVES[panel].items():
        shown.controls.own[name].value = value
    assert shown.settle()
    shown.saving.copy_settings()
    text = shown.saving.text.value
    assert json.loads(text) == shown.settings.to_dict()
    moved = shown.settings
    shown.reset()
    assert shown.settle()
    assert shown.settings == first and shown.error == ""
    shown.saving.text.value = text
    shown.saving.load_settings()
    assert shown.settle()
    assert shown.settings == moved and shown.error == ""
    check_shown(shown)
    shown.saving.text.value = s.ExpansionSettings().to_json()
    shown.saving.load_settings()
    assert "another panel" in shown.error and shown.settings == moved


@every
@pytest.mark.parametrize("kind", ["png", "csv"])
def test_an_export_is_saved_and_offered(open_page, monkeypatch, panel, kind):
    shown = open_page(panel, items=9)
    offered = []
    monkeypatch.setattr(shown.view, "send", lambda content, buffers=None: offered.append((content, buffers)))
    shown.saving.format.value = kind
    shown.saving.start()
    assert shown.saving.wait(60)
    assert shown.error == ""
    path = shown.saving.exported
    assert path.read_bytes() == export.picture(shown.settings, kind) == bytes(offered[0][1][0])
    assert path.name.startswith(panel)


@every
def test_the_data_table_has_the_rows(open_page, panel):
    shown = open_page(panel, items=9)
    assert shown.about.value == ""
    shown.tables.value = True
    assert shown.settle()
    assert shown.about.value.count("<tr>") == len(shown.page.rows) + 1


@every
def test_first_settings_that_are_wrong_show_in_the_panel(open_page, panel):
    assert "colour" in open_page(panel, colour="red").error
    assert "items=-1" in open_page(panel, items=-1).error


def choose_reference(panel):
    panel.device.value = next(token for label, token in panel.device.options if label.startswith("reference"))


def test_run_measures_a_series_that_becomes_a_setting_and_goes_when_something_moves(open_page):
    shown = open_page("api_paths", items=20, mean=4, shown=["dispatch_each", "prefix_search"])
    choose_reference(shown)
    shown.running.start()
    assert shown.running.wait(60)
    assert shown.error == "" and "done: " in shown.running.text.text
    found = shown.settings.measured
    assert {row["strategy"] for row in found["rows"]} == {"dispatch_each", "prefix_search"}
    assert [row["src"] for row in found["rows"] if row["strategy"] == "prefix_search"] == sizes_of(20)
    check_shown(shown)
    assert "measured on reference" in shown.view.alt.lower()
    shown.saving.copy_settings()
    assert s.from_json(shown.saving.text.value) == shown.settings
    shown.controls.seed.value = 3
    assert shown.settle()
    assert shown.settings.measured is None and "Not measured yet" in shown.view.alt


def test_times_of_settings_that_are_gone_are_not_shown(open_page, monkeypatch):
    shown = open_page("api_paths", items=5, mean=2, shown=["prefix_search"])
    choose_reference(shown)
    whole = paths.measure_series

    def slow(names, counts, **more):
        found = whole(names, counts, **more)
        shown.controls.items.value = 6
        return found

    monkeypatch.setattr(paths, "measure_series", slow)
    shown.running.start()
    assert shown.running.wait(60) and shown.settle()
    assert shown.settings.items == 6 and shown.settings.measured is None
