"""From what the caller gives as X to the rows of an engine, without a copy where that is possible."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import MatrixLike, column_names, dtype_of, has_shape, is_convertible, is_csr
from perceptron_rs.common.errors import naming
from perceptron_rs.common.rows.selection import portable_values
from perceptron_rs.common.rows.sparse import checked_format, csr_arrays, is_sparse
from perceptron_rs.common.rows.storage import (
    checked_by,
    holds_numbers,
    is_masked,
    refuse_type,
    to_stored,
    without_index,
)
from perceptron_rs.csr import stored_csr, without_duplicates
from perceptron_rs.engines import Engine, Rows
from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.state import StoredRows

if TYPE_CHECKING:
    from perceptron_rs.common.schema import SchemaMixin

__all__ = [
    "RawInput",
    "ValidatedRows",
    "as_array",
    "assert_width",
    "check_matrix",
    "examples",
    "examples_of_numbers",
    "read",
    "unchecked",
]

_BLOCK = 1 << 20
_LARGE = ("values", "indices")  # those of a CSR matrix that have all entries


@dataclass(frozen=True, slots=True)
class ValidatedRows:
    """The rows of an engine, the values to look at after an overflow, and the arrays that are read."""

    rows: Rows
    values: NDArray[np.generic]
    indptr: NDArray[np.integer] | None
    stored: StoredRows

    def is_view_of(self, X: MatrixLike) -> bool:
        """Whether the engine reads the very arrays of X, which are parts of others."""
        given = (X,) if self.indptr is None else (X.data, X.indices)
        read = (self.values,) if self.indptr is None else (self.stored[f"rows_{name}"] for name in _LARGE)
        return all(a is b and not a.flags.owndata for a, b in zip(given, read, strict=True))

    def assert_finite(self, estimator: object) -> None:
        """Raise scikit-learn's error if there is a NaN or an infinity in X."""
        _assert_finite(self.values, estimator)

    def assert_finite_in(self, selected: NDArray[np.bool_], estimator: object) -> None:
        """Raise that error if there is one in the selected rows, read a block at a time."""
        if self.values.dtype.kind in "biu":
            return
        if self.indptr is not None:
            _assert_finite(self.values[np.repeat(selected, np.diff(self.indptr))], estimator)
            return
        chosen = np.flatnonzero(selected)
        step = max(1, _BLOCK // self.values.shape[1])
        for start in range(0, len(chosen), step):
            _assert_finite(self.values[chosen[start : start + step]], estimator)


def _assert_finite(values: NDArray[np.generic], estimator: object) -> None:
    values = portable_values(values)
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(values)
        if is_finite.all():
            return
        if "sklearn" in sys.modules:  # without it there is no estimator, and nobody has told it to look away
            from sklearn.utils import assert_all_finite

            assert_all_finite(values, input_name="X", estimator_name=type(estimator).__name__)
            return
    raise ValueError(f"Input X contains {values[~is_finite][0]}; leave such examples out, or fill them in")


def examples(estimator: object, engine: Engine, X: MatrixLike, *, reset: bool) -> ValidatedRows:
    """Validate X (``reset`` as in scikit-learn's ``validate_data``) and hand it to the engine.

    Whether all values are finite is not looked at here: the engine notices it while it works.
    """
    if reset:
        for name in ("_column_base", "_input"):  # the command line says them of a file, after the fit
            vars(estimator).pop(name, None)
    with naming("X"):
        if (_is_plain_array(X) or _is_plain_csr(X)) and _has_known_columns(X, estimator, reset):
            X = checked_format(X) if is_sparse(X) else X
        else:
            from sklearn.utils.validation import validate_data

            options = {"accept_sparse": "csr", "accept_large_sparse": True, "ensure_all_finite": False}
            X = checked_by(partial(validate_data, estimator, reset=reset, **options), check_matrix(X))
        return read(engine, X)


class RawInput(Protocol):
    """How columns were made of raw examples when a model was trained."""

    def columns_of(self, X: object) -> MatrixLike:
        """Return the columns of texts or dictionaries; X itself, if it has columns."""

    def scaled(self, X: object) -> MatrixLike:
        """Return columns of numbers as the model's were scaled."""


def examples_of_numbers(
    predictor: SchemaMixin, engine: Engine, X: MatrixLike, how: RawInput | None = None
) -> ValidatedRows:
    """Check the X of a predictor by NumPy alone: arrays, lists of lists, and matrices of SciPy.

    The columns of a data frame must have the names that the predictor knows, in that order. Dictionaries have
    the columns that they name. ``how`` makes columns of raw examples.
    """
    with naming("X"):
        X = X if how is None else how.columns_of(X)
        X = _rows_of_dictionaries(predictor, X) if _are_dictionaries(X) else X
        names = _column_names(X)
        X = check_matrix(X)
        X = X.tocsr() if is_sparse(X) else _matrix_of_numbers(X)
        if len(X.shape) != 2 or min(X.shape) == 0:
            raise ValueError(
                f"X must have two dimensions, examples by features, and one example or more, got the shape "
                f"{X.shape}" + ("" if X.shape[:1] == (0,) else "; one example is a list in a list, [x]")
            )
        known = feature_names(predictor)
        if known is not None and names is not None and names != known.tolist():
            raise ValueError(
                f"X must have the columns of the fit in order, {known.tolist()!r:.200}, got {names!r:.200}"
            )
        assert_width(predictor, X.shape[1])
        return read(engine, X if how is None else how.scaled(X))


def _are_dictionaries(X: object) -> bool:
    return isinstance(X, list | tuple) and bool(X) and isinstance(X[0], Mapping)


def _rows_of_dictionaries(predictor: SchemaMixin, X: MatrixLike) -> NDArray[np.generic]:
    """Return dictionaries as rows of the columns that they name."""
    known = getattr(predictor, "feature_names_in_", None)
    if known is None:
        raise TypeError(
            f"X must hold numbers, for the columns of this model have no names, got {X[0]!r:.80}; pass "
            f"rows of {predictor.n_features_in_} numbers"
        )
    names, rows = known.tolist(), []
    for number, example in enumerate(X):
        if not isinstance(example, Mapping):
            raise TypeError(f"X must hold dictionaries alone, got {example!r:.80} as example {number}")
        lacking = next((name for name in names if name not in example), None)
        if lacking is not None:
            raise ValueError(f"example {number} of X lacks the column {lacking!r}")
        rows.append([example[name] for name in names])
    return np.array(rows)


def _column_names(X: MatrixLike) -> list[str] | None:
    """Return the names of the columns of a data frame, if all are strings."""
    names = column_names(without_index(X))
    return names if names and all(isinstance(name, str) for name in names) else None


def _matrix_of_numbers(X: MatrixLike) -> NDArray[np.generic]:
    array: NDArray[np.generic] = np.asarray(X)
    refuse_type(array.dtype, "X")
    return array.astype(np.float64) if array.dtype.kind == "O" else array


def read(engine: Engine, X: MatrixLike) -> ValidatedRows:
    """Hand an array or a CSR matrix to the engine, in a type that it stores and in order."""
    if not is_sparse(X):
        values = to_stored(X)
        return ValidatedRows(engine.dense_rows(values), values, None, {"rows": values})
    indptr, indices, values = csr_arrays(X)
    rows = engine.csr_rows(indptr, indices, values, X.shape[1])
    arrays = (indptr, indices, values)
    if not rows.canonical:
        arrays = without_duplicates(indptr, indices, values)
        rows = engine.csr_rows(*arrays, X.shape[1])
    return ValidatedRows(rows, values, indptr, stored_csr(*arrays))


def unchecked(estimator: SchemaMixin, engine: Engine, X: MatrixLike) -> ValidatedRows:
    """Hand X to the engine of a fitted estimator as it is."""
    if isinstance(X, np.ndarray):
        rows, arrays, values = engine.dense_rows(X), {"rows": X}, X
    elif is_csr(X):
        rows, values = engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1]), X.data
        arrays = stored_csr(X.indptr, X.indices, X.data)
    else:
        raise TypeError(
            f"X must be an array or a CSR matrix with check_input=False, got {type(X).__name__}; "
            f"convert it, or leave check_input=True"
        )
    assert_width(estimator, rows.shape[1])
    return ValidatedRows(rows, values, arrays.get("rows_indptr"), arrays)


