"""Penalties: their strengths, and weights whose penalty is pending between calls of ``partial_fit``."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.engines import Engine, State

__all__ = ["PENDING", "forget_pending", "keep_pending", "strengths", "take_pending"]

#: What a call of ``partial_fit`` leaves behind under a penalty: the weights as the engine has them,
#: the ages of their penalties, and eta0 and the strengths that these are of.
PENDING = ("_pending_coef", "_pending_ages", "_pending_strengths")


def strengths(estimator: Any) -> tuple[float, float] | None:
    """Return the strengths of the l1 and the l2 penalty of an example; None without a penalty."""
    kind = getattr(estimator, "penalty", None)
    if kind is None or estimator.alpha == 0:
        return None
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": float(estimator.l1_ratio)}[kind]
    return float(estimator.alpha) * ratio, float(estimator.alpha) * (1.0 - ratio)


def take_pending(estimator: Any, state: State) -> State:
    """Return the state that a call goes on from, with ``ages`` if there is a penalty."""
    now = strengths(estimator)
    if now is None:
        return state
    numbers = np.array([estimator.eta0, *now], dtype=np.float64)
    kept = vars(estimator).get("_pending_strengths")
    if kept is not None and np.array_equal(kept, numbers):
        return state | {"coef": estimator._pending_coef, "ages": estimator._pending_ages}
    return state | {"ages": np.zeros(state["coef"].shape, dtype=np.int64)}


def forget_pending(estimator: Any) -> None:
    """Drop what an earlier run has left pending: a new one starts."""
    for name in PENDING:
        vars(estimator).pop(name, None)


def keep_pending(estimator: Any, engine: Engine, state: State) -> State:
    """Return the state with settled weights; what is pending is put aside on the estimator."""
    forget_pending(estimator)
    now = strengths(estimator)
    if now is None:
        return state
    if state["ages"].any():
        estimator._pending_coef, estimator._pending_ages = state["coef"], state["ages"]
        estimator._pending_strengths = np.array([estimator.eta0, *now], dtype=np.float64)
        return state | {"coef": engine.settled(state, eta0=float(estimator.eta0), penalty=now)}
    return state
