"""Examples as they were read, and what all formats need to be done with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import MatrixLike, kind_of_values
from perceptron_rs.errors import ArgumentError, about
from perceptron_rs.io.hashed.hasher import CountedTexts, all_counted
from perceptron_rs.rows.sparse import CsrArrays, csr_view, is_sparse

#: What labels are that are no classes.
NOT_WHOLE = "labels must be whole numbers or strings, so round or bin a regression target first"
_EXACT = 2.0**53


@dataclass(frozen=True)
class Examples:
    """Examples as they were read; labels, weights and names of the columns, if there are any."""

    rows: MatrixLike
    y: NDArray[np.generic] | None = None
    weights: NDArray[np.float64] | None = None
    names: tuple[str, ...] | None = None
    zero_based: bool | None = None  # of svmlight text
    #: Columns that were hashed, and those of them that hold strings.
    hashed: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def __len__(self) -> int:
        return int(self.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of examples, number of features."""
        shape: tuple[int, ...] = self.rows.shape
        return shape

    @cached_property
    def X(self) -> MatrixLike:  # noqa: N802  as everywhere
        """The examples as estimators take them."""
        if not isinstance(self.rows, CsrArrays):
            return self.rows
        return self.rows.canonical_matrix()

    @property
    def labels(self) -> NDArray[np.generic]:
        """The labels of examples that have some."""
        assert self.y is not None
        return self.y

    def slice(self, begin: int, length: int) -> Examples:
        """Return some examples in a row."""
        end = begin + length
        y = None if self.y is None else self.y[begin:end]
        weights = None if self.weights is None else self.weights[begin:end]
        is_ours = isinstance(self.rows, CsrArrays)
        some = csr_view(self.rows, begin, end) if is_ours else self.rows[begin:end]
        return replace(self, rows=some, y=y, weights=weights)

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp] | None, some: MatrixLike = None) -> Examples:
        """Return some of the examples, or all; ``some``: their rows, if these are known."""
        if rows is None:
            return self if some is None else replace(self, rows=some)
        y = None if self.y is None else self.y[rows]
        weights = None if self.weights is None else self.weights[rows]
        if some is None:
            some = self.rows.chosen(rows) if isinstance(self.rows, CsrArrays) else self.rows[rows]
        return replace(self, rows=some, y=y, weights=weights)


def is_held_out(begin: int, end: int, share: float) -> NDArray[np.bool_]:
    """Return which of some examples are held out: evenly spaced ones, so that a later run finds the same."""
    held: NDArray[np.bool_] = np.diff(np.floor(np.arange(begin, end + 1) * share)) > 0
    return held


def held_out(n: int, share: float | None) -> NDArray[np.bool_] | None:
    """Return which of n examples are held out; None if none shall be."""
    if share is None:
        return None
    held = is_held_out(0, n, share)
    refuse_share(share, n, int(np.count_nonzero(held)))
    return held


def refuse_share(share: float, n: int, n_held: int) -> None:
    """Raise ValueError if none of n examples, or all, are held out."""
    if n_held in (0, n):
        raise ArgumentError(
            f"{{holdout}}: of {n} examples it leaves none, or takes none",
            "choose another",
            values={"holdout": share},
        )


def read_labels(path: Path) -> NDArray[np.generic]:
    """Read labels from a .npy file."""
    with about(path):
        if path.suffix.lower() != ".npy":
            raise ValueError("labels must be in a .npy file, written by numpy.save")
        if path.is_dir():
            raise ValueError("is a folder; name a file in it")
        from perceptron_rs.io.arrays import load_npy

        y = load_npy(path)
        if not isinstance(y, np.ndarray) or y.ndim != 1:
            raise ValueError("labels must be one array of one dimension, one for each row")
    return np.array(y)  # of a map


def whole_labels(y: NDArray[np.generic], where: str) -> NDArray[np.generic]:
    """Return float labels that are whole as integers, so that 1.0 in a file and 1 are one class."""
    place = f"{where}: "
    if y.dtype.kind == "f":
        is_finite = np.isfinite(y)
        if not is_finite.all():
            row = int(np.argmin(is_finite))
            raise ArgumentError(
                f"row {row + 1}: the label is {y[row]}",
                "labels must be finite, so drop this example",
                place=place,
            )
        if not (np.trunc(y) == y).all():
            value = y[np.trunc(y) != y][0]
            raise ArgumentError(
                f"holds the label {value}",
                NOT_WHOLE,
                place=place,
            )
        if float(np.abs(y).max(initial=0.0)) < _EXACT:  # in float16 that would be infinite
            return y.astype(np.int64)
    if y.dtype.kind not in "biufU":
        raise ArgumentError(f"labels must be numbers or strings, got the type {y.dtype}", place=place)
    return y


def same_labels(name: str, data: Examples, other_name: str, other: Examples) -> None:
    """Raise ValueError unless the labels of two files are of one kind."""
    expected, answered = (
        "missing" if each.y is None else kind_of_values(each.y.dtype) for each in (data, other)
    )
    if answered != expected:
        both = f"{name}: " if name == other_name else f"{name} and {other_name}: "
        raise ArgumentError(
            f"some labels are {expected}, and others are {answered}",
            "convert them to one type, or leave a file out",
            place=both,
        )


def joined_examples(parts: Sequence[Examples], names: Sequence[str]) -> Examples:
    """Return the examples of several files as those of one; they have the same columns."""
    first = parts[0]
    from perceptron_rs.targets.labels import joined_labels  # which imports scikit-learn

    y = None if first.y is None else joined_labels([part.labels for part in parts])
    if any(part.weights is not None for part in parts):
        ones = (np.ones(len(part)) if part.weights is None else part.weights for part in parts)
        first = replace(first, weights=np.concatenate(list(ones)))
    if not isinstance(first.rows, CsrArrays) and not is_sparse(first.rows):
        if isinstance(first.rows, CountedTexts):
            return replace(first, rows=all_counted([part.rows for part in parts]), y=y)
        widths = {part.shape[1] for part in parts}
        if len(widths) > 1:
            raise ValueError(f"{names[0]} and the others have different numbers of columns: {sorted(widths)}")
        return replace(first, rows=np.concatenate([part.rows for part in parts]), y=y)
    # Of svmlight text the columns of each file were counted from 0 only if it has a column 0.
    zero_based = any(part.zero_based for part in parts)
    matrices = [part.X for part in parts]
    for part, X in zip(parts, matrices, strict=True):
        if zero_based and part.zero_based is False:
            X.indices = X.indices + X.indices.dtype.type(1)
            # A model may say the width, which then is that of columns counted from 0, too.
            X.resize((X.shape[0], max(X.shape[1], int(X.indices.max(initial=0)) + 1)))
    width = max(X.shape[1] for X in matrices)
    for X in matrices:
        X.resize((X.shape[0], width))
    from scipy.sparse import vstack

    rows = vstack(matrices, format="csr")
    return replace(first, rows=rows, y=y, zero_based=None if first.zero_based is None else zero_based)