def assert_width(estimator: SchemaMixin, n_features: int) -> None:
    """Raise if examples have another width than those that a fitted estimator has seen."""
    needed = estimator.n_features_in_
    if n_features != needed:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting {needed} features "
            "as input"
        )


def _is_plain_array(X: MatrixLike) -> bool:
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and holds_numbers(X.dtype)


def _is_plain_csr(X: MatrixLike) -> bool:
    if not is_sparse(X):
        return False
    from scipy.sparse import csr_array, csr_matrix

    # Callers can assign to the three arrays, so these may be anything.
    return (
        type(X) in (csr_matrix, csr_array)
        and X.ndim == 2
        and min(X.shape) > 0
        and type(X.data) is np.ndarray
        and holds_numbers(X.data.dtype)
    )


def _has_known_columns(X: MatrixLike, estimator: object, reset: bool) -> bool:
    """Whether scikit-learn would find nothing: nobody names columns, and there are as many as before.

    For a small batch its search for names takes longer than learning.
    """
    known = vars(estimator)
    if reset:
        known.pop("feature_names_in_", None)
        known["n_features_in_"] = X.shape[1]
    return "feature_names_in_" not in known and known.get("n_features_in_") == X.shape[1]


def as_array(X: MatrixLike) -> MatrixLike:
    """Return an object that can do no more than become an array as that array; anything else as it is.

    Of Arrow tables the columns of pandas' index are left out, which are no features.
    """
    X = without_index(X)
    if has_shape(X) or not is_convertible(X):
        return X
    return np.asarray(X)


def check_matrix(X: MatrixLike) -> MatrixLike:
    """Return X as an array or a sound sparse matrix; refuse what scikit-learn passes or does not name."""
    X = as_array(X)
    if is_sparse(X):
        return checked_format(X)
    if is_masked(X):
        raise ValueError("X is a masked array with masked values; fill them or drop these rows")
    dtype = dtype_of(X)
    if dtype is not None:
        refuse_type(dtype, "X")
        if dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in np.ravel(X)):
            raise ValueError("X must hold real numbers, got strings in an array of dtype object")
    return X
