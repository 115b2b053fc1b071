"""Dense examples: a C-contiguous matrix, read in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith

#: By name, for NumPy has no bfloat16 (ml_dtypes has).
STORAGE_TYPES = ("float64", "float32", "int8", "uint8", "int16", "uint16", "int32", "float16", "bfloat16")


class Row(NamedTuple):
    """One example: columns, increasing, and the values there. All others are 0."""

    columns: NDArray[Any]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Dense:
    """Rows of a matrix of shape (n, d)."""

    values: NDArray[Any]
    canonical: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples, number of columns."""
        n, d = self.values.shape
        return n, d

    def __getitem__(self, number: int) -> Row:
        return Row(np.arange(self.values.shape[1]), self.values[number].astype(np.float64))

    def dots(self, numbers: NDArray[Any], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Dot products of the rows with these numbers."""
        return arith.dot(self.values[numbers], w)

    def dense(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Return the rows with these numbers, as float64 and in full."""
        return arith.widen(self.values[numbers])

    def axpy(self, number: int, c: float, w: NDArray[np.float64]) -> None:
        """Add ``c`` times one row to ``w``."""
        w[:] = arith.axpy(c, self.values[number], w)


def dense_rows(values: NDArray[Any]) -> Dense:
    """Wrap a matrix without copying it.

    Parameters
    ----------
    values : C-contiguous array of shape (n, d)
        float64, float32, int8, uint8, int16, uint16, int32, float16 or bfloat16.

    Raises
    ------
    TypeError
        If the storage type is another one.
    ValueError
        If ``values`` is not a C-contiguous, aligned matrix.
    """
    check_storage("values", values, n_axes=2)
    return Dense(np.asarray(values))  # rows of a np.matrix would be matrices


def check_storage(name: str, values: NDArray[Any], n_axes: int) -> None:
    """Refuse arrays that cannot be read in place."""
    if values.dtype.name not in STORAGE_TYPES or not values.dtype.isnative:
        types = ", ".join(STORAGE_TYPES)
        raise TypeError(f"{name} has dtype {values.dtype}; convert it to one of {types}")
    check_layout(name, values, n_axes)


def check_layout(name: str, values: NDArray[Any], n_axes: int) -> None:
    """Refuse an array of another number of axes, strided or misaligned."""
    if values.ndim != n_axes:
        raise ValueError(f"{name} must have {n_axes} axes, got shape {values.shape}; reshape it")
    if not (values.flags.c_contiguous and values.flags.aligned):
        raise ValueError(
            f"{name} must be C-contiguous and aligned, got strides {values.strides}; "
            'copy it with np.array(..., order="C")'
        )


def check_canonical(rows: Any) -> None:
    """Refuse sparse rows whose sums would depend on how they are stored."""
    if not rows.canonical:
        raise ValueError(
            "rows: the columns must be sorted and unique in every row; call sort_indices and sum_duplicates"
        )
