"""``perceptron-rs train``: from a file of examples to a model file."""

from __future__ import annotations

import json
import time
import warnings
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_rs.cli.errors import CommandError, UsageError
from perceptron_rs.cli.learning import chosen, learner
from perceptron_rs.cli.modelfile import (
    Weights,
    check_writable,
    keep_base,
    keep_input,
    load_model,
    read_text,
    save_model,
)
from perceptron_rs.cli.progress import progress, reading
from perceptron_rs.cli.readers.data import Data, held_out
from perceptron_rs.cli.readers.examples import format_of, load
from perceptron_rs.cli.readers.wanted import wanted
from perceptron_rs.cli.status import Status
from perceptron_rs.common.story import label_text, plain
from perceptron_rs.models.input import Input, Scale
from perceptron_rs.registry import name_of

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Read, fit, write, and say how it went."""
    out = Path(arguments.model)
    chosen(arguments)  # a wrong choice is said before anything is read
    check_writable(out, Path(arguments.data))
    times = [time.perf_counter()]
    before = _continued(arguments)
    wish = wanted(arguments, model=before)
    init_text = getattr(arguments, "init_text", None) or ""
    start = None if not init_text else read_text(Path(init_text))
    if start is not None and wish.features is None:
        wish = replace(wish, features=start[0].shape[-1])
    with reading(arguments.data, quiet=arguments.quiet):
        whole = load(arguments.data, wish)
    held = held_out(len(whole), arguments.holdout)
    data = whole if held is None else whole.chosen(~held)
    scale = wish.scale
    if arguments.scale is not None:
        scale = Scale.fitted(arguments.scale, data.X)
        data, whole = (replace(part, rows=scale.applied(part.X)) for part in (data, whole))
    model = learner(arguments, data.labels, before)
    model.audit = True  # reading text costs more
    times.append(time.perf_counter())
    _fit(
        model,
        data,
        {} if start is None else _start_values(init_text, start, data),
        quiet=arguments.quiet,
        goes_on=before is not None,
    )
    times.append(time.perf_counter())
    keep_base(model, data.zero_based)
    columns, texts = data.hashed or (wish.columns if wish.hash_bits else None, wish.texts)
    keep_input(
        model,
        Input(format_of(arguments.data, wish), wish.hash_bits, columns, texts, scale, arguments.holdout),
    )
    save_model(model, out)
    times.append(time.perf_counter())
    seconds = dict(zip(("read", "fit", "save"), np.diff(times).tolist(), strict=True))
    result = None if held is None else _held_out(model, whole.chosen(held))
    if arguments.json:
        print(json.dumps(_as_json(model, arguments, data, seconds) | ({"holdout": result} if result else {})))
    else:
        print(_as_text(model, arguments, data, seconds, result), end="")
    return Status.SUCCESS


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
    for option, value in (("--scale", arguments.scale), ("--hash-bits", arguments.hash_bits)):
        if value is not None:
            raise UsageError(f"{option} is kept in the model, so it cannot be combined with --continue")
    if getattr(arguments, "init_text", None) is not None:
        raise UsageError("--init-text says where to start, and so does --continue; leave one of them out")
    return model


def _held_out(model: Any, data: Data) -> dict[str, Any]:
    """Return what the model says of examples that it did not learn from."""
    errors = int(np.count_nonzero(model.predict(data.X) != data.labels))
    return {"n_samples": len(data), "errors": errors, "accuracy": (len(data) - errors) / len(data)}


def _fit(model: Any, data: Data, start: dict[str, Any], *, quiet: bool, goes_on: bool) -> None:
    vars(model).pop("feature_names_in_", None)  # the readers compare the names; X has none
    warm_start = model.warm_start
    model.set_params(warm_start=goes_on)
    tells_epochs = hasattr(model, "callback")
    with (
        progress(model.max_iter, quiet=quiet or not tells_epochs) as callback,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        if tells_epochs:
            model.set_params(callback=callback)
        model.fit(data.X, data.labels, **start)
    model.set_params(warm_start=warm_start)
    if tells_epochs:
        model.set_params(callback=None)  # it belongs to this run, not to the model
    if data.names is not None:
        model.feature_names_in_ = np.array(data.names, dtype=object)
    for warning in caught:
        if warning.category.__name__ == "ConvergenceWarning":
            warnings.warn(
                f"the maximum of {model.max_iter} epochs was reached before the stopping criterion; raise "
                "--epochs, or pass --tol none to use a fixed number of epochs",
                warning.category,
                stacklevel=2,
            )
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _start_values(file: str, start: Weights, data: Data) -> dict[str, Any]:
    coef, intercept, classes = start if data.names is None else read_text(Path(file), data.names)
    known, found = ([label_text(label) for label in labels] for labels in (classes, np.unique(data.labels)))
    if known != found:
        raise CommandError(
            f"--init-text {file}: its classes are {', '.join(known[:10])}, but the labels of "
            f"{_size(data)} are {', '.join(found[:10])}; start from weights for the same classes"
        )
    return {"coef_init": coef, "intercept_init": intercept}


def _size(data: Data) -> str:
    """Return in words how large the data is."""
    n, d = data.X.shape
    return f"{n} examples of {d} features"


def _as_json(model: Any, arguments: Namespace, data: Data, seconds: dict[str, float]) -> dict[str, Any]:
    return {
        "learner": arguments.learner,
        "n_samples": data.X.shape[0],
        "n_features": data.X.shape[1],
        "classes": [plain(label) for label in model.classes_],
        "n_iter": model.n_iter_,
        **_history(model),
        "seconds": seconds,
        "model": arguments.model,
        "bytes": Path(arguments.model).stat().st_size,
    }


def _history(model: Any) -> dict[str, Any]:
    story = {
        "converged": model.converged_,
        "n_mistakes": model.n_mistakes_,
        "mistakes_per_epoch": model.mistakes_per_epoch_.tolist(),
    }
    scores = getattr(model, "validation_scores_", None)
    if hasattr(model, "loss_curve_"):
        story["losses"] = model.loss_curve_
    return story if scores is None else story | {"validation_scores": scores.tolist()}


def _as_text(
    model: Any,
    arguments: Namespace,
    data: Data,
    seconds: dict[str, float],
    held: dict[str, Any] | None,
) -> str:
    rows = {
        "learner": arguments.learner,
        "data": f"{_size(data)}, {len(model.classes_)} classes",
        **_epochs(model),
        **({} if held is None else {"holdout": _of_holdout(held)}),
        "seconds": ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()),
        "model": f"{arguments.model}, {Path(arguments.model).stat().st_size} bytes",
    }
    return "".join(f"{name:10}{text}\n" for name, text in rows.items())


def _of_holdout(held: dict[str, Any]) -> str:
    return f"accuracy {held['accuracy']:.4f}, {held['errors']} errors of {held['n_samples']} examples"


def _epochs(model: Any) -> dict[str, str]:
    if hasattr(model, "loss_"):
        return {"epochs": str(model.n_iter_), "loss": f"{model.loss_:.6g} in the last epoch"}
    last = int(np.sum(model.mistakes_per_epoch_[-1]))
    return {
        "epochs": f"{model.n_iter_}, {'the last without a mistake' if model.converged_ else 'not converged'}",
        "mistakes": f"{model.n_mistakes_}, {last} in the last epoch",
    }
