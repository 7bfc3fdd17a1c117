"""Counts from arrays and files, checked: what is wrong is named by its row."""

from __future__ import annotations

import json
import numbers
from pathlib import Path
from typing import Any

import numpy as np

from expandlab.errors import CountsError

LARGEST = 2**32 - 1
_SUFFIXES = (".npy", ".csv", ".json", ".parquet")


def check(counts: Any, name: str = "counts") -> np.ndarray:
    """`counts` as uint32 (P1,), contiguous. The input is not changed; a uint32 array may be returned as it is.

    Raises CountsError where it is not one row of whole numbers in 0 .. 2^32 - 1; `.row` is the first bad row.
    """
    try:
        array = np.ma.asarray(counts) if np.ma.isMaskedArray(counts) else np.asarray(counts)
    except (ValueError, TypeError, OverflowError) as error:
        raise CountsError(
            f"{name}: cannot be read as one row of numbers ({error}); give a flat list or array"
        ) from None
    if array.ndim != 1:
        raise CountsError(f"{name}: {array.ndim}-D, shape {array.shape}; give one row of numbers, one N for each src")
    if np.ma.isMaskedArray(array):
        masked = np.flatnonzero(np.ma.getmaskarray(array))
        if len(masked):
            raise _bad(name, int(masked[0]), "is masked", "fill it or leave it out")
        array = np.asarray(array)
    if array.dtype.kind == "O":
        return _from_objects(array, name)
    if array.dtype.kind not in "buif":
        if len(array) == 0:
            return np.zeros(0, np.uint32)
        if not isinstance(counts, np.ndarray):
            # One text turns a whole list into texts; the row that is to blame is found among the objects.
            return _from_objects(np.asarray(counts, dtype=object), name)
        raise _bad(name, 0, f"is {array[0]!r} (dtype {array.dtype})", "counts are whole numbers")
    return _from_numbers(array, name)


