"""Penalties: their strengths, and weights whose penalty is pending between calls of ``partial_fit``.

What is pending is kept so that a call changes no more than what it reads: for each weight, at which count of
examples it was last settled. ``coef_`` is then computed when it is first read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.rows.examples import Examples
from perceptron_rs.common.sparse_weights import dense
from perceptron_rs.common.turns import computed
from perceptron_rs.engines import State, get_engine

__all__ = [
    "PENDING",
    "forget_pending",
    "is_pending",
    "keep_pending",
    "pending_tensors",
    "publish",
    "read_settled",
    "settled_of",
    "strengths",
    "take_pending",
]

#: What a call of ``partial_fit`` leaves behind under a penalty: the weights as the engine has them,
#: ``n_seen_`` when each was last settled, eta0 and the strengths that these are of, and ``coef_``, once read.
PENDING = ("_pending_coef", "_settled_at", "_pending_strengths", "_settled_coef")

#: So many columns for each entry are many: to settle all of them takes longer than to look for some.
_MANY = 16


def strengths(estimator: Any) -> tuple[float, float] | None:
    """Return the strengths of the l1 and the l2 penalty of an example; None without a penalty."""
    kind = getattr(estimator, "penalty", None)
    if kind is None or estimator.alpha == 0:
        return None
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": float(estimator.l1_ratio)}[kind]
    return float(estimator.alpha) * ratio, float(estimator.alpha) * (1.0 - ratio)


def take_pending(estimator: Any, state: State) -> State:
    """Return the state that a call goes on from, with ``ages`` if there is a penalty."""
    if strengths(estimator) is None:
        return state
    if is_pending(estimator):
        return state | {"coef": estimator._pending_coef, "ages": _ages(estimator, estimator._settled_at)}
    return state | {"ages": np.zeros(state["coef"].shape, dtype=np.int64)}


def is_pending(estimator: Any) -> bool:
    """Return whether penalties of the strengths that now hold are pending."""
    if is_set(estimator):
        return False
    kept = vars(estimator).get("_pending_strengths")
    return kept is not None and np.array_equal(kept, [estimator.eta0, *(strengths(estimator) or ())])


def is_set(estimator: Any) -> bool:
    """Whether ``coef_`` has been set since penalties are pending, which then are those of other weights."""
    if not {"coef_", "_pending_coef"} <= vars(estimator).keys():
        return False  # `sparsify` sets it, too
    return not np.array_equal(dense(estimator.coef_), read_settled(estimator))


def forget_pending(estimator: Any) -> None:
    """Drop what an earlier run has left pending: a new one starts."""
    for name in PENDING:
        vars(estimator).pop(name, None)


def publish(estimator: Any, state: State) -> None:
    """Keep the numbers of a state on the estimator; what is pending is put aside."""
    forget_pending(estimator)
    estimator._publish(state)
    now = strengths(estimator)
    if now is not None and state["ages"].any():
        keep_pending(estimator, state["coef"], state["ages"], [estimator.eta0, *now])


def keep_pending(estimator: Any, coef: NDArray[np.float64], ages: NDArray[np.int64], numbers: Any) -> None:
    """Put aside weights with their ages, and the strengths of their penalties."""
    del estimator.coef_
    estimator._pending_coef = coef
    # float64 as the weights are, which a pass then treats alike; counts are below 2**53.
    estimator._settled_at = (estimator.n_seen_[:, np.newaxis] - ages).astype(np.float64)
    estimator._pending_strengths = np.array(numbers, dtype=np.float64)
    estimator._settled_coef = []


def read_settled(estimator: Any) -> NDArray[np.float64]:
    """Return ``coef_`` of an estimator with pending penalties."""
    names = (*PENDING[:3], "n_seen_")
    coef: NDArray[np.float64] = computed(
        estimator, "_settled_coef", names, lambda model: _settled(model, slice(None))
    )
    return coef


def settled_of(estimator: Any, data: Examples) -> NDArray[np.float64] | None:
    """Return ``coef_`` with 0 where the examples, of far fewer entries than there are columns, have none.

    None: there is nothing to save. Zeros that nobody reads take neither memory nor time.
    """
    known = vars(estimator)
    if "coef_" in known or known.get("_settled_coef", True) or data.indptr is None:
        return None
    columns, shape = data.stored["rows_indices"], estimator._pending_coef.shape
    if len(columns) > shape[1] // _MANY:
        return None
    coef = np.zeros(shape)
    coef[:, columns] = _settled(estimator, columns)
    return coef


def _settled(estimator: Any, columns: Any) -> NDArray[np.float64]:
    """Return the weights of some columns with all that is pending of them."""
    eta0, l1, l2 = estimator._pending_strengths.tolist()
    coef, settled_at = estimator._pending_coef[:, columns], estimator._settled_at[:, columns]
    state = {"coef": coef, "ages": _ages(estimator, settled_at)}
    return get_engine(estimator.engine).settled(state, eta0=eta0, penalty=(l1, l2))


def pending_tensors(estimator: Any) -> dict[str, NDArray[Any]]:
    """Return what a model file holds of pending penalties."""
    if "_pending_coef" not in vars(estimator) or is_set(estimator):
        return {}
    return {
        "pending_coef": estimator._pending_coef,
        "pending_ages": _ages(estimator, estimator._settled_at),
        "pending_strengths": estimator._pending_strengths,
    }


def _ages(estimator: Any, settled_at: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many examples each weight has not been settled for."""
    ages = estimator.n_seen_[:, np.newaxis] - settled_at
    return np.asarray(ages, dtype=np.int64)
