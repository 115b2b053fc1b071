"""``perceptrons reproduce``: train a model again on its data, and compare every bit."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_rs.audit.record import calls_of
from perceptron_rs.cli.data import example_files, reading_for, weights_of
from perceptron_rs.cli.modelfile import entry_of, load_model
from perceptron_rs.cli.status import Status, UsageError
from perceptron_rs.cli.tagging import TaggedFiles, load_tagger
from perceptron_rs.cli.training.calibration import other_calibration
from perceptron_rs.cli.words import say
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.text.lines import is_read_once, names_of
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.targets.labels import classes_like

if TYPE_CHECKING:
    from perceptron_rs.rerun import Reproduction


def run(arguments: Namespace) -> int:
    """Print whether the same model came out, or what is not the same."""
    answer = _trained_again(arguments)
    if arguments.json:
        print(json.dumps(asdict(answer)))
    else:
        print(f"model      {answer.digest}")
        if answer.digest_again is not None:
            print(f"again      {answer.digest_again}")
        print(f"{'reproduced' if answer else 'different '} {answer.message}")
    return Status.SUCCESS if answer else Status.FAILURE


def _trained_again(arguments: Namespace) -> Reproduction:
    """Return what came out when the model was trained again."""
    from perceptron_rs.rerun import reproduce

    path = Path(arguments.model)
    model = load_model(path, arguments.threads, sequences=None)
    calls = calls_of(model)
    is_streamed = bool(calls) and all(call.method == "fit_stream" for call in calls)
    is_tagger = entry_of(model).data == "sequences"
    if is_read_once(arguments.data) and (is_streamed or is_tagger):
        raise UsageError(
            f"{names_of(arguments.data)} can be read only once, but this model learnt in several passes; "
            "name a file"
        )
    if is_tagger and (others := set(reading_for(arguments).given) - {"max_ratio", "threads"}):
        raise UsageError(f"{say(min(others))} is about examples, and {path} labels sequences")
    if not is_tagger and "tag_column" in vars(arguments):
        raise UsageError(f"--tag-column is about tagged sentences, and {path} does not label sequences")
    n = calls[0].rows if calls else 0  # examples of the first call
    if is_tagger:
        data = _of_sentences(arguments, load_tagger(path, arguments.threads, learns=True), n, is_streamed)
    else:
        data = _of_examples(arguments, model, is_streamed)
    answer = reproduce(model, **data, engine=arguments.engine, audit_key=arguments.audit_key)
    other = _other_scale(arguments, model, n) if answer else None
    recipe = learnt_recipe(model)
    if answer and other is None and recipe is not None and recipe.calibration is not None:
        other = other_calibration(arguments, model)
        answer = replace(answer, message="equal to the last bit, and so is its calibration")
    if other is not None:
        answer = replace(answer, equal=False, reason="numbers", message=f"other numbers: {other}")
    return answer


def _other_scale(arguments: Namespace, model: object, n: int) -> str | None:
    """Return in words where the scale of the model is not that of the first n examples of the data.

    The examples are scaled as the model says, so nothing else shows it of a column that is always 0.
    """
    recipe = learnt_recipe(model)
    if recipe is None or recipe.scale is None:
        return None
    scale: Any = recipe.scale
    files = example_files(arguments, model, holdout=recipe.holdout)
    files.reading = replace(files.reading, scale=None)
    fit = scale.again()
    files.add_to(fit, n)
    other: str | None = scale.difference(fit.scale())
    return other


def _of_examples(arguments: Namespace, model: Any, is_streamed: bool) -> dict[str, Any]:
    recipe = learnt_recipe(model)
    files = example_files(arguments, model, holdout=None if recipe is None else recipe.holdout)
    if files.reading.scale is not None and files.is_read_once:
        raise UsageError(
            f"{files.name}: can be read only once, but the scale of the model is compared with "
            f"the data, too; name a file"
        )
    if is_streamed:
        return {"X": files.source()}
    data = files.learnt()
    y = files.target(data)
    if recipe is None and isinstance(y, np.ndarray):  # of Python, perhaps of a type that no file has
        y = classes_like(y, model.classes_)
    return {"X": data.X, "y": y, **weights_of(data)}


def _of_sentences(arguments: Namespace, model: Any, n: int, is_streamed: bool) -> dict[str, Any]:
    data = TaggedFiles(arguments, model.template_)
    if is_streamed:
        return {"X": data.source()}
    sentences = list(data.sentences())
    encoder = AttributeEncoder(model.min_count, model.hash_columns)
    first = sentences[: n or None]  # which tell the vocabulary
    encoder.fit(token for sentence in first for token in data.attributes(sentence))
    X, y, lengths = data.encoded(sentences, encoder.transform)
    return {"X": X, "y": y, "lengths": lengths, "encoder": encoder}
