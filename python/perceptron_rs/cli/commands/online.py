"""``perceptron-rs online``: learn from labelled examples as they come, and predict each before that."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.modelfile import check_writable, load_model, save_model
from perceptron_rs.cli.progress import Counts
from perceptron_rs.cli.readers.examples import blocks
from perceptron_rs.cli.readers.wanted import wanted
from perceptron_rs.cli.status import Status
from perceptron_rs.common.story import label_text, plain

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print one line for each example; at the end, perhaps write what was learnt."""
    model = load_model(Path(arguments.model))
    if not hasattr(model, "predict_then_learn"):
        raise CommandError(
            f"{arguments.model}: holds a {type(model).__name__}, which learns from all examples at once; "
            "train a perceptron"
        )
    if arguments.save is not None:
        check_writable(Path(arguments.save), arguments.data)
    wish = wanted(arguments, model=model)
    names = vars(model).pop("feature_names_in_", None)  # the readers compare the names; X has none
    kept = {name: vars(model)[name] for name in ("_column_base", "_input") if name in vars(model)}
    if hasattr(model, "n_jobs"):
        model.n_jobs = arguments.threads
    texts = [label_text(label) for label in model.classes_]
    records = [json.dumps({"label": plain(label)}) for label in model.classes_]
    lines = [text + "\n" for text in (records if arguments.json else texts)]
    counts = Counts(quiet=arguments.quiet)
    for data in blocks(arguments.data, wish):
        found, errors = model.predict_then_learn(data.X, data.labels)
        answers = np.searchsorted(model.classes_, found).tolist()
        sys.stdout.write("".join(map(lines.__getitem__, answers)))
        sys.stdout.flush()
        counts.add(len(data), errors)
    counts.say()
    if arguments.save is not None:
        vars(model).update(kept)
        if names is not None:
            model.feature_names_in_ = names
        save_model(model, Path(arguments.save))
    return Status.SUCCESS
