"""The three strips show the map as it is: as many cells, entries and bars as it has, and no text over another."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.text import Text

from expandlab.expansion.thread_map import thread_map
from expandlab.figures import memory, threads
from expandlab.figures.canvas import clean, defaults, shorten, text_width
from expandlab.figures.colours import PETROFF10, rgb, src_colours
from expandlab.figures.inline import map_html
from expandlab.figures.strips import strips
from expandlab.settings import ExpansionSettings

NAMES = ("flat", "append", "prefix_search", "po2_merged")
RANDOM = np.random.default_rng(5)
COUNTS = {
    "three": np.array([3, 1, 2]),
    "one src": np.array([1]),
    "one giant": np.array([200]),
    "zeros": np.zeros(9, int),
    "none": np.zeros(0, int),
    "sparse": np.where(RANDOM.random(60) < 0.1, 13, 0),
    "skewed": np.minimum(RANDOM.zipf(1.6, 48), 60),
    "many": RANDOM.poisson(4, 700),
}


def drawn(counts, name, compare=None, **changes):
    settings = ExpansionSettings(strategy=name, compare=compare, **changes)
    sizes = {"workgroup_size": settings.workgroup_size, "subgroup_size": settings.subgroup_size}
    maps = [thread_map(counts, item, **sizes) for item in (name, compare) if item]
    return maps[0], strips(maps[0], counts, settings=settings, compare=maps[1] if compare else None)


def shapes(figure, gid):
    """How many shapes the artists of this name hold."""
    found = 0
    for artist in figure.axes[0].get_children():
        if artist.get_gid() == gid:
            if hasattr(artist, "get_paths"):
                found += len(artist.get_paths())
            elif hasattr(artist, "get_path"):
                found += int(np.count_nonzero(artist.get_path().codes == 1))
            else:
                found += artist.get_array().shape[1]
    return found


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("name", NAMES)
def test_cells_entries_and_bars_are_those_of_the_map(counts, name):
    item, figure = drawn(counts, name)
    assert shapes(figure, "threads-active") == np.count_nonzero(item.active)
    assert shapes(figure, "threads-idle") == shapes(figure, "threads-hatch") == np.count_nonzero(~item.active)
    kept = ("memory-filled", "memory-wasted", "memory-image")
    assert sum(shapes(figure, gid) for gid in kept) == sum(row.used for part in item.memory for row in part.rows)
    assert shapes(figure, "source-bars") == len(counts)
    assert shapes(figure, "source-ribbon") + shapes(figure, "source-empty") == len(counts)


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_has_the_colour_of_its_src(name):
    counts = COUNTS["skewed"]
    item, figure = drawn(counts, name)
    cells = next(a for a in figure.axes[0].get_children() if a.get_gid() == "threads-active")
    expected = src_colours(len(counts))[item.src[item.active]] / 255
    assert np.allclose(cells.get_facecolors()[:, :3], expected)


def test_cells_lie_apart_and_inside_the_page():
    for name in NAMES:
        for width, counts in ((1208, COUNTS["many"]), (584, COUNTS["skewed"])):
            item = thread_map(counts, name)
            grid = threads.grids([item], width)[0]
            x, y = grid.place(*threads.blocks_of(item))
            assert x.max() + grid.cell_width <= width - threads.GUTTER
            order = np.lexsort((x, y))
            same_line = np.diff(y[order]) == 0
            assert np.all(np.diff(x[order])[same_line] >= grid.cell_width)


def test_below_256_threads_cells_carry_src_and_local():
    item, figure = drawn([3, 1, 2], "append")
    assert len(item) < threads.NUMBERED
    gids = {artist.get_gid() for artist in figure.axes[0].get_children()}
    assert {"threads-src", "threads-local"} <= gids
    _, figure = drawn(COUNTS["many"], "append")
    assert not {"threads-src", "threads-local"} & {a.get_gid() for a in figure.axes[0].get_children()}


def test_16384_threads_are_drawn_one_by_one():
    counts = np.full(1024, 16)
    item, figure = drawn(counts, "append")
    assert len(item) == 16384 == shapes(figure, "threads-active")
    assert len(figure.axes[0].get_children()) < 200


def test_a_map_too_large_to_draw_says_how_much_is_left_out():
    counts = np.full(100, 700)
    item, figure = drawn(counts, "append")
    assert shapes(figure, "threads-active") == threads.MOST
    said = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert f"{len(item) - threads.MOST:,} threads more are not" in said


CASES = [
    *((key, name, None, {}) for key in COUNTS for name in NAMES),
    *((key, "po2_merged", "flat", {"step": 4, "thread": 2}) for key in COUNTS),
    *((key, "append", "prefix_search", {"step": 99, "thread": 10**6}) for key in COUNTS),
    ("skewed", "po2_merged", "flat", {"workgroup_size": 256, "subgroup_size": 4, "thread": 0}),
]


@pytest.mark.parametrize(("key", "name", "compare", "changes"), CASES)
def test_no_text_overlaps_another_or_leaves_the_page(key, name, compare, changes):
    _, figure = drawn(COUNTS[key], name, compare, **changes)
    with defaults():
        renderer = figure.canvas.get_renderer()
        texts = [artist for artist in figure.axes[0].get_children() if isinstance(artist, Text) and artist.get_text()]
        boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    wide, high = figure.bbox.width, figure.bbox.height
    for number, (words, box) in enumerate(boxes):
        assert box.x0 >= 0 and box.x1 <= wide and box.y0 >= 0 and box.y1 <= high, words
        for others, other in boxes[number + 1 :]:
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            # A line's box is as high as its highest letter may be, so a pixel of two boxes may be shared.
            down = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert across <= 1 or down <= 2, f"{words!r} over {others!r}"


@pytest.mark.parametrize("name", NAMES)
def test_the_selected_thread_and_its_relatives_are_outlined_in_every_strip(name):
    item, figure = drawn([3, 1, 2], name, thread=1)
    for gid in ("selected-thread", "selected-source", "selected-entry", "threads-siblings"):
        assert shapes(figure, gid) >= 1, gid
    said = [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith("Thread 1:")]
    assert len(said) == 1 and f"src {item.src[1]}, local {item.local[1]}" in said[0]


def test_a_selected_idle_thread_is_said_to_be_idle():
    _, figure = drawn([3, 1, 2], "po2_merged", thread=2)
    said = [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith("Thread 2:")]
    assert said == ["Thread 2: workgroup 0, subgroup 0, lane 2; idle in bucket 0"]
    assert shapes(figure, "selected-thread") == 1 and shapes(figure, "selected-source") == 0


def test_compared_columns_share_the_scale_of_cells_and_bytes():
    maps = [thread_map(COUNTS["skewed"], name) for name in ("po2_merged", "flat")]
    first, second = threads.grids(maps, 584)
    assert (first.cell_width, first.lanes, first.per_row) == (second.cell_width, second.lanes, second.per_row)


def test_a_shown_step_has_a_bar_for_every_subgroup():
    item, figure = drawn(COUNTS["skewed"], "append", step=3)
    assert shapes(figure, "step-subgroups") == len(item.steps[3].active)
    assert shapes(figure, "steps") + shapes(figure, "step-shown") == len(item.steps)


def test_threads_that_handle_several_items_get_a_block_for_each():
    item = thread_map([64, 64], "append")
    again = dataclasses.replace(item, workgroup=np.zeros(128, np.int32))
    block, within = threads.blocks_of(again)
    assert block.tolist() == [0] * 64 + [1] * 64
    assert within.tolist() == [*range(64), *range(64)]


def test_memory_is_counted_as_filled_wasted_and_free():
    counts = np.array([0, 5, 0, 1])
    used = memory.usage(thread_map(counts, "prefix_search"), counts)
    assert (used.filled, used.wasted, used.free) == (8, 8, 0)
    buckets = memory.usage(thread_map(counts, "po2_merged"), counts)
    assert buckets.filled == 3 * 4 and buckets.wasted == 0 and buckets.free > 0


def test_colours_are_petroff10_and_neighbours_differ():
    colours = src_colours(500).astype(int)
    assert colours[:10].tolist() == [list(rgb(colour)) for colour in PETROFF10]
    for apart in (1, 10):
        assert np.abs(colours[apart:] - colours[:-apart]).sum(axis=1).min() > 25
    assert src_colours(0).shape == (0, 3)


def test_text_is_cut_to_its_room_and_cleaned():
    assert text_width(shorten("a very long device name " * 9, 11, 120), 11) <= 120
    assert clean("a\nb\x07日") == "a b \N{REPLACEMENT CHARACTER}"


def test_the_inline_view_escapes_what_it_says():
    item = dataclasses.replace(thread_map([3, 1], "append"), recorded='<script>"&')
    html = map_html(item)
    assert "<script>" not in html and "&lt;script&gt;" in html and 'alt="' in html
    assert map_html(thread_map([], "flat")).startswith("<figure")
