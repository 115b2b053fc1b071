"""Reports after each epoch of a fit to sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.parameters.epoch_record import Learnable
from perceptron_rs.training.progress import Observer


@dataclass(frozen=True, slots=True)
class SequenceEpoch(Learnable):
    """Description of one complete epoch, which the ``callback`` of ``SequencePerceptron`` receives.

    Parameters
    ----------
    epoch : int
        Number of the epoch, from 0.
    sequence_errors : int
        Number of sequences that led to an update.
    token_errors : int
        Number of wrong labels in the compared parts of the sequences.
    n_sequences : int
        Number of sequences visited.
    validation_score : float or None
        Accuracy on the tokens of the validation set, with ``early_stopping=True``.
    seconds : float
        Time since training began.
    learnt : callable, default=None
        Makes what `model` returns.

    Examples
    --------
    >>> from perceptron_rs import SequencePerceptron
    >>> X, y = [[["a"], ["b"]], [["b"], ["c"]]], [["A", "B"], ["B", "A"]]
    >>> def until_few_mistakes(record):
    ...     return record.token_errors <= 2
    >>> int(SequencePerceptron(callback=until_few_mistakes).fit(X, y).token_errors_per_epoch_[-1]) <= 2
    True
    """

    epoch: int
    sequence_errors: int
    token_errors: int
    n_sequences: int
    validation_score: float | None
    seconds: float
    learnt: Callable[[], Any] | None = field(default=None, repr=False, compare=False)


SequenceCallback: TypeAlias = Callable[[SequenceEpoch], Any]


class SequenceObserver(Observer):
    """Watches the epochs of a run on sequences, of which some may be held out."""

    def describe(
        self,
        epoch: int,
        mistakes: NDArray[np.int64],
        losses: NDArray[np.float64],
        seconds: float,
        learnt: Callable[[], object],
    ) -> tuple[SequenceEpoch, str]:
        """Return the argument of ``callback``, and the line that ``verbose`` prints."""
        held_out = self.feeder.held_out
        score = held_out.scores[-1] if held_out is not None and held_out.scores else None
        record = SequenceEpoch(
            epoch=epoch,
            sequence_errors=int(mistakes[0]),
            token_errors=int(losses[0]),
            n_sequences=self.n_examples,
            validation_score=score,
            seconds=seconds,
            learnt=learnt,
        )
        tail = "" if score is None else f", accuracy {score:.4%} held out"
        return record, f"{record.sequence_errors} wrong sequences, {record.token_errors} wrong tokens{tail}"
