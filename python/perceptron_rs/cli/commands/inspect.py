"""``perceptrons inspect``: what is in a model file."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from perceptron_rs.cli.modelfile import entry_of, load_model
from perceptron_rs.recipe.learnt import learnt_recipe


def run(arguments: Namespace) -> int:
    """Print the format, digest and record, the estimator, its parameters and history, its largest weights."""
    from perceptron_rs.models.comparison import digest
    from perceptron_rs.models.summary import summary_of, summary_text
    from perceptron_rs.models.training_record import read_record

    path = Path(arguments.model)
    model = load_model(path, sequences=None)
    family = entry_of(model).part("summary")
    story = summary_of(model, family, arguments.top) | read_record(path, model)
    story |= {"format": "safetensors", "bytes": path.stat().st_size, "digest": digest(model)}
    if (recipe := learnt_recipe(model)) is not None:
        story["input"] = recipe.in_words()
    print(json.dumps(story, default=str) if arguments.json else summary_text(story, family).rstrip("\n"))
    return 0
