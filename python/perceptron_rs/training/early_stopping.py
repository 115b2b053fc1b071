"""Early stopping: a part of the examples is not learnt from, and says when to stop and which epoch was best.

Which examples these are is drawn by the generator of rule 7, here for all learners and both engines.
ARITHMETIC.md has the rule.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.pieces import all_finite, pieces
from perceptron_rs.engines import Engine, RunState
from perceptron_rs.errors import ArgumentError
from perceptron_rs.rows.examples import ValidatedRows
from perceptron_rs.rows.selection import select_rows
from perceptron_rs.targets.label_sets import positives
from perceptron_rs.targets.planes import is_positive

#: The epoch of rule 7 that draws validation parts; no order is drawn from it.
_OF_VALIDATION = 2**64 - 3


def split(
    engine: Engine, labels: NDArray[np.uint32], rows: NDArray[np.generic] | None, fraction: float, seed: int
) -> NDArray[np.intp]:
    """Draw the examples of the validation set from these ``rows`` (None: all); they keep their order.

    It has the same share of each class, as far as that goes up, and leaves at least one example of each.
    Examples of many labels are drawn as if all were of one class.

    Raises
    ------
    ValueError
        If the fraction leaves less than that.
    """
    if rows is None:
        rows = np.arange(len(labels))
    if labels.ndim == 2:
        by_class = [rows]
    else:
        own = labels[rows]
        ends = np.cumsum(np.bincount(own, minlength=int(labels.max(initial=0)) + 1))
        by_class = np.split(rows[np.argsort(own, kind="stable")], ends[:-1])
    counts = np.array([len(members) for members in by_class], dtype=np.int64)
    n, m, classes = len(rows), math.ceil(float(fraction) * len(rows)), int(np.count_nonzero(counts))
    if n - m < max(classes, 1):
        left = "less than one of each class" if classes > 1 else "none"
        raise ArgumentError(
            f"{{validation_fraction}} sets aside {m} of {n} examples, which leaves {left} to learn from",
            "lower it, or set {early_stopping}",
            values={"validation_fraction": fraction},
            settings={"early_stopping": False},
        )
    sizes = _apportioned(counts.tolist(), m)
    drawn = [
        members[engine.permutation(len(members), seed=seed, epoch=_OF_VALIDATION, partition=k)[:size]]
        for k, (members, size) in enumerate(zip(by_class, sizes, strict=True))
        if size
    ]
    return np.sort(np.concatenate(drawn))


def _apportioned(counts: list[int], m: int) -> list[int]:
    """Return how many of the examples of each class are among m of all, in exact numbers."""
    n = sum(counts)
    taken = [count * m // n for count in counts]
    # A class gives no more when one example is left; others then give more than their share.
    giving = [(taken[k] * n - count * m, k) for k, count in enumerate(counts) if taken[k] < count - 1]
    heapify(giving)
    for _ in range(m - sum(taken)):
        short, k = heappop(giving)
        taken[k] += 1
        if taken[k] < counts[k] - 1:
            heappush(giving, (short + n, k))
    return taken


def selected(engine: Engine, data: ValidatedRows, rows: NDArray[np.generic]) -> ValidatedRows:
    """Return some of the examples, as copies."""
    return ValidatedRows.of(engine, select_rows(data.stored, rows), data.rows.shape[1])


class ValidationPart(ABC):
    """Examples that are not learnt from; called with a state of a run, it returns the losses that stop it."""

    def __init__(self) -> None:
        #: The accuracy after each epoch, or that of each decision; of one that Ctrl-C cut short maybe twice.
        self.scores: list[Any] = []

    @abstractmethod
    def measure(self, state: RunState) -> tuple[Any, NDArray[np.float64]]:
        """Return the accuracy, and the losses of the decisions."""

    def __call__(self, state: RunState) -> NDArray[np.float64]:
        """Return the losses of the decisions, and note the accuracy."""
        score, losses = self.measure(state)
        self.scores.append(score)
        return losses

    def per_epoch(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the accuracies of so many epochs and decisions, a row for each epoch."""
        return np.array(self.scores[: shape[0]], dtype=np.float64).reshape(shape)


class Validation(ValidationPart):
    """The accuracies of decisions on the validation part.

    Parameters
    ----------
    activations : callable
    labels : uint32 array of shape (m,) or (m, W)
    sample : float64 array of shape (m,), or None
        Weights of the examples.
    positive : uint32 array of shape (K,), or None
        The class of each plane that judges by itself; None: the class with the largest number is the answer.
    tie : "mistake" or "positive"
    """

    def __init__(
        self,
        activations: Callable[[RunState], NDArray[np.float64]],
        labels: NDArray[np.uint32],
        sample: NDArray[np.float64] | None = None,
        positive: NDArray[np.uint32] | None = None,
        tie: str = "mistake",
    ) -> None:
        with np.errstate(over="ignore"):
            total = 1.0 if sample is None else np.cumsum(sample)[-1]
        if not 0 < total < np.inf:
            raise ArgumentError(
                f"{{sample_weight}} of the {len(labels)} examples of the validation part must have a finite "
                f"sum above 0, got {total}",
                "give other weights, or another {random_state}",
            )
        super().__init__()
        self.activations, self.labels, self.sample = activations, labels, sample
        self.positive, self.tie = positive, tie

    def measure(self, state: RunState) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the accuracy of each decision, and minus that."""
        activations = self.activations(state)
        if not all_finite(activations):
            raise OverflowError(
                "training overflowed: an activation of a validation example is not finite; scale the "
                "features or lower eta0"
            )
        won = np.zeros(1 if self.positive is None else len(self.positive))
        for piece in pieces(*activations.shape):
            if self.positive is None:
                right = (activations[piece].argmax(axis=1) == self.labels[piece])[:, np.newaxis]
            else:
                right = is_positive(activations[piece], self.tie) == positives(
                    self.labels[piece], self.positive
                )
            if self.sample is None:
                won += np.count_nonzero(right, axis=0)
                continue
            # In row order, because the sum decides when learning stops: its bits must not depend on NumPy's.
            terms = np.where(right, self.sample[piece][:, np.newaxis], 0.0)
            won = np.cumsum(np.vstack([won, terms]), axis=0)[-1]
        total = len(activations) if self.sample is None else np.cumsum(self.sample)[-1]
        return won / total, -won / total
