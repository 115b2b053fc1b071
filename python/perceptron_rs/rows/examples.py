"""From what the caller gives as X to the rows of an engine, without a copy where that is possible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import CsrTriple, StoredRows, stored_csr, without_duplicates
from perceptron_rs.arrays.likes import (
    MatrixLike,
    array_of,
    column_names,
    dtype_of,
    has_shape,
    imported,
    is_convertible,
    is_csr,
    is_real,
    n_dimensions,
    nearest_float,
)
from perceptron_rs.arrays.named import stored_values
from perceptron_rs.engines import Engine, Rows, rows_of
from perceptron_rs.errors import naming
from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.float_mode import standard
from perceptron_rs.rows import storage
from perceptron_rs.rows.real_numbers import refuse_columns, refuse_lazy, refuse_objects
from perceptron_rs.rows.selection import portable_values
from perceptron_rs.rows.sparse import CsrArrays, checked_format, csr_arrays, is_sparse
from perceptron_rs.state.learnt import Fitted, RawInput, learnt_of
from perceptron_rs.state.turns import change

_NUMBERS_AT_ONCE = 1 << 20
_LONG = ("values", "indices")  # those of a CSR matrix that have all entries


@dataclass(frozen=True, slots=True)
class ValidatedRows:
    """The rows of an engine, and the arrays that it reads."""

    rows: Rows
    stored: StoredRows

    @classmethod
    def of(cls, engine: Engine, stored: StoredRows, columns: int) -> ValidatedRows:
        """Return stored rows with those that an engine makes of them."""
        return cls(rows_of(engine, stored, columns), stored)

    @property
    def values(self) -> NDArray[np.generic]:
        """The values, to look at after an overflow."""
        return stored_values(self.stored)

    @property
    def indptr(self) -> NDArray[np.integer] | None:
        """Where each row of CSR begins; None of dense rows."""
        return self.stored.get("rows_indptr")

    def is_view_of(self, X: MatrixLike) -> bool:
        """Whether the engine reads the very arrays of X, which are parts of others."""
        arrays = (X,) if self.indptr is None else (X.data, X.indices)
        read = (self.values,) if self.indptr is None else (self.stored[f"rows_{name}"] for name in _LONG)
        return all(a is b and not a.flags.owndata for a, b in zip(arrays, read, strict=True))

    def assert_finite(self, estimator: object, first: int | None = 0) -> None:
        """Raise ValueError if there is a NaN or an infinity in X, whose first row is ``first``, if known."""
        self._refuse(_first_not_finite(self.values), estimator, first)

    def assert_finite_in(self, selected: NDArray[np.bool_], estimator: object, first: int | None = 0) -> None:
        """Raise that error if there is one in the selected rows, read a block at a time."""
        if self.values.dtype.kind in "biu":
            return
        if self.indptr is not None:
            entries = np.flatnonzero(np.repeat(selected, np.diff(self.indptr)))
            if (at := _first_not_finite(self.values[entries])) is not None:
                self._refuse(int(entries[at]), estimator, first)
            return
        chosen, width = np.flatnonzero(selected), self.values.shape[1]
        step = max(1, _NUMBERS_AT_ONCE // self.values.shape[1])
        for start in range(0, len(chosen), step):
            if (at := _first_not_finite(self.values[chosen[start : start + step]])) is not None:
                self._refuse(int(chosen[start + at // width]) * width + at % width, estimator, first)

    def _refuse(self, at: int | None, estimator: object, first: int | None) -> None:
        """Refuse the value at this place of ``values``, unless scikit-learn is told not to look."""
        if at is None:
            return
        get_config = imported("sklearn", "get_config")  # without it nobody has told it
        if get_config is not None and get_config()["assume_finite"]:
            return
        if self.indptr is None:
            row, column = divmod(at, self.values.shape[1])
        else:
            row, column = np.searchsorted(self.indptr, at, "right") - 1, self.stored["rows_indices"][at]
        names = feature_names(estimator)
        where = f"column {column if names is None else repr(names[column])}"
        if first or (first == 0 and self.rows.shape[0] > 1):
            where = f"row {first + row} (counted from 0), {where}"
        values = portable_values(self.values)
        what = "NaN" if np.isnan(values.flat[at]) else f"infinity or a value too large for {values.dtype!r}"
        raise ValueError(f"Input X contains {what} in {where}; fill it in, or leave the example out")


def _first_not_finite(values: NDArray[np.generic]) -> int | None:
    """Return the place of the first value that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(portable_values(values))
    return None if is_finite.all() else int(np.argmin(is_finite))


