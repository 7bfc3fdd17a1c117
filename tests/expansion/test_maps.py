"""The model's thread map against the definition, and against what devices record."""

from __future__ import annotations

import json

import numpy as np
import pytest
from definition import pairs
from drivers import driver
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl
from expandlab import wgsl

NAMES = list(xl.strategies())
RUNS = [name for name in NAMES if not xl.strategies()[name].modelled]
COLUMNS = ("dispatch", "workgroup", "subgroup", "lane", "src", "local", "bucket")
INPUTS = {
    "seed": [3, 1, 2],
    "eleven": [11],
    "none": [],
    "zeros": [0] * 100,
    "zeros between": [0, 4, 0, 0, 31, 0, 1, 0],
    "giant": [1] * 50 + [5000] + [1] * 50,
    "powers": [2**k + d for k in range(9) for d in (-1, 0, 1)],
}


def rows_of(m, names=("src", "local")):
    active = m.src >= 0
    return sorted(zip(*(getattr(m, name)[active].tolist() for name in names), strict=True))


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("counts", INPUTS.values(), ids=INPUTS.keys())
@pytest.mark.parametrize(("size", "width"), [(64, 32), (32, 4), (256, 64), (32, 64)])
def test_every_item_stands_in_exactly_one_row(strategy, counts, size, width):
    m = xl.thread_map(counts, strategy, workgroup_size=size, subgroup_size=width)
    assert rows_of(m) == [tuple(row) for row in pairs(counts).tolist()]
    lengths = {len(getattr(m, name)) for name in COLUMNS}
    assert lengths == {len(m)}
    idle = m.src < 0
    assert (m.local[idle] == -1).all()
    assert m.utilisation == (1.0 if len(m) == 0 else np.count_nonzero(~idle) / len(m))
    if len(m):
        assert m.lane.max() < min(width, size) and m.lane.min() == 0
        assert m.workgroup_size == (min(size, 128) if strategy == "task_mesh" else size)
        if strategy != "draw_indirect_count" or max(counts) > size - min(width, size):
            assert m.subgroup.max() == -(-m.workgroup_size // min(width, size)) - 1


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("counts", INPUTS.values(), ids=INPUTS.keys())
def test_dst_numbers_the_items(strategy, counts):
    m = xl.thread_map(counts, strategy)
    assert sorted(m.dst[m.src >= 0].tolist()) == list(range(sum(counts)))


@pytest.mark.parametrize("strategy", NAMES)
def test_steps_lead_from_pass_1_to_the_work_and_point_at_real_lines(strategy):
    counts = INPUTS["powers"]
    m = xl.thread_map(counts, strategy, workgroup_size=64, subgroup_size=16)
    assert m.steps[-1].label == "work"
    assert sum(int(step.active.sum()) * step.repeats for step in m.steps if step.label == "work") == sum(counts)
    order = list(dict.fromkeys(step.pass_name for step in m.steps))
    for step in m.steps:
        assert step.active.min() >= 0 and step.active.max() <= 16 and step.repeats >= 1
        text = wgsl.read(step.line.file).splitlines()[step.line.line - 1]
        assert "//:" in text
    if not xl.strategies()[strategy].modelled:
        passes = [name for name in xl.expand(counts, strategy, device="reference").graph.passes if "reset" not in name]
        # A dispatch that has nothing to do takes no step.
        assert [name for name in passes if name in order] == order


@given(counts=st.lists(st.integers(0, 40), max_size=60))
def test_append_loops_as_long_as_its_largest_n(counts):
    steps = [step for step in xl.thread_map(counts, "append").steps if step.label == "write one info"]
    assert sum(step.repeats for step in steps) == max(counts, default=0)
    assert sum(step.repeats * int(step.active.sum()) for step in steps) == sum(counts)


@pytest.mark.parametrize("strategy", NAMES)
def test_memory_holds_what_the_definition_says(strategy):
    counts = np.array([11, 0, 3, 8, 1])
    m = xl.thread_map(counts, strategy)
    rows = m.memory[0].rows
    expected = {  # strategy: {row: src of its entries}
        "flat": {"base of each src": [0, 1, 2, 3, 4]},
        "append": {"infos": np.repeat(np.arange(5), counts).tolist()},
        "prefix_search": {"ends": [0, 1, 2, 3, 4]},
        "po2_range": {"bucket 0": [4], "bucket 1": [2, 2], "bucket 3": [0, 0, 3]},
        "po2_buckets": {"bucket 0": [0, 2, 4], "bucket 1": [0, 2], "bucket 3": [0, 3]},
        "po2_merged": {"bucket 0": [0, 2, 4], "bucket 1": [0, 2], "bucket 3": [0, 3]},
    }
    if strategy in expected:
        assert {row.label: row.src.tolist() for row in rows if row.used} == expected[strategy]
    assert all(row.used <= row.capacity for row in rows)
    assert m.memory[0].used_bytes <= m.memory[0].capacity_bytes


def test_eleven_goes_to_buckets_0_1_and_3():
    m = xl.thread_map([11], "po2_merged", subgroup_size=4)
    active = m.src >= 0
    assert {b: m.local[active & (m.bucket == b)].tolist() for b in (0, 1, 3)} == {
        0: [0],
        1: [1, 2],
        3: [3, 4, 5, 6, 7, 8, 9, 10],
    }


def test_no_subgroup_of_po2_merged_straddles_two_buckets():
    counts = xl.counts.make("geometric", 300, mean=9.0, seed=4)
    m = xl.thread_map(counts, "po2_merged", workgroup_size=64, subgroup_size=16)
    groups = m.bucket.reshape(-1, 16)
    assert (groups == groups[:, :1]).all()


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", RUNS)
@pytest.mark.parametrize("counts", INPUTS.values(), ids=INPUTS.keys())
@pytest.mark.parametrize("size", [32, 64, 256])
def test_the_device_records_what_the_model_says(strategy, counts, size, gpu):
    model = xl.thread_map(counts, strategy, workgroup_size=size, subgroup_size=gpu.subgroup_size)
    recorded = xl.record_map(counts, strategy, device=gpu, workgroup_size=size)
    assert recorded.recorded == gpu.info.label and len(recorded) == len(model)
    if xl.strategies()[strategy].atomic_order:
        assert rows_of(recorded) == rows_of(model)
        assert rows_of(recorded, ("src", "local", "bucket")) == rows_of(model, ("src", "local", "bucket"))
        for name in ("dispatch", "workgroup", "subgroup", "lane", "bucket"):
            assert np.array_equal(getattr(recorded, name), getattr(model, name)), name
    else:
        for name in (*COLUMNS, "entry"):
            assert np.array_equal(getattr(recorded, name), getattr(model, name)), name
    for mine, theirs in zip(recorded.memory[0].rows, model.memory[0].rows, strict=True):
        assert (mine.label, mine.capacity) == (theirs.label, theirs.capacity)
        assert sorted(mine.src.tolist()) == sorted(theirs.src.tolist())


def test_the_reference_has_nothing_to_record():
    with pytest.raises(xl.UnsupportedError, match="thread_map"):
        xl.record_map([1, 2], "flat", device="reference")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"workgroup_size": 16}, "workgroup_size"),
        ({"subgroup_size": 3}, "subgroup_size"),
        ({"subgroup_size": 2}, "sub"),
    ],
)
def test_a_bad_size_is_named(arguments, name):
    with pytest.raises(ValueError, match=name):
        xl.thread_map([1, 2], "flat", **arguments)


