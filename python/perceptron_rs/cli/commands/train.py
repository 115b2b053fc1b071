"""``perceptrons train``: from a file of examples to a model file."""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.data import examples, kept, weights_of
from perceptron_rs.cli.learning import audited, chosen, end_of, finished, learner, stream_options
from perceptron_rs.cli.modelfile import check_writable, load_model
from perceptron_rs.cli.progress import progress, reading
from perceptron_rs.cli.signals import noted
from perceptron_rs.cli.status import UsageError
from perceptron_rs.cli.words import say
from perceptron_rs.common.prediction.hyperplanes import hyperplanes
from perceptron_rs.common.schema import name_of
from perceptron_rs.common.summary import plain
from perceptron_rs.features.idf import IdfFit
from perceptron_rs.features.text import KeptWords, Words
from perceptron_rs.io.examples import Examples, refuse_share
from perceptron_rs.io.files import ExampleFiles
from perceptron_rs.io.raw_text import kind_of_labels
from perceptron_rs.io.reading import OF_TEXT, TEXTS
from perceptron_rs.models.description import input_of
from perceptron_rs.models.input import ScaleFit
from perceptron_rs.models.input_files import keep_input
from perceptron_rs.registry import LEARNERS

__all__ = ["run"]

#: N-grams that are kept of each column, unless others are asked for.
_KEPT_WORDS = 2


def run(arguments: Namespace) -> int:
    """Read, fit, write, and say how it went."""
    before = _continued(arguments)
    chosen(arguments, before)  # a wrong choice is said before anything is read
    blocks = stream_options(arguments)
    check_writable(Path(arguments.model), arguments.data)
    if arguments.holdout is None:  # what was held out is not learnt from later
        before_input = None if before is None else input_of(before)
        arguments.holdout = None if before_input is None else before_input.holdout
    files = examples(arguments, before, holdout=arguments.holdout or None)
    LEARNERS[arguments.learner].kind  # noqa: B018  imports scikit-learn, which is no part of reading
    words = _words(arguments, files)
    scaler = _scaler(arguments, files, in_blocks=blocks is not None)
    times = [time.perf_counter()]
    with reading(arguments.data, quiet=arguments.quiet), noted() as signals, ExitStack() as stack:
        data = files.learnt(scaler) if blocks is None else None
        labels = None if data is None else files.target(data)
        known = np.array([0, 1]) if files.reading.multilabel else labels  # which weights of classes are of
        model = audited(learner(arguments, known, before), arguments, goes_on=before is not None)
        if blocks is not None:
            learn = _in_blocks(blocks, model, files, scaler, stack, goes_on=before is not None)
        elif data is not None:
            learn = partial(model.fit, data.X, labels, **weights_of(data, model))
        del data, labels, known
        times.append(time.perf_counter())
        with watched(arguments, model, goes_on=before is not None):
            learn()
        del learn  # and the examples with it
        kept = None if words is None else _kept(model, words, arguments.keep_words)
        keep_input(model, files, kept)
        held = None if files.holdout is None else _judged(model, files.left_out(model.n_features_in_))
        if held is not None:
            refuse_share(files.holdout or 0, held["n_samples"] + (files.rows or 0), held["n_samples"])
    times.append(time.perf_counter())
    result, rows = _as_json(model, files, arguments), _as_text(model, files, arguments, signals)
    if held is not None:
        result["holdout"] = held
        rows["holdout"] = "accuracy {accuracy:.4f}, {errors} errors of {n_samples} examples".format(**held)
    return finished(arguments, model, times, signals, result, rows)


