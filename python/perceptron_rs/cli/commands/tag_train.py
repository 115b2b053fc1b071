"""``perceptrons tag-train``: from a file of tagged sentences to a model file."""

from __future__ import annotations

import sys
import time
import warnings
from argparse import Namespace
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import chain
from pathlib import Path
from typing import Any

from perceptron_rs.cli.learning import audited, end_of, finished, given, options_of, stream_options
from perceptron_rs.cli.modelfile import check_writable
from perceptron_rs.cli.progress import reading
from perceptron_rs.cli.signals import noted
from perceptron_rs.cli.status import CommandError, UsageError
from perceptron_rs.cli.tagging import (
    attributes,
    load_tagger,
    positions,
    sentences,
    tag_column,
    tagged_source,
)
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.conll import Sentence
from perceptron_rs.io.text.lines import is_read_once, names_of
from perceptron_rs.registry import LEARNERS

__all__ = ["run"]

WINDOW = 2  # as of `column_attributes`


def run(arguments: Namespace) -> int:
    """Read, fit, write, and say how it went."""
    before = (
        None if arguments.continued is None else load_tagger(Path(arguments.continued), None, learns=True)
    )
    _check(arguments, before)
    blocks = stream_options(arguments)
    check_writable(Path(arguments.model), arguments.data)
    LEARNERS["sequence"].kind  # noqa: B018  imports scikit-learn, which is no part of reading
    times = [time.perf_counter()]
    with noted() as signals:
        if blocks is None:
            model, counts = _from_memory(arguments, before, times)
        else:
            model, counts = _from_stream(arguments, before, times, blocks)
    # They belong to this run, not to the model.
    model.set_params(verbose=0, n_jobs=None, warm_start=False, keep_on_interrupt=False)
    times.append(time.perf_counter())
    tokens, sentences = model.token_errors_per_epoch_.tolist(), model.sequence_errors_per_epoch_.tolist()
    result = {
        "n_sentences": counts["sentences"],
        "n_tokens": counts["tokens"],
        "n_features": model.n_features_in_,
        "tags": model.classes_.tolist(),
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "sentence_errors_per_epoch": sentences,
        "token_errors_per_epoch": tokens,
    }
    rows = {
        "data": f"{counts['sentences']} sentences, {counts['tokens']} tokens, {len(model.classes_)} tags",
        "columns": f"{model.n_features_in_} attributes",
        "epochs": end_of(model, signals),
        "mistakes": f"{sum(tokens[-1:])} tokens of {sum(sentences[-1:])} sentences in the last epoch",
    }
    if hasattr(model, "validation_scores_"):
        result["validation_scores"] = model.validation_scores_[:, 0].tolist()
        rows["held out"] = f"accuracy {model.validation_scores_.max():.4f}"
    return finished(arguments, model, times, signals, result, rows)


def _check(arguments: Namespace, before: object) -> None:
    """Refuse options that do nothing without another, or that a model has answered."""
    told = vars(arguments)
    given(arguments, options_of("sequence"), before)
    if arguments.window is not None and arguments.template == "columns":
        raise UsageError("--window has no effect without --template words")
    if told.get("hash_columns") is not None and told.get("min_count", 1) != 1:
        raise UsageError("--min-count cannot be combined with --hash-columns, which keeps no counts")
    if arguments.tag_column is not None and arguments.tag_column in (arguments.columns or ()):
        raise UsageError(f"--tag-column {arguments.tag_column} is one of --columns; leave it out there")
    kept = "tag_column columns template window min_count hash_columns transition_features"
    for name in kept.split():
        if arguments.continued is not None and told.get(name) is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} is kept in the model, so it cannot be combined with --continue"
            )
    if "stream" in told and is_read_once(arguments.data):
        raise UsageError(
            f"{names_of(arguments.data)} can be read only once, but --stream takes several passes; "
            f"name a file"
        )
    if "stream" in told and "validation_fraction" in told:
        raise UsageError("--held-out cannot be combined with --stream")


def _from_memory(arguments: Namespace, before: Any, times: list[float]) -> tuple[Any, Counter[str]]:
    """Fit to sentences that are read first; the second of the times is when they were."""
    with reading(arguments.data, quiet=arguments.quiet):
        data = list(_sentences(arguments, before))
    template, tag = _template(arguments, before, _first(arguments, iter(data)))
    y = [token[tag - 1] for sentence in data for token in sentence.tokens]
    _check_tags(arguments, set(y), before)
    times.append(time.perf_counter())
    lengths = [len(sentence.tokens) for sentence in data]
    tokens = _tokens(data, template)
    del data  # the template takes each sentence away as it is read
    model = _learner(arguments, before)
    if before is None:
        encoder = AttributeEncoder(model.min_count, model.hash_columns)
        X = encoder.fit_transform(tokens)
    else:
        encoder = before.encoder_
        X = encoder.transform(tokens)
    if X.shape[1] == 0:
        raise CommandError(f"--min-count {model.min_count} leaves no attribute; lower it")
    with redirect_stdout(sys.stderr):  # the estimator prints its progress; results are on standard output
        model.fit_encoded(encoder, X, y, lengths=lengths)
    model.template_ = template
    return model, Counter(sentences=len(lengths), tokens=len(y))


