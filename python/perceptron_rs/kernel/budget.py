"""The kernel perceptron on a budget: what it refuses, one call of an engine, and what is kept of it."""

from __future__ import annotations

import math
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from perceptron_rs.common.data import Examples
from perceptron_rs.common.planes import is_joint
from perceptron_rs.common.stored_rows import chosen, joined
from perceptron_rs.engines import Engine, Report, State
from perceptron_rs.kernel.vectors import rows_of, stored
from perceptron_rs.reference.kernel.kept import POLICIES

__all__ = ["BUDGET", "begin_on_budget", "check_budget", "check_terms", "fit_on_budget", "log_of", "nothing"]

_LARGEST = 2**31 - 1

BUDGET: dict[str, list[Any]] = {
    "budget": [Interval(Integral, 1, _LARGEST, closed="both"), None],
    "budget_policy": [StrOptions(set(POLICIES))],
    "projection_distance": [Interval(Real, 0, None, closed="left")],
}


def check_budget(model: Any) -> None:
    """Refuse what has no meaning with a budget, and what scikit-learn's validation lets through."""
    budget, policy, distance = model.budget, model.budget_policy, model.projection_distance
    if policy not in POLICIES:
        raise ValueError(f"budget_policy must be one of {POLICIES}, got {policy!r:.80}")
    if not isinstance(distance, Real) or not 0 <= float(distance) < math.inf:
        raise ValueError(f"projection_distance must be a finite float64 of at least 0, got {distance!s:.80}")
    if budget is None:
        return
    if isinstance(budget, bool) or not isinstance(budget, Integral) or not 1 <= int(budget) <= _LARGEST:
        raise ValueError(f"budget must be a whole number of at least 1 or None, got {budget!r:.80}")
    if model.prediction != "last":
        raise ValueError(
            f"prediction={model.prediction!r} needs every vector of the run, and a budget keeps what the "
            f"last one needs; set prediction='last', or budget=None"
        )
    if model.normalize:
        raise ValueError(
            "normalize=True needs the norm of the vector, which is not followed on a budget; "
            "set normalize=False"
        )
    if model.fit_intercept:
        raise ValueError(
            "fit_intercept=True is not available with a budget, which no mistake may outlast; set "
            "fit_intercept=False and give X a column of ones, or the kernel a coef0"
        )
    if model.added_feature != 0:
        raise ValueError(
            f"added_feature={model.added_feature!r} is not available with a budget: the feature of an "
            f"example would outlast it; set added_feature=0"
        )
    if callable(model.kernel):
        raise ValueError(
            "a callable kernel is not available with a budget; name a kernel, or compute the matrix of "
            "kernel values and set kernel='precomputed'"
        )
    indefinite = model.kernel == "sigmoid" or (model.kernel == "poly" and float(model.coef0) < 0)
    if policy == "projectron" and indefinite:
        raise ValueError(
            f"budget_policy='projectron' needs a kernel that is positive definite, got "
            f"kernel={model.kernel!r} with coef0={model.coef0!r}; set another policy or kernel, or a "
            f"larger coef0"
        )


def begin_on_budget(model: Any, planes: int) -> None:
    """Start from nothing kept. Without a budget there is nothing to be kept beside the vectors."""
    model._terms, model._policy_seed = terms(model), None
    model._kept = {} if model.budget is None else nothing(planes, planes if is_joint(model) else 1)


def nothing(planes: int, width: int) -> State:
    """Return what is kept before the first mistake, with that many classes to a set."""
    sets, whole = planes // width, np.zeros(0, dtype=np.int64)
    return {
        "kept_start": np.zeros(sets + 1, dtype=np.int64),
        "kept_row": whole,
        "kept_number": whole,
        "kept_step": np.zeros((0, width)),
        "kept_mistakes": np.zeros(sets, dtype=np.int64),
        "kept_harm": np.zeros(sets),
        "kept_factor": np.zeros(0),
    }


def terms(model: Any) -> tuple[int | None, str | None]:
    """Return the budget and its policy, as they are to be in all calls of a run."""
    return (None, None) if model.budget is None else (int(model.budget), str(model.budget_policy))


def check_terms(model: Any) -> None:
    """Refuse to go on from a run on other terms."""
    if terms(model) != model._terms:
        budget, policy = model._terms
        raise ValueError(
            f"budget={model.budget!r} and budget_policy={model.budget_policy!r} differ from those of the fit "
            f"that this one goes on from, budget={budget!r} and budget_policy={policy!r}; set these, or "
            f"begin anew by fit with warm_start=False"
        )


def fit_on_budget(
    model: Any,
    engine: Engine,
    data: Examples,
    labels: NDArray[np.uint32],
    seed: int,
    arguments: dict[str, Any],
) -> Report:
    """Call the engine, and put what it keeps on the model; ``arguments`` are those of every fit."""
    if model._policy_seed is None:
        model._policy_seed = seed
    origin, given = model._vectors["origin"], model._kept
    if model.kernel == "precomputed":
        stored_rows = engine.dense_rows(np.zeros((0, data.rows.shape[1]), dtype=np.uint8))
        given = given | {"kept_row": origin[given["kept_row"]]}
    else:
        stored_rows = rows_of(model._vectors, engine, model.n_features_in_)
    report = engine.kernel_fit_budget(
        data.rows,
        stored_rows,
        labels,
        kernel=model._spec,
        budget=int(model.budget),
        policy=str(model.budget_policy),
        policy_seed=model._policy_seed,
        distance=float(model.projection_distance),
        state=given | {"seen": model.n_seen_},
        **arguments,
    )
    state = report["state"]
    kept = {name: state[name] for name in given}
    distinct, place = np.unique(kept["kept_row"], return_inverse=True)
    if model.kernel == "precomputed":
        rows, found = {"rows": np.zeros((len(distinct), 1), dtype=np.uint8)}, distinct
    else:
        old = distinct[distinct < len(origin)]
        new = distinct[len(old) :] - len(origin)
        rows = chosen(stored(model._vectors), old)
        if len(new):
            rows = joined(rows, chosen(data.stored, new))
        found = np.concatenate([origin[old], new])
    model._kept = kept | {"kept_row": place.reshape(-1).astype(np.int64)}
    model._vectors = log_of(model._kept, len(model.classes_)) | rows | {"origin": found.astype(np.int64)}
    model.n_seen_ = state["seen"]
    return report


def log_of(kept: State, classes: int) -> State:
    """Return what is kept as a log of mistakes, which is what predicts.

    The mistakes have their numbers in the place of t, and their vectors no norms.
    """
    start, steps = kept["kept_start"], kept["kept_step"]
    if steps.shape[1] == 1:
        members = [np.arange(begin, end) for begin, end in pairwise(start)]
        log_step = steps[:, 0]
    else:
        members = [np.flatnonzero(steps[:, k]) for k in range(classes)]
        log_step = np.concatenate([steps[entries, k] for k, entries in enumerate(members)])
    every = np.concatenate(members)
    return {
        "log_start": np.cumsum([0, *map(len, members)], dtype=np.int64),
        "log_row": kept["kept_row"][every],
        "log_t": kept["kept_number"][every],
        "log_step": log_step,
        "log_bias": np.zeros(len(every)),
        "log_norm": np.zeros(len(every)),
    }
