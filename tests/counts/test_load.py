"""Counts from arrays and files: accepted, or refused with the first bad row."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl

GOOD = [3, 0, 2**32 - 1, 7]


@pytest.mark.parametrize(
    "given_counts",
    [
        GOOD,
        tuple(GOOD),
        np.array(GOOD, np.uint32),
        np.array(GOOD, np.int64),
        np.array(GOOD, np.uint64),
        np.array(GOOD, np.float64),
        np.array(GOOD, ">u4"),
        np.array(GOOD, object),
        np.array([GOOD, GOOD], np.uint32)[0],
        np.repeat(np.array(GOOD, np.uint32), 2)[::2],
        np.ma.masked_array(GOOD, mask=[False] * 4),
        pd.Series(GOOD),
        pd.Series(GOOD, dtype="Int64"),
    ],
    ids=lambda value: type(value).__name__ + str(getattr(value, "dtype", "")),
)
def test_whole_numbers_of_any_type_are_accepted(given_counts):
    counts = xl.counts.load(given_counts)
    assert counts.dtype == np.uint32 and counts.flags.c_contiguous and counts.tolist() == GOOD


def test_no_counts_are_counts():
    for empty in ([], (), np.zeros(0), np.zeros(0, np.int8), np.zeros(0, "U3")):
        assert xl.counts.load(empty).shape == (0,)


BAD = {
    "negative": ([1, 2, -1, -5], 2),
    "fraction": ([1.0, 2.5, 3.5], 1),
    "nan": ([1.0, 2.0, float("nan")], 2),
    "infinite": ([float("inf"), 1.0], 0),
    "too large": ([1, 2**32], 1),
    "beyond int64": ([1, 2, 2**64], 2),
    "beyond uint64 and negative": ([2**70, -1], 0),
    "huge float": ([1e30], 0),
    "text": (["a", "b"], 0),
    "mixed": ([1, "a", 2], 1),
    "none": ([1, None], 1),
    "complex": ([1j, 2], 0),
    "half": (np.array([1, 2.5], np.float16), 1),
    "masked": (np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]), 1),
    "dates": (np.array(["2020-01-01"], "datetime64[D]"), 0),
    "missing": (pd.Series([1, None], dtype="Int64"), 1),
}


@pytest.mark.parametrize(("counts", "row"), BAD.values(), ids=BAD.keys())
def test_the_first_bad_row_is_named(counts, row):
    with pytest.raises(xl.CountsError, match=f"row {row} ") as caught:
        xl.counts.load(counts)
    assert caught.value.row == row


@pytest.mark.parametrize(
    "counts", [5, np.ones((2, 2)), [[1], [2]], [[1, 2], [3]], np.zeros((0, 3)), None, {"a": [[1]]}]
)
def test_what_is_not_one_row_is_refused(counts):
    with pytest.raises(xl.CountsError):
        xl.counts.load(counts)


@given(counts=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=40))
def test_every_file_format_gives_back_what_was_written(counts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    array = np.array(counts, np.uint32)
    np.save(folder / "c.npy", array)
    (folder / "c.json").write_text(json.dumps(counts))
    (folder / "plain.csv").write_text("\n".join(map(str, counts)))
    pd.DataFrame({"n": array}).to_csv(folder / "named.csv", index=False)
    pd.DataFrame({"other": array[::-1], "n": array}).to_parquet(folder / "c.parquet")
    for name, column in (
        ("c.npy", None),
        ("c.json", None),
        ("plain.csv", None),
        ("named.csv", None),
        ("c.parquet", "n"),
    ):
        assert xl.counts.load(folder / name, column=column).tolist() == counts, name


FILES = {
    "header.csv": ("n\n3\n-1\n", None, 1),
    "bare.csv": ("3\n4\n1.5\n", None, 2),
    "nan.csv": ("n\n3\nnan\n", None, 1),
    "gap.csv": ("a,n\n1,3\n2,\n", "n", 1),
    "words.csv": ("n\n3\nfour\n", None, 1),
    "large.csv": ("n\n3\n4294967296\n", None, 1),
    "huge.csv": ("n\n1e30\n", None, 0),
    "list.json": ("[1, 2, -3]", None, 2),
    "object.json": ('{"n": [1, 2.5]}', None, 1),
    "rows.json": ('[{"n": 1}, {"n": null}]', None, 1),
    "missing.json": ('[{"n": 1}, {}]', None, 1),
    "digits.json": ("[1, 1" + "0" * 40 + "]", None, 1),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_row_in_a_file_is_named_with_the_file(name, tmp_path):
    text, column, row = FILES[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(xl.CountsError, match=f"{name}: row {row} ") as caught:
        xl.counts.load(tmp_path / name, column=column)
    assert caught.value.row == row


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("none.csv", None, "no such file"),
        ("c.txt", b"1", "ends in"),
        ("empty.csv", b"", "empty"),
        ("comment.csv", b"# only this\n", "empty"),
        ("two.csv", b"a,b\n1,2\n", "column="),
        ("bad.json", b"{", "json"),
        ("bad.npy", b"no numpy", "npy"),
        ("bad.parquet", b"no parquet", "parquet"),
        ("two.json", b'{"a": [1], "b": [2]}', "column="),
        ("binary.csv", b"\xff\xfe\x00\x01", "binary.csv"),
    ],
)
def test_a_file_that_cannot_be_read_is_explained(name, content, text, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(xl.CountsError, match=text):
        xl.counts.load(tmp_path / name)


def test_pickles_are_never_opened(tmp_path):
    np.save(tmp_path / "c.npy", np.array([1, {"a": 2}], object), allow_pickle=True)
    with pytest.raises(xl.CountsError, match=r"c\.npy"):
        xl.counts.load(tmp_path / "c.npy")


def test_columns_are_named_or_counted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# exported\na,n\n1,3\n2,4\n")
    assert xl.counts.load(path, column="n").tolist() == xl.counts.load(path, column=1).tolist() == [3, 4]
    with pytest.raises(xl.CountsError, match="column='x'"):
        xl.counts.load(path, column="x")


def test_the_standard_library_has_one_src_for_each_file():
    root = Path(sysconfig.get_path("stdlib"))
    out = {"site-packages", "dist-packages", "test", "tests", "idle_test"}
    files = sorted(path for path in root.rglob("*.py") if not out & set(path.relative_to(root).parts[:-1]))
    counts = xl.counts.standard_library()
    assert len(counts) == len(files) > 300
    for index in range(0, len(files), 25):
        lines = subprocess.run(["wc", "-l", str(files[index])], capture_output=True, text=True, check=True).stdout
        assert counts[index] == int(lines.split()[0])
    counts[:] = 0
    assert xl.counts.standard_library().any()
