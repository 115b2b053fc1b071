"""Early stopping: a part of the examples is not learnt from, and says when to stop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.planes import is_joint
from perceptron_rs.engines import Engine, Rows, State

__all__ = ["Validation", "split"]


def split(estimator: Any, labels: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Return the rows of the validation part, in order: stratified, drawn by ``random_state``."""
    from sklearn.model_selection import StratifiedShuffleSplit

    fraction = estimator.validation_fraction
    splitter = StratifiedShuffleSplit(test_size=fraction, random_state=estimator.random_state)
    try:
        train, validation = next(splitter.split(np.zeros((len(labels), 1)), labels))
    except ValueError as error:
        raise ValueError(
            f"validation_fraction={fraction} does not leave examples of each class for both training and "
            f"validation: {error}"
        ) from None
    if len(train) == 0 or len(validation) == 0:
        raise ValueError(
            f"validation_fraction={fraction} leaves no examples for training or for validation, of "
            f"{len(labels)}"
        )
    return np.sort(validation)


class Validation:
    """The accuracies of planes on the validation part; called with a state, it returns them as losses.

    A joint decision has one accuracy.
    """

    def __init__(
        self,
        estimator: Any,
        engine: Engine,
        rows: Rows,
        labels: NDArray[np.uint32],
        weight: NDArray[np.float64] | None,
        positive: NDArray[np.uint32],
    ) -> None:
        with np.errstate(over="ignore"):
            total = 1.0 if weight is None else np.cumsum(weight)[-1]
        if not 0 < total < np.inf:
            raise ValueError(
                f"sample_weight of the {len(labels)} examples of the validation part must have a finite sum "
                f"above 0, got {total}; give other weights, or another random_state"
            )
        self.estimator, self.engine, self.rows = estimator, engine, rows
        self.labels, self.weight, self.positive = labels, weight, positive
        self.scores: list[NDArray[np.float64]] = []

    def accuracy(self, state: State) -> NDArray[np.float64]:
        """Return the accuracy of each plane, or of the joint decision."""
        activations = self.estimator._activations(self.engine, state, self.rows)
        if not np.isfinite(activations).all():
            raise OverflowError("a validation example has an activation that is not finite")
        if is_joint(self.estimator):
            right = (activations.argmax(axis=1) == self.labels)[:, np.newaxis]
        else:
            positive = activations >= 0 if self.estimator.tie == "positive" else activations > 0
            right = positive == (self.labels[:, np.newaxis] == self.positive)
        if self.weight is None:
            return np.atleast_1d(np.count_nonzero(right, axis=0) / len(right)).astype(np.float64)
        # In row order, because the sum decides when learning stops: its bits must not depend on NumPy's.
        won = np.cumsum(np.where(right, self.weight[:, np.newaxis], 0.0), axis=0)[-1]
        accuracy: NDArray[np.float64] = won / np.cumsum(self.weight)[-1]
        return accuracy

    def __call__(self, state: State) -> NDArray[np.float64]:
        """Return minus the accuracy of each decision."""
        self.scores.append(self.accuracy(state))
        return -self.scores[-1]
