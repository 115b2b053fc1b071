"""What a kernel perceptron on a budget goes on from, in a model file: the members of its sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.planes import is_joint
from perceptron_rs.kernel.budget import log_of, nothing
from perceptron_rs.models import taken
from perceptron_rs.models.values import Tensors
from perceptron_rs.settings import check_kept

__all__ = ["collect", "take"]


def collect(estimator: Any) -> Tensors:
    """Return the arrays of a fitted estimator."""
    kept = {name: np.ascontiguousarray(array) for name, array in estimator._kept.items()}
    return kept | {"kept_seed": np.array([estimator._policy_seed], dtype=np.int64)}


def take(estimator: Any, left: Tensors, seen: NDArray[np.int64], rows: int) -> dict[str, Any]:
    """Return what is kept, the key of what "random" draws, and the log of mistakes that is made of them."""
    planes = len(seen)
    width = planes if is_joint(estimator) else 1
    kept: Tensors = {}
    for name, example in nothing(planes, width).items():
        shape = tuple(None if name != "kept_step" or axis == 0 else width for axis in range(example.ndim))
        if example.dtype == np.int64:
            kept[name] = taken.take_counts(left, name, shape)
        else:
            kept[name] = taken.take(left, name, np.float64, shape)
    seed = int(taken.take_counts(left, "kept_seed", (1,))[0])
    budget, policy = int(estimator.budget), estimator.budget_policy
    check_kept(kept, budget, policy, sets=planes // width, width=width, rows=rows)
    start = kept["kept_start"]
    for g, mistakes in enumerate(kept["kept_mistakes"]):
        numbers = kept["kept_number"][start[g] : start[g + 1]]
        if (np.diff(numbers, prepend=0) < 1).any() or not numbers.max(initial=0) <= mistakes <= seen[g]:
            raise ValueError("the tensor kept_number must rise within each set to the number of its mistakes")
    return {
        "_kept": kept,
        "_policy_seed": seed,
        "_vectors": log_of(kept, planes),
    }