def _in_blocks(
    blocks: dict[str, Any], model: Any, files: ExampleFiles, scaler: Any, stack: ExitStack, *, goes_on: bool
) -> Callable[[], None]:
    """Return what fits a model to blocks of the files, which are looked at as far as that needs."""
    classes, cache, texts = (
        model.classes_ if goes_on else None,
        blocks.get("cache"),
        blocks.pop("classes", None),
    )
    if texts is not None:
        classes = _classes(texts, goes_on=goes_on)
        files.reading = replace(files.reading, label_kind="U" if classes.dtype.kind == "U" else "i")
        if files.reading.multilabel:
            files.reading = replace(files.reading, list_labels=_numbers(classes))
    if files.is_read_once and cache is None:
        _check_one_pass(files, model, classes)
    if files.is_read_once and cache and files.form in TEXTS and files.takes_own_pass(scales=bool(scaler)):
        files.files = stack.enter_context(kept(files.files, Path(cache)))
    source = files.source(scaler)

    def learn() -> None:
        model.fit_stream(source, classes=classes, **blocks)
        if cache is not None:
            from perceptron_rs.stream.cache import cache_contents

            rows, holds_zero = cache_contents(cache)
            files.came_from(rows, holds_zero=holds_zero)

    return learn


def _scaler(arguments: Namespace, files: ExampleFiles, *, in_blocks: bool) -> Any:
    """Return what learns weights of columns from all examples; None if nothing does."""
    if not arguments.tf_idf:
        return None if arguments.scale is None else ScaleFit(arguments.scale)
    if files.form != "lines":
        raise UsageError(
            f"--tf-idf is for text, and {files.name} is {files.form}; add --text, or leave it out"
        )
    if in_blocks:
        raise UsageError(
            "--tf-idf needs all texts before the first one is learnt from, and --stream learns from each as "
            "it comes; leave one of them out"
        )
    if arguments.scale is not None:
        raise UsageError("--tf-idf scales the columns of text, so --scale cannot be combined with it")
    if arguments.continued is not None:
        raise UsageError("--tf-idf is kept in the model, so it cannot be combined with --continue")
    files.reading = replace(files.reading, tf_idf=True)
    return IdfFit(files.reading.norm)


def _words(arguments: Namespace, files: ExampleFiles) -> Words | None:
    """Return what is told of the n-grams of text; None if none is to be kept."""
    if files.form != "lines":
        if arguments.keep_words is not None:
            raise UsageError(
                f"--keep-words is about text, and {files.name} is {files.form}; add --text, or leave it out"
            )
        return None
    if arguments.keep_words is None:
        arguments.keep_words = _KEPT_WORDS
    if arguments.keep_words == 0 or not LEARNERS[arguments.learner].is_linear:
        return None
    words = Words()
    files.reading = replace(files.reading, ngrams_of=words)
    return words


def _kept(model: Any, words: Words, most: int) -> KeptWords | None:
    """Return n-grams of the columns that a model has weights for, also those of an earlier training."""
    planes = hyperplanes(model)
    if planes is None:  # the vectors of a run vote
        return None
    columns = np.flatnonzero(planes[0].any(axis=0))
    found, before = words.most_frequent(columns, model.n_features_in_, most), input_of(model)
    older = None if before is None else before.words
    return found if older is None else found.beside(older, columns, most)


def _classes(texts: tuple[str, ...], *, goes_on: bool) -> NDArray[Any]:
    """Return the labels of --classes: integers, if all are, as those of data."""
    if goes_on:
        raise UsageError("--classes is kept in the model, so it cannot be combined with --continue")
    if len(set(texts)) < 2 or len(set(texts)) < len(texts):
        raise UsageError(f"--classes {','.join(texts)}: name two or more labels, each once")
    return np.array([int(text) for text in texts] if kind_of_labels(texts) == "i" else texts)


def _numbers(classes: NDArray[Any]) -> tuple[Any, ...]:
    """Return the labels of lists that --classes says."""
    if classes.dtype.kind == "U":
        raise UsageError(f"--classes {','.join(classes)}: lists of labels hold numbers")
    return tuple(sorted(classes.tolist()))


def _check_one_pass(files: ExampleFiles, model: Any, classes: NDArray[Any] | None) -> None:
    """Raise UsageError if what can be read only once needs a second pass; before anything is read."""
    how = files.reading
    if getattr(model, "class_weight", None) == "balanced":
        lacking = ["another --class-weight than balanced"]
    else:
        needed = {
            "--epochs 1": model.max_iter == 1,
            "--classes LABEL,...": classes is not None,
            "--features N": how.n_features is not None or how.hash_bits is not None,
            "--zero-based yes or no": files.form != "svmlight" or how.zero_based != "auto",
        }
        lacking = [option for option, there in needed.items() if not there]
    if lacking:
        raise UsageError(
            f"{files.name} can be read only once, and this takes more passes: keep what is read with "
            f"--cache FILE, or make it one pass, with {', '.join(lacking)}"
        )


