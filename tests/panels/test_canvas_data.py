"""What the page gets is what the map holds, and no more than the page can take."""

import json
import time

import numpy as np
import pytest

import expandlab as xl
from expandlab.figures.colours import src_colours
from expandlab.panels import canvas as canvas_module
from expandlab.panels.canvas import ThreadMapCanvas
from expandlab.panels.packing import COLUMNS, pack, unpack
from expandlab.wgsl import Line, read

COUNTS = {
    "the document's example": [3, 0, 11, 1, 7],
    "no src": [],
    "no items": [0, 0],
    "one giant": [1, 1, 700, 1],
    "many": list(range(200)),
}


def frame_of(counts, *names, sequence=1):
    values = xl.counts.load(np.array(counts, np.uint32))
    maps = [xl.thread_map(values, name) for name in names]
    return values, maps, pack(values, src_colours(len(values)), maps, sequence)


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS.keys())
@pytest.mark.parametrize("name", list(xl.strategies()))
def test_a_frame_holds_the_map(name, counts):
    values, (made,), frame = frame_of(counts, name)
    got = unpack(frame)
    assert np.array_equal(got["counts"], values)
    (shown,) = got["maps"]
    for column in COLUMNS:
        assert np.array_equal(shown["columns"][column], getattr(made, column)), column
    assert (shown["workgroup_size"], shown["subgroup_size"]) == (made.workgroup_size, made.subgroup_size)
    assert len(shown["steps"]) == len(made.steps)
    for packed, step in zip(shown["steps"], made.steps, strict=True):
        assert np.array_equal(packed["active"], step.active)
        assert (packed["pass"], packed["label"], packed["repeats"]) == (step.pass_name, step.label, step.repeats)
        assert Line(*packed["line"]) == step.line
    for packed, memory in zip(shown["memory"], made.memory, strict=True):
        assert packed["used_bytes"] == memory.used_bytes
        assert packed["capacity_bytes"] == memory.capacity_bytes
        for packed_row, row in zip(packed["rows"], memory.rows, strict=True):
            assert np.array_equal(packed_row["src"], row.src)
            assert (packed_row["capacity"], packed_row["width"]) == (row.capacity, row.width)


def test_two_maps_lie_in_one_frame():
    _, maps, frame = frame_of([3, 0, 11, 1, 7], "flat", "po2_merged", sequence=7)
    got = unpack(frame)
    assert got["sequence"] == 7
    assert [shown["strategy"] for shown in got["maps"]] == ["flat", "po2_merged"]
    assert [len(shown["columns"]["src"]) for shown in got["maps"]] == [len(item) for item in maps]


def test_colours_and_large_counts_keep_all_bits():
    _, _, frame = frame_of([1, 2, 3], "append")
    rgb = src_colours(3).astype(int)
    assert unpack(frame)["colours"].tolist() == [r << 16 | g << 8 | b for r, g, b in rgb.tolist()]
    words = unpack(pack(np.array([2**32 - 1], np.uint32), src_colours(1), []))["counts"]
    assert words.astype("<u4").tolist() == [2**32 - 1]


def test_the_words_start_at_a_whole_word():
    for counts in COUNTS.values():
        _, _, frame = frame_of(counts, "po2_merged")
        assert int.from_bytes(frame[:4], "little") % 4 == 0
        assert len(frame) % 4 == 0


def test_the_marked_lines_are_lines_of_the_shaders():
    for name in xl.strategies():
        _, _, frame = frame_of([3, 0, 11, 1, 7], name)
        for role, line in unpack(frame)["maps"][0]["lines"].items():
            if line is not None:
                assert read(line[0]).splitlines()[line[1] - 1].strip(), (name, role)


def test_an_entrys_read_stands_right_before_the_work():
    _, _, frame = frame_of([3, 0, 11, 1, 7], "po2_merged")
    file, number = unpack(frame)["maps"][0]["lines"]["read"]
    assert "entries[" in read(file).splitlines()[number - 1]


def show(canvas, counts):
    values = np.array(counts, np.uint32)
    canvas.show(values, src_colours(len(values)), [xl.thread_map(values, "append")])


def shown_counts(canvas):
    return unpack(canvas.frame)["counts"].tolist()


def test_a_canvas_that_nobody_watches_always_holds_the_newest_frame():
    canvas = ThreadMapCanvas()
    for n in range(1, 5):
        show(canvas, [n])
    assert shown_counts(canvas) == [4]
    assert canvas.settled


def test_while_the_page_paints_only_the_newest_frame_waits():
    canvas = ThreadMapCanvas()
    show(canvas, [1])
    canvas.painted = unpack(canvas.frame)["sequence"]
    show(canvas, [2])
    for n in (3, 4, 5):
        show(canvas, [n])
    assert shown_counts(canvas) == [2]
    canvas.painted = unpack(canvas.frame)["sequence"]
    assert shown_counts(canvas) == [5]
    assert canvas.settled


def test_a_page_that_went_away_does_not_hold_up_the_kernel(monkeypatch):
    monkeypatch.setattr(canvas_module, "LOST_AFTER_S", 0.05)
    canvas = ThreadMapCanvas()
    show(canvas, [1])
    canvas.painted = 1
    show(canvas, [2])
    show(canvas, [3])
    assert shown_counts(canvas) == [2]
    end = time.monotonic() + 5
    while not canvas.settled and time.monotonic() < end:
        time.sleep(0.01)
    assert shown_counts(canvas) == [3]


def test_the_shaders_are_sent_once_and_hold_every_step():
    canvas = ThreadMapCanvas()
    values = np.array([3, 5], np.uint32)
    maps = [xl.thread_map(values, name) for name in xl.strategies()]
    canvas.show(values, src_colours(2), maps)
    files = {step.line.file for item in maps for step in item.steps}
    assert files == set(canvas.shaders)
    before = canvas.shaders
    canvas.show(values, src_colours(2), maps)
    assert canvas.shaders is before


def test_the_script_is_one_module():
    text = canvas_module.script()
    assert text.count("export default") == 1
    assert "import " not in text


@pytest.mark.parametrize("every, period", [(1, 99), (64, 99), (32, 2), (1, 32), (500, 1)])
def test_a_numbering_is_sent_as_its_rule_and_what_differs_in_one_place_is_not(every, period):
    numbers = (5 + np.arange(200) // every % period).astype(np.uint32)
    for at in (None, 1, every % 200, 150, 199):
        values = numbers.copy()
        if at is not None:
            values[at] += 2
        frame = pack(values, src_colours(0), [])
        assert np.array_equal(unpack(frame)["counts"], values)
        assert isinstance(json.loads(frame[4 : 4 + int.from_bytes(frame[:4], "little")])["counts"], dict) == (
            at is None
        )