def examples(estimator: Any, engine: Engine, X: MatrixLike, *, reset: bool) -> ValidatedRows:
    """Validate X (``reset`` as in scikit-learn's ``validate_data``) and hand it to the engine.

    Examples for a model that was trained on files are made its columns. Whether all values are finite is not
    looked at here: the engine notices it while it works.
    """
    # The command line sets these after the fit.
    of_file = {"column_base": None, "recipe": None, "calibration": None}
    with naming("X"):
        is_plain = _is_plain(X) if reset else has_known_columns(estimator, X)
        if not is_plain:
            if not reset and (recipe_of(estimator) is not None or _are_dictionaries(X)):
                return read(engine, columns_of(estimator, X))
            X = check_matrix(X)
            is_plain = _is_plain(X) if reset else has_known_columns(estimator, X)
        if is_plain and reset:
            change(estimator, **of_file, feature_names=None, n_features=X.shape[1])
        elif not is_plain:
            if reset:
                change(estimator, **of_file)
            from sklearn.utils.validation import validate_data

            options = {"accept_sparse": "csr", "accept_large_sparse": True, "ensure_all_finite": False}
            X = storage.checked_by(partial(validate_data, estimator, reset=reset, **options), X)
        return read(engine, X)


def recipe_of(model: object) -> RawInput | None:
    """Return what makes columns of raw examples, as a model of files keeps it; None if it takes columns.

    The commands make columns themselves (``_takes_columns``).
    """
    return None if getattr(model, "_takes_columns", False) else learnt_of(model).recipe


def examples_of_numbers(predictor: object, engine: Engine, X: MatrixLike) -> ValidatedRows:
    """Check the X of a predictor by NumPy alone, and hand it to the engine."""
    with naming("X"):
        return read(engine, X if has_known_columns(predictor, X) else columns_of(predictor, X))


def columns_of(predictor: Any, X: MatrixLike, *, least: int = 1) -> MatrixLike:
    """Return the columns of ``least`` examples or more: of arrays, lists of lists, and matrices of SciPy.

    The columns of a data frame must have the names that the predictor knows, in that order. Dictionaries have
    the columns that they name. What the model learnt from files takes raw examples.
    """
    recipe = recipe_of(predictor)
    with naming("X"):
        X = X if recipe is None else recipe.columns_of(X)
        X = _rows_of_dictionaries(predictor, X) if _are_dictionaries(X) else X
        raw, X = X, check_matrix(X)
        names = _text_names(raw)
        X = X.tocsr() if is_sparse(X) else array_of(X)
        X = X.astype(np.float64) if X.dtype.kind == "O" else X
        if len(X.shape) != 2 or X.shape[0] < least or X.shape[1] == 0:
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
        return X if recipe is None else recipe.scaled(X)


def as_columns(model: object, X: MatrixLike) -> MatrixLike:
    """Return the columns that a fitted model makes of raw examples; X itself, if it takes columns."""
    if recipe_of(model) is None:
        return X
    columns = columns_of(model, X)
    return columns.matrix() if isinstance(columns, CsrArrays) else columns


def _are_dictionaries(X: object) -> bool:
    return isinstance(X, list | tuple) and bool(X) and isinstance(X[0], Mapping)


def _rows_of_dictionaries(predictor: Any, X: MatrixLike) -> NDArray[np.generic]:
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
        for name in names:
            value = example.get(name)
            if value is None or not is_real(type(value)) or not math.isfinite(nearest_float(value)):
                state = f"holds {value!r:.60} in" if name in example else "lacks"
                raise ValueError(
                    f"example {number} of X {state} the column {name!r}; give a finite number for each of "
                    f"the columns {names!r:.200}"
                )
        rows.append([example[name] for name in names])
    return np.array(rows)


def _text_names(X: MatrixLike) -> list[str] | None:
    """Return the names of the columns of a data frame, if all are strings."""
    names = column_names(storage.without_index(X))
    return names if names and all(isinstance(name, str) for name in names) else None


def read(engine: Engine, X: MatrixLike) -> ValidatedRows:
    """Hand an array or a CSR matrix to the engine, in a type that it stores and in order."""
    if type(X) is np.ndarray or not is_sparse(X):
        values = storage.to_stored(X)
        return ValidatedRows(engine.dense_rows(values), {"rows": values})
    return read_csr(engine, csr_arrays(X), X.shape[1])


def read_csr(engine: Engine, arrays: CsrTriple, columns: int) -> ValidatedRows:
    """Hand over the arrays of a CSR matrix, which are as the engine takes them."""
    rows = engine.csr_rows(*arrays, columns)
    if not rows.canonical:
        with standard():
            arrays = without_duplicates(*arrays)
        rows = engine.csr_rows(*arrays, columns)
    return ValidatedRows(rows, stored_csr(*arrays))


