"""``perceptron-rs inspect``: what is in a model file."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.modelfile import dump_text, format_name, learner_of, load_model

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print the format, the estimator, its parameters, its history, and its largest weights."""
    path = Path(arguments.model)
    model = load_model(path, sequences=None)
    learner = learner_of(model)
    if arguments.text:
        if not learner.is_linear:
            raise CommandError(
                f"{path}: --text prints the weights of linear classifiers, and this is a "
                f"{learner.class_name}; use --json"
            )
        dump_text(model, sys.stdout)
        return 0
    shown = learner.part("story")
    story = shown.describe(model, arguments.top) | {"format": format_name(), "bytes": path.stat().st_size}
    if arguments.json:
        print(json.dumps(story, default=str))
    else:
        print(shown.as_text(story), end="")
    return 0
