"""Sample weights, class weights and start weights, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.arrays.named import Floats
from perceptron_rs.arrays.pieces import all_finite, pieces
from perceptron_rs.arrays.scalars import number
from perceptron_rs.errors import ArgumentError, naming, with_article
from perceptron_rs.rows.real_numbers import numbers_of_objects, refuse_columns, refuse_lazy, refuse_objects
from perceptron_rs.rows.sparse import dense
from perceptron_rs.rows.storage import refuse_masked
from perceptron_rs.targets.distinct import distinct
from perceptron_rs.targets.label_sets import LabelSets, bits


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
        """Return the weights with 0 for these rows of the n examples."""
        sample = np.ones(n) if self.sample is None else self.sample.copy()
        idle = np.zeros(n, dtype=np.bool_) if self.idle is None else self.idle.copy()
        sample[rows], idle[rows] = 0.0, True
        return CallWeights(sample, self.planes, idle)


def sample_weights(sample_weight: ArrayLike, labels: Sized, *, of_part: bool = False) -> Floats | None:
    """Return a finite weight >= 0 for each of the labels, None for equal ones; all may be 0 in a part."""
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "sample_weight")
    refuse_columns(sample_weight, "sample_weight")
    n = len(labels)
    with naming("sample_weight"):
        array = np.asarray(sample_weight)
    if array.dtype.kind == "O" and not array.ndim:
        kind = with_article(type(sample_weight).__name__)
        raise TypeError(f"sample_weight must hold real numbers >= 0, got {kind}; make it an array of numbers")
    if array.dtype.kind in "SUMmVc":
        raise TypeError("sample_weight must hold real numbers >= 0; convert it to floats")
    if array.dtype.kind == "O":
        array = numbers_of_objects(array, "sample_weight")
    if array.shape not in ((), (n,)):
        raise ArgumentError(
            "{sample_weight} must have a weight for each of {n} examples, got the shape {shape}",
            n=n,
            shape=array.shape,
        )
    sample = np.full(n, array, dtype=np.float64) if array.ndim == 0 else array.astype(np.float64, copy=False)
    low, high = sample.min(initial=0.0), sample.max(initial=0.0)
    if not low >= 0 or not high < np.inf:
        value = high if low >= 0 else low
        raise ArgumentError("{sample_weight} must be finite and >= 0, got {value}", value=value)
    if high == 0 and not of_part:
        raise ArgumentError("{sample_weight} must be above 0 for some example, got zeros only")
    return np.require(sample, requirements=["C", "A"])  # a view of packed records is not aligned


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
        values = np.array(_weights_of(class_weight, classes.tolist()))
    if n_planes == 1:
        return values.reshape(1, 2)
    return np.stack([np.ones(len(classes)), values], axis=1)


def _weights_of(class_weight: Any, labels: list[Any]) -> list[float]:
    """Return the weight of each label; 1 of those that are not given, if all others are labels."""
    known = dict(class_weight)
    lacking = [label for label in labels if label not in known]
    if lacking and len(labels) - len(lacking) != len(known):
        raise ArgumentError(
            "the classes, {lacking!r:.200}, are not in {class_weight}, whose keys are {keys!r:.200}",
            "write the keys as the labels are",
            lacking=lacking,
            keys=list(known),
        )
    weights = {label: number(known.get(label, 1.0)) for label in labels}
    for label, weight in weights.items():
        if weight is None or not 0 <= weight < np.inf:
            raise ValueError(
                f"class_weight must be finite and >= 0, got {known[label]!r:.80} for class {label!r:.80}"
            )
    return [float(weight) for weight in weights.values() if weight is not None]


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


def count_classes(labels: NDArray[np.uint32], sample: Floats | None, n_classes: int) -> NDArray[np.int64]:
    """Return the number of examples of each class whose weight is above 0.

    Of many labels, how many examples do not have each of them, and how many have it: (K, 2).
    """
    counted = labels if sample is None else labels[sample > 0]
    if labels.ndim == 2:
        held = np.zeros(n_classes, dtype=np.int64)
        for piece in pieces(len(counted), n_classes):
            held += np.count_nonzero(bits(counted[piece], n_classes), axis=0)
        return np.stack([len(counted) - held, held], axis=1)
    return np.bincount(counted, minlength=n_classes).astype(np.int64)


def survey_labels(
    labels: NDArray[np.generic], sample: Floats | None
) -> tuple[NDArray[np.generic], NDArray[np.uint32], NDArray[np.int64]]:
    """Return the labels that occur, the index of each, and their numbers, where the examples weigh something.

    Of a matrix, the numbers of its columns, its rows as bits, and how many rows have not and have each label.
    """
    if labels.ndim == 2:
        sets = LabelSets.of_indicator(labels)
        classes, index = sets.classes, sets.words
    else:
        classes, index = distinct(labels)
    return classes, index, count_classes(index, sample, len(classes))


def unvisited(
    sample: Floats | None, planes: Floats, labels: NDArray[np.uint32], joint: bool, *, is_part: bool = False
) -> NDArray[np.bool_] | None:
    """Return which rows have weight 0 for every plane; None if no row has. Not all may, unless of a part."""
    if labels.ndim == 2:
        if sample is None and planes.all():
            return None
        idle = _weightless(sample, planes, labels)
    elif len(planes) > 1 and not joint:  # an example is a negative of some plane, where its class weighs 1
        if sample is None:
            return None
        idle = sample == 0
    elif sample is None and planes.all():
        return None
    else:
        with np.errstate(over="ignore"):
            own = planes[labels, 1] if joint else planes[0][labels]
            idle = own * (1.0 if sample is None else sample) == 0
    if idle.all() and not is_part:
        raise nothing_to_learn()
    return idle if idle.any() else None


def _weightless(sample: Floats | None, planes: Floats, labels: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which examples of many labels have weight 0 for every plane."""
    each = np.ones(len(labels)) if sample is None else sample
    idle = np.ones(len(labels), dtype=np.bool_)
    with np.errstate(over="ignore"):
        if np.array_equal(each * planes.min() == 0, each == 0):  # none weighs 0 by its classes
            return np.asarray(each == 0)
        for k, (without, held) in enumerate(planes):
            has = labels[:, k // 32] >> np.uint32(k % 32) & np.uint32(1)
            idle &= each * np.where(has, held, without) == 0
    return idle


def nothing_to_learn() -> ArgumentError:
    """Return the error for weights that leave no example."""
    return ArgumentError("{weights} leave no example of positive weight", "there is nothing to learn")


def start_value(value: object, name: str, shape: tuple[int, ...]) -> Floats:
    """Return start weights of the given shape as new float64 numbers, none of them -0.0."""
    with naming(name):
        refuse_lazy(value, name)
        refuse_masked(value, name)
        array = dense(value)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"{name} must hold real numbers, got the dtype {array.dtype}")
        if array.dtype.kind == "O":
            refuse_objects(array, name)
        if shape[0] == 1:
            accepted = array.size == int(np.prod(shape)) and (len(shape) == 2 or array.ndim <= 1)
        else:
            accepted = array.shape == shape
        if not accepted:
            raise ValueError(f"{name} has the shape {array.shape}, but this problem needs {shape}")
        array, numbers = array.reshape(shape), np.empty(shape)
        for piece in pieces(shape[0], array.size // shape[0]):
            np.add(array[piece].astype(np.float64), 0.0, out=numbers[piece])
        if not all_finite(numbers):
            raise ValueError(f"{name} must be finite, got {numbers[~np.isfinite(numbers)][0]}")
    return numbers
