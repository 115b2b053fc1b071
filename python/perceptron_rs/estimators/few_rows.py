"""The short way of ``partial_fit(check_input=False)`` for few rows, such as a stream of single examples.

What the parameters say is worked out once for each choice of them. After that a call reads some
attributes, crosses to the engine once, and writes the attributes that it changes. Whatever is out of
the ordinary (a penalty, weights of examples or classes, a callback, any error) is left to the long way,
with nothing changed.
"""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import Engine, OnePass, State, get_engine
from perceptron_rs.estimators.errors import restored_on_error
from perceptron_rs.estimators.penalty import forget_pending, strengths
from perceptron_rs.estimators.planes import joint_update, n_planes, positive_labels

__all__ = ["learn_few"]

#: So many rows at most: beyond, reading the arguments takes less time than learning.
_FEW = 16
#: All parameters that a pass depends on; not every learner has the last ones.
_PARAMETERS = (
    *("engine", "eta0", "tie", "fit_intercept", "class_weight", "track_mistakes", "callback", "verbose"),
    *("penalty", "alpha", "l1_ratio", "margin", "added_feature", "max_mistakes_per_example"),
    *("multi_class", "update"),
)
_STALE = ("mistakes_per_example_", "validation_scores_")


class _Plan(NamedTuple):
    """What the parameters say."""

    engine: Engine
    one_pass: OnePass
    stored: list[tuple[str, str]]


def learn_few(estimator: Any, X: Any, y: Any) -> bool:
    """Learn from a few rows. False: that is left to the long way, and nothing has been changed."""
    try:
        if not len(y) <= _FEW:
            return False
        classes = estimator.classes_
        kind: Any = type(estimator)
        plan = _plan(kind, len(classes), *_values(kind)(estimator))
        if plan is None or y.dtype.kind != classes.dtype.kind or y.ndim != 1:
            return False
        engine, one_pass, stored = plan
        known = classes.tolist()
        labels = [known.index(label) for label in y.tolist()]
        if isinstance(X, np.ndarray):
            rows = engine.dense_rows(X)
        else:
            rows = engine.csr_rows(X.indptr, X.indices, X.data, X.shape[1])
        own = vars(estimator)
        state, mistakes = one_pass.learn(rows, labels, {name: own[attribute] for name, attribute in stored})
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return False  # the long way says what is wrong
    with restored_on_error(estimator):
        _publish(estimator, state, mistakes)
    return True


@lru_cache(maxsize=64)
def _values(kind: type) -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*_names(kind))


def _names(kind: Any) -> list[str]:
    return [name for name in _PARAMETERS if name in kind._get_param_names()]


@lru_cache(maxsize=256)
def _plan(kind: Any, n_classes: int, *values: Any) -> _Plan | None:
    """Return what a learner of this kind does with these parameters; None: more than fits here."""
    given = SimpleNamespace(**dict(zip(_names(kind), values, strict=True)))
    watched = given.track_mistakes or given.verbose or given.callback is not None
    if kind._draws or watched or given.class_weight is not None or strengths(given) is not None:
        return None
    engine, planes = get_engine(given.engine), n_planes(given, np.empty(n_classes))
    most = getattr(given, "max_mistakes_per_example", None)
    one_pass = engine.one_pass(
        learner=kind._learner,
        positive=positive_labels(planes),
        class_weight=np.ones((planes, 2)),
        eta0=float(given.eta0),
        tie=str(given.tie),
        fit_intercept=bool(given.fit_intercept),
        margin=float(getattr(given, "margin", 0.0)),
        added_feature=float(getattr(given, "added_feature", 0.0)),
        max_mistakes_per_example=None if most is None else int(most),
        joint=joint_update(given),
    )
    return _Plan(engine, one_pass, list(kind._stored.items()))


def _publish(estimator: Any, state: State, mistakes: NDArray[np.int64]) -> None:
    """Do what the long way does after a pass."""
    own = vars(estimator)
    estimator._publish(state)
    if "_pending_coef" in own:
        forget_pending(estimator)
    for name in _STALE:
        if name in own:
            del own[name]
    number = sum(mistakes.tolist())
    own["n_iter_per_class_"] = np.ones(len(mistakes), dtype=np.int64)
    own["n_iter_"] = 1
    own["n_mistakes_"] = number
    own["mistakes_per_epoch_"] = mistakes if len(mistakes) == 1 else mistakes.reshape(1, -1)
    own["converged_"] = number == 0
