"""From the options to an estimator."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import Any

from numpy.typing import NDArray

from perceptron_rs.cli.labels import class_weights
from perceptron_rs.cli.learner_options import chosen

__all__ = ["import_meanwhile", "learner"]

_REGISTRY = "perceptron_rs.estimators.registry"


def import_meanwhile() -> None:
    """Begin to import the estimators while the reader of svmlight text works.

    The reader runs without the interpreter's lock, and importing scikit-learn takes as long as reading a
    large file. All that the reader imports is imported before: two threads that import modules which
    import each other may see unfinished ones. The thread is no daemon, because ending the interpreter
    in the midst of an import is not safe.
    """
    import_module("perceptron_rs.io")

    def work() -> None:
        with suppress(Exception):  # the import that follows in the main thread says it
            import_module(_REGISTRY)

    Thread(target=work).start()


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
        **chosen(arguments),
    )
