"""The structured perceptron for any structure that the caller can search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.arrays.likes import ArrayLike, column_names, has_length
from perceptron_rs.arrays.named import Features, State
from perceptron_rs.arrays.scalars import number
from perceptron_rs.engines import Engine, LearntModel, get_engine
from perceptron_rs.errors import naming
from perceptron_rs.float_mode import foreign, standard
from perceptron_rs.parameters.checks import draw_seed, validated
from perceptron_rs.prediction.estimator import Estimator, begin_anew
from perceptron_rs.prediction.predictor import LearntAttribute
from perceptron_rs.rows.real_numbers import numbers_in, refuse_uncomputed
from perceptron_rs.rows.selection import read_only
from perceptron_rs.schema.schema import Schema
from perceptron_rs.sequence.input import AnswerList, materialize
from perceptron_rs.sequence.parameters import StructuredPerceptronParameters
from perceptron_rs.sequence.schema import STRUCTURED
from perceptron_rs.settings import Epoch, Settings
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.state.fitted_attributes import Shown
from perceptron_rs.state.learnt import RunLearnt
from perceptron_rs.state.turns import change, consistent, exclusive, learning
from perceptron_rs.targets.weights import start_value
from perceptron_rs.training.driver import Schedule, follow

#: What errors call it.
_RESULT = "the result of joint_feature"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StructuredLearnt(RunLearnt):
    """What a structured perceptron has beside its weights."""

    loss_per_epoch: NDArray[np.float64] | None = None


class StructuredPerceptron(StructuredPerceptronParameters, Estimator):
    r"""Structured perceptron with user-defined features and inference.

    The score of a structure y for an input x is :math:`w \cdot \phi(x, y)`, where the function
    ``joint_feature`` computes the vector :math:`\phi(x, y)`. ``inference(x, w)`` returns
    the y with the highest score. If it returns a wrong structure z, the update is ``w += eta0 *
    joint_feature(x, y)`` and ``w -= eta0 * joint_feature(x, z)``. Predictions use the average of w over all
    examples visited.

    Parameters
    ----------
    joint_feature : callable
        Function ``joint_feature(x, y)`` that returns a vector (an array or a SciPy sparse matrix), or a
        dict from columns to values.
    inference : callable
        Function ``inference(x, w)`` that returns the best y for the weights w, an array that it must not
        modify. For reproducible results, it must always break ties in the same way.
    loss : callable, default=None
        Function ``loss(y, z)`` that returns how wrong z is, 0 if it is correct. If None, the loss is 0 if y
        equals z, and 1 otherwise.
    n_features : int, default=None
        Length of w. If None, it is the length of the first vector. Required if ``joint_feature`` returns
        dicts.
    max_iter : int, default=10
        Maximum number of epochs. Training stops earlier after an epoch without a mistake.
    averaged : bool, default=True
        Whether to predict with the averaged weights or with the last ones.
    eta0 : float, default=1.0
        Learning rate, above 0.
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling.
    engine : {"rust", "reference"}, default="rust"
        Implementation that keeps the weights. Both give the same bits.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights that predict. Learning goes on from weights that you set, and averages anew.
    last_coef_ : ndarray of shape (n_features,)
        Weights after the last update.
    n_iter_ : int
        Number of epochs.
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name. Here ``coef``.
    n_seen_ : int
        Number of examples visited since the last cold start, T.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1), int64
        Number of updates.
    loss_per_epoch_ : ndarray of shape (n_iter_,), float64
        Sum of the losses in each epoch, added in the order of the visits.
    loss_curve_ : list of float
        Mean loss of an example in each epoch.
    converged_ : bool
        Whether the last epoch was without a mistake.

    Notes
    -----
    If some weights of norm 1 score the true structure of every example higher by gamma than any other,
    there are at most :math:`(R / \gamma)^2` mistakes. R is the maximum norm of ``joint_feature(x, y) -
    joint_feature(x, z)``.

    References
    ----------
    M. Collins, "Discriminative training methods for hidden Markov models: theory and experiments with
    perceptron algorithms", EMNLP 2002: figure 1 and theorem 1.

    Examples
    --------
    Matching: x contains features of each pair (i, j), and y is the permutation that pairs i with y[i].

    >>> import numpy as np
    >>> from scipy.optimize import linear_sum_assignment
    >>> from perceptron_rs import StructuredPerceptron
    >>> def joint_feature(x, y):
    ...     return x[np.arange(len(y)), y].sum(axis=0)
    >>> def inference(x, w):
    ...     return linear_sum_assignment(x @ w, maximize=True)[1]
    >>> random = np.random.default_rng(0)
    >>> X = [random.integers(-3, 4, size=(4, 4, 3)) for _ in range(30)]
    >>> y = [inference(x, np.array([2.0, -1.0, 0.5])) for x in X]
    >>> model = StructuredPerceptron(joint_feature, inference, max_iter=50).fit(X, y)
    >>> model.score(X, y) > 0.9
    True

    Parsing: x is a sentence of tags, and y the position of each word's head (-1 for the root). Each word
    may be attached to any other one; the best head of each word is found independently.

    >>> def pairs(x, y):
    ...     return [(x[head] if head >= 0 else 2) * 3 + x[i] for i, head in enumerate(y)]
    >>> def tree_feature(x, y):
    ...     return {column: pairs(x, y).count(column) for column in pairs(x, y)}
    >>> def heads(x, w):
    ...     best = []
    ...     for i in range(len(x)):
    ...         others = [-1] + [j for j in range(len(x)) if j != i]
    ...         best.append(max(others, key=lambda j: w[(x[j] if j >= 0 else 2) * 3 + x[i]]))
    ...     return best
    >>> noun, verb = 0, 1
    >>> X = [[noun, verb], [noun, verb, noun], [verb, noun]]
    >>> y = [[1, -1], [1, -1, 1], [-1, 0]]
    >>> parser = StructuredPerceptron(tree_feature, heads, n_features=9).fit(X, y)
    >>> parser.predict([[noun, noun, verb]])
    [[2, 2, -1]]
    """

    _schema: ClassVar[Schema] = STRUCTURED
    last_coef_: NDArray[np.float64]
    _learnt: StructuredLearnt = StructuredLearnt()
    loss_per_epoch_ = Shown[NDArray[np.float64]]("loss_per_epoch")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Sequence[object], y: Sequence[object]) -> Self:
        """Fit the model to inputs and their structures.

        Parameters
        ----------
        X : sequence or iterator of inputs
            Inputs, of any type that ``joint_feature`` and ``inference`` accept.
        y : sequence of structures
            True structure of each input.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If X and y are empty or have different lengths, if features have a wrong length or are not
            finite, or if training overflows. The estimator then stays as it was before the call.
        """
        self._learn(X, y, is_pass=False)
        return self

    @validated
    def partial_fit(self, X: Sequence[object], y: Sequence[object]) -> Self:
        """Make one pass over X and y in the given order, continuing from what was learnt before.

        Consecutive batches give the same model as one pass over all of them. Attributes that describe a fit
        (``n_iter_``, ``mistakes_per_epoch_``, ``loss_per_epoch_``, ``loss_curve_``, ``converged_``) refer
        to this call alone.

        Parameters
        ----------
        X : sequence of inputs
            As for ``fit``.
        y : sequence of structures
            True structure of each input.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            As for ``fit``. The estimator then stays as it was before the call.
        """
        self._learn(X, y, is_pass=True)
        return self

    @validated
    def predict_then_learn(self, X: Sequence[object], y: Sequence[object]) -> tuple[list[Any], int]:
        """Predict each example before learning from it (progressive validation).

        Makes one pass in the given order and learns the same as ``partial_fit``. Each example is predicted
        with the current weights, learnt from the examples before it.

        Parameters
        ----------
        X : sequence of inputs
            As for ``fit``.
        y : sequence of structures
            True structure of each input.

        Returns
        -------
        y_pred : list
            Predicted structure of each input.
        n_errors : int
            Number of wrong predictions.

        Raises
        ------
        ValueError
            As for ``fit``. The estimator then stays as it was before the call.
        """
        return self._learn(X, y, is_pass=True)

    def _learn(self, X: Sequence[object], y: Sequence[object], *, is_pass: bool) -> tuple[list[Any], int]:
        """Run epochs; return the answers of the last one in its order, and the wrong ones of the first."""
        with learning(self) as model, standard():
            answers: list[Any] = model._run(X, y, is_pass=is_pass)
            return answers, int(model.mistakes_per_epoch_[0, 0])

    def _run(self, X: Sequence[object], y: Sequence[object], *, is_pass: bool) -> list[Any]:
        """Run epochs on the twin that is to be published."""
        seed = draw_seed(self.random_state) if self.shuffle and not is_pass else None
        max_iter = 1 if is_pass else int(self.max_iter)
        X, y = _listed("X", X), _listed("y", y)
        if len(X) != len(y):
            raise ValueError(f"X and y must have equal lengths, got {len(X)} and {len(y)}")
        if len(X) == 0:
            raise ValueError("X must hold at least one example, got none")
        engine = get_engine(self.engine)
        with foreign():
            first = self.joint_feature(X[0], y[0])
        with naming("joint_feature"):
            d = self._columns(first)
            _checked_features(first, d)
        w, u, seen = np.zeros(d), np.zeros(d), 0
        if is_pass and self._learnt.model is not None:
            if len(self.last_coef_) != d:
                raise ValueError(
                    f"joint_feature gave vectors of length {len(self.last_coef_)} before, and of length {d} "
                    f"now; give the same features, or begin anew by fit"
                )
            # The engine changes them in place; + 0.0 makes a copy.
            w, u, seen = self.last_coef_ + 0.0, self._model["coef_u"] + 0.0, self.n_seen_
        run = _Structures(self, engine, X, y, seed, (w, u, seen))
        report = follow(run, Settings(learner="structured", seed=seed), Schedule(max_iter=max_iter))
        self._publish(report.state)
        if not np.isfinite(self.coef_).all():
            raise ValueError("training overflowed: an average is not finite; scale the features")
        change(
            self,
            n_iter=len(report.mistakes),
            converged=report.stopped == ["clean"],
            mistakes_per_epoch=report.mistakes,
            loss_per_epoch=report.losses[:, 0],
            loss_curve=(report.losses[:, 0] / len(X)).tolist(),
        )
        return run.answers

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights that predict: the averaged ones, or the last ones."""
        if not self.averaged:
            last: NDArray[np.float64] = self._model["coef"]
            return last
        model, learnt = self._model, self._learnt
        average: NDArray[np.float64] | None = learnt.memo.get("average")
        if average is None:
            average = learnt.memo["average"] = _average(get_engine(self.engine), model)
        return average

    @coef_.setter
    @exclusive
    def coef_(self, coef: ArrayLike) -> None:
        """Restart from these weights."""
        shape = np.shape(coef) if self._learnt.model is None else self.last_coef_.shape
        weights = start_value(coef, "coef_", shape)
        seen = np.zeros(1, dtype=np.int64)
        begin_anew(self, {"coef": weights, "coef_u": np.zeros(shape), "seen": seen})

    @LearntAttribute
    def n_seen_(self) -> int:
        """Number of examples that the weights have seen."""
        return int(self._model["seen"][0])

    def __sklearn_is_fitted__(self) -> bool:
        return self._learnt.model is not None

    @property
    def predictor_(self) -> State:
        """What predicts."""
        return {"coef": self.coef_}

    def _prediction_parameters(self) -> dict[str, object]:
        return {"learner": "structured", "inference": self.inference}

    @consistent
    def predict(self, X: Sequence[object]) -> list[Any]:
        """Predict the structure of each input.

        Parameters
        ----------
        X : sequence of inputs
            As for ``fit``.

        Returns
        -------
        list
            The structures that ``inference`` returns.
        """
        check_is_fitted(self)
        X = _listed("X", X)
        weights = self.coef_
        return AnswerList(_own_structure(self.inference(X[i], read_only(weights))) for i in range(len(X)))

    @consistent
    def score(self, X: Sequence[object], y: Sequence[object]) -> float:
        """Return the fraction of inputs whose structure is predicted correctly.

        Parameters
        ----------
        X : sequence of inputs
            As for ``fit``.
        y : sequence of structures
            True structure of each input.

        Returns
        -------
        float
            Accuracy, from 0 to 1.
        """
        X, y = _listed("X", X), _listed("y", y)
        if len(X) != len(y) or len(X) == 0:
            raise ValueError(f"X and y must have equal lengths above 0, got {len(X)} and {len(y)}")
        right = [self._loss(truth, z) == 0 for truth, z in zip(y, self.predict(X), strict=True)]
        return right.count(True) / len(right)

    def _columns(self, first: Any) -> int:
        if isinstance(first, Mapping):
            if self.n_features is None:
                raise ValueError("n_features must be given where joint_feature returns dicts, got None")
            return int(self.n_features)
        d = int(first.shape[-1]) if issparse(first) else np.size(numbers_in(first, _RESULT))
        if self.n_features is not None and self.n_features != d:
            raise ValueError(f"n_features={self.n_features}, but joint_feature returns vectors of length {d}")
        return d

    def _loss(self, truth: object, answer: object) -> float:
        with foreign():
            if self.loss is None:
                return float(not _is_equal(truth, answer))
            got = self.loss(truth, answer)
        value = got.item() if isinstance(got, np.generic | np.ndarray) and got.size == 1 else got
        loss = number(int(value) if isinstance(value, bool) else value)
        if loss is None or not 0 <= loss < math.inf:
            raise ValueError(f"loss must return a finite number of at least 0, got {got!r:.80}")
        return float(loss)


