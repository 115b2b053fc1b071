"""Passes over few rows: the settings of a pass are computed once for the same values of parameters."""

from __future__ import annotations

import sys
from dataclasses import fields
from functools import wraps
from operator import itemgetter
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy import ndarray
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.scalars import check_among
from perceptron_rs.audit.record import next_record
from perceptron_rs.engines import RunState, get_engine
from perceptron_rs.errors import named_overflow
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.parameters.checks import are_accepted, validated
from perceptron_rs.parameters.groups import group_of
from perceptron_rs.prediction.predictor import is_of, predicted
from perceptron_rs.rows.examples import has_known_columns
from perceptron_rs.state.fixed_parameters import check_fixed_parameters
from perceptron_rs.state.turns import Turn, change, changed, turns
from perceptron_rs.stream.fit import StreamFit
from perceptron_rs.targets.labels import are_listed
from perceptron_rs.targets.planes import n_planes
from perceptron_rs.targets.weights import sample_weights
from perceptron_rs.training.feeders import InMemory, predict_then_learn
from perceptron_rs.training.train import Feeder, rate_of, train

#: Types of X whose ``format`` is known: to ask for it takes as long as a tenth of a pass over one row.
_csr: set[type] = set()
#: Whether other threads wait while a short pass is made.
_IS_ATOMIC = getattr(sys, "_is_gil_enabled", lambda: True)()


LearnerT = TypeVar("LearnerT", bound=LinearLearner)


def partial_fit(
    self: LearnerT,
    X: MatrixLike,
    y: ArrayLike,
    classes: ArrayLike = None,
    *,
    sample_weight: ArrayLike = None,
    check_input: bool = True,
) -> LearnerT:
    """Make one pass over X and y in the given order, continuing from what was learnt before.

    Consecutive batches give the same model as one pass over all of them. The time for a few sparse
    examples grows with their entries, and not with the number of features. Arrays that the caller has
    read and still holds, such as ``coef_``, are never modified. Attributes that describe a fit
    (``n_iter_``, ``mistakes_per_epoch_``, ``n_mistakes_``, ``converged_``, ...) refer to this call
    alone.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The examples.
    y : array-like of shape (n_samples,), or {array-like, sparse matrix} of shape (n_samples, n_labels)
        Class labels; or, as for ``fit``, a matrix of many labels.
    classes : array-like of shape (n_classes,), default=None
        All classes that will ever occur in y. Required in the first call, unless y is a matrix: then
        they are the names of its columns, which must be sorted. Labels of the data say their type.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples, at least 0. An update is multiplied by the weight of its example.
    check_input : bool, default=True
        If False and the estimator is fitted, skip scikit-learn's validation. X must then be a
        C-contiguous array or a CSR matrix of one of the storage types, y an array of labels, and the
        parameters must be valid. The engine still checks shapes and types, and that numbers are finite.
        No class and no example may have weight 0; ``callback``, ``audit`` and ``verbose`` must be off.

    Returns
    -------
    self : object
        The fitted estimator.

    Raises
    ------
    ValueError
        If an argument has an invalid shape, length or value, if y contains a class that is not in
        ``classes_``, or if training overflows. The estimator then stays as it was before the call.
    TypeError
        If an argument does not contain numbers (or, for labels, numbers or strings).
    """
    if check_input is not True and check_input is not False:
        check_among("check_input", check_input, True, False)
    if isinstance(self, PassLearner) and _learn_in_place(
        self, X, y, classes, sample_weight, checks=check_input
    ):
        return self
    if check_input or self._learnt.classes is None:
        _checked_pass(self, X, y, classes, sample_weight)
        return self
    if not are_accepted(self):
        self._check_parameters(for_partial_fit=True)
    train(self, InMemory("partial_fit", X, y, sample_weight, checked=False))
    return self


@validated
def _checked_pass(
    learner: LinearLearner, X: MatrixLike, y: ArrayLike, classes: ArrayLike, sample_weight: ArrayLike
) -> None:
    train(learner, InMemory("partial_fit", X, y, sample_weight, classes=classes))


