"""What the arithmetic needs of the arguments of a fit; their meaning is checked before."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference.online.pocket import CHECKS
from perceptron_rs.reference.rows.scores import check_canonical

__all__ = ["check_alone", "check_decisions", "check_fit", "check_steps"]

TIES = ("mistake", "positive")
JOINT = (None, "max", "uniform", "proportional")


def check_fit(
    rows: Any,
    labels: NDArray[np.uint32],
    sample_weight: NDArray[np.float64] | None,
    learner: str,
    learners: Container[str],
    state: State,
    positive: NDArray[np.uint32],
    class_weight: NDArray[np.float64],
    tie: str,
    max_iter: int,
) -> None:
    """Raise ValueError for shapes that do not agree and for unknown names."""
    check_canonical(rows)
    if learner not in learners:
        raise ValueError(f"learner must be one of {learners}, got {learner!r}")
    if tie not in TIES:
        raise ValueError(f"tie must be one of {TIES}, got {tie!r}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter}")
    n, d = rows.shape
    if positive.ndim != 1 or len(positive) == 0:
        raise ValueError(f"positive must name the class of one plane or more, got shape {positive.shape}")
    n_planes = len(positive)

    shapes = {"labels": (labels.shape, (n,)), "class_weight": (class_weight.shape, (n_planes, 2))}
    if sample_weight is not None:
        shapes["sample_weight"] = (sample_weight.shape, (n,))
    names = ["coef", "intercept", "seen"]
    if learner == "averaged":
        names += ["coef_u", "intercept_u"]
    for name in names:
        if name not in state:
            raise ValueError(f"state lacks {name!r}, which the learner {learner!r} needs")
        shapes[name] = (state[name].shape, (n_planes, d) if name.startswith("coef") else (n_planes,))
    for name, (shape, needed) in shapes.items():
        if shape != needed:
            raise ValueError(f"{name} must have shape {needed} for these rows and planes, got {shape}")


def check_decisions(
    labels: NDArray[np.uint32],
    positive: NDArray[np.uint32],
    tie: str,
    margin: float,
    added_feature: float,
    max_mistakes_per_example: int | None,
    joint: str | None,
) -> None:
    """Raise ValueError for values out of range and for what a joint decision does not have."""
    if joint not in JOINT:
        raise ValueError(f"joint must be one of {JOINT}, got {joint!r}")
    for name, value in (("margin", margin), ("added_feature", added_feature)):
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {value}")
        if value and joint:
            raise ValueError(f"{name} must be 0 for a joint decision, got {value}")
    if max_mistakes_per_example is not None and max_mistakes_per_example < 1:
        raise ValueError(f"max_mistakes_per_example must be at least 1, got {max_mistakes_per_example}")
    if not joint:
        return
    if len(positive) < 2 or positive.tolist() != list(range(len(positive))):
        raise ValueError(
            f"positive must be 0, 1, ... of two classes or more for a joint decision, got {positive.tolist()}"
        )
    if tie != "mistake":
        raise ValueError(f'tie must be "mistake" for a joint decision, got {tie!r}')
    if len(labels) and labels.max() >= len(positive):
        raise ValueError(f"labels must be below {len(positive)} for a joint decision, got {labels.max()}")


def check_steps(
    state: State,
    learner: str,
    max_iter: int,
    penalty: tuple[float, float] | None,
    eta0: float,
    settle: bool,
    joint: str | None,
) -> None:
    """Raise ValueError for a step size that is none, or where a penalty has no meaning."""
    if not 0 < eta0 < np.inf:
        raise ValueError(f"eta0 must be finite and above 0, got {eta0}")
    ages = state.get("ages")
    if penalty is None:
        if ages is not None and ages.any():
            raise ValueError("state has pending penalties; pass the penalty that it was learnt with")
        return
    for name, value in zip(("l1", "l2"), penalty, strict=True):
        if not 0 <= value < np.inf or not eta0 * value < np.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {value}")
    if learner != "perceptron":
        raise ValueError("penalty must be None for a learner that is a function of the mistakes")
    if not settle and max_iter != 1:
        raise ValueError("settle may be False in a run of one epoch only; set max_iter to 1")
    if ages is None or ages.shape != state["coef"].shape or ages.dtype != np.int64 or (ages < 0).any():
        raise ValueError("ages must have the shape of coef and hold whole numbers of at least 0")
    if joint and (ages != ages[0]).any():
        raise ValueError("ages must be the same for all classes of a joint decision")


def check_alone(
    learner: str, one_plane_at_a_time: bool, joint: str | None, tolerates: bool, check: str
) -> None:
    """Raise ValueError for what a learner that judges by the activations of one plane does not have."""
    if learner != "pocket" and check != "run":
        raise ValueError(f'check must be "run" for the learner {learner!r}, got {check!r}')
    if check not in CHECKS:
        raise ValueError(f"check must be one of {CHECKS}, got {check!r}")
    if one_plane_at_a_time and (joint is not None or tolerates):
        raise ValueError(
            "joint, margin, added_feature and max_mistakes_per_example must not be set for this learner"
        )
