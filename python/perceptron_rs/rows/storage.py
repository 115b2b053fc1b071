"""Values of any real type and layout, as the engines store them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike, imported

#: Types of NumPy that the engines read in place. They read bfloat16 so, too, which NumPy has not.
STORED = tuple(np.dtype(name) for name in ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "f2"))
#: Those of them that hold integers, in the order in which they are chosen.
_INTEGERS = tuple(np.iinfo(name) for name in ("u1", "i1", "u2", "i2", "i4"))


def is_masked(values: object) -> bool:
    """Whether it is a masked array with masked values."""
    kind = imported("numpy.ma", "MaskedArray")  # to import it takes longer than a small fit
    return kind is not None and isinstance(values, kind) and bool(np.ma.is_masked(values))


def refuse_masked(values: object, name: str) -> None:
    """Raise ValueError for a masked array with masked values: NumPy would take what lies below the mask."""
    if is_masked(values):
        raise ValueError(f"{name} is a masked array with masked values; fill them")


def index_columns(schema: Any) -> frozenset[str]:
    """Return the columns that are the index of the pandas data frame that was written.

    pandas leaves a note of them in the schema. A range as index has no column.
    """
    try:
        noted = (schema.pandas_metadata or {}).get("index_columns", ())
    except (ValueError, AttributeError):  # a note that is not pandas'
        return frozenset()
    return frozenset(name for name in noted if isinstance(name, str))


def without_index(X: Any) -> MatrixLike:
    """Return an Arrow table without the columns of pandas' index; anything else as it is."""
    if not type(X).__module__.startswith("pyarrow") or not hasattr(X, "select"):
        return X
    index = index_columns(X.schema)
    return X.select([name for name in X.schema.names if name not in index]) if index else X


def is_stored(dtype: np.dtype[np.generic]) -> bool:
    """Whether the engines read the type in place."""
    return (dtype in STORED and dtype.isnative) or _is_bfloat16(dtype)


def holds_numbers(dtype: np.dtype[np.generic]) -> bool:
    """Whether it is a type of real numbers, of NumPy or bfloat16."""
    return dtype.kind in "biuf" or _is_bfloat16(dtype)


def _is_bfloat16(dtype: np.dtype[np.generic]) -> bool:
    """Whether it is the bfloat16 of ml_dtypes, by name: so the package need not be imported."""
    return dtype.name == "bfloat16" and dtype.itemsize == 2 and dtype.isnative


def type_name(dtype: np.dtype[np.generic]) -> str:
    """Return the name of a type, by which `type_of` finds it again."""
    return "bfloat16" if _is_bfloat16(dtype) else dtype.str


def type_of(name: str) -> np.dtype[np.generic]:
    """Return a type of NumPy, or of ml_dtypes, which need not be imported yet."""
    if name == "bfloat16":
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            raise ImportError("NumPy knows bfloat16 by the package ml_dtypes alone; install that") from None
        dtype: np.dtype[np.generic] = np.dtype(bfloat16)
        return dtype
    return np.dtype(name)


def checked_by(check: Callable[[Any], object], X: MatrixLike) -> MatrixLike:
    """Check X by a function of scikit-learn. It does not know bfloat16, and gets the bits as integers."""
    if isinstance(X, np.ndarray) and _is_bfloat16(X.dtype):
        return np.asarray(check(X.view(np.uint16))).view(X.dtype)
    return check(X)


def refuse_type(dtype: np.dtype[np.generic], name: str) -> None:
    """Raise for a type that holds no real numbers."""
    if dtype.kind == "O" or holds_numbers(dtype):
        return
    if dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} has the dtype {dtype}; "
            f"give its real part, or real and imaginary parts as separate columns"
        )
    if dtype.kind == "V" and dtype.names is None:
        raise TypeError(
            f"{name} must hold real numbers, got the dtype {dtype}: bytes whose type is lost, as where "
            f"numpy.save wrote bfloat16; save {name}.astype(numpy.float32), which holds the same "
            f"numbers, or give {name}.view(ml_dtypes.bfloat16)"
        )
    kind, what = (ValueError, "strings of the dtype") if dtype.kind in "SU" else (TypeError, "the dtype")
    raise kind(
        f"{name} must hold real numbers, got {what} {dtype}; convert it to numbers, "
        f"for instance by {name}.astype(float) or an encoder"
    )


def to_stored(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return ``values`` as a C-contiguous array of one of the stored types.

    An array that already is one is returned as it is. Everything else is converted once:
    bool to uint8 (the same bytes), other integers to the smallest of these types that
    holds them all and else to float64, other real types to float64; another byte order or layout is copied.
    """
    refuse_type(values.dtype, "X")
    flags = values.flags
    if flags.c_contiguous and flags.aligned and is_stored(values.dtype):
        return values
    if values.dtype == np.bool_:
        as_bytes = values.view(np.uint8)
        # NumPy takes every byte but 0 for true; such bytes come from other libraries.
        is_usual = flags.c_contiguous and as_bytes.max(initial=0) <= 1
        return as_bytes if is_usual else np.ascontiguousarray(as_bytes != 0).view(np.uint8)
    return values.astype(_stored_type(values), order="C")


def _stored_type(values: NDArray[np.generic]) -> np.dtype[np.generic]:
    dtype = values.dtype.newbyteorder("=")
    if is_stored(dtype):
        return dtype
    if dtype.kind in "iu" and values.size:
        least, most = values.min(), values.max()
        for integers in _INTEGERS:
            if integers.min <= least and most <= integers.max:
                return integers.dtype
    return np.dtype(np.float64)
