"""Counts from arrays and files."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from expandlab.counts.checking import check, is_number
from expandlab.errors import CountsError

Column = str | int | None


def load(source: Any, *, column: Column = None) -> np.ndarray:
    """Counts from an array, or from a `.npy`, `.csv`, `.json` or `.parquet` file: a new uint32 array (P1,).

    source: an array, list, column or table; or the path of a file, as text or `Path`.
    column: which column of a table, by name or position from 0; needed where several hold numbers.

    CSV: cells are separated by commas. The first row is a header where a cell of it is not a number. Lines that begin
    with `#` are comments, and blank lines before the first and after the last row are skipped.
    JSON: a list, an object of lists, or a list of objects. Whole-number floats are accepted.

    Raises CountsError naming the file and the first bad row, counted from 0 after the header and also as `.row`; or
    saying why the file cannot be read and what to do.
    """
    if not isinstance(source, (str, os.PathLike)):
        # The caller may go on to change either array.
        return check(_column_of(source, column, "counts")).copy()
    path = Path(source)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise CountsError(f"source={str(source)!r}: use a file that ends in {', '.join(_READERS)}")
    if not _is_file(path):
        raise CountsError(f"source={str(source)!r}: there is no such file; give the path of one")
    try:
        return check(reader(path, column), path.name)
    except CountsError:
        raise
    except Exception as error:
        # A damaged file makes its parser raise almost anything.
        reason = str(error).strip() or type(error).__name__
        what = f"cannot be read as {path.suffix[1:].lower()} ({reason})"
        raise CountsError(f"{path.name}: {what}; check the file or export it again") from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False


def _read_npy(path: Path, column: Column) -> Any:
    with path.open("rb") as file:
        # Pickles inside a file are code; counts never need them. Nor is a zip of arrays one row.
        array = np.lib.format.read_array(file, allow_pickle=False)
    return _column_of(array, column, path.name)


def _read_csv(path: Path, column: Column) -> Any:
    pd = _pandas(path)
    text = path.read_text(encoding="utf-8-sig")
    if "#" in text:
        text = re.sub(r"^[ \t]*#.*\n?", "", text, flags=re.MULTILINE)
    text = text.strip()
    if not text:
        raise CountsError(f"{path.name}: is empty; give at least one row")
    first = next(csv.reader(io.StringIO(text), skipinitialspace=True))
    header = 0 if not all(_is_numeric_text(cell) for cell in first) else None
    if (values := _plain_numbers(text, header, column, path.name, pd)) is not None:
        return values
    with warnings.catch_warnings():
        # Rows with more cells than the header would only be warned about, and cut.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame = pd.read_csv(
            io.StringIO(text), header=header, dtype=str, keep_default_na=False, skipinitialspace=True,
            skip_blank_lines=False, index_col=False,
        )  # fmt: skip

    def has_numbers(position: int) -> bool:
        return bool(pd.to_numeric(frame.iloc[:, position], errors="coerce").notna().any())

    chosen = _choose([str(name) for name in frame.columns], column, path.name, has_numbers)
    return _from_texts(frame.iloc[:, chosen], pd)


def _plain_numbers(text: str, header: int | None, column: Column, name: str, pd: Any) -> np.ndarray | None:
    """The column of a table of nothing but whole numbers, in a tenth of the time; None where it is anything else."""
    try:
        with warnings.catch_warnings():
            # What is doubtful is left to the careful way, which says what is wrong.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.StringIO(text), header=header, na_filter=False, skipinitialspace=True, skip_blank_lines=False,
                index_col=False,
            )  # fmt: skip
    except (ValueError, OverflowError, pd.errors.ParserWarning):
        return None
    if any(kind.kind not in "iu" for kind in frame.dtypes):
        return None
    chosen = _choose([str(at) for at in frame.columns], column, name, lambda at: True)
    return frame.iloc[:, chosen].to_numpy()


def _is_numeric_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return not text.strip()
    return True


def _from_texts(column: Any, pd: Any) -> np.ndarray:
    """A column of text as float64, which holds every count exactly; or as objects where a text is no number."""
    values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64)
    wrong = np.isnan(values)
    if not wrong.any():
        return values
    mixed = values.astype(object)
    mixed[wrong] = column.fillna("").to_numpy(object)[wrong]
    return mixed


def _read_json(path: Path, column: Column) -> Any:
    text = path.read_text(encoding="utf-8-sig")
    if not text.strip():
        raise CountsError(f"{path.name}: is empty; give a list of numbers")
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # Python refuses to read whole numbers of thousands of digits; as floats they are found to be too large.
        data = json.loads(text, parse_int=float)
    return _column_of(data, column, path.name)


def _read_parquet(path: Path, column: Column) -> Any:
    pd = _pandas(path)
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ImportError:
        raise CountsError(f"{path.name}: reading parquet needs pyarrow; pip install pyarrow") from None
    return _from_frame(frame, column, path.name)


_READERS: dict[str, Callable[[Path, Column], Any]] = {
    ".npy": _read_npy,
    ".csv": _read_csv,
    ".json": _read_json,
    ".parquet": _read_parquet,
}


def _pandas(path: Path) -> Any:
    try:
        import pandas
    except ImportError:
        raise CountsError(f"{path.name}: reading {path.suffix[1:]} needs pandas; pip install pandas") from None
    return pandas


def _column_of(data: Any, column: Column, name: str) -> Any:
    """One column of an array, a table, an object of lists or a list of objects; anything else as it is."""
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return _from_frame(data, column, name)
    if isinstance(data, dict):
        columns = list(data.values())
        return columns[_choose(list(map(str, data)), column, name, lambda at: _any_number(columns[at]))]
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        keys = list(dict.fromkeys(key for row in data for key in row))
        chosen = keys[_choose(keys, column, name, lambda at: _any_number(row.get(keys[at]) for row in data))]
        return _objects([row.get(chosen) for row in data])
    fields = getattr(getattr(data, "dtype", None), "names", None)
    if fields and isinstance(data, np.ndarray):
        return data[fields[_choose(list(fields), column, name, lambda at: data.dtype[at].kind in "uif")]]
    if column is None:
        return data
    if isinstance(data, np.ndarray) and data.ndim == 2:
        return data[:, _choose([str(at) for at in range(data.shape[1])], column, name, lambda at: True)]
    raise CountsError(f"column={column!r}: {name} is not a table; leave column out")


def _from_frame(frame: Any, column: Column, name: str) -> np.ndarray:
    def has_numbers(position: int) -> bool:
        values = frame.iloc[:, position]
        return values.dtype.kind in "uif" or (values.dtype.kind == "O" and _any_number(values))

    series = frame.iloc[:, _choose([str(item) for item in frame.columns], column, name, has_numbers)]
    if series.isna().any() or series.dtype.kind not in "buif":
        return series.to_numpy(dtype=object, na_value=None)
    return series.to_numpy(dtype=f"{series.dtype.kind}{series.dtype.itemsize}")


def _choose(names: list[str], column: Column, name: str, has_numbers: Callable[[int], bool]) -> int:
    """The position of the column that is meant: the one that `column` says, or the only one that holds numbers."""
    if column is None:
        numeric = [at for at in range(len(names)) if len(names) == 1 or has_numbers(at)]
        if len(numeric) == 1:
            return numeric[0]
        if not numeric:
            raise CountsError(f"{name}: has no column of numbers ({', '.join(names) or 'no columns at all'}); add one")
        listed = ", ".join(names[at] for at in numeric)
        raise CountsError(f"{name}: has {len(numeric)} columns of numbers ({listed}); say which with column=")
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    there = f"{', '.join(names)}; name one or count from 0" if names else "no columns"
    raise CountsError(f"column={column!r}: {name} has {there}")


def _any_number(values: Any) -> bool:
    # Flags beside the counts are not what is meant.
    return isinstance(values, Iterable) and any(is_number(item) and not isinstance(item, bool) for item in values)


def _objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array
