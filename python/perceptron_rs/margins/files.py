"""The separator of largest margin in a model file: its planes, and what certifies each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_rs.common.planes import n_planes
from perceptron_rs.common.terms import check_terms, terms
from perceptron_rs.engines import KernelSpec
from perceptron_rs.margins.problem import BIASES
from perceptron_rs.margins.result import STATUSES, MarginResult
from perceptron_rs.models.taken import refuse_left, take, take_counts, take_rows
from perceptron_rs.models.values import Tensors, is_count

__all__ = ["OWN_PARTS", "collect", "publish"]

#: Parts of a file's description that other families have not.
OWN_PARTS: frozenset[str] = frozenset({"results"})

#: Numbers of a `MarginResult` that may be infinite: the columns of one tensor, with a row a plane.
_NUMBERS = ("lower", "upper", "intercept", "radius", "mistake_bound", "best_mistake_bound")
_WORDS = ("status", "bias", "proof", "solver")
_ARRAYS = ("coef", "support", "dual_weights")
_PROOFS = (None, "pair", "verified", "rational")


def collect(estimator: Any) -> tuple[Tensors, dict[str, Any]]:
    """Return the arrays of a fitted estimator, and the parts of its description that only it has."""
    check_terms(estimator)
    results, spec = estimator.results_, estimator._spec
    if estimator.kernel != ("linear" if spec is None else spec.name):
        raise ValueError(
            f"kernel={estimator.kernel!r} is not the kernel of the fit; set it back, or fit again"
        )
    tensors: Tensors = {
        "intercept": np.ascontiguousarray(estimator.intercept_, dtype=np.float64),
        "support": np.ascontiguousarray(estimator.support_, dtype=np.int64),
        "dual_coef": np.ascontiguousarray(estimator.dual_coef_, dtype=np.float64),
        "margin_interval": np.ascontiguousarray(estimator.margin_interval_),
        "results": np.array([[getattr(result, name) for name in _NUMBERS] for result in results]),
    }
    if spec is None:
        tensors["coef"] = np.ascontiguousarray(estimator.coef_, dtype=np.float64)
    else:
        tensors["kernel"] = np.array([spec.gamma, spec.coef0, spec.degree], dtype=np.float64)
        for name, array in estimator._stored_support.items():
            tensors[f"support_{name}"] = np.ascontiguousarray(array)
    for k, result in enumerate(results):
        tensors |= {f"results_{k}_{name}": np.ascontiguousarray(getattr(result, name)) for name in _ARRAYS}
    parts = {
        "history": {"n_features": int(estimator.n_features_in_)},
        "results": [
            {name: getattr(result, name) for name in _WORDS} | {"work": dict(result.work)}
            for result in results
        ],
    }
    _checked(estimator, tensors, parts)
    return tensors, parts


def publish(estimator: Any, tensors: Tensors, document: dict[str, Any]) -> None:
    """Put what ``collect`` returned on another estimator with those ``classes_``; ValueError if unsound."""
    vars(estimator).update(_checked(estimator, tensors, document))


def _checked(estimator: Any, tensors: Tensors, document: dict[str, Any]) -> dict[str, Any]:
    """Return attributes of the estimator; ValueError unless all agrees as after a fit."""
    history, words = document["history"], document.get("results")
    if not isinstance(history, dict) or set(history) != {"n_features"} or not is_count(history["n_features"]):
        raise ValueError("the history must hold a count n_features")
    left, planes, columns = dict(tensors), n_planes(estimator, estimator.classes_), history["n_features"]
    found: dict[str, Any] = {
        "n_features_in_": columns,
        "_terms": terms(estimator),
        "intercept_": take(left, "intercept", np.float64, (planes,)),
        "support_": take_counts(left, "support", (None,)),
    }
    if (np.diff(found["support_"]) < 1).any():
        raise ValueError("the tensor support must rise")
    found["dual_coef_"] = take(left, "dual_coef", np.float64, (planes, len(found["support_"])))
    weights: int | None = columns  # of the hyperplane of a result
    if estimator.kernel == "linear":
        found["coef_"] = take(left, "coef", np.float64, (planes, columns))
        spec = None
    else:
        gamma, coef0, degree = take(left, "kernel", np.float64, (3,)).tolist()
        if not 1 <= degree < 2**31 or degree != int(degree):
            raise ValueError(f"the degree of its kernel must be a whole number of at least 1, got {degree}")
        found["_spec"] = spec = KernelSpec(estimator.kernel, gamma, coef0, int(degree))
        found["_stored_support"] = {}
        if spec.name == "precomputed":
            if found["support_"].max(initial=-1) >= columns:
                raise ValueError(f"the tensor support must name columns below {columns}")
        else:
            found["_stored_support"] = take_rows(left, "support_", (len(found["support_"]), columns))
            weights = None  # one an example, of which there may be any number
    interval = take(left, "margin_interval", np.float64, (planes, 2), finite=False)
    if not (interval[:, 0] <= interval[:, 1]).all():
        raise ValueError("the tensor margin_interval must hold a lower and an upper end")
    numbers = take(left, "results", np.float64, (planes, len(_NUMBERS)), finite=False)
    if np.isnan(numbers).any():
        raise ValueError("the tensor results holds a NaN")
    if not isinstance(words, list) or len(words) != planes:
        raise ValueError(f"its results must be a list of {planes}")
    found["results_"] = []
    for k, description in enumerate(words):
        _check_words(description)
        support = take_counts(left, f"results_{k}_support", (None,))
        found["results_"].append(
            MarginResult(
                **dict(zip(_NUMBERS, numbers[k].tolist(), strict=True)),
                **description,
                classes=(False, True),
                kernel=spec,
                coef=take(left, f"results_{k}_coef", np.float64, (weights,)),
                support=support,
                dual_weights=take_counts(left, f"results_{k}_dual_weights", (len(support),)),
            )
        )
    refuse_left(left)
    return found | {"margin_": interval[:, 0].copy(), "margin_interval_": interval}


def _check_words(description: Any) -> None:
    if not isinstance(description, dict) or set(description) != {*_WORDS, "work"}:
        raise ValueError(f"each of its results must hold {', '.join(_WORDS)} and work")
    allowed = {"status": STATUSES, "bias": BIASES, "proof": _PROOFS}
    for name, values in allowed.items():
        if description[name] not in values:
            raise ValueError(f"the {name} of a result must be one of {values}, got {description[name]!r:.80}")
    work = description["work"]
    if not isinstance(description["solver"], str) or not isinstance(work, dict):
        raise ValueError("a result must name its solver and its work")
    if not all(is_count(count) for count in work.values()):
        raise ValueError("the work of a result must be counts of at most 2**53")
