"""What is told after each epoch of a fit, and to whom."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.common.sklearn_callbacks import FitTask
from perceptron_rs.engines import Run, State
from perceptron_rs.float_mode import foreign, standard

__all__ = ["Callback", "EpochRecord", "Observer"]


@dataclass(frozen=True, slots=True, eq=False)
class EpochRecord:
    """Description of one complete epoch, which ``callback`` receives.

    Parameters
    ----------
    epoch : int
        Number of the epoch, from 0. It continues with ``warm_start``.
    mistakes : int
        Number of mistakes in this epoch, over all classes.
    mistakes_per_class : ndarray of shape (1,) or (n_classes,), int64
        Number of mistakes of each class; 0 for a class that has already stopped.
    loss : float
        Mean perceptron loss of an example, averaged over the classes.
    losses : ndarray of shape (1,) or (n_classes,), float64
        Mean loss of each class; 0 for a class that has already stopped.
    n_examples : int
        Number of examples visited for each class that is still training.
    seconds : float
        Time since training began.

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
    """Watches the epochs of a run for callbacks and ``verbose``.

    ``task`` tells scikit-learn's callbacks, for which ``publish`` puts what has been learnt on an estimator.
    """

    def __init__(
        self,
        estimator: Any,
        n_examples: int,
        task: FitTask | None = None,
        publish: Callable[[Any, State], None] | None = None,
    ) -> None:
        self.task = task if task is not None and task.is_watched else None
        self.publish = publish
        self.callback: Callable[[Any], Any] | None = estimator.callback
        self.verbose = bool(estimator.verbose)
        self.n_examples = n_examples
        self.start = time.perf_counter()

    @property
    def is_needed(self) -> bool:
        """Whether anybody wants to know."""
        return self.verbose or self.callback is not None or self.task is not None

    def describe(
        self, epoch: int, mistakes: NDArray[np.int64], losses: NDArray[np.float64], seconds: float
    ) -> tuple[Any, str]:
        """Return what ``callback`` is given, and what ``verbose`` prints."""
        record = EpochRecord(
            epoch=epoch,
            mistakes=int(mistakes.sum()),
            mistakes_per_class=mistakes,
            loss=float(losses.mean()),
            losses=losses,
            n_examples=self.n_examples,
            seconds=seconds,
        )
        return record, f"{record.mistakes} mistakes, mean loss {record.loss:.6g}"

    @standard()
    def __call__(
        self, epoch: int, mistakes: NDArray[np.int64], losses: NDArray[np.float64], run: Run
    ) -> bool:
        """Tell of an epoch; return whether it was the last."""
        seconds = time.perf_counter() - self.start
        record, text = self.describe(epoch, mistakes, losses, seconds)
        if self.verbose:
            print(f"-- epoch {epoch + 1}: {text}, {seconds:.2f} s")
        with foreign():
            ends = self.callback is not None and bool(self.callback(record))
        if self.task is not None and self.publish is not None:
            publish, state = self.publish, run.state()
            ends |= self.task.epoch(lambda model: publish(model, state))
        return ends
