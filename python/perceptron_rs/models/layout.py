"""Which arrays and counters of a fitted estimator a file holds, and their types and shapes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.models.values import LARGEST_COUNT, is_count

__all__ = ["Tensors", "collect", "publish"]

Tensors: TypeAlias = dict[str, NDArray[Any]]

#: Arrays that tell the story of the last call; the name in the file is that without the "_".
_HISTORY = ("n_iter_per_class_", "mistakes_per_epoch_")
_PER_EXAMPLE = "mistakes_per_example_"  # only with track_mistakes
#: Single numbers, under "history" in the description.
_COUNTERS = {"n_iter": "n_iter_", "n_mistakes": "n_mistakes_", "epochs": "_n_epochs"}


def collect(estimator: Any) -> tuple[Tensors, dict[str, Any]]:
    """Return the arrays of a fitted estimator and its history; ValueError if they are not those of a fit."""
    tensors = {
        name: _array(getattr(estimator, attribute), np.int64 if name == "seen" else np.float64, attribute)
        for name, attribute in estimator._stored.items()
    }
    for attribute in (*_HISTORY, _PER_EXAMPLE):
        if attribute in vars(estimator):
            tensors[attribute[:-1]] = _array(getattr(estimator, attribute), np.int64, attribute)
    history = {name: int(getattr(estimator, attribute)) for name, attribute in _COUNTERS.items()}
    history["converged"] = bool(estimator.converged_)
    _check(type(estimator), len(estimator.classes_), tensors, history)
    if tensors["coef"].shape[1] != estimator.n_features_in_:
        raise ValueError(f"the weights have the shape {tensors['coef'].shape}, but n_features_in_ is "
                         f"{estimator.n_features_in_}; fit again before saving")  # fmt: skip
    return tensors, history


def publish(estimator: Any, tensors: Tensors, history: Any) -> None:
    """Put what ``collect`` returned on another estimator of that type and with those ``classes_``."""
    _check(type(estimator), len(estimator.classes_), tensors, history)
    estimator.n_features_in_ = tensors["coef"].shape[1]
    estimator._publish({name: tensors[name] for name in estimator._stored})
    for attribute in (*_HISTORY, _PER_EXAMPLE):
        if attribute[:-1] in tensors:
            setattr(estimator, attribute, tensors[attribute[:-1]])
    for name, attribute in _COUNTERS.items():
        setattr(estimator, attribute, history[name])
    estimator.converged_ = history["converged"]


def _array(value: Any, dtype: Any, attribute: str) -> NDArray[Any]:
    """Return ``value`` in the type of the file; a user may have set another one."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{attribute} must hold numbers, got the dtype {array.dtype}; fit again before saving"
        )
    return np.require(array, dtype=dtype, requirements=["C", "A"])


def _check(learner: Any, n_classes: int, tensors: Tensors, history: Any) -> None:
    """Raise ValueError unless arrays and history agree with each other, as those of a fit do."""
    if not isinstance(history, dict) or set(history) != {*_COUNTERS, "converged"}:
        raise ValueError(f"the history must hold {', '.join(_COUNTERS)} and converged")
    if not all(is_count(history[name]) for name in _COUNTERS) or type(history["converged"]) is not bool:
        raise ValueError("the history must hold counts of at most 2**53 and whether it converged")
    planes = 1 if n_classes == 2 else n_classes
    plane = () if planes == 1 else (planes,)
    needed: dict[str, tuple[int | None, ...]] = {
        name: (planes, None) if name.startswith("coef") else (planes,) for name in learner._stored
    }
    needed["n_iter_per_class"] = (planes,)
    needed["mistakes_per_epoch"] = (history["n_iter"], *plane)
    needed["mistakes_per_example"] = (None, *plane)
    for name in needed:
        if name not in tensors and name != "mistakes_per_example":
            raise ValueError(f"the tensor {name} is missing")
    columns = None
    for name, array in tensors.items():
        if name not in needed:
            raise ValueError(f"there is an unknown tensor {name!r:.80}; the file needs a newer perceptron-rs")
        weights = name.startswith(("coef", "intercept"))
        dtype = np.dtype(np.float64 if weights else np.int64)
        if array.dtype != dtype:
            raise ValueError(f"the tensor {name} must be of {dtype}, got {array.dtype}")
        shape = needed[name]
        if name.startswith("coef") and array.ndim == 2:
            columns = array.shape[1] if columns is None else columns
            shape = (planes, columns)
        fits = len(shape) == array.ndim and all(
            want in (None, got) for want, got in zip(shape, array.shape, strict=True)
        )
        if not fits or (array.size == 0 and name != "mistakes_per_epoch"):  # no whole epoch was run
            raise ValueError(f"the tensor {name} has the shape {array.shape}, which {n_classes} classes, "
                             f"{columns} features and {history['n_iter']} epochs do not have")  # fmt: skip
        if weights and not np.isfinite(array).all():
            raise ValueError(f"the tensor {name} holds a NaN or an infinity")
        if not weights and not (array.min(initial=0) >= 0 and array.max(initial=0) <= LARGEST_COUNT):
            raise ValueError(f"the tensor {name} must hold counts of at most 2**53")
    if tensors["n_iter_per_class"].max() != history["n_iter"]:
        raise ValueError("the history and the tensor n_iter_per_class tell of different numbers of epochs")
    if tensors["mistakes_per_epoch"].sum() != history["n_mistakes"]:
        raise ValueError(
            "the history and the tensor mistakes_per_epoch tell of different numbers of mistakes"
        )
