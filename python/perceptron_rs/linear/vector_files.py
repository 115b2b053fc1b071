"""The weight vectors of a voted perceptron in a file: the log of mistakes and the rows that it names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.rows.storage import STORED
from perceptron_rs.engines import get_engine
from perceptron_rs.linear.vectors import PREFIX, rows_of
from perceptron_rs.models.values import LARGEST_COUNT

__all__ = ["PREFIX", "check_vectors"]

Tensors = dict[str, NDArray[Any]]

#: Kind of numbers, and shape in planes (K), columns (d), K + 1 (S), mistakes (M); see `estimators.vectors`.
_ARRAYS: dict[str, tuple[Any, str]] = {
    "coef": (np.float64, "Kd"),
    "intercept": (np.float64, "K"),
    "coef_u": (np.float64, "Kd"),
    "intercept_u": (np.float64, "K"),
    "first_t": (np.int64, "K"),
    "first_row": (np.int64, "K"),
    "log_start": (np.int64, "S"),
    "log_row": (np.int64, "M"),
    "log_t": (np.int64, "M"),
    "log_step": (np.float64, "M"),
    "log_bias": (np.float64, "M"),
    "log_origin": (np.int64, "M"),
}
_ROWS = ({"rows"}, {"rows_indptr", "rows_indices", "rows_values"})


def check_vectors(estimator: Any, tensors: Tensors) -> None:
    """Raise ValueError unless the vectors are those of a run that ended at the weights of the file."""
    vectors = _without_prefix(tensors)
    if estimator._learner != "voted":
        if vectors:
            raise ValueError(f"the tensor {PREFIX}{min(vectors)} belongs to another learner")
        return
    seed = vectors.pop("seed", np.zeros(0))
    if seed.shape != (1,) or seed.dtype != np.int64 or not 0 <= seed[0] <= LARGEST_COUNT:
        raise ValueError(f"the tensor {PREFIX}seed must hold one count of at most 2**53")
    if not any(set(vectors) == {*_ARRAYS, *rows} for rows in _ROWS):
        missing = min({*_ARRAYS, *_ROWS[0]} ^ set(vectors))
        raise ValueError(f"the tensor {PREFIX}{missing} is missing or unexpected")
    planes, columns = tensors["coef"].shape
    sizes = {"K": planes, "d": columns, "S": planes + 1, "M": len(vectors["log_row"].reshape(-1))}
    for name, (dtype, axes) in _ARRAYS.items():
        array, shape = vectors[name], tuple(sizes[axis] for axis in axes)
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(
                f"the tensor {PREFIX}{name} must be of {np.dtype(dtype)} and of the shape {shape}, "
                f"got {array.dtype} and {array.shape}"
            )
        if not np.isfinite(array).all() and not name.endswith("_u"):
            raise ValueError(f"the tensor {PREFIX}{name} holds a NaN or an infinity")
    if (vectors["log_origin"] < 0).any() or (vectors["first_row"] < -1).any():
        raise ValueError(f"the tensors {PREFIX}log_origin and {PREFIX}first_row must hold numbers of rows")
    _check_story(vectors, tensors)


def _check_story(vectors: Tensors, tensors: Tensors) -> None:
    """Compare the log with the rows that it names, with the examples seen, and with the last weights."""
    values = vectors.get("rows", vectors.get("rows_values", np.zeros(0)))
    if values.dtype not in STORED or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise ValueError(f"the tensor {PREFIX}rows must hold finite numbers of a stored type")
    engine = get_engine("rust")
    try:
        rows = rows_of(vectors, engine)
        if not rows.canonical or rows.shape[1] != tensors["coef"].shape[1]:
            raise ValueError("the columns are not those of the weights, or not in order")
        last = engine.replay(rows, vectors, upto=np.diff(vectors["log_start"]))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the tensors {PREFIX}... do not agree: {error}") from None
    ends = zip(vectors["first_t"], _split(vectors), tensors["seen"], strict=True)
    for first, log, seen in ends:
        times = np.concatenate([[first], log, [seen + 1]])
        if first < 1 or (np.diff(times) < 0).any() or (np.diff(log) < 1).any() or seen > LARGEST_COUNT:
            raise ValueError(f"the tensors {PREFIX}log_t and {PREFIX}first_t must rise to the examples seen")
    if any(last[name].tobytes() != tensors[name].tobytes() for name in ("coef", "intercept")):
        raise ValueError(f"the tensors {PREFIX}... do not lead to the weights of the file")


def _split(vectors: Tensors) -> list[NDArray[Any]]:
    return np.split(vectors["log_t"], vectors["log_start"][1:-1])


def _without_prefix(tensors: Tensors) -> Tensors:
    return {name.removeprefix(PREFIX): array for name, array in tensors.items() if name.startswith(PREFIX)}