def test_a_map_too_large_for_memory_is_refused():
    with pytest.raises(xl.UnsupportedError, match="threads"):
        xl.thread_map([2**27], "prefix_search")
    counts = np.ones(20_000, np.uint32)
    counts[0] = 20_000
    with pytest.raises(xl.UnsupportedError, match="threads"):
        xl.thread_map(counts, "flat")
    with pytest.raises(OverflowError):
        xl.thread_map([2**32 - 1, 1], "flat")


def test_a_map_turns_into_json():
    plain = json.loads(json.dumps(xl.thread_map([3, 1, 2], "append").to_dict()))
    assert len(plain["src"]) == 64 and plain["utilisation"] == 6 / 64
    assert plain["memory"][0]["rows"][0]["src"] == [0, 0, 0, 1, 2, 2]


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", RUNS)
def test_dawn_records_what_the_model_says(strategy):
    dawn = driver("dawn")
    missing = [feature for feature in xl.strategies()[strategy].needs if feature not in dawn.features]
    if missing:
        pytest.skip(f"Dawn lacks {', '.join(missing)}")
    counts = INPUTS["powers"]
    model = xl.thread_map(counts, strategy, subgroup_size=dawn.subgroup_size)
    recorded = xl.record_map(counts, strategy, device=dawn)
    assert len(recorded) == len(model) and rows_of(recorded) == rows_of(model)
