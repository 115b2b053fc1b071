"""Penalties: their strengths, and the states of runs of which some are pending.

Between calls of ``partial_fit`` a model knows what is pending of each weight. A run over blocks or partitions
goes on from arrays: with ``ages``, how many examples each weight has not been settled for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.engines import State

__all__ = ["strengths", "with_ages", "with_strengths"]


def strengths(estimator: Any) -> tuple[float, float] | None:
    """Return the strengths of the l1 and the l2 penalty of an example; None without a penalty."""
    kind = getattr(estimator, "penalty", None)
    if kind is None or estimator.alpha == 0:
        return None
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": float(estimator.l1_ratio)}[kind]
    return float(estimator.alpha) * ratio, float(estimator.alpha) * (1.0 - ratio)


def with_ages(estimator: Any, model: Any) -> State:
    """Return what a model has learnt as a run takes it, under the penalty of the estimator."""
    state, now = dict(model if isinstance(model, dict) else model.state()), strengths(estimator)
    pending = state.pop("strengths", None)
    if pending is not None and (now is None or pending.tolist() != [estimator.eta0, *now]):
        state = {name: model[name] for name in model.keys()}  # settled  # noqa: SIM118  no mapping's methods
    if now is not None and "ages" not in state:
        state["ages"] = np.zeros(state["coef"].shape, dtype=np.int64)
    return state


def with_strengths(estimator: Any, state: State) -> State:
    """Return the state of a run with the strengths of what is pending."""
    now = strengths(estimator)
    if "strengths" in state or now is None or "ages" not in state:
        return state
    if not state["ages"].any():
        return {name: array for name, array in state.items() if name != "ages"}
    return state | {"strengths": np.array([estimator.eta0, *now], dtype=np.float64)}
