"""What a kernel perceptron on a budget goes on from, in a model file: the members of its sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.planes import is_joint
from perceptron_rs.kernel.budget import log_of, nothing, terms
from perceptron_rs.models.taken import take, take_counts
from perceptron_rs.reference.kernel.kept import Budget, check_kept

__all__ = ["checked_kept", "collect_kept"]

Tensors = dict[str, NDArray[Any]]


def collect_kept(estimator: Any) -> Tensors:
    """Return the arrays of a fitted estimator; none without a budget."""
    if terms(estimator) != estimator._terms:
        raise ValueError(
            f"budget={estimator.budget!r} and budget_policy={estimator.budget_policy!r} are not those of the "
            f"fit, {estimator._terms}; fit again before saving"
        )
    if not estimator._kept:
        return {}
    kept = {name: np.ascontiguousarray(array) for name, array in estimator._kept.items()}
    return kept | {"kept_seed": np.array([estimator._policy_seed], dtype=np.int64)}


def checked_kept(
    estimator: Any, left: Tensors, vectors: Tensors, seen: NDArray[np.int64]
) -> tuple[Tensors, int | None]:
    """Take what is kept, and the key of what "random" draws; ValueError unless it leads to the vectors."""
    if estimator.budget is None:
        return {}, None
    planes = len(seen)
    width = planes if is_joint(estimator) else 1
    kept: Tensors = {}
    for name, example in nothing(planes, width).items():
        shape = tuple(None if name != "kept_step" or axis == 0 else width for axis in range(example.ndim))
        kept[name] = (take_counts if example.dtype == np.int64 else _floats)(left, name, shape)
    seed = int(take_counts(left, "kept_seed", (1,))[0])
    distance, eta0 = float(estimator.projection_distance), float(estimator.eta0)
    size = Budget(int(estimator.budget), estimator.budget_policy, seed, distance, eta0)
    check_kept(kept, size, planes // width, width, len(vectors["origin"]))
    start = kept["kept_start"]
    for g, mistakes in enumerate(kept["kept_mistakes"]):
        numbers = kept["kept_number"][start[g] : start[g + 1]]
        if (np.diff(numbers, prepend=0) < 1).any() or not numbers.max(initial=0) <= mistakes <= seen[g]:
            raise ValueError("the tensor kept_number must rise within each set to the number of its mistakes")
    for name, array in log_of(kept, planes).items():
        if array.tobytes() != vectors[name].tobytes():
            raise ValueError(f"the tensors kept_... do not lead to the tensor vectors_{name} of the file")
    return kept, seed


def _floats(left: Tensors, name: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    return take(left, name, np.float64, shape)
