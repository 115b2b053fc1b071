"""What holds real numbers, and what NumPy would only turn into some: strings, dates, lists; and lengths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays import likes
from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.errors import naming, with_article
from perceptron_rs.rows.storage import refuse_masked, refuse_type, without_index

#: Names of the types of missing values, which a later search for NaN finds.
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")


def refuse_lazy(value: object, name: str) -> None:
    """Raise TypeError for what has no values that NumPy reads: not yet, or integers of 128 bits of polars."""
    refuse_uncomputed(value, name)
    if (kind := likes.integers_of_128_bits(value)) is not None:
        raise TypeError(f"{name} holds integers of the type {kind}, which NumPy has not; cast them to Int64")


def refuse_uncomputed(value: object, name: str) -> None:
    """Raise TypeError for what has not been computed, and perhaps lies on a cluster."""
    is_of_arrow = hasattr(value, "__arrow_c_stream__")  # a reader of batches is an iterator, too
    if isinstance(value, Iterator) and not is_of_arrow:
        kind = with_article(type(value).__name__)
        raise TypeError(f"{name} must hold values, got {kind}, which has none yet; write list({name})")
    if (method := likes.computed_by(value)) is not None:
        other = ", or use a learner of perceptron_rs.dask" if method == "compute" else ""
        raise TypeError(
            f"{name} must hold values, got {with_article(type(value).__name__)}, which has none yet; call "
            f"its method {method}(){other}"
        )


def refuse_columns(table: MatrixLike, name: str) -> None:
    """Raise for the first column of a data frame, or of a table of Arrow, that holds no real numbers."""
    refuse_lazy(table, name)
    for column, values in likes.other_columns(table):
        _refuse_others(values, name, column)


def refuse_objects(values: NDArray[np.generic], name: str) -> None:
    """Raise for the first object in an array that is neither a real number nor a missing value."""
    if values.ndim == 0 or all(map(_is_known, set(map(type, values.flat)))):
        return
    if values.ndim == 2:
        for column in range(values.shape[1]):
            _refuse_others(values[:, column], name, column)
    _refuse_others(values.flat, name)


def numbers_in(X: MatrixLike, name: str = "X") -> NDArray[np.generic]:
    """Return what is given, or a table, as an array of real numbers; those that are objects as float64."""
    X = without_index(X)
    refuse_columns(X, name)
    array = likes.array_of(X)
    refuse_type(array.dtype, name)
    if array.dtype.kind != "O":
        return array
    return numbers_of_objects(array, name)


def finite_numbers(values: MatrixLike, name: str) -> NDArray[np.float64]:
    """Return what is given as float64, in order; ValueError for what is lazy, masked or not finite."""
    refuse_lazy(values, name)
    refuse_masked(values, name)
    with naming(name):
        numbers = np.require(numbers_in(values, name), np.float64, ["C", "A", "E"])
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite, got {numbers[~np.isfinite(numbers)][0]}; clean it first")
    return numbers


def numbers_of_objects(values: NDArray[np.generic], name: str) -> NDArray[np.float64]:
    """Return an array of objects as float64; missing values become NaN."""
    refuse_objects(values, name)
    with naming(name):
        return np.array(
            [np.nan if type(v).__name__ in _MISSING_TYPES else v for v in values.flat], np.float64
        ).reshape(values.shape)


def _is_known(kind: type) -> bool:
    return likes.is_real(kind) or kind.__name__ in _MISSING_TYPES


def _refuse_others(values: Iterable[object], name: str, column: object = None) -> None:
    """Raise for the first value that is no real number."""
    value = next((value for value in values if not _is_known(type(value))), None)
    if value is None:
        return
    where = "" if column is None else f" in column {column!r}"
    if isinstance(value, str | bytes):
        raise ValueError(
            f"{name} must hold real numbers, got the string {value!r:.60}{where}; convert it to numbers, for "
            f"instance by astype(float) or an encoder, or leave it out"
        )
    if hasattr(value, "__len__") and not isinstance(value, Mapping):
        raise TypeError(
            f"{name} must hold real numbers, got lists{where}; make each place of them a column, for "
            f"instance by numpy.stack, or leave it out"
        )
    raise TypeError(
        f"{name} must hold real numbers, got the {type(value).__name__} {value!r:.60}{where}; each "
        f"value of this argument must be no string or other object, but a number: convert it, or leave it out"
    )


def check_lengths(lengths: ArrayLike, rows: int) -> NDArray[np.int64]:
    """Return the lengths of sequences that lie one after another; None: one sequence."""
    if lengths is None:
        return np.array([rows], dtype=np.int64)
    with naming("lengths"):
        refuse_lazy(lengths, "lengths")
        refuse_masked(lengths, "lengths")
        array = np.asarray(lengths)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            f"lengths must be a vector of whole numbers, got shape {array.shape} and dtype {array.dtype}"
        )
    array = array.astype(np.int64)
    if array.size and array.min() < 0:
        i = int(np.argmax(array < 0))
        raise ValueError(f"lengths must be at least 0, got {array[i]} for sequence {i}")
    total = sum(array.tolist())  # which does not wrap around
    if total != rows:
        raise ValueError(f"lengths must add up to the number of rows of X, {rows}, got {total}")
    return array
