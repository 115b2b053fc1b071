"""``perceptrons margin`` and ``separable``: the largest margin of two classes, certified."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import example_files, several
from perceptron_rs.cli.learning import options_of, parameters_of
from perceptron_rs.cli.status import CommandError, UsageError
from perceptron_rs.models.summary import label_text
from perceptron_rs.targets.distinct import distinct


def run(arguments: Namespace) -> int:
    """Print the interval, the status, the radius, the bounds and the support rows."""
    from perceptron_rs import max_margin

    X, y, options = problem(arguments)
    result = max_margin(X, y, **options)
    print(json.dumps(result.to_dict()) if arguments.json else result)
    return 0


def problem(arguments: Namespace) -> tuple[Any, NDArray[Any], dict[str, Any]]:
    """Return examples, labels and the options of the search.

    Of more than two classes, one is told from the rest, if an option names it.
    """
    options = {
        "engine": arguments.engine,
        "n_jobs": arguments.threads,
        **parameters_of(arguments, options_of("max-margin")),
    }
    files = example_files(arguments)
    if files.reading.multilabel:
        raise UsageError(
            "--multilabel is about lists of labels, but a margin is between two classes; leave it out"
        )
    data = files.whole()
    classes = distinct(data.labels)[0]
    if arguments.positive is not None:
        chosen = [label for label in classes if label_text(label) == arguments.positive]
        if not chosen:
            raise CommandError(
                f"{files.name}: --positive {arguments.positive}: no example has this label, but "
                f"{several(classes)}"
            )
        return data.X, np.isin(data.labels, chosen), options
    if len(classes) > 2:
        raise CommandError(
            f"{files.name}: holds {len(classes)} classes ({several(classes)}), but a margin is between "
            "two; choose one with --positive LABEL, to separate it from the rest"
        )
    return data.X, data.labels, options
