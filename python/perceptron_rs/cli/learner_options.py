"""Options that some learners have and others have not: one entry a parameter. No library is imported here.

Those of the group "learning", which nearly all have, are in ``options.py``; what they set is in ``COMMON``.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perceptron_rs.cli import kinds
from perceptron_rs.cli.errors import UsageError

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

_SWITCH = {"action": argparse.BooleanOptionalAction}


@dataclass(frozen=True, slots=True)
class Option:
    """An option that sets the parameter of its name, and what argparse is to know of it."""

    parameter: str
    help: str
    how: Mapping[str, Any]
    #: Values of other parameters without which this one would do nothing, of learners that have those; None
    #: stands for the default.
    needs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def flag(self) -> str:
        """The option as it is written."""
        return "--" + self.parameter.replace("_", "-")


def _number(kind: Any, name: str = "X") -> dict[str, Any]:
    return {"type": kind, "metavar": name}


def _one_of(*choices: str) -> dict[str, Any]:
    return {"choices": choices}


OPTIONS = (
    Option("multi_class", "each class against the rest, or all together (ovr)", _one_of("ovr", "joint")),
    Option(
        "update",
        "which classes a joint update moves down (max)",
        _one_of("max", "uniform", "proportional"),
        needs={"multi_class": ("joint",)},
    ),
    Option("margin", "what an activation must exceed to be right (0)", _number(kinds.amount)),
    Option("added_feature", "value of a feature of each example's own (0)", _number(kinds.amount)),
    Option(
        "max_mistakes_per_example", "most updates that an example may cause", _number(kinds.positive, "N")
    ),
    Option("penalty", "what each example takes from the weights", _one_of("l2", "l1", "elasticnet")),
    Option(
        "alpha",
        "strength of the penalty (0.0001)",
        _number(kinds.amount),
        needs={"penalty": ("l2", "l1", "elasticnet")},
    ),
    Option(
        "l1_ratio",
        "part of elasticnet that is l1, from 0 to 1 (0.15)",
        _number(kinds.ratio),
        needs={"penalty": ("elasticnet",)},
    ),
    Option(
        "check", "when the pocket's errors are counted (run)", _one_of("run", "ratchet", "update", "epoch")
    ),
    Option(
        "prediction",
        "which vectors predict, and how (vote)",
        _one_of("vote", "average", "last", "random", "longest"),
    ),
    Option("max_vectors", "most vectors that a voted perceptron keeps", _number(kinds.positive, "N")),
    Option(
        "kernel",
        "what stands for the product of two examples (rbf)",
        _one_of("linear", "poly", "rbf", "sigmoid", "precomputed"),
    ),
    Option(
        "gamma",
        "factor in the kernel: a number, scale or auto (scale)",
        _number(kinds.gamma),
        needs={"kernel": (None, "rbf", "poly", "sigmoid")},
    ),
    Option("degree", "exponent (3)", _number(kinds.positive, "N"), needs={"kernel": ("poly",)}),
    Option(
        "coef0",
        "what is added in the kernel (0)",
        _number(kinds.finite),
        needs={"kernel": ("poly", "sigmoid")},
    ),
    Option("normalize", "divide activations by the norms of their vectors", _SWITCH),
    Option("cache_size", "megabytes for rows of kernel values (200)", _number(kinds.rate)),
    Option(
        "budget",
        "most mistakes that are kept (100)",
        _number(kinds.positive, "N"),
    ),
    Option(
        "budget_policy",
        "which example to discard when the budget is full (oldest)",
        _one_of("oldest", "random", "forgetron", "projectron"),
    ),
    Option(
        "projection_distance",
        "distance up to which an example is projected even if there is room (0)",
        _number(kinds.amount),
        needs={"budget_policy": ("projectron",)},
    ),
    Option(
        "hidden_layer_sizes", "neurons of each hidden layer: 100, or 50,20 (100)", _number(kinds.sizes, "N")
    ),
    Option("activation", "function of the hidden neurons (relu)", _one_of("logistic", "tanh", "relu")),
    Option("learning_rate_init", "learning rate of the layers (0.01)", _number(kinds.rate)),
    Option("batch_size", "examples of a step (1)", _number(kinds.positive, "N")),
    Option("early_stopping", "stop by the accuracy on examples that are set aside", _SWITCH),
    Option(
        "validation_fraction",
        "part of the examples that is set aside (0.1)",
        _number(kinds.fraction),
        needs={"early_stopping": (True,)},
    ),
)


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
    from perceptron_rs.registry import LEARNERS

    parameters = {
        name: learner.kind._get_param_names()
        for name, learner in LEARNERS.items()
        if learner.data == "examples" and learner.in_epochs
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
                raise UsageError(f"{option.flag} does nothing without {_written(name, values)}")
    return given


def _written(name: str, values: tuple[Any, ...]) -> str:
    (flag,) = (option.flag for option in OPTIONS if option.parameter == name)
    if values == (True,):
        return flag
    return f"{flag} {' or '.join(str(value) for value in values if value)}"
