"""All ways to one answer: engines, storages, instruction sets, threads, batches."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from typing import TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike, check_list
from perceptron_rs.arrays.scalars import whole_number
from perceptron_rs.engines import forced_instruction_set, instruction_sets
from perceptron_rs.errors import naming
from perceptron_rs.kernel.parameters import KernelLearnerParameters
from perceptron_rs.mixing.rounds import is_whole
from perceptron_rs.models.comparison import Arrays, LearntArrays, arrays, difference, learnt_arrays
from perceptron_rs.multilayer.parameters import MultilayerPerceptronParameters
from perceptron_rs.parameters.checks import draw_seed
from perceptron_rs.parameters.groups import EpochParameters, UpdateParameters
from perceptron_rs.prediction.estimator import Estimator
from perceptron_rs.prediction.predictor import Classifier
from perceptron_rs.prediction.vote_shares import VoteShares
from perceptron_rs.rows.real_numbers import numbers_in, refuse_lazy
from perceptron_rs.rows.selection import portable_values
from perceptron_rs.rows.storage import STORED, to_stored
from perceptron_rs.targets.distinct import distinct
from perceptron_rs.targets.planes import is_joint
from perceptron_rs.targets.weights import sample_weights
from perceptron_rs.training.train import Trainable

_OVERFLOW = "training overflowed"


@dataclass(frozen=True)
class Way:
    """One way to the answer, what came out, and where it differs from the first way of its kind."""

    path: Path
    found: Arrays | str
    learnt: LearntArrays | str
    difference: str | None

    @property
    def digest(self) -> str:
        """The digest of the model, or of the text of an overflow."""
        if isinstance(self.learnt, str):
            return sha256(self.learnt.encode()).hexdigest()
        return self.learnt.digest


@dataclass(frozen=True)
class Path:
    """One way to the answer: who computes, from which storage."""

    engine: str
    form: str
    X: MatrixLike
    instruction_set: str | None = None
    threads: int = 1
    batches: int | None = None  # rows in each call of partial_fit; None for one fit
    epochs: int | None = None  # in fixed order; None for those of the estimator

    def __str__(self) -> str:
        parts = [self.engine if self.instruction_set is None else f"{self.engine} ({self.instruction_set})"]
        parts.append(self.form)
        if self.threads != 1:
            parts.append(f"{self.threads} threads")
        if self.batches is not None:
            parts.append(f"partial_fit by {self.batches}")
        if self.epochs is not None:
            parts.append("one epoch in fixed order")
        return ", ".join(parts)


def can_be_compared(estimator: object) -> TypeGuard[Estimator]:
    """Whether it is a classifier of this package: only these have both engines and take single examples."""
    return isinstance(estimator, Estimator) and isinstance(estimator, Classifier)


def ways(
    estimator: object,
    X: MatrixLike,
    y: NDArray[np.generic],
    *,
    weights: NDArray[np.float64] | None = None,
    start: dict[str, ArrayLike] | None = None,
    batch_sizes: Sequence[int] = (1, 2, 7),
    threads: Sequence[int] = (1, 2),
) -> Iterator[Way]:
    """Fit in every way there is, one after another; the arguments are those of ``assert_parity``."""
    if not can_be_compared(estimator):
        raise TypeError(
            f"estimator must be a classifier of this package, of single examples, got "
            f"{type(estimator).__name__}; compare two fits of others, with engine='rust' and "
            f"engine='reference', by their attributes"
        )
    estimator = _seeded(estimator)
    start = start or {}
    first: Path | None = None
    expected: Arrays | str = ""
    plain = list(islice(_forms(X), 2))  # the storage of X itself, dense and as CSR
    engines = [("reference", None), *(("rust", name) for name in instruction_sets())]
    paths = chain(
        (Path(engine, *form, instruction_set=name) for form in _forms(X) for engine, name in engines),
        (Path("rust", *form, threads=number) for form in plain for number in threads),
    )
    for path in paths:
        fitted, own = _fit(estimator, path, y, weights, start)
        if first is None:
            first, expected = path, fitted
        yield Way(path, fitted, own, difference(first, expected, path, fitted))
    if not _has_batches(estimator) or isinstance(expected, str):
        return
    if any(value is not None for value in start.values()):
        return
    whole: Trainable = clone(estimator).set_params(max_iter=1, tol=None, shuffle=False, warm_start=False)
    kept = _visited(whole, y, weights)
    stored = plain[1 if sp.issparse(X) else 0]  # a dense row costs as much as it has columns
    first = Path("reference", *stored, epochs=1)
    fitted, own = _fit(whole, first, y, weights, start)
    expected = _of_batches(fitted, own)
    yield Way(first, expected, own, None)
    for size in batch_sizes:
        for engine in ("reference", "rust"):
            path = Path(engine, *stored, batches=size)
            fitted, own = _fit_batches(whole, path, y, weights, kept)
            fitted = _of_batches(fitted, own)
            yield Way(path, fitted, own, difference(first, expected, path, fitted))


def _seeded(estimator: Estimator) -> Estimator:
    """Return an estimator that draws the same in all ways."""
    if not isinstance(estimator, EpochParameters) or estimator.random_state is not None:
        return estimator
    seeded: Estimator = clone(estimator).set_params(random_state=draw_seed(None))
    return seeded


def _forms(X: MatrixLike) -> Iterator[tuple[str, MatrixLike]]:
    """Yield X in every storage, the stored type of X itself first."""
    dense = to_stored(X.toarray() if sp.issparse(X) else np.asarray(X))
    types = [dense.dtype, *(dtype for dtype in STORED if dtype != dense.dtype)]
    for dtype in types:
        with np.errstate(all="ignore"):
            values = dense.astype(dtype)
            if not np.array_equal(values.astype(np.float64), dense.astype(np.float64)):
                continue
        yield f"dense {dtype}", values
        if dtype == np.float16:
            continue  # SciPy cuts no such matrix
        for index in (np.int32, np.int64):
            matrix = sp.csr_matrix(values)
            matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
            yield f"CSR {dtype}, {index.__name__} indices", matrix
    wide = portable_values(dense)
    yield "CSR, rows not in order", _reversed_rows(sp.csr_matrix(wide))
    yield "CSR, stored zeros", _with_zeros(wide)


def _reversed_rows(matrix: MatrixLike) -> MatrixLike:
    counts = np.diff(matrix.indptr)
    ends = np.repeat(matrix.indptr[1:] + matrix.indptr[:-1] - 1, counts)
    order = ends - np.arange(len(matrix.indices))
    return sp.csr_matrix((matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape)


def _with_zeros(dense: NDArray[np.generic]) -> MatrixLike:
    """Return all entries of the columns that have anything, and of the outermost: the others may be many."""
    n, d = dense.shape
    columns = np.union1d(np.flatnonzero(dense.any(axis=0)), [0, d - 1])
    entries, ends = dense[:, columns].reshape(-1), np.arange(n + 1) * len(columns)
    return sp.csr_matrix((entries, np.tile(columns, n), ends), shape=(n, d))


def _fit(
    estimator: Estimator,
    path: Path,
    y: NDArray[np.generic],
    weights: NDArray[np.float64] | None,
    start: dict[str, ArrayLike],
) -> tuple[Arrays | str, LearntArrays | str]:
    """Return all that a fit leaves, and what predictions depend on; or twice the text of an overflow."""
    model: Estimator = clone(estimator).set_params(engine=path.engine, n_jobs=path.threads)
    again = isinstance(model, EpochParameters) and model.warm_start
    more = {name: value for name, value in start.items() if value is not None} | _weighted(weights)
    with forced_instruction_set(path.instruction_set):
        try:
            for _ in range(2 if again else 1):
                model.fit(path.X, y, **more)
        except ValueError as error:
            if _OVERFLOW not in str(error):
                raise
            return str(error), str(error)
        half = len(y) // 2 or 1
        scores = _decision_or_error(model, path.X)
        attributes = {
            **arrays(model),
            **_predictions(model, path.X, scores),
            "decision_function(X)": scores,
            "decision_function(batch)": _decision_or_error(model, path.X[:half]),
        }
        return attributes, learnt_arrays(model)


def _decision_or_error(model: Estimator, X: MatrixLike) -> NDArray[np.generic]:
    """Return the decision function, or what it raises because a sum is not finite."""
    assert isinstance(model, Classifier)
    try:
        return model.decision_function(X)
    except ValueError as error:
        if "not finite" not in str(error):
            raise
        return np.array([str(error)], dtype=object)


def _predictions(model: Estimator, X: MatrixLike, scores: NDArray[np.generic] | None = None) -> Arrays:
    """Return what a learner says that predicts in several ways from one fit; its own ``scores`` are known."""
    own = model.get_params().get("prediction")
    kinds = model._predictions if isinstance(model, VoteShares) else ()
    asked: dict[str, Estimator] = {kind: clone(model) for kind in kinds}
    for kind, other in asked.items():
        vars(other).update(vars(copy.copy(model)))
        other.set_params(prediction=kind)
    return {
        f"prediction={kind}": scores if kind == own and scores is not None else _decision_or_error(other, X)
        for kind, other in asked.items()
    }


def _fit_batches(
    estimator: Estimator,
    path: Path,
    y: NDArray[np.generic],
    weights: NDArray[np.float64] | None,
    kept: NDArray[np.intp],
) -> tuple[Arrays | str, LearntArrays | str]:
    model = clone(estimator).set_params(engine=path.engine)
    classes = distinct(y)[0] if y.ndim == 1 else np.arange(y.shape[1])
    for begin in range(0, len(kept), path.batches or 1):
        rows = kept[begin : begin + (path.batches or 1)]
        more = _weighted(None if weights is None else weights[rows])
        try:
            model.partial_fit(path.X[rows], y[rows], classes=classes, **more)
        except ValueError as error:
            if _OVERFLOW not in str(error):
                raise
            return str(error), str(error)
    return arrays(model) | _predictions(model, path.X), learnt_arrays(model)


def _has_batches(estimator: Estimator) -> bool:
    """Whether batches one after another are one epoch in fixed order."""
    if not hasattr(estimator, "partial_fit") or not isinstance(estimator, Trainable):
        return False
    if isinstance(estimator, KernelLearnerParameters) and _is_settled_by_all(estimator):
        return False
    if isinstance(estimator, MultilayerPerceptronParameters) and estimator.batch_size != 1:
        return False
    if isinstance(estimator, UpdateParameters) and not is_whole(estimator.n_partitions):
        return False
    return not estimator.early_stopping and not isinstance(estimator.class_weight, str)


def _is_settled_by_all(parameters: KernelLearnerParameters) -> bool:
    """Whether all examples say what the kernel is."""
    kernel, gamma = parameters.kernel, parameters.gamma
    return kernel == "precomputed" or (kernel in ("rbf", "poly", "sigmoid") and gamma == "scale")


def _weighted(weights: NDArray[np.float64] | None) -> dict[str, NDArray[np.float64]]:
    """Return the argument ``sample_weight``, if the learner takes it."""
    return {} if weights is None else {"sample_weight": weights}


def _visited(
    estimator: Trainable, y: NDArray[np.generic], weights: NDArray[np.float64] | None
) -> NDArray[np.intp]:
    """Return the rows of positive weight: a batch of none but others is refused."""
    total = np.ones(len(y)) if weights is None else weights
    if y.ndim == 2:
        each = [compute_sample_weight(estimator.class_weight, column) for column in y.T]
        return np.flatnonzero(total * np.max(each, axis=0))
    # Of several planes, each has weights of its own; a network has one decision.
    is_one_decision = (
        len(np.unique(y)) == 2 or is_joint(estimator) or isinstance(estimator, MultilayerPerceptronParameters)
    )
    if is_one_decision and estimator.class_weight is not None:
        total = total * compute_sample_weight(estimator.class_weight, y)
    return np.flatnonzero(total)


def _of_batches(answered: Arrays | str, own: LearntArrays | str) -> Arrays | str:
    """Leave out what reports on a call, which differs between one call and many."""
    if isinstance(answered, str) or isinstance(own, str):
        return _OVERFLOW  # without the epoch, which each call counts for itself
    predictions = {name: values for name, values in answered.items() if name.startswith("prediction=")}
    learnt = own.numbers | predictions
    return {name: array for name, array in learnt.items() if name != "origin"}  # rows of a call count from 0


def assert_parity(
    estimator: object,
    X: MatrixLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike = None,
    coef_init: ArrayLike = None,
    intercept_init: ArrayLike = None,
    batch_sizes: Sequence[int] = (1, 2, 7),
    threads: Sequence[int] = (1, 2),
) -> None:
    """Fit in every possible way, and compare everything learnt to the last bit.

    The ways are: both engines; X dense and as CSR with int32 and int64 indices, with sorted and unsorted
    rows and with explicit zeros; every storage type that holds the values of X exactly; every instruction
    set of this machine; several numbers of threads; and, for an estimator whose ``partial_fit`` calls equal
    one epoch in fixed order, batches.

    Parameters
    ----------
    estimator : Perceptron, KernelPerceptron, MultilayerPerceptron, MaxMarginClassifier, ...
        Estimator with the parameters to use. It is cloned; ``engine`` and ``n_jobs`` are replaced.
        ` perceptron_rs.SequencePerceptron` and ` perceptron_rs.StructuredPerceptron`, which do not learn
        from single examples, are rejected.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples. A dense copy in each storage type must fit into memory.
    y : array-like of shape (n_samples,) or {array-like, sparse matrix} of shape (n_samples, n_labels)
        Class labels, or a matrix of 0 and 1: which labels each example has.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples, at least 0.
    coef_init, intercept_init : array-like, default=None
        Initial values, as for ``fit``. With these, batches are not tried.
    batch_sizes : sequence of int, default=(1, 2, 7)
        Numbers of rows in each call of ``partial_fit``. Batches are not tried with
        ``class_weight="balanced"`` or ``early_stopping``, which ``partial_fit`` does not support.
    threads : sequence of int, default=(1, 2)
        Numbers of threads to try, each at least 1.

    Raises
    ------
    AssertionError
        If two ways differ. The message names both, the attribute, the index of the first element that
        differs, and both values (floats as hexadecimal).
    TypeError
        If the estimator is not a classifier of this package.
    ValueError, TypeError
        If the reference cannot learn from the arguments. An overflow during training is not such an error:
        all ways must then end in the same one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptron_rs import AveragedPerceptron
    >>> from perceptron_rs.testing import assert_parity
    >>> X, y = load_iris(return_X_y=True)
    >>> assert_parity(AveragedPerceptron(max_iter=3, tol=None), X[::10], y[::10])
    """
    arguments = {"X": X, "y": y, "sample_weight": sample_weight}
    arguments |= {"coef_init": coef_init, "intercept_init": intercept_init}
    for name, value in arguments.items():
        refuse_lazy(value, name)
    with naming("X"):
        X = X if sp.issparse(X) else numbers_in(X)
    with naming("y"):
        y = y.toarray() if sp.issparse(y) else np.asarray(y)
    weights = sample_weights(sample_weight, range(X.shape[0] if X.ndim else 0))
    for name, numbers in (("batch_sizes", batch_sizes), ("threads", threads)):
        check_list(name, numbers, "numbers")
        for one in numbers:
            whole_number(f"each of {name}", one, 1)
    start = {"coef_init": coef_init, "intercept_init": intercept_init}
    compared = ways(
        estimator,
        X,
        y,
        weights=weights,
        start=start,
        batch_sizes=batch_sizes,
        threads=threads,
    )
    for way in compared:
        if way.difference is not None:
            raise AssertionError(way.difference)
