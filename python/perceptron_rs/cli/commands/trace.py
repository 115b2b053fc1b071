"""``perceptrons trace``: a fit step by step, as the table of a lecture."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np

from perceptron_rs.cli.data import examples
from perceptron_rs.cli.learning import chosen, learner
from perceptron_rs.cli.status import Status
from perceptron_rs.common.story import plain

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print the first steps: a line, or a JSON object, for each."""
    chosen(arguments)  # a wrong choice is said before anything is read
    data = examples(arguments).whole()

    from perceptron_rs import trace

    steps = trace(learner(arguments, data.labels), data.X, data.labels, every=arguments.every)
    if not arguments.json:
        print(steps.table(limit=arguments.limit))
        return Status.SUCCESS
    for step in islice(steps, arguments.limit):
        print(json.dumps({name: _plain(value) for name, value in asdict(step).items()}))
    return Status.SUCCESS


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else plain(value)