def _continued(arguments: Namespace) -> Any:
    """Return the model that is to go on learning; None if a new one is to be learnt."""
    if arguments.continued is None:
        return None
    model = load_model(Path(arguments.continued))
    name = name_of(model)
    if name != arguments.learner:
        raise UsageError(
            f"--continue {arguments.continued}: holds the learner {name}; write train {name} instead of "
            f"train {arguments.learner}"
        )
    for name in ("scale", "hash_bits", *OF_TEXT):
        if name in vars(arguments) and (name != "scale" or arguments.scale is not None):
            raise UsageError(f"{say(name)} is kept in the model, so it cannot be combined with --continue")
    return model


def _judged(model: Any, parts: Iterable[Examples]) -> dict[str, Any]:
    """Return what the model says of examples that it did not learn from."""
    n = errors = 0
    names = vars(model).pop("feature_names_in_", None)  # X has none
    for data in parts:
        n += len(data)
        wrong = (model.predict(data.X) != data.labels).reshape(len(data), -1)
        errors += int(np.count_nonzero(wrong.any(axis=1)))
    if names is not None:
        model.feature_names_in_ = names
    return {"n_samples": n, "errors": errors, "accuracy": (n - errors) / max(n, 1)}


@contextmanager
def watched(arguments: Namespace, model: Any, *, goes_on: bool) -> Iterator[None]:
    """Let a model be fitted, and show how it gets on; what belongs to this run is taken away again."""
    vars(model).pop("feature_names_in_", None)  # the readers compare the names; X has none
    warm_start, tells_epochs = model.warm_start, hasattr(model, "callback")
    with (
        progress(model.max_iter, quiet=arguments.quiet or not tells_epochs) as callback,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        model.set_params(warm_start=goes_on, keep_on_interrupt=arguments.keep_on_interrupt)
        model.set_params(**({"callback": callback} if tells_epochs else {}))
        yield
    model.set_params(warm_start=warm_start, keep_on_interrupt=False)
    model.set_params(**({"callback": None} if tells_epochs else {}))
    for warning in caught:
        if str(warning.message).startswith("the fit reached"):
            warnings.warn(
                f"the maximum of {model.max_iter} epochs was reached before the stopping criterion; raise "
                "--epochs, or pass --tol none to use a fixed number of epochs",
                warning.category,
                stacklevel=2,
            )
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _size(n: int | None, d: int) -> str:
    """Return in words how large the data is."""
    return f"{'the first examples' if n is None else f'{n} examples'} of {d} features"


def _as_json(model: Any, files: ExampleFiles, arguments: Namespace) -> dict[str, Any]:
    story = {
        "learner": arguments.learner,
        "n_samples": files.rows,
        "n_features": model.n_features_in_,
        "classes": [plain(label) for label in model.classes_],
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "n_mistakes": model.n_mistakes_,
        "mistakes_per_epoch": model.mistakes_per_epoch_.tolist(),
    }
    if hasattr(model, "loss_curve_"):
        story["losses"] = model.loss_curve_
    if (scores := getattr(model, "validation_scores_", None)) is not None:
        story["validation_scores"] = scores.tolist()
    return story


def _as_text(model: Any, files: ExampleFiles, arguments: Namespace, signals: list[int]) -> dict[str, str]:
    rows = {
        "learner": arguments.learner,
        "data": f"{_size(files.rows, model.n_features_in_)}, {len(model.classes_)} "
        + ("labels" if files.reading.multilabel else "classes"),
    }
    if hasattr(model, "loss_"):
        return rows | {"epochs": str(model.n_iter_), "loss": f"{model.loss_:.6g} in the last epoch"}
    last, planes = int(np.sum(model.mistakes_per_epoch_[-1:])), model.mistakes_per_epoch_.shape[1]
    whose = f" of {planes} hyperplanes" if planes > 1 else ""
    mistakes = f"{model.n_mistakes_}{whose}, {last} in the last epoch"
    return rows | {"epochs": end_of(model, signals), "mistakes": mistakes}