class _Structures:
    """A run whose examples are searched by functions of the caller; see `perceptron_rs.engines.Run`."""

    def __init__(
        self,
        model: StructuredPerceptron,
        engine: Engine,
        X: Sequence[object],
        y: Sequence[object],
        seed: int | None,
        start: tuple[NDArray[np.float64], NDArray[np.float64], int],
    ) -> None:
        self.model, self.engine, self.x, self.y, self.seed = model, engine, X, y, seed
        self.w, self.u, self.t = start
        self.answers: list[Any] = []  # of the last epoch, in its order

    def epoch(self, number: int) -> Epoch:
        """Visit all examples once: the loop of the paper."""
        x, y, w, u, c = self.x, self.y, self.w, self.u, float(self.model.eta0)
        order: Any = range(len(x))
        if self.seed is not None:
            order = self.engine.permutation(len(x), seed=self.seed, epoch=number, partition=0)
        mistakes, losses, self.answers = 0, 0.0, []
        for i in order:
            self.t += 1
            with foreign():
                z = self.model.inference(x[i], read_only(w))
            self.answers.append(_own_structure(z))
            loss = self.model._loss(y[i], z)
            if loss > 0:
                mistakes += 1
                losses += loss
                features = [self._features(x[i], structure) for structure in (y[i], z)]
                try:
                    self.engine.structured_update(w, u, *features, step=c, t=self.t)
                except OverflowError as error:
                    raise ValueError(f"training overflowed in epoch {number}: {error}") from None
        if not (np.isfinite(w).all() and np.isfinite(u).all()):
            raise ValueError(f"training overflowed in epoch {number} (counted from 0); scale the features")
        lost = np.array([losses])
        return Epoch(np.array([mistakes], dtype=np.int64), lost, lost, interrupted=False)

    def _features(self, x: object, structure: object) -> Features:
        """Return features of its own: the next call of ``joint_feature`` may fill the same array."""
        with foreign():
            returned = self.model.joint_feature(x, structure)
        with naming("joint_feature"):
            return _checked_features(returned, len(self.w))

    def end(self, decision: int) -> None:
        """Say that the run goes on no more."""

    def state(self) -> State:
        """Return copies of weights and sums."""
        return {"coef": self.w.copy(), "coef_u": self.u.copy(), "seen": np.array([self.t], dtype=np.int64)}

    def tracked(self) -> State:
        """Return nothing: answers are structures of any kind."""
        return {}


