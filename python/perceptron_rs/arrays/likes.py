"""What users give as arrays: of NumPy, SciPy, pandas, polars, Arrow, Dask and others.

They have no type in common, and their libraries take long to import or are not there. So they are known by
what they have, and these questions are asked here alone. To a type checker such an argument is `ArrayLike`
or `MatrixLike`, which is anything: of what would be nearer, its libraries have no types that agree.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator
from numbers import Number, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Anything that NumPy makes an array of: a list, an array, a column of a data frame.
ArrayLike: TypeAlias = Any
#: Anything of rows and columns: a list of lists, an array, a sparse matrix, a data frame.
MatrixLike: TypeAlias = Any

#: What `float` takes of NumPy's, and what is no real number: it counts units of time.
_NOT_REAL = (np.flexible, np.datetime64, np.timedelta64, np.complexfloating)


def has_shape(X: MatrixLike) -> bool:
    """Whether it says its shape, as arrays, sparse matrices and data frames do."""
    return hasattr(X, "shape")


def shape_of(X: MatrixLike) -> tuple[int, ...] | None:
    """Return the shape of an array or a table; None if it says none."""
    shape: tuple[int, ...] | None = getattr(X, "shape", None)
    return shape


def n_dimensions(X: MatrixLike) -> int | None:
    """Return the number of dimensions; None if it says none, as tables of Arrow and polars."""
    n: int | None = getattr(X, "ndim", None)
    return n


def has_dtype(X: MatrixLike) -> bool:
    """Whether it has one type for all numbers, of any library."""
    return hasattr(X, "dtype")


def dtype_of(X: MatrixLike) -> np.dtype[np.generic] | None:
    """Return the type of its numbers, if it is one of NumPy."""
    dtype = getattr(X, "dtype", None)
    return dtype if isinstance(dtype, np.dtype) else None


def dtype_kind(X: MatrixLike) -> str:
    """Return the kind of its type in NumPy's letters, of any library; nothing if it says none."""
    return str(getattr(getattr(X, "dtype", None), "kind", ""))


def has_columns(X: MatrixLike) -> bool:
    """Whether it is a data frame."""
    return hasattr(X, "columns")


def column_names(X: MatrixLike) -> list[Any] | None:
    """Return the names of the columns of a data frame, or of a table of Arrow; None of anything else."""
    # Asked of the type, for each column of pandas is an attribute of the frame.
    name = "column_names" if hasattr(type(X), "column_names") else "columns"
    names = getattr(X, name, None)
    return None if names is None else list(names)


def has_length(value: object) -> bool:
    """Whether it says how many entries it has."""
    try:
        len(value)  # type: ignore[arg-type]
    except TypeError:  # of an array without dimensions, too, and of a sparse matrix
        return False
    return True


def is_list(value: object) -> bool:
    """Whether it gives things one after another, and is no text."""
    has_things = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    return has_things and n_dimensions(value) != 0 and not hasattr(value, "toarray")


def check_list(name: str, value: object, of: str) -> None:
    """Raise TypeError unless an argument gives things one after another, and is no text."""
    if not is_list(value):
        raise TypeError(f"{name} must be a list of {of}, got {value!r:.80}")


