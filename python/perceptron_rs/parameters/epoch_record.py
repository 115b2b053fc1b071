"""What ``callback`` receives after each epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray


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
            raise RuntimeError("record was made by hand; only one that a fit gives to callback has a model")
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
