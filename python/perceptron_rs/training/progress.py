"""Reports after each epoch: to ``callback``, to ``verbose``, and to callbacks of scikit-learn."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import Run, RunState
from perceptron_rs.float_mode import foreign, standard
from perceptron_rs.training.sklearn_callbacks import FitTask

if TYPE_CHECKING:
    from perceptron_rs.training.train import Trainable

#: What a program switches on to have a line of each epoch where it wants it.
_LOGGER = logging.getLogger("perceptron_rs")

__all__ = ["Callback", "EpochRecord", "Learnable", "Observer"]


class Learnable:
    """The method ``model`` of what a callback receives."""

    __slots__ = ()
    learnt: Callable[[], Any] | None

    def model(self) -> Any:
        """Return the learner as it is after this epoch: a fitted copy that predicts and has its weights.

        The copy reports nothing of this fit: ``n_iter_``, ``mistakes_per_epoch_`` and the like are those of
        the fit before, if there was one.

        Returns
        -------
        estimator : object
            A new copy in each call.

        Raises
        ------
        RuntimeError
            After ``callback`` has returned: what was learnt has not been kept.

        Examples
        --------
        >>> from perceptron_rs import Perceptron
        >>> X, y = [[2, 1], [-1, 1], [0, -1], [1, 2]], [1, -1, -1, 1]
        >>> def show(record):
        ...     print(record.epoch, record.model().coef_)
        >>> model = Perceptron(shuffle=False, tol=None, callback=show).fit(X, y)
        0 [[3. 1.]]
        1 [[3. 1.]]
        """
        if self.learnt is None:
            raise RuntimeError("record was not made by a fit, so that no learner is behind it")
        return self.learnt()


@dataclass(frozen=True, slots=True, eq=False)
class EpochRecord(Learnable):
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
        Time since training began, or since it was resumed.
    n_before : int, default=0
        Number of those examples that were visited before the run was resumed from a checkpoint.
    learnt : callable, default=None
        Makes what `model` returns.

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
    n_before: int = 0
    learnt: Callable[[], Any] | None = field(default=None, repr=False)


Callback: TypeAlias = Callable[[EpochRecord], Any]


class _Learnt:
    """What has been learnt so far, on a copy of the estimator; only while a callback looks at it."""

    def __init__(
        self, estimator: Trainable, publish: Callable[[Trainable, RunState], None], run: Run
    ) -> None:
        self.estimator, self.publish = estimator, publish
        self.run: Run | None = run

    @standard()
    def __call__(self) -> Trainable:
        if self.run is None:
            raise RuntimeError(
                "record.model() is there while callback runs; call it there, and keep the model"
            )
        model = copy.copy(self.estimator)
        model.callback = None
        self.publish(model, self.run.state())
        return model


class Observer:
    """Watches the epochs of a run for callbacks and ``verbose``.

    ``task`` tells scikit-learn's callbacks. ``publish`` puts what has been learnt on an estimator.
    """

    def __init__(
        self,
        estimator: Trainable,
        n_examples: int,
        task: FitTask | None,
        publish: Callable[[Trainable, RunState], None],
    ) -> None:
        self.task = task if task is not None and task.is_watched else None
        self.estimator, self.publish = estimator, publish
        self.callback: Callable[[Any], Any] | None = estimator.callback
        self.verbose, self.logged = bool(estimator.verbose), _LOGGER.isEnabledFor(logging.INFO)
        self.n_examples, self.n_before = n_examples, 0
        self.start = time.perf_counter()

    @property
    def is_needed(self) -> bool:
        """Whether anybody wants to know."""
        return self.verbose or self.logged or self.callback is not None or self.task is not None

    def describe(
        self,
        epoch: int,
        mistakes: NDArray[np.int64],
        losses: NDArray[np.float64],
        seconds: float,
        learnt: Callable[[], object],
    ) -> tuple[Any, str]:
        """Return the argument of ``callback``, and the line that ``verbose`` prints."""
        record = EpochRecord(
            epoch=epoch,
            mistakes=int(mistakes.sum()),
            mistakes_per_class=mistakes,
            loss=float(losses.mean()),
            losses=losses,
            n_examples=self.n_examples,
            seconds=seconds,
            n_before=self.n_before,
            learnt=learnt,
        )
        return record, f"{record.mistakes} mistakes, mean loss {record.loss:.6g}"

    @standard()
    def __call__(
        self, epoch: int, mistakes: NDArray[np.int64], losses: NDArray[np.float64], run: Run
    ) -> bool:
        """Tell of an epoch; return whether it was the last."""
        seconds = time.perf_counter() - self.start
        learnt = _Learnt(self.estimator, self.publish, run)
        record, text = self.describe(epoch, mistakes, losses, seconds, learnt)
        if self.verbose:
            print(f"-- epoch {epoch + 1}: {text}, {seconds:.2f} s", flush=True)  # files, too, are followed
        if self.logged:
            name = type(self.estimator).__name__
            _LOGGER.info("%s, epoch %d: %s, %.2f s", name, epoch + 1, text, seconds)
        with foreign():
            ends = self.callback is not None and bool(self.callback(record))
        learnt.run = None
        if self.task is not None:
            publish, state = self.publish, run.state()
            ends |= self.task.epoch(lambda model: publish(model, state))
        return ends
