"""The kernel perceptron in a model file: the log of mistakes, the rows that it names, the settled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.common.planes import is_joint, n_planes
from perceptron_rs.common.storage import STORED
from perceptron_rs.engines import KernelSpec, get_engine
from perceptron_rs.kernel.budget import terms
from perceptron_rs.kernel.budget_files import checked_kept, collect_kept
from perceptron_rs.kernel.vectors import rows_of, stored
from perceptron_rs.models.taken import refuse_left, take, take_counts
from perceptron_rs.models.values import Tensors, is_count
from perceptron_rs.reference.kernel.kernels import check_kernel

__all__ = ["OWN_PARTS", "collect", "publish"]

#: Parts of a file's description that other families have not.
OWN_PARTS: frozenset[str] = frozenset()


#: Numbers of the state, by attribute, one a plane.
_STATE = {"intercept": "intercept_", "norm": "_norm", "seen": "n_seen_"}
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
    if estimator.kernel != spec.name:
        raise ValueError(
            f"kernel={estimator.kernel!r:.80} is not that of the fit, {spec.name!r}; fit again before saving"
        )
    tensors = {f"vectors_{name}": np.ascontiguousarray(array) for name, array in estimator._vectors.items()}
    tensors |= collect_kept(estimator)
    for name, attribute in _STATE.items():
        array = np.asarray(getattr(estimator, attribute))
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{attribute} must hold numbers, got {array.dtype}; fit again before saving")
        tensors[name] = np.ascontiguousarray(array, dtype=np.int64 if name == "seen" else np.float64)
    for name in _REPORTS:
        if f"{name}_" in vars(estimator):
            tensors[name] = np.ascontiguousarray(getattr(estimator, f"{name}_"), dtype=np.int64)
    # The settled kernel: the parameter gamma may be "scale", which only the examples of the fit tell.
    tensors["kernel"] = np.array([spec.gamma, spec.coef0, spec.degree], dtype=np.float64)
    history = {name: int(getattr(estimator, place)) for name, place in _COUNTERS.items()}
    history["converged"] = bool(estimator.converged_)
    _checked(estimator, tensors, history)
    return tensors, {"history": history}


def publish(estimator: Any, tensors: Tensors, document: dict[str, Any]) -> None:
    """Put what ``collect`` returned on another estimator with those ``classes_``; ValueError if unsound."""
    history = document["history"]
    spec, vectors, (kept, seed) = _checked(estimator, tensors, history)
    estimator._spec, estimator._vectors = spec, vectors
    estimator._kept, estimator._policy_seed, estimator._terms = kept, seed, terms(estimator)
    for name, attribute in (_STATE | {name: f"{name}_" for name in _REPORTS}).items():
        if name in tensors:
            setattr(estimator, attribute, tensors[name])
    for name, attribute in _COUNTERS.items():
        setattr(estimator, attribute, history[name])
    estimator.converged_ = history["converged"]


def _checked(
    estimator: Any, tensors: Tensors, history: Any
) -> tuple[KernelSpec, Tensors, tuple[Tensors, int | None]]:
    """Return the kernel, the vectors and what is kept; ValueError unless all agrees as after a fit."""
    if not isinstance(history, dict) or set(history) != {*_COUNTERS, "converged"}:
        raise ValueError(f"the history must hold {', '.join(_COUNTERS)} and converged")
    if not all(is_count(history[name]) for name in _COUNTERS) or type(history["converged"]) is not bool:
        raise ValueError("the history must hold counts of at most 2**53 and whether it converged")
    left, planes = dict(tensors), n_planes(estimator, estimator.classes_)
    state = {name: take(left, name, np.float64, (planes,)) for name in ("intercept", "norm")}
    state["seen"] = take_counts(left, "seen", (planes,))
    _check_reports(left, history, 1 if is_joint(estimator) else planes)
    gamma, coef0, degree = take(left, "kernel", np.float64, (3,)).tolist()
    if not 1 <= degree < 2**31 or degree != int(degree):
        raise ValueError(f"the degree of its kernel must be a whole number of at least 1, got {degree}")
    spec = KernelSpec(estimator.kernel, gamma, coef0, int(degree))
    check_kernel(spec)
    vectors = _vectors(left, planes, history["n_features"], precomputed=spec.name == "precomputed")
    kept = checked_kept(estimator, left, vectors, state["seen"])
    refuse_left(left)
    _check_story(vectors, state)
    return spec, vectors, kept


def _check_reports(left: Tensors, history: dict[str, Any], decisions: int) -> None:
    shape = () if decisions == 1 else (decisions,)
    n_iter = take_counts(left, "n_iter_per_class", (decisions,))
    mistakes = take_counts(left, "mistakes_per_epoch", (history["n_iter"], *shape))
    if "mistakes_per_example" in left:
        take_counts(left, "mistakes_per_example", (None, *shape))
    if n_iter.max() != history["n_iter"] or mistakes.sum() != history["n_mistakes"]:
        raise ValueError("the history and the tensors tell of different numbers of epochs or mistakes")


def _vectors(left: Tensors, planes: int, columns: int, *, precomputed: bool) -> Tensors:
    """Return the arrays of `estimators.kernel_vectors`, each by itself as a fit makes it."""
    found: Tensors = {"log_start": take_counts(left, "vectors_log_start", (planes + 1,))}
    start = found["log_start"]
    entries = int(start[-1])
    if start[0] != 0 or (np.diff(start) < 0).any():
        raise ValueError("the tensor vectors_log_start must rise from 0")
    for name in ("log_row", "log_t"):
        found[name] = take_counts(left, f"vectors_{name}", (entries,))
    for name in _ENTRIES:
        found[name] = take(left, f"vectors_{name}", np.float64, (entries,))
    found["origin"] = take_counts(left, "vectors_origin", (None,))
    found |= {name.removeprefix("vectors_"): left.pop(name) for name in list(left) if "vectors_rows" in name}
    if stored(found).keys() not in ({"rows"}, {"rows_indptr", "rows_indices", "rows_values"}):
        raise ValueError("the tensor vectors_rows is missing or has no place")
    values = found.get("rows", found.get("rows_values", np.zeros(0)))
    if values.dtype not in STORED or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise ValueError("the tensor vectors_rows must hold finite numbers of a stored type")
    # With precomputed kernel values no rows are stored: one column stands for them.
    needed = (len(found["origin"]), 1 if precomputed else columns)
    try:
        rows = rows_of(found, get_engine("rust"), columns)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the tensors vectors_rows... do not agree: {error}") from None
    if rows.shape != needed or not rows.canonical:
        raise ValueError(
            f"the tensor vectors_rows has the shape {rows.shape}, or columns out of order; "
            f"{needed} is needed, in order"
        )
    if found["log_row"].max(initial=-1) >= needed[0]:
        raise ValueError(f"the tensor vectors_log_row must name one of {needed[0]} rows")
    if precomputed and found["origin"].max(initial=-1) >= columns:  # which column holds a row's values
        raise ValueError(f"the tensor vectors_origin must name columns below {columns}")
    return found


def _check_story(vectors: Tensors, state: Tensors) -> None:
    """Compare the log with the examples seen, the last intercepts and the last norms."""
    start = vectors["log_start"]
    for k, seen in enumerate(state["seen"]):
        plane = slice(start[k], start[k + 1])
        log = vectors["log_t"][plane]
        if (np.diff(log, prepend=0) < 1).any() or log.max(initial=0) > seen:
            raise ValueError("the tensor vectors_log_t must rise within each plane to the examples seen")
        intercept = np.add.accumulate(np.concatenate([[0.0], vectors["log_bias"][plane]]))[-1]
        norm = np.concatenate([[0.0], vectors["log_norm"][plane]])[-1]
        if intercept != state["intercept"][k] or norm != state["norm"][k]:
            raise ValueError("the tensors vectors_... do not lead to the intercept and norm of the file")
