"""Sample weights, class weights and start weights, checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.array_likes import ArrayLike, dtype_kind
from perceptron_rs.common.errors import naming
from perceptron_rs.common.rows.storage import is_masked
from perceptron_rs.common.sparse_weights import dense
from perceptron_rs.common.targets.label_sets import bits
from perceptron_rs.errors import ArgumentError
from perceptron_rs.state import Floats

__all__ = [
    "CallWeights",
    "check_weight_type",
    "class_counts",
    "class_weights",
    "count_classes",
    "infinite_weight",
    "label_weights",
    "sample_weights",
    "start_value",
    "unvisited",
]


@dataclass(frozen=True, slots=True, eq=False)
class CallWeights:
    """Weights of the n examples of a call. Examples of weight 0 in all planes do not take part.

    They are taken out here, before anything is counted, drawn or cut: see ``rows`` and ``n_examples``.
    """

    sample: Floats | None  # (n,); None: all 1
    planes: Floats  # (K, 2): class weights
    idle: NDArray[np.bool_] | None  # (n,): which weigh nothing in any plane; None: none

    @property
    def rows(self) -> NDArray[np.intp] | None:
        """Numbers of the examples that weigh something; None: all."""
        return None if self.idle is None else np.flatnonzero(~self.idle)

    def n_examples(self, n: int) -> int:
        """Return how many of n examples weigh something."""
        return n if self.idle is None else n - int(np.count_nonzero(self.idle))

    def without(self, rows: NDArray[np.intp], n: int) -> CallWeights:
        """Return the weights with these of the n examples at 0, too."""
        sample = np.ones(n) if self.sample is None else self.sample.copy()
        idle = np.zeros(n, dtype=np.bool_) if self.idle is None else self.idle.copy()
        sample[rows], idle[rows] = 0.0, True
        return CallWeights(sample, self.planes, idle)


def sample_weights(sample_weight: ArrayLike, labels: NDArray[np.generic]) -> Floats | None:
    """Return one finite weight >= 0 for each example, or None for equal weights."""
    if sample_weight is None:
        return None
    check_weight_type(sample_weight)
    from sklearn.utils.validation import _check_sample_weight

    with naming("sample_weight"):
        weights: Floats = _check_sample_weight(sample_weight, labels, dtype=np.float64)
        low = weights.min()
        if not low >= 0 or not np.isfinite(weights.max()):  # a scalar is not looked at by scikit-learn
            raise infinite_weight(low if not low >= 0 else np.inf)
    return np.require(weights, requirements=["C", "A"])  # a view of packed records is not aligned


def check_weight_type(sample_weight: ArrayLike) -> None:
    """Refuse weights that NumPy would turn into numbers, and masked ones."""
    if is_masked(sample_weight):
        raise ValueError("sample_weight is a masked array with masked values")
    if dtype_kind(sample_weight, "f") in "SUMmVc" or isinstance(sample_weight, (str, bytes)):
        raise TypeError("sample_weight must hold real numbers >= 0; convert it to floats")


def class_weights(
    class_weight: object, classes: NDArray[np.generic], counts: NDArray[np.int64] | None, n_planes: int
) -> Floats:
    """Return the weights (K, 2) of each plane's negatives and positives.

    "balanced" needs the counts of the examples; a class without any has the weight 1, that of no example.
    """
    if class_weight is None:
        values = np.ones(len(classes))
    elif isinstance(class_weight, str):
        assert counts is not None
        values = int(counts.sum()) / (len(classes) * np.maximum(counts, 1).astype(np.float64))
        values[counts == 0] = 1.0
    else:
        from sklearn.utils import compute_class_weight

        with naming("class_weight"):
            values = compute_class_weight(class_weight, classes=classes, y=classes).astype(np.float64)
            bad = ~(np.isfinite(values) & (values >= 0))
            if bad.any():
                label, value = classes[bad].tolist()[0], values[bad][0]
                raise ValueError(f"class_weight must be finite and >= 0, got {value} for class {label!r}")
    if n_planes == 1:
        return values.reshape(1, 2)
    return np.stack([np.ones(len(classes)), values], axis=1)


def label_weights(class_weight: object, counts: NDArray[np.int64] | None, n_labels: int) -> Floats:
    """Return the weights (K, 2) of examples without and with each label: those of a binary fit to each."""
    if isinstance(class_weight, dict) and (others := [key for key in class_weight if key not in (0, 1)]):
        raise ArgumentError(
            "{class_weight} must have the weights of examples without and with a label, 0 and 1, got the "
            "key {other!r:.80}",
            "to weigh labels apart, fit each column",
            other=others[0],
        )
    each: Iterable[NDArray[np.int64] | None] = [None]  # unless they are balanced, all labels have the same
    if isinstance(class_weight, str):
        assert counts is not None
        each = counts
    own = [class_weights(class_weight, np.array([0, 1]), count, 1)[0] for count in each]
    return np.array(np.broadcast_to(own, (n_labels, 2)))


def class_counts(
    class_weight: object, labels: NDArray[np.uint32], sample: Floats | None, n_classes: int
) -> NDArray[np.int64] | None:
    """Return the number of examples of each class whose weight is above 0, if ``class_weight`` needs it.

    Of many labels, how many examples do not have each of them, and how many have it: (K, 2).
    """
    return count_classes(labels, sample, n_classes) if isinstance(class_weight, str) else None


def count_classes(labels: NDArray[np.uint32], sample: Floats | None, n_classes: int) -> NDArray[np.int64]:
    """Return what `class_counts` does, whether or not it is needed."""
    counted = labels if sample is None else labels[sample > 0]
    if labels.ndim == 2:
        held = np.count_nonzero(bits(counted, n_classes), axis=0)
        return np.stack([len(counted) - held, held], axis=1).astype(np.int64)
    return np.bincount(counted, minlength=n_classes).astype(np.int64)


def unvisited(
    weights: Floats | None, planes: Floats, labels: NDArray[np.uint32], joint: bool, *, is_part: bool = False
) -> NDArray[np.bool_] | None:
    """Return which rows have weight 0 for every plane; None if no row has. Not all may, unless of a part."""
    if labels.ndim == 2:
        if weights is None and planes.all():
            return None
        idle = _weightless(weights, planes, labels)
    elif len(planes) > 1 and not joint:  # an example is a negative of some plane, where its class weighs 1
        if weights is None:
            return None
        idle = weights == 0
    elif weights is None and planes.all():
        return None
    else:
        with np.errstate(over="ignore"):
            own = planes[labels, 1] if joint else planes[0][labels]
            idle = own * (1.0 if weights is None else weights) == 0
    if idle.all() and not is_part:
        raise nothing_to_learn()
    return idle if idle.any() else None


def _weightless(weights: Floats | None, planes: Floats, labels: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which examples of many labels have weight 0 for every plane."""
    each = np.ones(len(labels)) if weights is None else weights
    idle = np.ones(len(labels), dtype=np.bool_)
    with np.errstate(over="ignore"):
        if np.array_equal(each * planes.min() == 0, each == 0):  # none weighs 0 by its classes
            return np.asarray(each == 0)
        for k, (without, held) in enumerate(planes):
            has = labels[:, k // 32] >> np.uint32(k % 32) & np.uint32(1)
            idle &= each * np.where(has, held, without) == 0
    return idle


def infinite_weight(value: object) -> ArgumentError:
    """Return the error for a weight of an example that is negative, infinite or NaN."""
    return ArgumentError("{sample_weight} must be finite and >= 0, got {value}", value=value)


def nothing_to_learn() -> ArgumentError:
    """Return the error for weights that leave no example."""
    return ArgumentError("{weights} leave no example of positive weight", "there is nothing to learn")


def start_value(value: object, name: str, shape: tuple[int, ...]) -> Floats:
    """Return start weights of the given shape as new float64 numbers, none of them -0.0."""
    with naming(name):
        given = dense(value)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"{name} must hold real numbers, got the dtype {given.dtype}")
        if shape[0] == 1:
            accepted = given.size == int(np.prod(shape)) and (len(shape) == 2 or given.ndim <= 1)
        else:
            accepted = given.shape == shape
        if not accepted:
            raise ValueError(f"{name} has the shape {given.shape}, but this problem needs {shape}")
        numbers = given.astype(np.float64).reshape(shape) + 0.0
        if not np.isfinite(numbers).all():
            raise ValueError(f"{name} must be finite, got {numbers[~np.isfinite(numbers)][0]}")
    return numbers
