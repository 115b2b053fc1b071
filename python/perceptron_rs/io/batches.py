"""Batches of examples: parts of them, and several as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.rows.sparse import CsrArrays, csr_view, is_sparse


class Batch(NamedTuple):
    """Some examples.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, n_features), or list of sequences
        The examples; of a sequence learner the tokens, or the attributes of the tokens of each sequence.
    y : array-like of shape (n,), matrix of shape (n, n_labels), or list of sequences of labels
        Their labels; of many labels of each example, a matrix of 0 and 1.
    sample_weight : array-like of shape (n,), default=None
        Their weights.
    lengths : array-like of shape (n_sequences,), default=None
        Of tokens, how many each sequence has.
    """

    X: MatrixLike
    y: ArrayLike
    sample_weight: ArrayLike = None
    lengths: ArrayLike = None


def parts_of(X: MatrixLike) -> tuple[Any, ...]:
    """Return the arrays that hold the examples."""
    return (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)


def batch_length(batch: Batch) -> int:
    """Return the number of examples, or of sequences."""
    return batch.X.shape[0] if batch.lengths is None else len(batch.lengths)


def example_arrays(batch: Batch) -> list[NDArray[Any]]:
    """Return the arrays of the examples."""
    every = (*parts_of(batch.X), batch.y, batch.sample_weight, batch.lengths)
    return [array for array in every if array is not None]


def slice_batch(batch: Batch, first: int, last: int) -> Batch:
    """Return examples ``first`` to ``last - 1``."""
    X, y, weights, lengths = batch
    if lengths is not None:
        ends = np.concatenate([[0], np.cumsum(lengths)])
        lengths = lengths[first:last]
        first, last = int(ends[first]), int(ends[last])
    weights = None if weights is None else weights[first:last]
    if not is_sparse(X):
        return Batch(X[first:last], y[first:last], weights, lengths)
    return Batch(csr_view(X, first, last), y[first:last], weights, lengths)


def concatenate_batches(batches: Sequence[Batch]) -> Batch:
    """Return the examples of all."""
    if len(batches) == 1:
        return batches[0]
    whole = {name: np.concatenate(list(parts)) for name, parts in concatenate_parts(batches).items()}
    if "rows" in whole:
        X = whole["rows"]
    else:
        X = csr(whole["values"], whole["indices"], whole["indptr"], max(one.X.shape[1] for one in batches))
    return Batch(X, whole["y"], whole.get("sample_weight"), whole.get("lengths"))


def joined(batches: Sequence[Batch]) -> Batch:
    """Return the examples of all as callers have them: a sparse X is a matrix of SciPy."""
    whole = concatenate_batches(batches)
    return whole._replace(X=whole.X.matrix()) if isinstance(whole.X, CsrArrays) else whole


def concatenate_parts(batches: Sequence[Batch]) -> dict[str, list[NDArray[Any]]]:
    """Return of each array of all examples the parts: of one type, and of CSR as those of one matrix."""
    if len({is_sparse(batch.X) for batch in batches}) > 1:
        raise ValueError("X must be dense in all batches, or sparse in all of them")
    if len({batch.lengths is None for batch in batches}) > 1:
        raise ValueError("lengths must be given with all batches, or with none")
    batches = _equally_weighted(batches)
    refuse_other_shape(batch.y for batch in batches)
    Xs = [batch.X for batch in batches]
    lists: dict[str, list[NDArray[Any]]] = {}
    if is_sparse(Xs[0]):
        ends = np.cumsum([0, *(int(X.indptr[-1]) for X in Xs)]).tolist()
        index = np.int32 if ends[-1] < 2**31 else np.int64
        lists["indices"] = [X.indices[: X.indptr[-1]] for X in Xs]
        lists["indptr"] = [np.zeros(1, dtype=index)]
        lists["indptr"] += [
            (X.indptr[1:] + end).astype(index, copy=False) for X, end in zip(Xs, ends[:-1], strict=True)
        ]
        lists["values"] = [X.data[: X.indptr[-1]] for X in Xs]
    else:
        refuse_other_width({X.shape[1] for X in Xs})
        lists["rows"] = Xs
    for name in ("y", "sample_weight", "lengths"):
        if getattr(batches[0], name) is not None:
            lists[name] = [getattr(batch, name) for batch in batches]
    from perceptron_rs.targets.labels import of_one_type  # who reads one batch needs none of it

    lists["y"] = of_one_type(lists["y"])
    kinds = {name: np.result_type(*parts) for name, parts in lists.items()}
    return {name: [part.astype(kinds[name], copy=False) for part in lists[name]] for name in sorted(lists)}


def refuse_other_shape(labels: Iterable[NDArray[Any]]) -> None:
    """Raise ValueError unless labels are in one column, or in as many columns."""
    if len(shapes := {part.shape[1:] for part in labels}) > 1:
        widths = sorted(shape[0] if shape else 1 for shape in shapes)
        raise ValueError(f"y must have as many columns in each batch, one for each label, got {widths}")


def refuse_other_width(widths: set[int]) -> None:
    """Raise ValueError for matrices of several numbers of columns."""
    if len(widths) > 1:
        raise ValueError(f"X must have as many columns in each batch, got {sorted(widths)}")


def csr(data: Any, indices: Any, indptr: Any, width: int) -> Any:
    """Return a CSR matrix of these very arrays, which the engine checks."""
    return CsrArrays(data, indices, indptr, (len(indptr) - 1, width))


def _equally_weighted(batches: Sequence[Batch]) -> Sequence[Batch]:
    """Give each batch weights if any has some: examples without a weight get 1."""
    if all(batch.sample_weight is None for batch in batches):
        return batches
    return [
        batch if batch.sample_weight is not None else batch._replace(sample_weight=np.ones(len(batch.y)))
        for batch in batches
    ]
