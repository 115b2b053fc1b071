"""Passes that take milliseconds at most: an example or a block, learnt by `partial_fit`.

What the parameters say is worked out once and kept by the engine, with the very objects that they
were. After that a call crosses to the engine once, which looks whether they still are the same objects,
learns, and replaces the attributes that change. Whatever is out of the ordinary (a callback, which may look
at all weights; examples of weight 0, any error, a pass that takes long) is left to a run, with nothing
changed.
"""

from __future__ import annotations

import sys
from typing import Any
from weakref import finalize

import numpy as np
from numpy import ndarray
from numpy.typing import NDArray

from perceptron_rs.audit.record import RECORD, Call
from perceptron_rs.common.parameters import NOISE, are_accepted, n_threads, noise_settings
from perceptron_rs.common.planes import is_joint, joint_update, n_planes, positive_labels
from perceptron_rs.common.terms import check_terms
from perceptron_rs.common.turns import Turn, turns
from perceptron_rs.common.weights import class_weights
from perceptron_rs.engines import OnePass, get_engine
from perceptron_rs.linear.penalty import PENDING, is_pending, strengths

__all__ = ["LEARNERS", "learn_pass"]

#: Those that a pass takes; others need more than their state. None, where a call of the engine is not one
#: step for other threads.
LEARNERS = ("perceptron", "averaged") if getattr(sys, "_is_gil_enabled", lambda: True)() else ()
#: Parameters that every pass depends on; not every learner has the last ones. An estimator may have others.
_PARAMETERS = (
    *("engine", "eta0", "tie", "fit_intercept", "class_weight", "track_mistakes", "callback", "verbose"),
    *("audit", "n_jobs", "early_stopping", "n_partitions"),
    *("penalty", "multi_class", *NOISE),
)
#: What a run would remove after a pass.
_STALE = ("validation_scores_", "loss_curve_")

#: For each estimator, by its id: what was made for its last pass.
_prepared: dict[int, OnePass] = {}
#: Types whose ``format`` is known: to ask for it takes as long as a fiftieth of a pass over one row.
_csr: set[type] = set()


def learn_pass(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    encoded: bool = False,
    activations: NDArray[np.float64] | None = None,
    record: tuple[Call, ...] | None = None,
    *,
    in_turn: bool = False,
) -> bool:
    """Learn from X in its order. False: that is left to a run, and nothing has been changed.

    ``X`` is a matrix, or rows of the engine; ``y`` are labels, or indices of classes (uint32) if they are
    ``encoded``. The activations of the examples before they are learnt from are put into ``activations``,
    float64 of shape (n, K). Any ``sample_weight`` may be given; float64 arrays of numbers above 0 alone
    are not left to a run. With ``audit`` the new ``record`` is needed, too. ``in_turn``: the caller has the
    turn of the estimator; otherwise, a pass that another call would take away is left to a run.
    """
    if not (sample_weight is None or type(sample_weight) is ndarray) or (estimator.audit and not record):
        return False
    if estimator.engine == "reference" and not in_turn:  # whose passes are many steps
        with Turn(estimator):
            return learn_pass(estimator, X, y, sample_weight, in_turn=True)
    others = None if in_turn else turns
    try:
        if encoded or isinstance(X, ndarray):
            rows = X
        elif type(X) in _csr or _is_csr(X):
            rows = (X.indptr, X.indices, X.data, X.shape[1])
        else:
            return False
    except (AttributeError, IndexError, TypeError):
        return False  # the run says what is wrong
    also = {RECORD: record} if record else None
    key = id(estimator)
    one_pass = _prepared.get(key)
    # The call is written out: with its arguments in a tuple it takes a tenth of a microsecond more.
    if one_pass is not None and one_pass.learn(
        estimator, rows, y, encoded, activations, sample_weight, also, others
    ):
        return True
    try:
        one_pass = _prepare(estimator)
    except (AttributeError, OverflowError, TypeError, ValueError):
        return False
    if one_pass is None:
        return False
    if key not in _prepared:
        finalize(estimator, _prepared.pop, key).atexit = False
    _prepared[key] = one_pass
    return one_pass.learn(estimator, rows, y, encoded, activations, sample_weight, also, others)


def _is_csr(X: Any) -> bool:
    if X.format != "csr":
        return False
    if type(X).__module__.startswith("scipy.sparse."):
        _csr.add(type(X))
    return True


def _names(estimator: Any) -> list[str]:
    """Return the names of the parameters that matter while none of them changes."""
    names = list(_PARAMETERS)
    if getattr(estimator, "penalty", None) is not None:
        names += ["alpha", "l1_ratio"]
    if is_joint(estimator):
        names += ["joint_update"]
    return [name for name in names if hasattr(estimator, name)]


def _prepare(estimator: Any) -> OnePass | None:
    """Return what does a pass with these parameters; None: more is asked for than fits there."""
    class_weight = estimator.class_weight
    if estimator._learner not in LEARNERS or not (class_weight is None or type(class_weight) is dict):
        return None
    check_terms(estimator)
    if not are_accepted(estimator):
        return None  # the long way says which parameter is wrong
    watched = estimator.verbose or estimator.callback is not None
    penalty = strengths(estimator)
    if estimator._draws or watched or (penalty and not is_pending(estimator)):
        return None
    n_threads(estimator)  # refuses numbers that joblib does
    planes = n_planes(estimator, estimator.classes_)
    weights = class_weights(class_weight, estimator.classes_, None, planes)
    if not weights.all():
        return None
    parameters = {name: getattr(estimator, name) for name in ("classes_", *_names(estimator))}
    if class_weight is not None:
        parameters["class_weight"] = class_weight.copy()
    absent, caches, stored = [*_STALE], estimator._caches, estimator._stored
    if penalty:
        absent += ["coef_"]  # or somebody has set it
        parameters["_pending_strengths"] = estimator._pending_strengths
        caches, stored = ("_settled_coef",), {**stored, "coef": "_pending_coef", "settled": "_settled_at"}
    else:
        absent += PENDING[:1]
    if not estimator.audit:
        absent += [RECORD]
    if not estimator.track_mistakes:
        absent += ["mistakes_per_example_"]
    return get_engine(estimator.engine).one_pass(
        parameters=parameters,
        absent=absent,
        caches=caches,
        stored=stored,
        learner=estimator._learner,
        positive=positive_labels(planes),
        class_weight=weights,
        eta0=float(estimator.eta0),
        tie=str(estimator.tie),
        fit_intercept=bool(estimator.fit_intercept),
        joint=joint_update(estimator),
        penalty=penalty,
        track_mistakes=bool(estimator.track_mistakes),
        **noise_settings(estimator),
    )
