"""Refuses numbers that would be rounded before anything is proved of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from perceptron_rs.arrays.likes import MatrixLike, has_dtype, has_rows_by_place, is_of_columns, n_dimensions
from perceptron_rs.rows.real_numbers import refuse_lazy
from perceptron_rs.rows.storage import without_index

_WHOLE = 2**53  # up to here, float64 has every integer


def refuse_rounded(X: MatrixLike, name: str = "X") -> None:
    """Raise ValueError if X, of any form that estimators take, holds a number that is no float64.

    What is no number at all is left to those who read X.
    """
    refuse_lazy(X, name)
    for column, values in _columns_as_they_are(X):
        bad = _rounded(values)
        if bad is None:
            continue
        where = "".join(f" in {kind} {k}," for kind, k in zip(("row", "column"), bad, strict=False)).rstrip(
            ","
        )
        if issparse(X):
            where = f" in entry {bad[0]}"
        elif column is not None:
            where += f", column {column}"
        raise ValueError(
            f"{name} must hold numbers that float64 has exactly, for what is proved would be true of rounded "
            f"ones alone; got {values[bad]!s:.60}{where}. Subtract the same number from a column of "
            f"integers, or scale them, or convert {name} to float64 yourself"
        )


def _columns_as_they_are(X: MatrixLike) -> Iterator[tuple[Any, NDArray[np.generic]]]:
    """Give the numbers of X as they stand, before they have one type: the columns of a frame, or all."""
    if issparse(X):
        data = X.data if X.format in ("csr", "csc", "coo", "bsr", "dia") else X.tocoo().data
        yield None, np.asarray(data).reshape(-1)
    elif has_rows_by_place(X) and n_dimensions(X) == 2:  # pandas
        for j, column in enumerate(X.columns):
            yield repr(column), np.asarray(X.iloc[:, j])
    elif is_of_columns(X):  # polars
        for column in X.columns:
            yield repr(column), np.asarray(X.get_column(column).to_numpy())
    elif hasattr(type(X), "column_names"):  # Arrow
        X = without_index(X)
        for j, column in enumerate(X.column_names):
            yield repr(column), np.asarray(X.column(j))
    else:
        try:
            values = np.asarray(without_index(X))
        except (TypeError, ValueError):  # ragged lists, and what else is no matrix
            return
        if values.dtype.kind == "f" and not has_dtype(X) and (np.abs(values) >= _WHOLE).any():
            values = np.array(X, dtype=object)  # integers beside floats became floats
        yield None, values


def _rounded(values: NDArray[np.generic]) -> tuple[int, ...] | None:
    """Return the place of the first number that is no float64."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind in "iu" and size == 8:
        sizes = np.abs(values).astype(np.uint64)  # -2**63, too: its absolute value overflows to itself
        if (sizes <= _WHOLE).all():
            return None
        lowest = sizes & (~sizes + np.uint64(1))
        bad = sizes // np.maximum(lowest, np.uint64(1)) > _WHOLE
    elif kind == "f" and size > 8:
        with np.errstate(over="ignore", invalid="ignore"):
            bad = (values.astype(np.float64).astype(values.dtype) != values) & ~np.isnan(values)
    elif kind == "O":
        bad = np.array([not _is_float64(value) for value in values.ravel()]).reshape(values.shape)
    else:
        return None
    if not bad.any():
        return None
    return tuple(int(k[0]) for k in np.nonzero(bad)) if bad.ndim else ()


def _is_float64(value: Any) -> bool:
    if isinstance(value, (float, str, bytes)) or value is None:
        return True
    if isinstance(value, np.generic):
        return _rounded(np.asarray(value).reshape(1)) is None
    try:
        near = float(value)
    except OverflowError:
        return False
    except (TypeError, ValueError):
        return True
    try:
        return not np.isfinite(near) or Fraction(value) == Fraction(near)
    except (TypeError, ValueError, OverflowError):
        return bool(value == near)
