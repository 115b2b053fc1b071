"""From the options to an estimator."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from numpy.typing import NDArray

from perceptron_rs.cli.labels import class_weights

__all__ = ["learner"]


def learner(arguments: Namespace, y: NDArray[Any]) -> Any:
    """Return an estimator with the parameters that the options of the group "learning" give."""
    from perceptron_rs.estimators.registry import LEARNERS

    return LEARNERS[arguments.learner](
        max_iter=arguments.epochs,
        tol=arguments.tol,
        n_iter_no_change=arguments.n_iter_no_change,
        shuffle=arguments.shuffle,
        random_state=arguments.seed,
        eta0=arguments.eta0,
        fit_intercept=arguments.intercept,
        tie=arguments.tie,
        class_weight=class_weights(arguments.class_weight, y),
        n_jobs=getattr(arguments, "threads", None),
        engine=getattr(arguments, "engine", "rust"),
    )