def _average(engine: Engine, model: LearntModel) -> NDArray[np.float64]:
    """Return the average of the weights after each example."""
    zero, w, u = np.zeros(1), model["coef"], model["coef_u"]
    state = {"coef": w[np.newaxis], "coef_u": u[np.newaxis], "seen": model["seen"]}
    state |= {"intercept": zero, "intercept_u": zero}
    average: NDArray[np.float64] = engine.Model.from_state("averaged", state).coef[0]
    return average


def _listed(name: str, data: Any) -> Any:
    """Return inputs or structures that have places; TypeError for anything else."""
    if not isinstance(data, Iterator):
        refuse_uncomputed(data, name)
    items = materialize(data)
    is_list = has_length(items) and hasattr(type(items), "__getitem__") and column_names(items) is None
    if not is_list or isinstance(items, str | Mapping):
        kind = "inputs" if name == "X" else "structures"
        raise TypeError(f"{name} must be a list or an array of {kind}, got {data!r:.80}; write list({name})")
    return items


def _own_structure(structure: Any) -> Any:
    """Return a structure that ``inference`` cannot fill anew for the next input."""
    return structure.copy() if isinstance(structure, list | np.ndarray) else structure


def _is_equal(truth: Any, answer: Any) -> bool:
    if isinstance(truth, np.ndarray) or isinstance(answer, np.ndarray):
        return np.array_equal(truth, answer)
    return bool(truth == answer)


def _checked_features(returned: Any, d: int) -> Features:
    """Return columns and values, each column once."""
    if isinstance(returned, Mapping):
        for column in returned:
            if not isinstance(column, Integral):
                raise TypeError(f"joint_feature must return whole numbers as columns, got {column!r:.80}")
        columns = np.fromiter(returned.keys(), dtype=np.int64, count=len(returned))
        values = numbers_in(list(returned.values()), _RESULT).astype(np.float64)
    elif issparse(returned):
        row = returned.tocsr(copy=True)
        row.sum_duplicates()
        if row.shape != (1, d):
            raise ValueError(f"joint_feature must return rows of shape (1, {d}), got {row.shape}")
        columns, values = row.indices.astype(np.int64), row.data.astype(np.float64)
    else:
        dense = np.ravel(numbers_in(returned, _RESULT)).astype(np.float64)
        if len(dense) != d:
            raise ValueError(f"joint_feature must return vectors of length {d}, got {len(dense)}")
        columns = np.flatnonzero(dense).astype(np.int64)
        values = dense[columns]
    if not np.isfinite(values).all():
        raise ValueError(f"joint_feature must return finite numbers, got {values[~np.isfinite(values)][0]}")
    return columns, np.ascontiguousarray(values)
