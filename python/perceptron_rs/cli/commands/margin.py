"""``perceptrons margin``: the largest margin of two classes, certified."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import examples, several
from perceptron_rs.cli.learning import given, options_of
from perceptron_rs.cli.status import CommandError
from perceptron_rs.common.summary import label_text

__all__ = ["read_two_classes", "run", "search"]


def run(arguments: Namespace) -> int:
    """Print the interval, the status, the radius, the bounds and the support rows."""
    from perceptron_rs import max_margin

    options = search(arguments)
    X, y = read_two_classes(arguments)
    result = max_margin(X, y, **options)
    print(json.dumps(result.to_dict()) if arguments.json else result)
    return 0


def search(arguments: Namespace) -> dict[str, Any]:
    """Return the options of the search, and of the space in which margins are measured."""
    return {
        "engine": arguments.engine,
        "n_jobs": arguments.threads,
        **given(arguments, options_of("max-margin")),
    }


def read_two_classes(arguments: Namespace) -> tuple[Any, NDArray[Any]]:
    """Return examples and labels; of more than two classes one against the rest, if an option names it."""
    files = examples(arguments)
    data = files.whole()
    y = data.labels
    if arguments.positive is not None:
        chosen = np.array([label_text(label) == arguments.positive for label in np.unique(y)])
        if not chosen.any():
            raise CommandError(f"{files.name}: --positive {arguments.positive}: no example has this label")
        return data.X, np.isin(y, np.unique(y)[chosen])
    classes = np.unique(y)
    if len(classes) > 2:
        raise CommandError(
            f"{files.name}: holds {len(classes)} classes ({several(classes)}), but a margin is between "
            "two; choose one with --positive LABEL, to separate it from the rest"
        )
    return data.X, y
