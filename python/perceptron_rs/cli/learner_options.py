"""The options of the learners: those that nearly all have, and those that each family adds.

No library is imported here, so that ``--help`` is quick. Options of the group "learning" are in
``options.py``; the parameters that they set are in ``COMMON``.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from typing import Any

from perceptron_rs.cli.errors import UsageError
from perceptron_rs.registry import FAMILIES, LEARNERS, family_part

__all__ = ["COMMON", "OPTIONS", "add_options", "chosen"]

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
