"""How classes become planes: one for two classes, one each for more, or for any number of labels.

And whether classes and weights that a caller has assigned are those of planes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.state.learnt import learnt_of


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
    """Return the form of the matrix of labels, "dense" or "sparse"; None if each example has one label."""
    form: str | None = learnt_of(estimator).label_matrix
    return form


def is_positive(scores: NDArray[np.float64], tie: str) -> NDArray[np.bool_]:
    """Whether each score is on the positive side of its plane, of which 0 is as ``tie`` says."""
    return scores >= 0 if tie == "positive" else scores > 0


def joint_update(estimator: Any) -> str | None:
    """Return the engines' ``joint``: how a joint decision spreads its update."""
    return str.__str__(estimator.joint_update) if is_joint(estimator) else None


def n_planes(estimator: object, classes: NDArray[np.generic]) -> int:
    """Return the number of weight vectors."""
    is_one = len(classes) == 2 and not is_joint(estimator) and not is_multilabel(estimator)
    return 1 if is_one else len(classes)


def positive_labels(n: int) -> NDArray[np.uint32]:
    """Return the class index that is the positive one of each of ``n`` planes."""
    return np.array([1] if n == 1 else range(n), dtype=np.uint32)


def check_classes(classes: NDArray[np.generic], planes: int | None = None, *, least: int = 2) -> None:
    """Refuse ``classes_`` that a caller has assigned, unless there are enough, or as many as planes."""
    n = len(classes)
    if n < least or planes not in ((None, 1, 2) if n == 2 else (None, n)):
        needed = f"at least {least}" if planes is None else max(least, planes)
        raise ValueError(
            f"classes_ must hold {needed} labels, as after a fit, got {np.asarray(classes).tolist()!r:.200}"
        )


def assert_finite_weights(**weights: object) -> None:
    """Raise if weights that predict, given by the attribute's name, were set to what no fit leaves."""
    for name, numbers in weights.items():
        bad = np.asarray(numbers, dtype=np.float64)
        bad = bad[~np.isfinite(bad)]
        if bad.size:
            raise ValueError(f"{name} must be finite, got {bad[0]}; set finite values or fit again")
