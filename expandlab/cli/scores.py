"""Scores from a file, for `expandlab topk`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from expandlab.topk.keys import FORMATS

SUFFIXES = (".npy", ".csv", ".json", ".parquet")


def read_scores(path: Path, column: str | None, dtype: str | None) -> np.ndarray:
    """One row of scores from a file.

    A .npy file keeps its dtype; tables are read as float32. dtype: converts, rounding floats. Raises ValueError saying
    what to do.
    """
    if dtype is not None and dtype not in FORMATS:
        raise ValueError(f"--dtype {dtype}: use one of {', '.join(FORMATS)}")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: use a file that ends in {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    try:
        # Pickles inside a file are code; scores never need them.
        found = np.load(path, allow_pickle=False) if suffix == ".npy" else _column(_table(path, suffix), column, path)
    except (ValueError, EOFError, TypeError, ImportError, RecursionError) as error:
        raise ValueError(f"{path.name}: cannot be read as {suffix[1:]} scores ({error})") from error
    if suffix != ".npy":
        return _converted(found, dtype or "float32", path)
    if dtype is not None:
        return _converted(found, dtype, path)
    if found.dtype.newbyteorder("=").name not in FORMATS:
        raise ValueError(f"{path.name}: holds {found.dtype}; --dtype float32 converts it, and rounds")
    return found


def _table(path: Path, suffix: str) -> Any:
    import pandas as pd

    if suffix == ".parquet":
        return pd.read_parquet(path)
    if suffix == ".json":
        return pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))
    first = path.read_text(encoding="utf-8-sig").lstrip().partition("\n")[0]
    return pd.read_csv(path, header=None if all(map(_number, first.split(","))) else 0)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _column(table: Any, column: str | None, path: Path) -> np.ndarray:
    names = [str(name) for name in table.columns]
    if column is not None and column not in names:
        raise ValueError(f"no column {column!r}; it has {', '.join(names)}")
    if column is None and len(names) != 1:
        raise ValueError(f"{len(names)} columns; choose one with --column: {', '.join(names)}")
    return table.iloc[:, names.index(column) if column is not None else 0].to_numpy()


def _converted(found: np.ndarray, dtype: str, path: Path) -> np.ndarray:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            values = found.astype(dtype)
            exact = dtype.startswith("float") or np.array_equal(values.astype(np.float64), found.astype(np.float64))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path.name}: not all of it are numbers ({error})") from error
    if not exact:
        raise ValueError(f"{path.name}: not all of it are whole numbers that {dtype} holds; use --dtype float32")
    return values
