"""From the options to an estimator."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from numpy.typing import NDArray

from perceptron_rs.cli.labels import class_weights
from perceptron_rs.cli.learner_options import chosen
from perceptron_rs.registry import LEARNERS

__all__ = ["learner"]


def learner(arguments: Namespace, y: NDArray[Any]) -> Any:
    """Return an estimator with the parameters that are given."""
    kind = LEARNERS[arguments.learner].kind
    parameters = chosen(arguments)
    if "class_weight" in parameters:
        parameters["class_weight"] = class_weights(arguments.class_weight, y)
    if "n_jobs" in kind._get_param_names():
        parameters["n_jobs"] = getattr(arguments, "threads", None)
    return kind(engine=getattr(arguments, "engine", "rust"), **parameters)
