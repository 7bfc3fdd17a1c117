"""Whether numbers are counts: the first one that is not is named by its row."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

import numpy as np

from expandlab.errors import CountsError

LARGEST = 2**32 - 1


def check(counts: Any, name: str = "counts") -> np.ndarray:
    """`counts` as uint32 (P1,), C-contiguous. The input is not changed; a uint32 array may be returned as it is.

    counts: an array, list or column of whole numbers of any type: floats and decimals that are whole are counts, and
        so are truth values (0 and 1).
    name: how messages call it.

    Raises CountsError where it is not one row of whole numbers in 0 .. 2^32 - 1; `.row` is the first bad row, counted
    from 0, or None where no single row is to blame.
    """
    array = _one_row(counts, name)
    masked = np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else None
    # What lies under a mask is arbitrary, so a masked row is bad without a look at it.
    values = np.asarray(array if masked is None else array.filled(0))
    if values.dtype.kind == "O":
        row, numeric = _first_bad_object(values), values
    else:
        row, numeric = _first_bad_number(values)
    hidden = None if masked is None or not masked.any() else int(np.argmax(masked))
    if hidden is not None and (row is None or hidden < row):
        raise _bad(name, hidden, "is masked", "fill it or leave it out")
    if row is not None:
        raise _complaint(name, row, values[row])
    if values.dtype.kind == "O":
        return np.array([int(value) for value in values], np.uint32)
    return np.ascontiguousarray(numeric, np.uint32)


def _one_row(counts: Any, name: str) -> np.ndarray:
    """`counts` as a 1-D array of numbers or objects."""
    try:
        array = np.ma.asarray(counts) if np.ma.isMaskedArray(counts) else np.asarray(counts)
        if array.dtype.kind not in "buifO" and not isinstance(counts, np.ndarray):
            # One text turns a whole list into texts; the row that is to blame is found among the objects.
            array = np.asarray(counts, dtype=object)
    except (ValueError, TypeError, OverflowError) as error:
        raise CountsError(f"{name}: not one row of numbers ({error}); give a flat list or array") from None
    if array.ndim == 0:
        raise CountsError(f"{name}: a {type(counts).__name__} is not one row of numbers; give a list or an array")
    if array.ndim != 1:
        raise CountsError(f"{name}: {array.ndim}-D, shape {array.shape}; give one row of numbers, one N for each src")
    return array


def _first_bad_number(array: np.ndarray) -> tuple[int | None, np.ndarray]:
    """The first row that is no count, and the numbers in a type that holds them and 2^32 - 1 exactly."""
    if array.dtype.kind not in "buif":
        return (0 if len(array) else None), array
    if array.dtype.kind in "bu" and array.dtype.itemsize <= 4:
        return None, array
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        # In float32 the bound itself would round to 2^32, in float16 to infinity.
        array = array.astype(np.float64)
    bad = (array < 0) | (array > LARGEST)
    if array.dtype.kind == "f":
        # NaN is equal to nothing, so this finds it as well.
        bad |= np.floor(array) != array
    return (int(np.argmax(bad)) if bad.any() else None), array


def _first_bad_object(array: np.ndarray) -> int | None:
    """The same among Python objects, such as whole numbers too large for any dtype."""
    return next((row for row, value in enumerate(array) if not _is_count(value)), None)


def _is_count(value: Any) -> bool:
    if not is_number(value):
        return False
    try:
        return bool(0 <= value <= LARGEST and value == int(value))
    except ArithmeticError:  # a decimal NaN refuses to be compared
        return False


def is_number(value: Any) -> bool:
    """Is this a real number, whatever its type and size? (Truth values are 0 and 1.)"""
    return isinstance(value, (numbers.Real, Decimal, np.bool_))


def _complaint(name: str, row: int, value: Any) -> CountsError:
    if isinstance(value, np.generic):
        value = value.item()
    text = value.strip() if isinstance(value, str) else repr(value)
    if value is None or text in ("", "<NA>"):
        return _bad(name, row, "is empty", "give its number, 0 for none")
    if text.lower() in ("nan", "decimal('nan')", "decimal('snan')"):
        return _bad(name, row, "is NaN", "give its number, 0 for none")
    if not is_number(value):
        return _bad(name, row, f"is {value!r}, not a number", "counts are whole numbers")
    if value < 0:
        return _bad(name, row, f"is {_short(value)}, which is negative", "a src spawns 0 items or more")
    if value > LARGEST:
        return _bad(name, row, f"is {_short(value)}, more than 2^32 - 1", "split the src")
    return _bad(name, row, f"is {value}, not a whole number", "round it as you mean it")


def _short(value: Any) -> str:
    # Python refuses to write out whole numbers of more than some thousands of digits.
    huge = isinstance(value, int) and value.bit_length() > 256
    return f"a number of {value.bit_length()} bits" if huge else str(value)


def _bad(name: str, row: int, what: str, advice: str) -> CountsError:
    return CountsError(f"{name}: row {row} {what}; {advice}", row=row)
