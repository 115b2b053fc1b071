"""``perceptron-rs separable``: whether a plane separates two classes; the exit status says it."""

from __future__ import annotations

import json
from argparse import Namespace

from perceptron_rs.cli.commands.margin import read_two_classes

__all__ = ["run"]

#: The exit status for each answer; 1 and 2 mean bad data and wrong usage, as everywhere.
STATUS = {True: 0, False: 3, None: 4}
TEXT = {True: "separable", False: "not separable", None: "undecided"}


def run(arguments: Namespace) -> int:
    """Print the answer in words, and return it as an exit status."""
    from perceptron_rs import is_separable

    X, y = read_two_classes(arguments)
    answer, result = is_separable(
        X,
        y,
        explain=True,
        bias=arguments.bias,
        max_steps=arguments.max_steps,
        solver=arguments.solver,
        engine=arguments.engine,
        n_jobs=arguments.threads,
    )
    if arguments.json:
        print(json.dumps({"separable": answer, **result.to_dict()}))
    else:
        print(TEXT[answer])
    return STATUS[answer]
