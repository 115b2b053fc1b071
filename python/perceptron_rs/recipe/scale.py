"""Scalers of scikit-learn by the numbers that they have learnt, applied with their bits by NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.csr import csr_to_dense
from perceptron_rs.arrays.likes import MatrixLike, in_full
from perceptron_rs.arrays.named import State
from perceptron_rs.errors import OptionsError
from perceptron_rs.rows.sparse import CsrArrays, is_sparse

#: Scalers add up block by block, so their numbers depend on the blocks a little.
_NEAR = 1e-9
_OPERATORS: dict[str, Callable[..., NDArray[Any]]] = {
    "Add": np.add,
    "Div": np.divide,
    "Mul": np.multiply,
    "Sub": np.subtract,
}
#: What scikit-learn calls the offsets of its scalers.
OFFSETS = {"standard": "mean_", "minmax": "min_"}


@dataclass(frozen=True)
class Scale:
    """A scaler of scikit-learn, by what it has learnt: numbers for each column.

    Parameters
    ----------
    kind : {"standard", "minmax", "maxabs"}
    scale : tuple of float
        Its ``scale_``.
    offset : tuple of float or None
        Its ``mean_`` or ``min_``; None where nothing is added: for "maxabs", and for sparse data.
    """

    kind: str
    scale: tuple[float, ...]
    offset: tuple[float, ...] | None = None
    of_texts: ClassVar[bool] = False

    def difference(self, other: Scale) -> str | None:
        """Return in words where the scaler of other data has other numbers; blocks change them a little."""
        for name, own, again, size in (
            ("scale", self.scale, other.scale, other.scale),
            ("offset", self.offset, other.offset, other.scale if self.kind == "standard" else 1.0),
        ):
            if own is None or again is None:
                continue
            near = np.abs(np.subtract(own, again)) <= _NEAR * (np.abs(again) + np.abs(size))
            if not near.all():
                column = int(np.argmin(near))
                return (
                    f"the {name} of column {column} is {own[column]!r} in the model, and that of the data is "
                    f"{again[column]!r}"
                )
        return None

    def again(self) -> ScaleFit:
        """Return what learns it from other data."""
        return ScaleFit(self.kind, centred=self.offset is not None)

    def tensors(self) -> State:
        """Return what a file holds beside the description."""
        return {}

    @property
    def steps(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """What is done to dense columns, in this order: operators of ONNX, with a number for each column."""
        if self.kind == "minmax":
            assert self.offset is not None
            return ("Mul", self.scale), ("Add", self.offset)
        return (*([] if self.offset is None else [("Sub", self.offset)]), ("Div", self.scale))

    def scaler(self) -> Any:
        """Return the fitted scaler of scikit-learn."""
        scaler = _new_scaler(self.kind, centred=self.offset is not None)
        scaler.scale_, scaler.n_features_in_ = np.array(self.scale), len(self.scale)
        if self.offset is not None:
            setattr(scaler, OFFSETS[self.kind], np.array(self.offset))
        return scaler

    def applied(self, X: MatrixLike) -> MatrixLike:
        """Return what the scaler makes of the examples, with its bits, by NumPy alone."""
        if self.offset is None and is_sparse(X):
            rows = X.tocsr()
            values = _floats(rows.data)
            # The scale of "standard" is float64, whatever the type of the examples.
            scale = np.array(self.scale, dtype=values.dtype if self.kind == "maxabs" else np.float64)
            scaled = (values * (1.0 / scale)[rows.indices]).astype(values.dtype)
            return CsrArrays(scaled, rows.indices, rows.indptr, rows.shape)
        dense = _dense_floats(X)
        for operator, numbers in self.steps:
            dense = _OPERATORS[operator](dense, np.array(numbers, dtype=dense.dtype))
        return dense


def _floats(values: NDArray[np.generic]) -> NDArray[np.generic]:
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _dense_floats(X: MatrixLike) -> NDArray[np.generic]:
    """Return examples as an array of floats."""
    if not isinstance(X, CsrArrays):
        return _floats(in_full(X))
    return csr_to_dense(X.indptr, X.indices, _floats(X.data), X.shape[1])


class ScaleFit:
    """A scaler of scikit-learn that is fitted to one block of examples after another.

    Parameters
    ----------
    kind : {"standard", "minmax", "maxabs"}
    centred : bool or None, default=None
        Whether zeros may become other numbers; None: if the first block is dense.
    """

    of_texts = False

    def __init__(self, kind: str, *, centred: bool | None = None) -> None:
        self._kind, self._centred = kind, centred
        self._scaler: Any = None

    def add(self, X: MatrixLike) -> None:
        """Learn from some examples."""
        if self._centred is None:
            self._centred = isinstance(X, np.ndarray)
        if self._kind == "minmax" and not self._centred:
            raise OptionsError(
                "{scale} would make other numbers of the zeros of sparse examples",
                "set {scale='maxabs'}, which keeps them",
                values={"scale": self._kind},
            )
        is_largest = self._kind == "maxabs"
        if self._scaler is None:
            self._scaler = _Largest() if is_largest else _new_scaler(self._kind, centred=self._centred)
        if isinstance(X, CsrArrays) and not is_largest:
            X = X.canonical_matrix()
        self._scaler.partial_fit(in_full(X) if self._centred else X)

    def scale(self) -> Scale:
        """Return what was learnt."""
        offset = OFFSETS.get(self._kind) if self._centred else None
        centre = None if offset is None else tuple(np.asarray(getattr(self._scaler, offset)).tolist())
        numbers = np.asarray(getattr(self._scaler, "scale_", None))
        return Scale(self._kind, tuple(numbers.tolist()), centre)


class _Largest:
    """What ``MaxAbsScaler`` learns; its import takes longer than many fits."""

    def __init__(self) -> None:
        self._largest: Any = 0.0

    def partial_fit(self, X: MatrixLike) -> None:
        """Learn from some examples."""
        if is_sparse(X):
            rows = X.tocsr()
            values = _floats(rows.data)
            largest = np.zeros(X.shape[1], dtype=values.dtype)
            np.maximum.at(largest, rows.indices, abs(values))
        else:
            largest = abs(_floats(X)).max(axis=0)
        self._largest = np.maximum(self._largest, largest)
        if not np.isfinite(self._largest).all():
            from sklearn.utils import assert_all_finite

            assert_all_finite(X, allow_nan=True)

    @property
    def scale_(self) -> NDArray[Any]:
        """The numbers to divide by: nothing so small that it is taken for 0."""
        return np.where(self._largest < 10 * np.finfo(self._largest.dtype).eps, 1, self._largest)


def _new_scaler(kind: str, *, centred: bool) -> Any:
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if kind == "standard":
        return StandardScaler(with_mean=centred)
    return MinMaxScaler() if kind == "minmax" else MaxAbsScaler()