@wraps(predict_then_learn)
def _predict_then_learn(
    self: Any, X: MatrixLike, y: ArrayLike, *, classes: ArrayLike = None, sample_weight: ArrayLike = None
) -> tuple[NDArray[np.generic], int]:
    known, tracked = self._learnt.classes, list[Any]()
    is_alike = known is not None and type(y) is ndarray and y.dtype == known.dtype
    if is_alike and _learn_in_place(self, X, y, classes, sample_weight, tracked=tracked):
        answer = predicted(self, tracked[0])
        return answer, int(np.count_nonzero(answer != y))
    return predict_then_learn(self, X, y, classes=classes, sample_weight=sample_weight)


class PassLearner(LinearLearner, StreamFit):
    """A linear learner that a pass over a few examples makes better where its numbers stand."""

    _values: ClassVar[itemgetter[Any]]
    _model: Any  # a model of an engine, which learns, or a packed one, which has no ``learn``
    _rule: tuple[object, ...]  # the settings of a pass, with the values that they were made of

    partial_fit = partial_fit
    predict_then_learn = _predict_then_learn

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        # To compare the others, too, would take time.
        names = [parameter.name for parameter in fields(group_of(cls)) if parameter.metadata["in_pass"]]
        cls._values = itemgetter(*names)

    def sparsify(self) -> Self:
        """Convert ``coef_`` to a CSR matrix, which is smaller if most of the weights are 0.

        All methods keep working and give the same bits. Each call makes a dense copy of the weights, so
        predicting few examples takes longer. ``fit`` and ``partial_fit`` make the weights dense again.
        ``save`` writes the same file in both cases.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.

        See Also
        --------
        densify : The inverse.

        Notes
        -----
        As in scikit-learn, ``coef_`` becomes a ``scipy.sparse.csr_matrix``, or a ``csr_array`` if
        scikit-learn's setting ``sparse_interface`` is "sparray". ``intercept_`` is not converted.

        Examples
        --------
        >>> from perceptron_rs import Perceptron
        >>> X, y = [[1, 0, 3], [0, 0, -2], [0, 2, 1]], ["ham", "spam", "ham"]
        >>> model = Perceptron(penalty="l1", alpha=0.1, shuffle=False).fit(X, y)
        >>> model.sparsify().coef_.nnz
        2
        >>> model.densify().coef_
        array([[-0.4,  0. , -2.4]])
        """
        check_is_fitted(self)
        change(self, as_sparse=True)
        return self

    def densify(self) -> Self:
        """Convert ``coef_`` back to a dense array. If it is dense already, nothing happens.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.

        See Also
        --------
        sparsify : The inverse, with an example of both.
        """
        check_is_fitted(self)
        change(self, as_sparse=None)
        return self

    def _publish(self, state: RunState) -> None:
        change(self, model=self._owned(get_engine(self.engine), state), as_sparse=None)

    def _learn_at_once(self, feeder: Feeder) -> bool:
        if self._learnt.calibration is not None:
            return False  # `train` drops the calibration
        data, labels = feeder.data, feeder.labels
        planes = n_planes(self, feeder.classes)
        if not feeder.goes_on:
            if self.audit:
                return False
            self._publish(self._start(feeder))
        elif not is_of(feeder.engine, self._model) or self._model.shape != (planes, data.rows.shape[1]):
            return False  # the long way converts, or says what is wrong
        rule = rule_now(self)
        if rule is None:
            return False
        weights = sample_weights(feeder.sample_weight, labels)
        if weights is not None and not weights.all():
            return False
        record = next_record(self, data.stored, labels, weights) if self.audit else None
        if (self.audit and record is None) or self._learnt.calibration is not None:
            return False
        try:
            is_learnt = self._learnt.model.learn(
                rule,
                data.rows,
                labels,
                weights,
                vars(self),
                encoded=True,
                track_activations=feeder.tracks,
                note=record,
            )
        except OverflowError as error:
            data.assert_finite(self)
            raise named_overflow(error, rate_of(self)) from None
        if not is_learnt:
            raise changed(self)
        if feeder.tracks:
            activations = self._model.last_pass.activations
            feeder.activations = np.zeros((0, planes)) if activations is None else activations
        return True