def _from_numbers(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind in "bu" and array.dtype.itemsize <= 4:
        return np.ascontiguousarray(array, np.uint32)
    with np.errstate(invalid="ignore", over="ignore"):
        bad = (array < 0) | (array > LARGEST)
        if array.dtype.kind == "f":
            # NaN compares as nothing, so it is asked for by the comparison that it fails.
            bad |= ~(np.floor(array) == array)
    rows = np.flatnonzero(bad)
    if len(rows):
        row = int(rows[0])
        raise _complaint(name, row, array[row])
    return np.ascontiguousarray(array, np.uint32)


def _from_objects(array: np.ndarray, name: str) -> np.ndarray:
    """Python objects, such as whole numbers too large for any dtype."""
    for row, value in enumerate(array):
        real = isinstance(value, (numbers.Real, np.bool_))
        if not real or not 0 <= value <= LARGEST or value != int(value):
            raise _complaint(name, row, value)
    return np.array([int(value) for value in array], np.uint32)


def _complaint(name: str, row: int, value: Any) -> CountsError:
    if isinstance(value, (np.generic,)):
        value = value.item()
    if not isinstance(value, numbers.Real):
        return _bad(name, row, f"is {value!r}, not a number", "counts are whole numbers")
    if value != value:
        return _bad(name, row, "is NaN", "counts are whole numbers")
    if value < 0:
        return _bad(name, row, f"is {value}, which is negative", "a src spawns 0 items or more")
    if value > LARGEST:
        return _bad(name, row, f"is {value}, more than 2^32 - 1", "split the src")
    return _bad(name, row, f"is {value}, not a whole number", "round it as you mean it")


def _bad(name: str, row: int, what: str, advice: str) -> CountsError:
    return CountsError(f"{name}: row {row} {what}; {advice}", row=row)


def load(source: Any, *, column: str | int | None = None) -> np.ndarray:
    """Counts from an array, or from a `.npy`, `.csv`, `.json` or `.parquet` file: uint32 (P1,).

    source: an array or list, checked as it is; or the path of a file, as text or `Path`.
    column: which column of a table, by name or position; needed where it has several columns of numbers. Lines of a
        CSV that begin with `#` are comments. JSON is a list, an object of lists, or a list of objects.

    Raises CountsError naming the file and the first bad row (counted from 0, the header aside); whole-number floats
    are accepted.
    """
    if not isinstance(source, (str, Path)):
        return check(_column_of(source, column, "source"), "counts")
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise CountsError(f"source={str(source)!r}: use a file that ends in {', '.join(_SUFFIXES)}")
    if not path.is_file():
        raise CountsError(f"source={str(source)!r}: there is no such file; give the path of one")
    reader = {".npy": _read_npy, ".csv": _read_csv, ".json": _read_json, ".parquet": _read_parquet}[suffix]
    try:
        return check(reader(path, column), path.name)
    except CountsError:
        raise
    except (OSError, ValueError, RecursionError, UnicodeDecodeError) as error:
        raise CountsError(f"{path.name}: cannot be read as {suffix[1:]} ({error}); check or export it again") from None


def _read_npy(path: Path, column: str | int | None) -> Any:
    # Pickles inside a file are code; counts never need them.
    return _column_of(np.load(path, allow_pickle=False), column, path.name)


def _read_csv(path: Path, column: str | int | None) -> Any:
    import pandas as pd

    header = _csv_header(path)
    if header is None:
        raise CountsError(f"{path.name}: is empty; give at least one row")
    frame = pd.read_csv(
        path, header=0 if header else None, dtype=str, keep_default_na=False, comment="#", skipinitialspace=True
    )
    return _numbers(_pick(frame, column, path.name), path.name)


def _csv_header(path: Path) -> bool | None:
    """Whether the first row that counts holds names; None where there is no row."""
    with path.open(encoding="utf-8-sig") as lines:
        for line in lines:
            text = line.split("#")[0].strip()
            if text:
                return not all(_is_number(cell) for cell in text.split(","))
    return None


def _is_number(text: str) -> bool:
    try:
        float(text.strip().strip('"'))
    except ValueError:
        return text.strip() == ""
    return True


def _numbers(column: Any, name: str) -> np.ndarray:
    """A column of text as float64, which holds every count exactly; the first text that is no number is named."""
    import pandas as pd

    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    rows = np.flatnonzero(np.isnan(values))
    if len(rows):
        text = str(column.iloc[int(rows[0])]).strip()
        what = "is NaN" if text.lower() == "nan" else (f"is {text!r}, not a number" if text else "is empty")
        raise _bad(name, int(rows[0]), what, "counts are whole numbers")
    return values


def _read_json(path: Path, column: str | int | None) -> Any:
    return _column_of(json.loads(path.read_text(encoding="utf-8-sig")), column, path.name)


def _read_parquet(path: Path, column: str | int | None) -> Any:
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise CountsError(f"{path.name}: reading parquet needs pyarrow; pip install pyarrow") from None
    return _array(_pick(frame, column, path.name))


def _array(series: Any) -> np.ndarray:
    """A column's values; missing ones become NaN, which `check` names."""
    if series.dtype.kind in "buif" and not hasattr(series.dtype, "na_value"):
        return series.to_numpy()
    values = series.to_numpy(dtype=object, na_value=float("nan"))
    return values


def _pick(frame: Any, column: str | int | None, name: str) -> Any:
    names = [str(item) for item in frame.columns]
    if column is None:
        if len(names) == 1:
            return frame.iloc[:, 0]
        raise CountsError(f"{name}: has {len(names)} columns ({', '.join(names)}); say which with column=")
    if isinstance(column, str) and column in names:
        return frame.iloc[:, names.index(column)]
    if isinstance(column, (int, np.integer)) and 0 <= column < len(names):
        return frame.iloc[:, int(column)]
    raise CountsError(f"column={column!r}: {name} has {', '.join(names)}, or 0 to {len(names) - 1}")


def _column_of(data: Any, column: str | int | None, name: str) -> Any:
    """One column of an array, a table, an object of lists or a list of objects; anything else as it is."""
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return _array(_pick(data, column, name))
    if isinstance(data, dict):
        if column is None and len(data) == 1:
            return next(iter(data.values()))
        if column not in data:
            raise CountsError(f"column={column!r}: {name} is an object with {', '.join(map(str, data))}; name one")
        return data[column]
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        names = list(data[0])
        if column is None and len(names) != 1:
            raise CountsError(f"{name}: its rows have {', '.join(map(str, names))}; say which with column=")
        wanted = names[0] if column is None else column
        return np.array([row.get(wanted, float("nan")) for row in data], dtype=object)
    if column is None:
        return data
    if getattr(data, "dtype", None) is not None and data.dtype.names and column in data.dtype.names:
        return data[column]
    table = isinstance(data, np.ndarray) and data.ndim == 2 and isinstance(column, (int, np.integer))
    if table and 0 <= column < data.shape[1]:
        return data[:, int(column)]
    raise CountsError(f"column={column!r}: {name} has no such column; leave it out or name one that is there")
