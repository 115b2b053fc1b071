"""The short way of ``partial_fit(check_input=False)`` for few rows, such as a stream of single examples.

What the parameters say is worked out once and kept by the engine, with the very objects that they
were. After that a call crosses to the engine once, which looks whether they still are the same objects,
learns, and replaces the attributes that change. Whatever is out of the ordinary (a penalty, weights of
examples or classes, a callback, any error) is left to the long way, with nothing changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.audit.record import RECORD
from perceptron_rs.common.parameters import NOISE, are_accepted, noise_settings
from perceptron_rs.common.planes import is_joint, joint_update, n_planes, positive_labels
from perceptron_rs.engines import OnePass, get_engine
from perceptron_rs.linear.penalty import PENDING, strengths

__all__ = ["learn_few"]

#: So many rows at most: beyond, reading the arguments takes less time than learning.
_FEW = 16
#: Parameters that every pass depends on; not every learner has the last ones.
_PARAMETERS = (
    *("engine", "eta0", "tie", "fit_intercept", "class_weight", "track_mistakes", "callback", "verbose"),
    "audit",
    *("penalty", "multi_class", *NOISE),
)
#: What the long way would remove after a pass.
_STALE = ("mistakes_per_example_", "validation_scores_", "loss_curve_", PENDING[0], RECORD)

#: Of the estimators seen last, by their id. That an id comes again does no harm: the parameters are compared.
_prepared: dict[int, tuple[Any, int, OnePass]] = {}
_MOST = 64


def learn_few(estimator: Any, X: Any, y: Any) -> bool:
    """Learn from a few rows. False: that is left to the long way, and nothing has been changed."""
    try:
        if len(y) > _FEW:
            return False
        if not isinstance(X, np.ndarray):
            X = get_engine(estimator.engine).csr_rows(X.indptr, X.indices, X.data, X.shape[1])
        own = vars(estimator)
        found = _prepared.get(id(estimator))
        if found is not None:
            kind, n_classes, one_pass = found
            same = kind is type(estimator) and n_classes == len(own["classes_"])
            if same and one_pass.learn(own, X, y):
                return True
        prepared = _prepare(estimator)
        if prepared is None:
            return False
        if len(_prepared) >= _MOST:
            _prepared.clear()
        _prepared[id(estimator)] = type(estimator), len(own["classes_"]), prepared
        return prepared.learn(own, X, y)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return False  # the long way says what is wrong


def _names(estimator: Any) -> list[str]:
    """Return the names of the parameters that matter while none of them changes."""
    names = list(_PARAMETERS)
    if getattr(estimator, "penalty", None) is not None:
        names += ["alpha"]
    if is_joint(estimator):
        names += ["joint_update"]
    return [name for name in names if hasattr(estimator, name)]


def _prepare(estimator: Any) -> OnePass | None:
    """Return what does a pass with these parameters; None: more is asked for than fits there."""
    watched = (
        estimator.track_mistakes or estimator.verbose or estimator.callback is not None or estimator.audit
    )
    if not are_accepted(estimator):
        return None  # the long way says which parameter is wrong
    if estimator._draws or watched or estimator.class_weight is not None or strengths(estimator) is not None:
        return None
    planes = n_planes(estimator, estimator.classes_)
    return get_engine(estimator.engine).one_pass(
        parameters={name: getattr(estimator, name) for name in _names(estimator)},
        absent=_STALE,
        caches=estimator._caches,
        stored=estimator._stored,
        learner=estimator._learner,
        positive=positive_labels(planes),
        class_weight=np.ones((planes, 2)),
        eta0=float(estimator.eta0),
        tie=str(estimator.tie),
        fit_intercept=bool(estimator.fit_intercept),
        joint=joint_update(estimator),
        **noise_settings(estimator),
    )
