"""Reports after each epoch: to ``callback``, to ``verbose``, and to callbacks of scikit-learn."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.engines import Run
from perceptron_rs.float_mode import foreign, standard
from perceptron_rs.parameters.epoch_record import EpochRecord

if TYPE_CHECKING:
    from perceptron_rs.training.train import Feeder, Trainable

#: What a program switches on to have a line of each epoch where it wants it.
_LOGGER = logging.getLogger("perceptron_rs")


class _Learnt:
    """What has been learnt so far, on a copy of the estimator; only while a callback looks at it."""

    def __init__(self, observer: Observer, run: Run) -> None:
        self.observer = observer
        self.run: Run | None = run

    @standard()
    def __call__(self) -> Trainable:
        if self.run is None:
            raise RuntimeError(
                "record.model() is there while callback runs; call it there, and keep the model"
            )
        model = copy.copy(self.observer.estimator)
        model.callback = None
        model._keep(self.observer.feeder, self.run.state())
        return model


class Observer:
    """Watches the epochs of a run for callbacks and ``verbose``; ``task`` tells scikit-learn's callbacks."""

    def __init__(self, estimator: Trainable, feeder: Feeder, task: FitTask | None) -> None:
        self.task = task if task is not None and task.is_watched else None
        self.estimator, self.feeder = estimator, feeder
        self.callback: Callable[[Any], Any] | None = estimator.callback
        self.verbose, self.logged = bool(estimator.verbose), _LOGGER.isEnabledFor(logging.INFO)
        self.n_examples, self.n_before = feeder.n_examples, 0
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
        learnt = _Learnt(self, run)
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
            feeder, state = self.feeder, run.state()
            ends |= self.task.epoch(lambda model: model._keep(feeder, state))
        return ends


class FitTask:
    """A fit as scikit-learn's callbacks see it: one task, with a task of its own for each epoch."""

    def __init__(self, estimator: Any, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike) -> None:
        self.estimator = estimator
        self.data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        self.is_watched = bool(getattr(estimator, "_skl_callbacks", []))
        self.context: Any = None
        if hasattr(estimator, "_init_callback_context"):
            with foreign():
                self.context = estimator._init_callback_context(max_subtasks=int(estimator.max_iter))
                self.context.call_on_fit_task_begin(estimator=estimator, **self.data)

    def epoch(self, publish: Callable[[Any], None]) -> bool:
        """Tell of an epoch; return whether the fit is to end.

        ``publish`` puts what has been learnt on an estimator.
        """

        @standard()
        def fitted() -> dict[str, object]:
            model = copy.copy(self.estimator)
            publish(model)
            return dict(vars(model))

        with foreign():
            context = self.context.subcontext(task_name="epoch")
            context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
            return bool(
                context.call_on_fit_task_end(
                    estimator=self.estimator, reconstruction_attributes=fitted, **self.data
                )
            )

    def end(self) -> None:
        """Tell that the fit is done."""
        if self.context is not None:
            with foreign():
                self.context.call_on_fit_task_end(
                    estimator=self.estimator, reconstruction_attributes={}, **self.data
                )
