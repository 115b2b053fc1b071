"""Which arrays and counters of a fitted estimator a file holds, and their types and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.planes import is_joint, n_planes
from perceptron_rs.common.sparse_weights import dense
from perceptron_rs.common.terms import check_terms, terms
from perceptron_rs.engines import get_engine
from perceptron_rs.linear.vector_files import PREFIX, check_vectors
from perceptron_rs.models.values import LARGEST_COUNT, Tensors, is_count

__all__ = ["OWN_PARTS", "collect", "publish"]

#: Parts of a file's description that other families have not.
OWN_PARTS: frozenset[str] = frozenset()

_KINDS = (("", ""), ("", "_u"), ("last_", ""))
#: Arrays of a model: kind of numbers, and shape as below.
_NUMBERS = {
    "seen": (np.dtype(np.int64), "K"),
    **{f"{prefix}coef{suffix}": (np.dtype(np.float64), "Kd") for prefix, suffix in _KINDS},
    **{f"{prefix}intercept{suffix}": (np.dtype(np.float64), "K") for prefix, suffix in _KINDS},
}
#: Those of a pocket that a fit has left; none of weights that were set.
_POCKET = {
    **{name: _NUMBERS[name] for name in ("last_coef", "last_intercept")},
    "pocket_errors": (np.dtype(np.float64), "K"),
    "pocket_run": (np.dtype(np.int64), "K"),
    "swap_plane": (np.dtype(np.int64), "m"),
    "swap_epoch": (np.dtype(np.int64), "m"),
    "swap_t": (np.dtype(np.int64), "m"),
    "swap_errors": (np.dtype(np.float64), "m"),
    "swap_average": (np.dtype(np.int64), "m"),
}
#: Arrays beside the model, by attribute: kind of numbers, and shape in planes (K), columns (d), decisions
#: (D), epochs (E), examples (n), entries of a learner's lists (m) or a number. The
#: name in the file has no "_" at either end. Those after the first two need not be there.
_ARRAYS: dict[str, tuple[Any, str]] = {
    "n_iter_per_class_": (np.int64, "D"),
    "mistakes_per_epoch_": (np.int64, "ED"),
    "mistakes_per_example_": (np.int64, "nD"),
    "validation_scores_": (np.float64, "ED"),
    "loss_curve_": (np.float64, "E"),
}
#: Penalties that are pending, by tensor.
_PENDING = {
    "pending_coef": (np.dtype(np.float64), "Kd"),
    "pending_ages": (np.dtype(np.int64), "Kd"),
    "pending_strengths": (np.dtype(np.float64), "3"),
}
_NEEDED = ("n_iter_per_class_", "mistakes_per_epoch_")
#: Single numbers, under "history" in the description.
_COUNTERS = {"n_iter": "n_iter_", "n_mistakes": "n_mistakes_", "epochs": "_n_epochs"}


def collect(estimator: Any) -> tuple[Tensors, dict[str, Any]]:
    """Return the arrays of a fitted estimator, and its history; ValueError if they are not those of a fit."""
    check_terms(estimator)
    model = estimator._model
    state = model.state()
    tensors = {name: np.ascontiguousarray(array) for name, array in state.items()}
    if "strengths" in state:
        tensors = {name: np.ascontiguousarray(model[name]) for name in model.keys()}  # noqa: SIM118  no mapping's methods
        tensors |= {name: np.ascontiguousarray(state[name.removeprefix("pending_")]) for name in _PENDING}
    for attribute, (dtype, _) in _ARRAYS.items():
        if hasattr(estimator, attribute):
            tensors[attribute.strip("_")] = _array(getattr(estimator, attribute), dtype, attribute)
    history = {name: int(getattr(estimator, attribute)) for name, attribute in _COUNTERS.items()}
    history["converged"] = bool(estimator.converged_)
    _check(estimator, tensors, history)
    if tensors["coef"].shape[1] != estimator.n_features_in_:
        raise ValueError(f"the weights have the shape {tensors['coef'].shape}, but n_features_in_ is "
                         f"{estimator.n_features_in_}; fit again before saving")  # fmt: skip
    return tensors, {"history": history}


def publish(estimator: Any, tensors: Tensors, document: dict[str, Any]) -> None:
    """Put what ``collect`` returned on another estimator of that type and with those ``classes_``."""
    history = document["history"]
    _check(estimator, tensors, history)
    estimator._terms = terms(estimator)
    estimator.n_features_in_ = tensors["coef"].shape[1]
    names = {*_NUMBERS, *_POCKET}
    state = {name: w for name, w in tensors.items() if name in names or name.startswith(PREFIX)}
    if set(_PENDING) <= set(tensors):
        state |= {name.removeprefix("pending_"): tensors[name] for name in _PENDING}
    estimator._publish(state)
    if "ages" in state and estimator.coef_.tobytes() != tensors["coef"].tobytes():
        raise ValueError("the tensor coef is not pending_coef with its penalties; save the model again")
    for attribute in _ARRAYS:
        if attribute.strip("_") in tensors:
            setattr(estimator, attribute, tensors[attribute.strip("_")])
    if "loss_curve" in tensors:
        estimator.loss_curve_ = tensors["loss_curve"].tolist()
    for name, attribute in _COUNTERS.items():
        setattr(estimator, attribute, history[name])
    estimator.converged_ = history["converged"]
    # An average is computed when it is first read: here, where an error can name the file.
    if not (np.isfinite(estimator.coef_).all() and np.isfinite(estimator.intercept_).all()):
        raise ValueError("its weights are so large that their average is not finite; save the model again")


def _array(value: Any, dtype: Any, attribute: str) -> NDArray[Any]:
    """Return ``value`` in the type of the file; a user may have set another one."""
    array = dense(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{attribute} must hold numbers, got the dtype {array.dtype}; fit again before saving"
        )
    return np.require(array, dtype=dtype, requirements=["C", "A"])


def _check(estimator: Any, tensors: Tensors, history: Any) -> None:
    """Raise ValueError unless arrays and history agree with each other, as those of a fit do."""
    if not isinstance(history, dict) or set(history) != {*_COUNTERS, "converged"}:
        raise ValueError(f"the history must hold {', '.join(_COUNTERS)} and converged")
    if not all(is_count(history[name]) for name in _COUNTERS) or type(history["converged"]) is not bool:
        raise ValueError("the history must hold counts of at most 2**53 and whether it converged")
    names = get_engine("rust").Model(estimator._learner, 0, 0).keys()
    needed = {name: _NUMBERS[name] for name in names}
    if estimator._learner == "pocket" and not _POCKET.keys().isdisjoint(tensors):
        needed |= _POCKET
    optional = _by_name(_ARRAYS) | _PENDING
    for name in (*needed, *(attribute.strip("_") for attribute in _NEEDED)):
        if name not in tensors:
            raise ValueError(f"the tensor {name} is missing")
    planes = n_planes(estimator, estimator.classes_)
    decisions = 1 if is_joint(estimator) else planes
    coef = tensors["coef"]
    sizes: dict[str, int | None] = {
        "K": planes,
        "D": decisions,
        "E": history["n_iter"],
        "n": None,
        "m": None,
        "3": 3,
    }
    sizes |= {"d": coef.shape[1] if coef.ndim == 2 else None}
    for name, array in tensors.items():
        if name.startswith(PREFIX):
            continue
        if name not in needed | optional:
            raise ValueError(f"there is an unknown tensor {name!r:.80}; the file needs a newer perceptrons")
        dtype, axes = (needed | optional)[name]
        if array.dtype != dtype:
            raise ValueError(f"the tensor {name} must be of {dtype}, got {array.dtype}")
        _check_shape(name, array, [sizes[axis] for axis in axes], estimator, history["n_iter"], axes[0])
        if "m" in axes:  # all lists of a learner are of one length
            sizes["m"] = array.shape[axes.index("m")]
        if dtype == np.float64 and not np.isfinite(array).all():
            raise ValueError(f"the tensor {name} holds a NaN or an infinity")
        if dtype == np.int64 and not (array.min(initial=0) >= 0 and array.max(initial=0) <= LARGEST_COUNT):
            raise ValueError(f"the tensor {name} must hold counts of at most 2**53")
    if "pocket_errors" in tensors:
        _check_pocket(tensors)
    check_vectors(estimator, tensors)
    if len(set(_PENDING) & set(tensors)) not in (0, len(_PENDING)):
        raise ValueError(f"the tensors {', '.join(_PENDING)} belong together")
    if tensors["n_iter_per_class"].max() != history["n_iter"]:
        raise ValueError("the history and the tensor n_iter_per_class disagree about the number of epochs")
    if tensors["mistakes_per_epoch"].sum() != history["n_mistakes"]:
        raise ValueError(
            "the history and the tensor mistakes_per_epoch disagree about the number of mistakes"
        )


def _check_pocket(tensors: Tensors) -> None:
    plane, errors = tensors["swap_plane"], tensors["pocket_errors"]
    if (plane >= len(errors)).any() or (np.diff(plane) < 0).any():
        raise ValueError(f"the tensor swap_plane must hold sorted indices below {len(errors)}")
    last = np.append(plane[1:] != plane[:-1], True)[: len(plane)]
    if (tensors["swap_errors"][last] != errors[plane[last]]).any():
        raise ValueError("the tensors swap_errors and pocket_errors disagree about the errors")
    average = tensors["swap_average"]
    if ((average != 0) & (average != 1)).any():
        raise ValueError("the tensor swap_average must hold 0 and 1 alone")


def _by_name(arrays: dict[str, tuple[Any, str]]) -> dict[str, tuple[Any, str]]:
    return {attribute.strip("_"): (np.dtype(kind), axes) for attribute, (kind, axes) in arrays.items()}


def _check_shape(
    name: str, array: NDArray[Any], shape: list[int | None], estimator: Any, n_iter: int, first: str
) -> None:
    fits = len(shape) == array.ndim and all(
        want in (None, got) for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits or (array.size == 0 and first not in "Em"):  # perhaps no whole epoch was run
        raise ValueError(
            f"the tensor {name} has the shape {array.shape}, which {len(estimator.classes_)} classes, "
            f"the weights and {n_iter} epochs do not have"
        )
