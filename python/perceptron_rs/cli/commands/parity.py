"""``perceptrons parity``: fit in every way there is, and show the digest of each way's weights."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from dataclasses import replace

import numpy as np

from perceptron_rs.cli.data import examples, weights_of
from perceptron_rs.cli.learning import chosen, learner, weigh_classes
from perceptron_rs.cli.status import CommandError
from perceptron_rs.io.examples import Examples

__all__ = ["run"]

CELLS = 1 << 24  # of a dense copy: 128 MB of float64


def run(arguments: Namespace) -> int:
    """Print a line for each way; return 1 at the first that differs."""
    from sklearn.exceptions import ConvergenceWarning

    from perceptron_rs.testing.parity import ways

    chosen(arguments)  # a wrong choice is said before anything is read
    data = examples(arguments).whole()
    data, n = sample(data, arguments.rows)
    X, y = data.X, data.labels
    if not arguments.json:
        used = f"all {n}" if len(y) == n else f"{len(y)} of {n}, evenly spaced"
        print(f"examples: {used}, features: {X.shape[1]}")
    model = learner(arguments)
    weigh_classes(model, y)
    answers = []
    difference = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weights_of(data, model)  # are refused by learners without
        for way in ways(model, X, y, weights=data.weights, batch_sizes=(max(1, len(y) // 3), 7)):
            answers.append({"way": str(way.path), "sha256": way.digest})
            if not arguments.json:
                print(f"{way.digest}  {way.path}", flush=True)
            if way.difference is not None:
                difference = way.difference
                break
    if arguments.json:
        print(
            json.dumps(
                {
                    "n_samples": len(y),
                    "n_samples_of_data": n,
                    "n_features": X.shape[1],
                    "ways": answers,
                    "difference": difference,
                }
            )
        )
    if difference is not None:
        raise CommandError(difference)
    if not arguments.json:
        print(
            f"{len(answers)} ways: the weights, intercepts, scores and counts of each kind "
            f"are equal to the last bit"
        )
    return 0


def sample(data: Examples, rows: int | None) -> tuple[Examples, int]:
    """Return evenly spaced examples, and how many there were."""
    n, d = data.X.shape
    if rows is None:
        rows = max(2, CELLS // d)
        if 2 * d > CELLS:
            raise CommandError(
                f"{d} features are too many for the dense copies of this check; set the number of rows with "
                "--rows"
            )
    if rows >= n:
        return replace(data, rows=np.asarray(data.X)) if isinstance(data.X, np.memmap) else data, n
    return data.chosen(np.linspace(0, n - 1, rows).round().astype(np.intp)), n
