"""From options to an estimator: those that nearly all learners have, and those that each family adds.

No library is imported before it is needed, so that ``--help`` is quick. ``options.py`` has the options of the
group "learning"; the parameters that they set are in ``COMMON``.
"""

from __future__ import annotations

import argparse
import math
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from perceptron_rs.cli.errors import CommandError, UsageError
from perceptron_rs.registry import FAMILIES, LEARNERS, family_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["COMMON", "OPTIONS", "add_options", "chosen", "learner"]

#: The parameter that each option of the group "learning" sets, by the option's name in the namespace.
COMMON = {
    "epochs": "max_iter",
    "tol": "tol",
    "n_iter_no_change": "n_iter_no_change",
    "shuffle": "shuffle",
    "seed": "random_state",
    "eta0": "eta0",
    "intercept": "fit_intercept",
    "tie": "tie",
    "class_weight": "class_weight",
}

OPTIONS = tuple(option for family in FAMILIES for option in family_part(family, "options").OPTIONS)


def add_options(command: argparse.ArgumentParser) -> None:
    """Add them; one that is not given is None, and leaves the learner's default."""
    group = command.add_argument_group("learning, for learners that have it")
    for option in OPTIONS:
        group.add_argument(option.flag, default=None, help=option.help, **option.how)


def chosen(arguments: Namespace) -> dict[str, Any]:
    """Return the parameters that are given; UsageError for one that is missing there or does nothing."""
    given = {COMMON[name]: value for name, value in vars(arguments).items() if name in COMMON}
    own = {option.parameter: vars(arguments)[option.parameter] for option in OPTIONS}
    given |= {name: value for name, value in own.items() if value is not None}
    if not given:
        return given  # the learners need not be imported
    parameters = {
        name: learner.kind._get_param_names()
        for name, learner in LEARNERS.items()
        if learner.family in FAMILIES
    }
    flags = {parameter: "--" + name.replace("_", "-") for name, parameter in COMMON.items()}
    flags |= {option.parameter: option.flag for option in OPTIONS}
    for parameter, flag in flags.items():
        if parameter in given and parameter not in parameters[arguments.learner]:
            others = [name for name, names in parameters.items() if parameter in names]
            raise UsageError(
                f"the learner {arguments.learner} has no option {flag}; "
                f"leave it out, or choose --learner {' or '.join(others)}"
            )
    for option in OPTIONS:
        for name, values in option.needs.items() if option.parameter in given else ():
            if name in parameters[arguments.learner] and given.get(name) not in values:
                raise UsageError(f"{option.flag} has no effect without {_written(name, values)}")
    return given


def _written(name: str, values: tuple[Any, ...]) -> str:
    flag: str = next(option.flag for option in OPTIONS if option.parameter == name)
    if values == (True,):
        return flag
    return f"{flag} {' or '.join(str(value) for value in values if value)}"


def learner(arguments: Namespace, y: NDArray[Any]) -> Any:
    """Return an estimator with the parameters that are given."""
    kind = LEARNERS[arguments.learner].kind
    parameters = chosen(arguments)
    if "class_weight" in parameters:
        parameters["class_weight"] = _class_weights(arguments.class_weight, y)
    if "n_jobs" in kind._get_param_names():
        parameters["n_jobs"] = getattr(arguments, "threads", None)
    return kind(engine=getattr(arguments, "engine", "rust"), **parameters)


def _class_weights(options: Sequence[str] | None, y: NDArray[Any]) -> dict[Any, float] | str | None:
    """Return the values of --class-weight as the estimators take them."""
    import numpy as np

    from perceptron_rs.common.story import label_text, plain

    if not options:
        return None
    if "balanced" in options:
        if len(options) > 1:
            raise CommandError("--class-weight balanced cannot be combined with weights of single classes")
        return "balanced"
    classes = {label_text(label): plain(label) for label in np.unique(y)}
    weights: dict[Any, float] = {}
    for option in options:
        name, equals, number = option.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise CommandError(f"--class-weight {option}: must be LABEL=NUMBER, or balanced")
        if name not in classes:
            known = ", ".join(list(classes)[:10])
            raise CommandError(f"--class-weight {option}: the data has no class {name!r}, but {known}")
        if not 0 <= value < math.inf:
            raise CommandError(f"--class-weight {option}: must be finite and >= 0")
        weights[classes[name]] = value
    return weights
