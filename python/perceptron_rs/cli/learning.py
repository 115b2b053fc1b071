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
    """Return an estimator with the parameters that are given."""
    from perceptron_rs.estimators.registry import LEARNERS

    kind: Any = LEARNERS[arguments.learner]
    parameters = chosen(arguments)
    if "class_weight" in parameters:
        parameters["class_weight"] = class_weights(arguments.class_weight, y)
    if "n_jobs" in kind._get_param_names():
        parameters["n_jobs"] = getattr(arguments, "threads", None)
    return kind(engine=getattr(arguments, "engine", "rust"), **parameters)
