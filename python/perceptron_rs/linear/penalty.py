"""Penalties: their strengths, and what a run over partitions begins with.

Between calls of ``partial_fit`` a model knows what is pending of each weight. Its arrays say so, too: with
``ages``, how many examples each weight has not been settled for.
"""

from __future__ import annotations

from typing import Any

from perceptron_rs.engines import State

__all__ = ["arrays_of", "strengths"]


def strengths(estimator: Any) -> tuple[float, float] | None:
    """Return the strengths of the l1 and the l2 penalty of an example; None without a penalty."""
    kind = getattr(estimator, "penalty", None)
    if kind is None or estimator.alpha == 0:
        return None
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": float(estimator.l1_ratio)}[kind]
    return float(estimator.alpha) * ratio, float(estimator.alpha) * (1.0 - ratio)


def arrays_of(estimator: Any, model: Any) -> State:
    """Return what a model has learnt; penalties are pending only if they are those of the estimator."""
    state, now = model.state(), strengths(estimator)
    pending = state.get("strengths")
    if pending is not None and (now is None or pending.tolist() != [estimator.eta0, *now]):
        state = {name: model[name] for name in model.keys()}  # settled  # noqa: SIM118  no mapping's methods
    return dict(state)
