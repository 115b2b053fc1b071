"""What is told after each epoch of a fit to sequences, and to whom."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Callback", "Observer", "SequenceEpoch"]


@dataclass(frozen=True, slots=True)
class SequenceEpoch:
    """One whole epoch, as the ``callback`` of ``SequencePerceptron`` sees it.

    Parameters
    ----------
    epoch : int
        Its number, from 0.
    sequence_errors : int
        Sequences that led to an update.
    token_errors : int
        Labels that differed in what was compared.
    n_sequences : int
        Sequences visited.
    validation_score : float or None
        With ``early_stopping``: accuracy on the held-out tokens.
    seconds : float
        Time since the fit began to learn.

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
            return self.callback is not None and bool(self.callback(record))
        except KeyboardInterrupt:
            self.interrupted = self.keep
            if self.keep:
                return True
            raise