def _from_stream(
    arguments: Namespace, before: object, times: list[float], blocks: dict[str, Any]
) -> tuple[Any, Counter[str]]:
    """Fit to sentences that are read again and again."""
    template, tag = _template(arguments, before, _first(arguments, _sentences(arguments, before)))
    counts: Counter[str] = Counter()

    def read() -> Iterator[Sentence]:
        seen: Counter[str] = Counter()
        for sentence in _sentences(arguments, before):
            seen.update(sentences=1, tokens=len(sentence.tokens))
            yield sentence
        counts.update(() if counts else seen)  # a pass may be cut

    source = tagged_source(arguments.data, read, template, tag)
    model = _learner(arguments, before)
    times.append(time.perf_counter())
    with reading(arguments.data, quiet=arguments.quiet), redirect_stdout(sys.stderr):
        model.fit_stream(source, **blocks)
    _check_tags(arguments, set(model.classes_.tolist()), before)
    model.template_ = template
    deque(() if counts else read(), maxlen=0)  # all came out of a cache
    return model, counts


def _sentences(arguments: Namespace, before: Any) -> Iterator[Sentence]:
    of_model = [] if before is None else [*positions(before.template_), before.template_.get("tag", 0)]
    least = max(2, *(arguments.columns or ()), *of_model, arguments.tag_column or 0)
    name, columns = names_of(arguments.data), 0
    for sentence in chain.from_iterable(sentences(arguments)):
        if not columns:
            columns = len(sentence.tokens[0])
            if columns == 1:
                raise CommandError(
                    f"{name}: has 1 column, but needs two or more: the word first, the tag last"
                )
            if columns < least:
                what = "an option names" if before is None else "the model or an option needs"
                raise CommandError(f"{name}: has {columns} columns, but {what} column {least}")
        yield sentence


def _first(arguments: Namespace, data: Iterator[Sentence]) -> Sentence:
    """Return the first sentence; CommandError without any."""
    first = next(data, None)
    if first is None:
        raise CommandError(f"{names_of(arguments.data)}: contains no tokens")
    return first


def _check_tags(arguments: Namespace, tags: set[str], before: Any) -> None:
    name = names_of(arguments.data)
    if before is None and len(tags) < 2:
        warnings.warn(
            f"{name}: the only tag is {min(tags)!r}; if it is in another column, name that by --tag-column",
            UserWarning,
            stacklevel=1,
        )
    if before is not None and (new := tags - set(before.classes_.tolist())):
        raise CommandError(f"{name}: the tag {min(new)!r} is none of the model's; train on all data anew")


def _template(arguments: Namespace, before: Any, first: Sentence) -> tuple[dict[str, Any], int]:
    """Return what the attributes are made of, and the column of the tag.

    There are positions only where the columns are not the first ones, and a tag only where it need not be
    the last one.
    """
    told = tag_column({} if before is None else before.template_, arguments.tag_column)
    tag = told or len(first.tokens[0])
    chosen = list(arguments.columns or range(1, tag)) if before is None else positions(before.template_)
    if not chosen:
        raise UsageError("--tag-column 1 leaves no column before it; name others with --columns")
    if tag in chosen:
        raise UsageError(f"--columns names column {tag}, which is that of the tags; leave it out")
    if before is not None:
        return before.template_, tag
    kind = arguments.template or "words"
    found: dict[str, Any] = {
        "kind": kind,
        "window": 0 if kind == "columns" else WINDOW if arguments.window is None else arguments.window,
        "columns": len(chosen),
    }
    if told is not None:
        found["tag"] = told
    return found if chosen == list(range(1, len(chosen) + 1)) else found | {"positions": chosen}, tag


def _tokens(data: list[Sentence], template: dict[str, Any]) -> Iterator[list[str]]:
    """Give the attributes of each token, and forget the sentences: attributes are much larger than rows."""
    data.reverse()
    while data:
        yield from attributes(data.pop(), template)


def _learner(arguments: Namespace, before: Any) -> Any:
    """Return an estimator with the parameters that are given; one that goes on keeps the others."""
    model = LEARNERS["sequence"].kind() if before is None else before
    told = {name: value for name, value in vars(arguments).items() if name in model.get_params()}
    if "beam_width" in told:
        told["decode"] = "beam"
    if "validation_fraction" in told:
        told["early_stopping"] = True
    verbose = 0 if arguments.quiet or sys.stderr is None else 1
    model.set_params(**told, n_jobs=arguments.threads, verbose=verbose, warm_start=before is not None)
    return audited(model, arguments, goes_on=before is not None)