def rule_now(learner: PassLearner) -> Any:
    """Return the settings of a pass; None if it has to go through `train`."""
    learnt = learner._learnt
    try:
        values = learner._values(vars(learner))
        values_then, mapping, rule, classes_then = vars(learner).get("_rule", (None, None, None, None))
        # Another mapping may be equal, and is refused.
        if classes_then is learnt.classes and values_then == values and type(learner.class_weight) is mapping:
            return rule
        if learner.callback is not None or learner.verbose or learner.class_weight == "balanced":
            return None
        if learnt.classes is None or not are_accepted(learner):
            return None  # the long way says which parameter is wrong
    except (KeyError, ValueError):  # unfitted; arrays
        return None
    check_fixed_parameters(learner)
    engine = get_engine(learner.engine)
    weights = learner._class_weights(learnt.classes, None)
    if not weights.all():
        return None
    settings = learner._settings_of(weights, None, settle=False)
    # Of many labels no vector y says one.
    rule = engine.Rule(settings, learnt.classes[:0] if learnt.label_matrix else learnt.classes)
    values = tuple(dict(value) if type(value) is dict else value for value in values)
    learner._rule = values, type(learner.class_weight), rule, learnt.classes
    return rule


def _learn_in_place(
    learner: PassLearner,
    X: MatrixLike,
    y: ArrayLike,
    classes: ArrayLike,
    sample_weight: ArrayLike,
    *,
    checks: bool = True,
    tracked: list[Any] | None = None,
) -> bool:
    """Make a pass where the numbers stand; False: that cannot be, and nothing has been learnt.

    The activations are put in a list, if one is given.
    """
    if checks and not _is_plain_call(learner, X, y, sample_weight):
        return False
    known = learner.__dict__
    try:
        # Written out, as `rule_now` is: a call takes as long as the comparison.
        learnt, kind, kept = known["_learnt"], type(X), known.get("_rule")
        if (
            kept is None
            or kept[3] is not learnt.classes
            or kept[0] != learner._values(known)
            or type(known["class_weight"]) is not kept[1]
        ):
            rule = rule_now(learner)
        else:
            rule = kept[2]
        if rule is None or known["audit"] or learnt.recipe is not None or learnt.calibration is not None:
            return False
        if checks and classes is not None and not are_listed(classes, learnt.classes):
            return False
        if kind is ndarray:
            rows: Any = X
        elif kind in _csr or X.format == "csr":
            if kind.__module__.startswith("scipy."):  # it would be kept alive
                _csr.add(kind)
            rows = (X.indptr, X.indices, X.data, X.shape[1])
        else:
            return False
        # The engine checks that the estimator still has this model, and that no other call has a turn.
        # Nothing of Python runs between the comparison and that.
        is_known = _IS_ATOMIC and tracked is None and known["_learnt"] is learnt
        if is_known and learnt.model.learn(rule, rows, y, sample_weight, known, turns):
            return True
        with Turn(learner):
            rule = rule_now(learner)
            if rule is None or learner._learnt.calibration is not None:
                return False
            model, tracks = learner._learnt.model, tracked is not None
            if not model.learn(rule, rows, y, sample_weight, known, track_activations=tracks):
                raise changed(learner)
            if tracked is not None:
                tracked.append(model.last_pass.activations)
            return True
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return False  # and nothing has changed: the long way converts, or says what is wrong


def _is_plain_call(learner: PassLearner, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike) -> bool:
    """Whether the checks of a pass would find nothing, but for classes and what the engine finds itself.

    Labels that are objects may be of other kinds than the classes, and equal to them.
    """
    return (
        sample_weight is None
        and type(y) is ndarray
        and y.dtype.kind != "O"
        and has_known_columns(learner, X)
        and are_accepted(learner)
    )
