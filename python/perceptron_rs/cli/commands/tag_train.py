"""``perceptron-rs tag-train``: from a file of tagged sentences to a model file."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from perceptron_rs.cli.errors import CommandError, UsageError
from perceptron_rs.cli.modelfile import check_writable, save_model
from perceptron_rs.cli.readers.sentences import Sentence, sentences
from perceptron_rs.cli.readers.source import name_of
from perceptron_rs.cli.status import Status
from perceptron_rs.cli.tagging import attributes
from perceptron_rs.registry import LEARNERS

__all__ = ["run"]

WINDOW = 2  # as of `column_attributes`


def run(arguments: Namespace) -> int:
    """Read, fit, write, and say how it went."""
    _check(arguments)
    out = Path(arguments.model)
    check_writable(out, Path(arguments.data))
    times = [time.perf_counter()]
    data = _read(arguments)
    tag = len(data[0].tokens[0]) if arguments.tag_column is None else arguments.tag_column
    template = _template(arguments, tag)
    y = [token[tag - 1] for sentence in data for token in sentence.tokens]
    tags = set(y)
    if len(tags) < 2:
        raise CommandError(
            f"{name_of(arguments.data)}: the only tag is {tags.pop()!r}; at least two are needed"
        )
    times.append(time.perf_counter())
    lengths = [len(sentence.tokens) for sentence in data]
    tokens = _tokens(data, template)
    del data  # the template takes each sentence away as it is read
    model = _fit(arguments, tokens, y, lengths)
    model.template_ = template
    times.append(time.perf_counter())
    save_model(model, out)
    times.append(time.perf_counter())
    result = {
        "n_sentences": len(lengths),
        "n_tokens": len(y),
        "n_features": model.n_features_in_,
        "tags": model.classes_.tolist(),
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "sentence_errors_per_epoch": model.sequence_errors_per_epoch_.tolist(),
        "token_errors_per_epoch": model.token_errors_per_epoch_.tolist(),
        "seconds": {
            name: end - begin
            for name, begin, end in zip(("read", "fit", "save"), times, times[1:], strict=False)
        },
        "model": arguments.model,
        "bytes": out.stat().st_size,
    }
    if hasattr(model, "validation_scores_"):
        result["validation_scores"] = model.validation_scores_[:, 0].tolist()
    print(json.dumps(result) if arguments.json else _as_text(result), end="\n" if arguments.json else "")
    return Status.SUCCESS


def _check(arguments: Namespace) -> None:
    """Refuse options that do nothing without another."""
    given = vars(arguments)
    for option, value, needed in (
        ("--window", arguments.window is not None and arguments.template == "columns", "--template words"),
        ("--update", given.get("update", "full") != "full" and arguments.beam is None, "--beam N"),
        ("--n-iter-no-change", "n_iter_no_change" in given and arguments.held_out is None, "--held-out X"),
    ):
        if value:
            raise UsageError(f"{option} has no effect without {needed}")
    if given.get("hash_columns") is not None and given.get("min_count", 1) != 1:
        raise UsageError("--min-count cannot be combined with --hash-columns, which keeps no counts")
    if arguments.tag_column is not None and arguments.tag_column in (arguments.columns or ()):
        raise UsageError(f"--tag-column {arguments.tag_column} is one of --columns; leave it out there")


def _read(arguments: Namespace) -> list[Sentence]:
    least = max(2, *(arguments.columns or ()), arguments.tag_column or 0)
    name = name_of(arguments.data)
    data = list(sentences(arguments.data))
    if not data:
        raise CommandError(f"{name}: contains no tokens")
    columns = len(data[0].tokens[0])
    if columns == 1:
        raise CommandError(f"{name}: has 1 column, but needs two or more: the word first, the tag last")
    if columns < least:
        raise CommandError(f"{name}: has {columns} columns, but an option names column {least}")
    return data


def _template(arguments: Namespace, tag: int) -> dict[str, Any]:
    """Return what the attributes are made of; positions only where the columns are not the first ones."""
    chosen = list(arguments.columns or range(1, tag))
    if not chosen:
        raise UsageError("--tag-column 1 leaves no column before it; name others with --columns")
    if tag in chosen:
        raise UsageError(f"--columns names column {tag}, which is that of the tags; leave it out")
    found = {
        "kind": arguments.template,
        "window": 0 if arguments.template == "columns" else _or(arguments.window, WINDOW),
        "columns": len(chosen),
    }
    return found if chosen == list(range(1, len(chosen) + 1)) else found | {"positions": chosen}


def _tokens(data: list[Sentence], template: dict[str, Any]) -> Iterator[list[str]]:
    """Give the attributes of each token, and forget the sentences: attributes are much larger than rows."""
    data.reverse()
    while data:
        yield from attributes(data.pop(), template)


def _fit(arguments: Namespace, tokens: Iterator[list[str]], y: list[str], lengths: list[int]) -> Any:
    from perceptron_rs.features import AttributeEncoder

    model = LEARNERS["sequence"].kind(
        n_jobs=arguments.threads,
        verbose=0 if arguments.quiet or sys.stderr is None else 1,
        engine=arguments.engine,
    )
    given = {name: value for name, value in vars(arguments).items() if name in model.get_params()}
    if arguments.beam is not None:
        given |= {"decode": "beam", "beam_width": arguments.beam}
    if arguments.held_out is not None:
        given |= {"early_stopping": True, "validation_fraction": arguments.held_out}
    model.set_params(**given)
    encoder = AttributeEncoder(model.min_count, model.hash_columns)
    X = encoder.fit_transform(tokens)
    with redirect_stdout(sys.stderr):  # the estimator prints its progress; results are on standard output
        model.fit_encoded(encoder, X, y, lengths=lengths)
    return model.set_params(verbose=0, n_jobs=None)  # they belong to this run, not to the model


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _as_text(result: dict[str, Any]) -> str:
    last = result["token_errors_per_epoch"][-1]
    end = "the last without a mistake" if result["converged"] else "not converged"
    rows = {
        "data": f"{result['n_sentences']} sentences, {result['n_tokens']} tokens, {len(result['tags'])} tags",
        "columns": f"{result['n_features']} attributes",
        "epochs": f"{result['n_iter']}, {end}",
        "mistakes": f"{last} tokens of {result['sentence_errors_per_epoch'][-1]} sentences in the last epoch",
        "seconds": ", ".join(f"{name} {value:.2f}" for name, value in result["seconds"].items()),
        "model": f"{result['model']}, {result['bytes']} bytes",
    }
    if "validation_scores" in result:
        rows["held out"] = f"accuracy {max(result['validation_scores']):.4f}"
    return "".join(f"{name:10}{text}\n" for name, text in rows.items())
