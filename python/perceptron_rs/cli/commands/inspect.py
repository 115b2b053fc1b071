"""``perceptrons inspect``: what is in a model file."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from perceptron_rs.cli.modelfile import learner_of, load_model

__all__ = ["run"]

#: Weights of a class that are shown, unless an option says how many.
TOP = 10


def run(arguments: Namespace) -> int:
    """Print the format, digest and record, the estimator, its parameters and history, its largest weights."""
    from perceptron_rs.common.summary import as_text, describe
    from perceptron_rs.models.comparison import digest
    from perceptron_rs.models.training_record import read_record

    path = Path(arguments.model)
    model = load_model(path, sequences=None)
    learner = learner_of(model)
    family = learner.part("summary")
    story = describe(model, family, TOP if arguments.top is None else arguments.top) | {
        "format": "safetensors",
        "bytes": path.stat().st_size,
    }
    story |= {"digest": digest(model)} | read_record(path, model)
    print(json.dumps(story, default=str) if arguments.json else as_text(story, family).rstrip("\n"))
    return 0
