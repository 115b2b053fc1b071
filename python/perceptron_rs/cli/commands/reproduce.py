"""``perceptrons reproduce``: train a model again on its data, and compare every bit."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.sparse import csr_matrix, issparse

from perceptron_rs.audit.record import Call, calls_of
from perceptron_rs.cli.data import examples, reading_of, weights_of
from perceptron_rs.cli.modelfile import learner_of, load_model
from perceptron_rs.cli.status import CommandError, Status, UsageError
from perceptron_rs.cli.tagging import TaggedFiles, load_tagger
from perceptron_rs.cli.words import say
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.text.lines import is_read_once, names_of
from perceptron_rs.models.description import input_of

if TYPE_CHECKING:
    from perceptron_rs.rerun import Reproduction

__all__ = ["again", "run"]


def run(arguments: Namespace) -> int:
    """Print whether the same model came out, or what is not the same."""
    _, answer = again(arguments)
    if arguments.json:
        print(json.dumps(asdict(answer)))
    else:
        print(f"model      {answer.digest}")
        if answer.digest_again is not None:
            print(f"again      {answer.digest_again}")
        print(f"{'reproduced' if answer else 'different '} {answer.message}")
    return Status.SUCCESS if answer else Status.FAILURE


def again(arguments: Namespace) -> tuple[Any, Reproduction]:
    """Return the model, and what came out when it was trained again."""
    from perceptron_rs.rerun import reproduce

    path = Path(arguments.model)
    model = load_model(path, arguments.threads, sequences=None)
    calls = calls_of(model)
    is_tagger = learner_of(model).data == "sequences"
    if is_read_once(arguments.data) and (_is_streamed(calls) or is_tagger):
        raise UsageError(
            f"{names_of(arguments.data)} can be read only once, but this model learnt in several passes; "
            "name a file"
        )
    if is_tagger and (others := set(reading_of(arguments).given) - {"max_ratio", "threads"}):
        raise UsageError(f"{say(min(others))} is about examples, and {path} labels sequences")
    if not is_tagger and "tag_column" in vars(arguments):
        raise UsageError(f"--tag-column is about tagged sentences, and {path} does not label sequences")
    if is_tagger:
        given = _of_sentences(arguments, load_tagger(path, arguments.threads, learns=True), calls)
    else:
        given = _of_examples(arguments, model, calls)
    answer = reproduce(model, **given, engine=arguments.engine, audit_key=arguments.audit_key)
    other = _other_scale(arguments, model, calls) if answer else None
    if other is not None:
        answer = replace(answer, equal=False, reason="numbers", message=f"other numbers: {other}")
    return model, answer


def _other_scale(arguments: Namespace, model: object, calls: tuple[Call, ...]) -> str | None:
    """Return in words where the scale of the model is not that of the data of its first call.

    The examples are scaled as the model says, so nothing else shows it of a column that is always 0.
    """
    how = input_of(model)
    if how is None or how.scale is None:
        return None
    scale: Any = how.scale
    files = examples(arguments, model, holdout=how.holdout)
    files.reading = replace(files.reading, scale=None)
    fit, left = scale.again(), calls[0].rows
    for rows, *_ in files.source().batches():
        X = rows[:left]
        if issparse(X) == (scale.offset is not None):  # zeros were to stay zero, or not
            X = X.toarray() if issparse(X) else csr_matrix(X)
        if X.shape[0]:
            fit.add(X)
        left -= X.shape[0]
    found: str | None = scale.difference(fit.scale())
    return found


def _is_streamed(calls: tuple[Call, ...]) -> bool:
    """Whether the data need not fit into memory."""
    return len(calls) > 0 and all(call.method == "fit_stream" for call in calls)


def _of_examples(arguments: Namespace, model: Any, calls: tuple[Call, ...]) -> dict[str, Any]:
    how = input_of(model)
    files = examples(arguments, model, holdout=None if how is None else how.holdout)
    if files.reading.scale is not None and files.is_read_once:
        raise CommandError(
            f"{files.name}: can be read only once, but the scale of the model is compared with "
            f"the data, too; name a file"
        )
    if _is_streamed(calls):
        return {"X": files.source()}
    data = files.learnt()
    return {"X": data.X, "y": files.target(data), **weights_of(data, model)}


def _of_sentences(arguments: Namespace, model: Any, calls: tuple[Call, ...]) -> dict[str, Any]:
    data = TaggedFiles(arguments, model.template_)
    if _is_streamed(calls):
        return {"X": data.source()}
    sentences = list(data.sentences())
    encoder = AttributeEncoder(model.min_count, model.hash_columns)
    first = sentences[: calls[0].rows if calls else None]  # which tell the vocabulary
    encoder.fit(token for sentence in first for token in data.attributes(sentence))
    X, y, lengths = data.encoded(sentences, encoder.transform)
    return {"X": X, "y": y, "lengths": lengths, "encoder": encoder}
