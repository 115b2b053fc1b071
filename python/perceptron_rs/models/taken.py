"""Tensors of a file, taken one after another: those that are left over at the end have no meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.rows.selection import rows_of
from perceptron_rs.common.rows.storage import STORED
from perceptron_rs.engines import get_engine
from perceptron_rs.models.values import LARGEST_COUNT

__all__ = ["refuse_left", "take", "take_counts", "take_rows", "take_scores"]


def take(
    left: dict[str, NDArray[Any]],
    name: str,
    dtype: Any,
    shape: tuple[int | None, ...],
    *,
    finite: bool = True,
) -> NDArray[Any]:
    """Return a tensor of that type and shape, and take it off the list; None stands for any length."""
    if name not in left:
        raise ValueError(f"the tensor {name} is missing")
    array = left.pop(name)
    if array.dtype != dtype:
        raise ValueError(f"the tensor {name} must be of {np.dtype(dtype)}, got {array.dtype}")
    if array.ndim != len(shape) or any(
        want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(
            f"the tensor {name} has the shape {array.shape}, which does not match the other tensors"
        )
    if finite and array.dtype == np.float64 and not np.isfinite(array).all():
        raise ValueError(f"the tensor {name} holds a NaN or an infinity")
    return array


def take_counts(left: dict[str, NDArray[Any]], name: str, shape: tuple[int | None, ...]) -> NDArray[np.int64]:
    """Return integers that count something, and take them off the list."""
    array = take(left, name, np.int64, shape)
    if not (array.min(initial=0) >= 0 and array.max(initial=0) <= LARGEST_COUNT):
        raise ValueError(f"the tensor {name} must hold counts of at most 2**53")
    return array


def take_scores(left: dict[str, NDArray[Any]], shape: tuple[int, int]) -> dict[str, NDArray[np.float64]]:
    """Return the attribute with the scores of examples that were held out, if any were; take them off."""
    if "validation_scores" not in left:
        return {}
    array = take(left, "validation_scores", np.float64, shape)
    if not (array.min(initial=0) >= 0 and array.max(initial=0) <= 1):
        raise ValueError("the tensor validation_scores must hold shares from 0 to 1")
    return {"validation_scores_": array}


def take_rows(left: dict[str, NDArray[Any]], prefix: str, shape: tuple[int, int]) -> dict[str, NDArray[Any]]:
    """Return stored rows, a matrix or the three arrays of a CSR matrix, and take them off the list."""
    names = [name for name in left if name.startswith(f"{prefix}rows")]
    found = {name.removeprefix(prefix): left.pop(name) for name in names}
    if found.keys() not in ({"rows"}, {"rows_indptr", "rows_indices", "rows_values"}):
        raise ValueError(f"the tensor {prefix}rows is missing or unexpected")
    values = found.get("rows", found.get("rows_values", np.zeros(0)))
    if values.dtype not in STORED or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise ValueError(f"the tensor {prefix}rows must hold finite numbers of a stored type")
    try:
        rows = rows_of(get_engine("rust"), found, shape[1])
    except (TypeError, ValueError) as error:
        raise ValueError(f"the tensors {prefix}rows... do not agree: {error}") from None
    if rows.shape != shape or not rows.canonical:
        raise ValueError(
            f"the tensor {prefix}rows has the shape {rows.shape}, or columns out of order; "
            f"{shape} is needed, in order"
        )
    return found


def refuse_left(left: dict[str, NDArray[Any]]) -> None:
    """Raise ValueError if there are tensors that nothing has taken."""
    if left:
        raise ValueError(f"there is an unknown tensor {min(left)!r:.80}; the file needs a newer perceptrons")
