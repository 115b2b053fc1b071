"""``perceptrons parity``: fit in every way there is, and show the digest of each way's weights."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace

import numpy as np

from perceptron_rs.cli.data import example_files, weigh_classes
from perceptron_rs.cli.learning import learner
from perceptron_rs.cli.status import CommandError
from perceptron_rs.io.examples import Examples

CELLS = 1 << 24  # of a dense copy: 128 MB of float64


def run(arguments: Namespace) -> int:
    """Print a line for each way; return 1 at the first that differs."""
    from perceptron_rs.sklearn_base import ConvergenceWarning
    from perceptron_rs.testing.parity import ways

    def say(text: str) -> None:
        if not arguments.json:
            print(text, flush=True)

    model = learner(arguments)  # before anything is read: a choice may be wrong
    data = example_files(arguments).whole()
    n, data = len(data), sample(data, arguments.rows)
    X, y = data.X, data.labels
    used = f"all {n}" if len(y) == n else f"{len(y)} of {n}, evenly spaced"
    say(f"examples: {used}, features: {X.shape[1]}")
    weigh_classes(model, y)
    answers, difference = [], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for way in ways(model, X, y, weights=data.weights, batch_sizes=(max(1, len(y) // 3), 7)):
            answers.append({"way": str(way.path), "sha256": way.digest})
            say(f"{way.digest}  {way.path}")
            difference = way.difference
            if difference is not None:
                break
    if arguments.json:
        result = {"n_samples": len(y), "n_samples_of_data": n, "n_features": X.shape[1], "ways": answers}
        print(json.dumps({**result, "difference": difference}))
    if difference is not None:
        raise CommandError(difference)
    say(
        f"{len(answers)} ways: the weights, intercepts, scores and counts of each kind "
        "are equal to the last bit"
    )
    return 0


def sample(data: Examples, rows: int | None) -> Examples:
    """Return evenly spaced examples."""
    n, d = data.X.shape
    if rows is None:
        rows = CELLS // d
        if rows < 2:
            raise CommandError(
                f"{d} features are too many for the dense copies of this check; set the number of rows with "
                "--rows"
            )
    return data.chosen(np.linspace(0, n - 1, min(rows, n)).round().astype(np.intp))
