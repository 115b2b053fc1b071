"""The kernel perceptrons in a model file: the mistaken examples, the settled kernel, the story of the run.

What each of them keeps of its mistakes is its own: the log of all of them, or the members of the sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.planes import is_joint, n_planes
from perceptron_rs.common.terms import check_terms, terms
from perceptron_rs.engines import KernelSpec
from perceptron_rs.kernel.budgeted import BudgetedKernelPerceptron
from perceptron_rs.kernel.kept import log_of, nothing
from perceptron_rs.kernel.vectors import stored
from perceptron_rs.models.taken import refuse_left, take, take_counts, take_rows, take_scores
from perceptron_rs.models.values import Tensors, is_count
from perceptron_rs.settings import LARGEST_DEGREE, check_kept

__all__ = ["OWN_PARTS", "collect", "publish"]

#: Parts of a file's description that other families have not.
OWN_PARTS: frozenset[str] = frozenset()

_REPORTS = ("n_iter_per_class", "mistakes_per_epoch", "mistakes_per_example")
_COUNTERS = {
    "n_iter": "n_iter_",
    "n_mistakes": "n_mistakes_",
    "epochs": "_n_epochs",
    "n_features": "n_features_in_",
    "seed": "_seed",
}
_ENTRIES = ("log_step", "log_bias", "log_norm")


def collect(estimator: Any) -> tuple[Tensors, dict[str, Any]]:
    """Return the arrays of a fitted estimator, and the parts of its description that only it has."""
    spec: KernelSpec = estimator._spec
    check_terms(estimator)
    vectors = {"origin": estimator.support_} | stored(estimator._vectors)
    tensors = {f"vectors_{name}": np.ascontiguousarray(array) for name, array in vectors.items()}
    tensors |= _collect_members(estimator) if _on_budget(estimator) else _collect_log(estimator)
    tensors["seen"] = estimator.n_seen_
    for name in _REPORTS:
        if f"{name}_" in vars(estimator):
            tensors[name] = np.ascontiguousarray(getattr(estimator, f"{name}_"), dtype=np.int64)
    for name in ("loss_curve", "validation_scores"):
        if f"{name}_" in vars(estimator):  # not after a pass
            tensors[name] = np.array(getattr(estimator, f"{name}_"), dtype=np.float64)
    # The settled kernel: the parameter gamma may be "scale", which only the examples of the fit tell.
    tensors["kernel"] = np.array([spec.gamma, spec.coef0, spec.degree], dtype=np.float64)
    history = {name: int(getattr(estimator, place)) for name, place in _COUNTERS.items()}
    history["converged"] = bool(estimator.converged_)
    _checked(estimator, tensors, history)
    return tensors, {"history": history}


def publish(estimator: Any, tensors: Tensors, document: dict[str, Any]) -> None:
    """Put what ``collect`` returned on another estimator with those ``classes_``; ValueError if unsound."""
    history = document["history"]
    state, attributes = _checked(estimator, tensors, history)
    estimator._publish(state)
    vars(estimator).update(attributes)
    for name in _REPORTS:
        if name in tensors:
            setattr(estimator, f"{name}_", tensors[name])
    if "loss_curve" in tensors:
        estimator.loss_curve_ = tensors["loss_curve"].tolist()
    for name, attribute in _COUNTERS.items():
        setattr(estimator, attribute, history[name])
    estimator.converged_ = history["converged"]


def _checked(estimator: Any, tensors: Tensors, history: Any) -> tuple[Tensors, dict[str, Any]]:
    """Return what was learnt and attributes of the estimator; ValueError unless all agrees as after a fit."""
    if not isinstance(history, dict) or set(history) != {*_COUNTERS, "converged"}:
        raise ValueError(f"the history must hold {', '.join(_COUNTERS)} and converged")
    if not all(is_count(history[name]) for name in _COUNTERS) or type(history["converged"]) is not bool:
        raise ValueError("the history must hold counts of at most 2**53 and whether it converged")
    left, planes = dict(tensors), n_planes(estimator, estimator.classes_)
    seen = take_counts(left, "seen", (planes,))
    if is_joint(estimator) and (seen != seen[0]).any():
        raise ValueError("the tensor seen must hold one number for all classes of a joint decision")
    decisions = 1 if is_joint(estimator) else planes
    _check_reports(left, history, decisions)
    scores = take_scores(left, (history["n_iter"], decisions))
    gamma, coef0, degree = take(left, "kernel", np.float64, (3,)).tolist()
    if not 1 <= degree <= LARGEST_DEGREE or degree != int(degree):
        raise ValueError(
            f"the degree of its kernel must be a whole number up to {LARGEST_DEGREE}, got {degree}"
        )
    spec = KernelSpec(estimator.kernel, gamma, coef0, int(degree))
    rows = _rows(left, history["n_features"], precomputed=spec.name == "precomputed")
    take_mistakes = _take_members if _on_budget(estimator) else _take_log
    learnt = take_mistakes(estimator, left, seen, len(rows["origin"]))
    attributes = scores | {"_spec": spec, "_terms": terms(estimator)}
    if _on_budget(estimator):  # the key of what "random" draws
        attributes["_policy_seed"] = int(take_counts(left, "kept_seed", (1,))[0])
    refuse_left(left)
    return learnt | rows | {"seen": seen}, attributes


def _on_budget(estimator: Any) -> bool:
    return isinstance(estimator, BudgetedKernelPerceptron)


def _check_reports(left: Tensors, history: dict[str, Any], decisions: int) -> None:
    n_iter = take_counts(left, "n_iter_per_class", (decisions,))
    mistakes = take_counts(left, "mistakes_per_epoch", (history["n_iter"], decisions))
    if "mistakes_per_example" in left:
        take_counts(left, "mistakes_per_example", (None, decisions))
    if "loss_curve" in left and (take(left, "loss_curve", np.float64, (history["n_iter"],)) < 0).any():
        raise ValueError("the tensor loss_curve must hold a loss of 0 or more for each epoch")
    if n_iter.max() != history["n_iter"] or mistakes.sum() != history["n_mistakes"]:
        raise ValueError("the history and the tensors disagree about the number of epochs or mistakes")


def _rows(left: Tensors, columns: int, *, precomputed: bool) -> Tensors:
    """Return the mistaken examples, and the rows that they were."""
    found: Tensors = {"origin": take_counts(left, "vectors_origin", (None,))}
    # With precomputed kernel values no rows are stored: one column stands for them.
    found |= take_rows(left, "vectors_", (len(found["origin"]), 1 if precomputed else columns))
    if precomputed and found["origin"].max(initial=-1) >= columns:  # which column holds a row's values
        raise ValueError(f"the tensor vectors_origin must name columns below {columns}")
    return found


def _collect_log(estimator: Any) -> Tensors:
    log = {name: array for name, array in estimator._vectors.items() if name.startswith("log")}
    return {f"vectors_{name}": np.ascontiguousarray(array) for name, array in log.items()} | {
        "intercept": estimator.intercept_,
        "norm": estimator._norm,
    }


def _take_log(estimator: Any, left: Tensors, seen: NDArray[np.int64], rows: int) -> Tensors:  # noqa: ARG001
    """Return the log of mistakes, with the intercepts and norms that it leads to; of so many stored rows."""
    planes = len(seen)
    intercept, norm = (take(left, name, np.float64, (planes,)) for name in ("intercept", "norm"))
    log: Tensors = {"log_start": take_counts(left, "vectors_log_start", (planes + 1,))}
    start = log["log_start"]
    if start[0] != 0 or (np.diff(start) < 0).any():
        raise ValueError("the tensor vectors_log_start must rise from 0")
    for name in ("log_row", "log_t"):
        log[name] = take_counts(left, f"vectors_{name}", (int(start[-1]),))
    for name in _ENTRIES:
        log[name] = take(left, f"vectors_{name}", np.float64, (int(start[-1]),))
    if log["log_row"].max(initial=-1) >= rows:
        raise ValueError(f"the tensor vectors_log_row must name one of {rows} rows")
    for k in range(planes):
        plane = slice(start[k], start[k + 1])
        times = log["log_t"][plane]
        if (np.diff(times, prepend=0) < 1).any() or times.max(initial=0) > seen[k]:
            raise ValueError("the tensor vectors_log_t must rise within each plane to the examples seen")
        last_intercept = np.add.accumulate(np.concatenate([[0.0], log["log_bias"][plane]]))[-1]
        last_norm = np.concatenate([[0.0], log["log_norm"][plane]])[-1]
        if last_intercept != intercept[k] or last_norm != norm[k]:
            raise ValueError("the tensors vectors_... do not lead to the intercept and norm of the file")
    return log | {"intercept": intercept, "norm": norm}


def _collect_members(estimator: Any) -> Tensors:
    """Return the members of the sets."""
    kept = {name: np.ascontiguousarray(array) for name, array in estimator._members.items()}
    return kept | {"kept_seed": np.array([estimator._policy_seed], dtype=np.int64)}


def _take_members(estimator: Any, left: Tensors, seen: NDArray[np.int64], rows: int) -> Tensors:
    """Return what is kept, and the log of mistakes that is made of it."""
    planes = len(seen)
    width = planes if is_joint(estimator) else 1
    kept: Tensors = {}
    for name, example in nothing(planes, width).items():
        shape = tuple(None if name != "kept_step" or axis == 0 else width for axis in range(example.ndim))
        if example.dtype == np.int64:
            kept[name] = take_counts(left, name, shape)
        else:
            kept[name] = take(left, name, np.float64, shape)
    budget, policy = int(estimator.budget), estimator.budget_policy
    check_kept(kept, budget, policy, sets=planes // width, width=width, rows=rows)
    start = kept["kept_start"]
    for g, mistakes in enumerate(kept["kept_mistakes"]):
        numbers = kept["kept_number"][start[g] : start[g + 1]]
        if (np.diff(numbers, prepend=0) < 1).any() or not numbers.max(initial=0) <= mistakes <= seen[g]:
            raise ValueError("the tensor kept_number must rise within each set to the number of its mistakes")
    return kept | log_of(kept, planes)