def unchecked(estimator: Fitted, engine: Engine, X: MatrixLike) -> ValidatedRows:
    """Hand X to the engine of a fitted estimator as it is, if it has learnt from a matrix."""
    if recipe_of(estimator) is not None:
        return examples_of_numbers(estimator, engine, X)
    with naming("X"):
        if isinstance(X, np.ndarray):
            rows, stored = engine.dense_rows(X), {"rows": X}
        elif is_csr(X):
            rows = engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
            stored = stored_csr(X.indptr, X.indices, X.data)
        else:
            raise TypeError(
                f"X must be an array or a CSR matrix with check_input=False, got {type(X).__name__}; "
                f"convert it, or leave check_input=True"
            )
    assert_width(estimator, rows.shape[1])
    return ValidatedRows(rows, stored)


def assert_width(estimator: Fitted, n_features: int) -> None:
    """Raise if examples have another width than those that a fitted estimator has seen."""
    needed = estimator.n_features_in_
    if n_features != needed:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting {needed} features "
            "as input"
        )


def has_known_columns(estimator: object, X: MatrixLike) -> bool:
    """Whether X is plain, has as many columns as an estimator knows, and these have no names.

    scikit-learn would find nothing then. For a small batch its look takes longer than learning.
    """
    known = learnt_of(estimator)
    if known.feature_names is not None or not _is_plain(X) or known.n_features != X.shape[1]:
        return False
    return known.recipe is None or recipe_of(estimator) is None


def _is_plain(X: MatrixLike) -> bool:
    """Whether X is an array of real numbers or a CSR matrix of such, with a row and a column at least."""
    if type(X) is np.ndarray:
        return X.ndim == 2 and X.size > 0 and storage.holds_numbers(X.dtype)
    of_scipy = (imported("scipy.sparse", name) for name in ("csr_matrix", "csr_array"))
    if type(X) not in (CsrArrays, *of_scipy):
        return False
    # Callers can assign to the three arrays, so these may be anything.
    shape, indptr, indices, values = X.shape, X.indptr, X.indices, X.data
    return (
        len(shape) == 2
        and min(shape) > 0
        and type(indptr) is type(indices) is type(values) is np.ndarray
        and indptr.dtype.kind in "iu"
        and indices.dtype.kind in "iu"
        and storage.holds_numbers(values.dtype)
    )


def as_array(X: MatrixLike) -> MatrixLike:
    """Convert an object that can do nothing but become an array; return anything else unchanged.

    Arrow tables lose the columns of pandas' index, which are no features.
    """
    X = storage.without_index(X)
    if has_shape(X) or not is_convertible(X):
        return X
    return np.asarray(X)


def _refuse_ragged(rows: MatrixLike) -> None:
    """Raise ValueError for the first list that is not as long as the one before: NumPy does not say which."""
    if not rows or not isinstance(rows[0], list | tuple) or len(set(map(_length, rows))) == 1:
        return
    width = len(rows[0])
    row = next(row for row, values in enumerate(rows) if _length(values) != width)
    raise ValueError(
        f"X has inhomogeneous rows: row {row} (counted from 0) is {rows[row]!r:.60}, and the first "
        f"has {width} values"
    )


def _length(values: object) -> int:
    return len(values) if isinstance(values, Sized) else -1


def _is_one_thing(X: object) -> bool:
    """Whether it is a text, a dictionary, or nothing that NumPy finds rows in."""
    has_rows = hasattr(X, "__getitem__") or is_convertible(X) or hasattr(X, "__arrow_c_stream__")
    return isinstance(X, Mapping | str | bytes) or not has_rows


def check_matrix(X: MatrixLike) -> MatrixLike:
    """Return X as an array or a sound sparse matrix; refuse what scikit-learn passes or does not name."""
    refuse_lazy(X, "X")
    if not has_shape(X) and _is_one_thing(X):
        raise (TypeError if isinstance(X, Mapping) else ValueError)(
            f"X must be 2D, examples by features, got {X!r:.80}; pass a list of lists, an array or a frame"
            + ("; to predict one example of named columns, write [X]" if isinstance(X, Mapping) else "")
        )
    X = as_array(X)
    if isinstance(X, list | tuple):
        _refuse_ragged(X)
        X = np.asarray(X)
    if is_sparse(X):
        return checked_format(X)
    if storage.is_masked(X):
        raise ValueError("X is a masked array with masked values; fill them or drop these rows")
    dtype = dtype_of(X)
    if dtype is None:
        refuse_columns(X, "X")
        return X
    storage.refuse_type(dtype, "X")
    if dtype.kind == "O" and n_dimensions(X) == 2:
        refuse_objects(np.asarray(X), "X")
    return X
