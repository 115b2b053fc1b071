"""What is told after each epoch of a fit to sequences, and to whom."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from perceptron_rs.float_mode import foreign, standard

__all__ = ["Callback", "Observer", "SequenceEpoch"]


@dataclass(frozen=True, slots=True)
class SequenceEpoch:
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


Callback: TypeAlias = Callable[[SequenceEpoch], Any]


class Observer:
    """The engine's ``on_epoch``: for ``callback`` and ``verbose``."""

    def __init__(self, model: Any, n_sequences: int, held_out_tokens: int) -> None:
        self.callback: Callback | None = model.callback
        self.verbose, self.keep = bool(model.verbose), bool(model.keep_on_interrupt)
        self.n_sequences, self.held_out_tokens = n_sequences, held_out_tokens
        self.begin = time.perf_counter()
        self.interrupted = False  # by Ctrl-C while the callback ran

    @property
    def is_needed(self) -> bool:
        """Whether anybody wants to know."""
        return self.callback is not None or self.verbose

    @standard()
    def __call__(self, epoch: int, sequences: int, tokens: int, held_out: int | None) -> bool:
        """Tell of an epoch; return whether it was the last."""
        score = None if held_out is None else (self.held_out_tokens - held_out) / self.held_out_tokens
        record = SequenceEpoch(
            epoch=epoch,
            sequence_errors=sequences,
            token_errors=tokens,
            n_sequences=self.n_sequences,
            validation_score=score,
            seconds=time.perf_counter() - self.begin,
        )
        try:
            if self.verbose:
                tail = "" if score is None else f", accuracy {score:.4%} held out"
                print(
                    f"-- epoch {epoch + 1}: {sequences} wrong sequences, {tokens} wrong tokens{tail}, "
                    f"{record.seconds:.2f} s"
                )
            with foreign():
                return self.callback is not None and bool(self.callback(record))
        except KeyboardInterrupt:
            self.interrupted = self.keep
            if self.keep:
                return True
            raise
