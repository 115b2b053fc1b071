"""scikit-learn's own callbacks, from its version 1.9 on: ``set_callbacks(ProgressBar())`` and others.

Where scikit-learn has none, everything here does nothing, and ``set_callbacks`` is not there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.float_mode import foreign, standard


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