def each_of(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the items; lists and dicts are copied, as an iterator may fill the same one again."""
    if not isinstance(values, Iterator):
        return iter(values)
    return (item.copy() if isinstance(item, list | dict | set | np.ndarray) else item for item in values)


def has_rows_by_place(X: MatrixLike) -> bool:
    """Whether rows are found by ``iloc``, as in pandas, whose brackets look for labels."""
    return hasattr(X, "iloc")


def is_of_columns(X: MatrixLike) -> bool:
    """Whether it is a data frame of polars, whose columns have a type each."""
    return hasattr(X, "get_column") and hasattr(X, "columns")


def computed_by(value: object) -> str | None:
    """Return the method that computes a query of polars or a collection of Dask; None: it has its values."""
    kind = type(value)
    if hasattr(kind, "collect_schema") and hasattr(kind, "collect"):
        return "collect"
    return "compute" if hasattr(kind, "__dask_graph__") else None


def integers_of_128_bits(X: MatrixLike) -> str | None:
    """Return the type of a series or a column of polars that neither NumPy nor Arrow has; None of others."""
    if hasattr(type(X), "get_column"):  # of a frame; asked of the type, as in `column_names`
        kinds = zip(map(str, X.dtypes), X.columns, strict=True)
        return next((f"{kind} in column {name!r}" for kind, name in kinds if kind.endswith("Int128")), None)
    kind = str(X.dtype) if hasattr(type(X), "to_frame") and hasattr(X, "dtype") else ""
    return kind if kind.endswith("Int128") else None


def other_columns(X: MatrixLike) -> Iterator[tuple[object, Iterable[object]]]:
    """Give the columns of a data frame, or of a table of Arrow, that may hold other things than real numbers.

    Each comes with its name and its values.
    """
    table_type = type(X)  # asked of the type, as in `column_names`
    if hasattr(table_type, "column_names"):  # of Arrow
        for j, (name, kind) in enumerate(zip(X.schema.names, X.schema.types, strict=True)):
            if not _holds_numbers(kind):
                yield name, (value.as_py() for value in X.column(j))
    elif hasattr(table_type, "get_column"):  # of polars
        if all(map(_holds_numbers, set(X.dtypes))):
            return
        for name, kind in zip(X.columns, X.dtypes, strict=True):
            if not _holds_numbers(kind):
                yield name, X.get_column(name)
    elif hasattr(table_type, "iloc") and hasattr(table_type, "columns"):  # of pandas
        if _holds_numbers(X.iloc[:0].to_numpy().dtype):  # asked of all columns at once, and of no row
            return
        for j, kind in enumerate(X.dtypes):
            if not _holds_numbers(kind):
                yield X.columns[j], X.iloc[:, j]


def _holds_numbers(kind: Any) -> bool:
    """Whether a type of columns says that all values are real numbers or booleans."""
    if hasattr(kind, "kind"):  # of NumPy and pandas
        return kind.kind in "biuf"
    if hasattr(kind, "is_numeric"):  # of polars
        return bool(kind.is_numeric()) or str(kind) == "Boolean"
    return re.fullmatch("bool|u?int[0-9]+|halffloat|float|double", str(kind)) is not None


def is_convertible(X: MatrixLike) -> bool:
    """Whether NumPy makes an array of it as it stands."""
    return hasattr(X, "__array__") or hasattr(X, "__array_interface__")


def array_of(X: MatrixLike) -> NDArray[np.generic]:
    """Return it as an array: ``to_numpy`` of pandas is faster than ``numpy.asarray``."""
    return np.asarray(X.to_numpy() if has_rows_by_place(X) else X)


def is_csr(X: MatrixLike) -> bool:
    """Whether it is a CSR matrix, of SciPy or like one."""
    form = getattr(X, "format", None)  # of a data frame, perhaps a column
    return isinstance(form, str) and form == "csr"


def in_full(X: MatrixLike) -> MatrixLike:
    """Return a sparse matrix with its zeros; anything else as it is."""
    return X.toarray() if hasattr(X, "toarray") else X


def values_of(X: MatrixLike) -> list[Any] | None:
    """Return the values of an array of Arrow, whose iterator gives no values of Python; else None."""
    values: list[Any] | None = X.to_pylist() if hasattr(type(X), "to_pylist") else None
    return values


def records_of(X: MatrixLike) -> list[dict[str, object]] | None:
    """Return the rows of a data frame, or of a table of Arrow, as dictionaries; None of anything else.

    Raises
    ------
    ValueError
        If two columns have one name, of which a dictionary would have the last alone.
    """
    kind = type(X)  # asked of the type, as in `column_names`
    if hasattr(kind, "to_dicts"):  # of polars
        to_records = "to_dicts"
    elif hasattr(kind, "to_dict") and hasattr(kind, "columns"):  # of pandas
        to_records = "to_dict"
    elif hasattr(kind, "to_pylist") and hasattr(kind, "column_names"):  # of Arrow
        to_records = "to_pylist"
    else:
        return None
    names = column_names(X) or []
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are called {twice!r}; give each a name of its own")
    convert = getattr(X, to_records)
    return list(convert("records") if to_records == "to_dict" else convert())


def kind_of_values(dtype: np.dtype[Any]) -> str:
    """Return what labels of a type are, in words: "numbers", "booleans" or "text"."""
    return "booleans" if dtype.kind == "b" else "numbers" if dtype.kind in "iuf" else "text"


def is_missing(value: object) -> bool:
    """Whether it stands for nothing: None, NaN, and what pandas has for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Number) and value != value


def is_real(kind: type) -> bool:
    """Whether objects of a type are real numbers. `float` takes strings, bytes and times as well."""
    if issubclass(kind, np.generic):
        return not issubclass(kind, _NOT_REAL)
    is_scalar = hasattr(kind, "__float__") and not hasattr(kind, "__len__")
    return is_scalar or issubclass(kind, Real)  # Decimal is a scalar, and no Real


def imported(module: str, name: str) -> Any:
    """Return an attribute of a module that has been imported; None also while another thread imports it."""
    return getattr(sys.modules.get(module), name, None)


def as_users_have(matrix: MatrixLike) -> MatrixLike:
    """Return a matrix of SciPy as an array, where scikit-learn's setting asks for these."""
    get_config = imported("sklearn", "get_config")  # who has set it has imported it
    if get_config is None or get_config().get("sparse_interface") != "sparray":  # new in 1.9
        return matrix
    import scipy.sparse as sp

    return getattr(sp, f"{matrix.format}_array")(matrix)


def nearest_float(number: Real | float) -> float:
    """Return a number as float64; infinity for a whole number that is too large."""
    try:
        return float(number)
    except OverflowError:
        return -math.inf if number < 0 else math.inf


def values_in(value: Any) -> list[Any]:
    """Return a value, or those of a list, as they are: NumPy would cut a string of another type."""
    return list(np.ravel(np.array(value, dtype=object)))
