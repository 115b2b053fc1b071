"""``perceptron-rs reproduce``: train a model again on its data, and compare every bit."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from perceptron_rs.cli.modelfile import input_of, load_model
from perceptron_rs.cli.readers.data import held_out
from perceptron_rs.cli.readers.examples import load
from perceptron_rs.cli.readers.labels import same_kind
from perceptron_rs.cli.readers.wanted import wanted
from perceptron_rs.cli.status import Status

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Print whether the same model came out, or what is not the same."""
    from perceptron_rs.rerun import reproduce

    model = load_model(Path(arguments.model))
    data = load(arguments.data, wanted(arguments, model=model))
    same_kind(data.labels, model.classes_, arguments.data)
    if hasattr(model, "n_jobs"):
        model.n_jobs = arguments.threads
    held = held_out(len(data), getattr(input_of(model), "holdout", None))
    data = data if held is None else data.chosen(~held)
    answer = reproduce(model, data.X, data.labels, engine=arguments.engine)
    if arguments.json:
        print(json.dumps(asdict(answer)))
    else:
        print(f"model      {answer.digest}")
        if answer.digest_again is not None:
            print(f"again      {answer.digest_again}")
        print(f"{'reproduced' if answer else 'different '} {answer.message}")
    return Status.SUCCESS if answer else Status.FAILURE
