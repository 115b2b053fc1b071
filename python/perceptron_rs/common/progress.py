"""What is told after each epoch of a fit, and to whom."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.early_stopping import Validation
from perceptron_rs.common.sklearn_callbacks import FitTask
from perceptron_rs.engines import Engine, State
from perceptron_rs.linear.penalty import keep_pending

__all__ = ["Callback", "EpochRecord", "Observer"]


@dataclass(frozen=True, slots=True, eq=False)
class EpochRecord:
    """One whole epoch, as ``callback`` sees it.

    Parameters
    ----------
    epoch : int
        Its number, from 0; it goes on under ``warm_start``.
    mistakes : int
        Mistakes in this epoch, over all classes.
    mistakes_per_class : ndarray of shape (1,) or (n_classes,), int64
        Mistakes of each class; 0 for one that has stopped before.
    loss : float
        Mean perceptron loss of an example, averaged over the classes.
    losses : ndarray of shape (1,) or (n_classes,), float64
        Mean loss of each class; 0 for one that has stopped before.
    n_examples : int
        Examples visited by each class that still learns.
    seconds : float
        Time since the fit began to learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptron_rs import Perceptron
    >>> def until_few_mistakes(record):
    ...     return record.mistakes < 30
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(callback=until_few_mistakes).fit(X, y)
    >>> int(model.mistakes_per_epoch_[-1].sum()) < 30
    True
    """

    epoch: int
    mistakes: int
    mistakes_per_class: NDArray[np.int64]
    loss: float
    losses: NDArray[np.float64]
    n_examples: int
    seconds: float


Callback: TypeAlias = Callable[[EpochRecord], Any]


class Observer:
    """The engine's ``on_epoch`` for callbacks, ``verbose`` and early stopping."""

    def __init__(self, estimator: Any, engine: Engine, n_examples: int, task: FitTask | None) -> None:
        self.engine, self.task = engine, task
        self.callback: Callback | None = estimator.callback
        self.verbose, self.keep = bool(estimator.verbose), bool(estimator.keep_on_interrupt)
        self.n_examples = n_examples
        self.start = time.perf_counter()
        self.interrupted = False  # by Ctrl-C while the callback ran
        self.validation: Validation | None = None

    @property
    def is_needed(self) -> bool:
        """Whether anybody wants to know."""
        return self.callback is not None or self.verbose or self.needs_state

    @property
    def needs_state(self) -> bool:
        """Whether what has been learnt is looked at."""
        return self.validation is not None or (self.task is not None and self.task.is_watched)

    def __call__(
        self, epoch: int, mistakes: NDArray[np.int64], losses: NDArray[np.float64], state: State | None
    ) -> bool | NDArray[np.bool_]:
        """Tell of an epoch; return whether it was the last, of all classes or of some."""
        record = EpochRecord(
            epoch=epoch,
            mistakes=int(mistakes.sum()),
            mistakes_per_class=mistakes,
            loss=float(losses.mean()),
            losses=losses,
            n_examples=self.n_examples,
            seconds=time.perf_counter() - self.start,
        )
        try:
            if self.verbose:
                print(
                    f"-- epoch {epoch + 1}: {record.mistakes} mistakes, mean loss {record.loss:.6g}, "
                    f"{record.seconds:.2f} s"
                )
            ends = self.callback is not None and bool(self.callback(record))
            if state is None:
                return ends
            if self.task is not None:
                ends |= self.task.epoch(lambda model: model._publish(keep_pending(model, self.engine, state)))
            if self.validation is not None:
                return self.validation(state) | ends
            return ends
        except KeyboardInterrupt:
            self.interrupted = self.keep
            if self.keep:
                return True
            raise
