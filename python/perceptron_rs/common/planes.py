"""How classes become planes: one for two classes, one each for more, or for any number of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "is_joint",
    "is_multilabel",
    "joint_update",
    "keep_label_matrix",
    "label_matrix",
    "learns_many",
    "n_planes",
    "positive_labels",
]


def is_joint(estimator: object) -> bool:
    """Whether all classes judge an example together."""
    return getattr(estimator, "multi_class", "ovr") == "joint"


def is_multilabel(estimator: object) -> bool:
    """Whether it has learnt any number of labels for each example."""
    return label_matrix(estimator) is not None


def learns_many(estimator: object) -> bool:
    """Whether it can learn any number of labels for each example."""
    return bool(getattr(type(estimator), "_learns_many", False))


def label_matrix(estimator: object) -> str | None:
    """Return as what matrix an estimator was given many labels, "dense" or "sparse"; None: one of each."""
    found: str | None = vars(estimator).get("_multilabel")
    return found


def keep_label_matrix(estimator: Any, kind: str | None) -> None:
    """Keep with an estimator as what matrix it was given many labels."""
    vars(estimator).pop("_multilabel", None)
    if kind is not None:
        estimator._multilabel = kind


def joint_update(estimator: Any) -> str | None:
    """Return the engines' ``joint``: how a joint decision spreads its update."""
    return str(estimator.joint_update) if is_joint(estimator) else None


def n_planes(estimator: object, classes: NDArray[Any]) -> int:
    """Return the number of weight vectors."""
    is_one = len(classes) == 2 and not is_joint(estimator) and not is_multilabel(estimator)
    return 1 if is_one else len(classes)


def positive_labels(n: int) -> NDArray[np.uint32]:
    """Return the class index that is the positive one of each of ``n`` planes."""
    return np.array([1] if n == 1 else range(n), dtype=np.uint32)
