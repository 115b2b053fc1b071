"""``perceptrons separable``: whether a plane separates two classes; the exit status says it."""

from __future__ import annotations

import json
from argparse import Namespace

from perceptron_rs.cli.commands.margin import problem
from perceptron_rs.cli.status import Status

STATUS = {True: Status.SUCCESS, False: Status.NOT_SEPARABLE, None: Status.UNDECIDED}
TEXT = {True: "separable", False: "not separable", None: "undecided"}


def run(arguments: Namespace) -> int:
    """Print the answer in words, and return it as an exit status."""
    from perceptron_rs import UndecidedError, is_separable

    X, y, options = problem(arguments)
    answer: bool | None = None
    try:
        answer, result = is_separable(X, y, explain=True, **options)
    except UndecidedError as error:
        result = error.result
    if arguments.json:
        print(json.dumps({"separable": answer, **result.to_dict()}))
    else:
        print(TEXT[answer])
    return STATUS[answer]
