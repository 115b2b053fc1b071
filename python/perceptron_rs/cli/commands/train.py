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

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.learning import chosen, learner
from perceptron_rs.cli.modelfile import Weights, check_writable, keep_base, read_text, save_model
from perceptron_rs.cli.progress import progress
from perceptron_rs.cli.readers.examples import Data, load
from perceptron_rs.cli.readers.wanted import wanted
from perceptron_rs.common.story import label_text, plain

__all__ = ["run"]


def run(arguments: Namespace) -> int:
    """Read, fit, write, and say how it went."""
    path, out = Path(arguments.data), Path(arguments.model)
    chosen(arguments)  # a wrong choice is said before anything is read
    check_writable(out, path)
    times = [time.perf_counter()]
    wish = wanted(arguments)
    init_text = getattr(arguments, "init_text", None) or ""
    start = None if not init_text else read_text(Path(init_text))
    if start is not None and wish.features is None:
        wish = replace(wish, features=start[0].shape[-1])
    data = load(path, wish)
    model = learner(arguments, data.labels)
    model.audit = True  # reading text costs more
    times.append(time.perf_counter())
    _fit(model, data, {} if start is None else _start_values(init_text, start, data), arguments.quiet)
    times.append(time.perf_counter())
    keep_base(model, data.zero_based)
    save_model(model, out)
    times.append(time.perf_counter())
    seconds = dict(zip(("read", "fit", "save"), np.diff(times).tolist(), strict=True))
    if arguments.json:
        print(json.dumps(_as_json(model, arguments, data, seconds)))
    else:
        print(_as_text(model, arguments, data, seconds), end="")
    return 0


def _fit(model: Any, data: Data, start: dict[str, Any], quiet: bool) -> None:
    tells_epochs = hasattr(model, "callback")
    with (
        progress(model.max_iter, quiet=quiet or not tells_epochs) as callback,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        if tells_epochs:
            model.set_params(callback=callback)
        model.fit(data.X, data.labels, **start)
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


def _as_text(model: Any, arguments: Namespace, data: Data, seconds: dict[str, float]) -> str:
    rows = {
        "learner": arguments.learner,
        "data": f"{_size(data)}, {len(model.classes_)} classes",
        **_epochs(model),
        "seconds": ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()),
        "model": f"{arguments.model}, {Path(arguments.model).stat().st_size} bytes",
    }
    return "".join(f"{name:10}{text}\n" for name, text in rows.items())


def _epochs(model: Any) -> dict[str, str]:
    if hasattr(model, "loss_"):
        return {"epochs": str(model.n_iter_), "loss": f"{model.loss_:.6g} in the last epoch"}
    last = int(np.sum(model.mistakes_per_epoch_[-1]))
    return {
        "epochs": f"{model.n_iter_}, {'the last without a mistake' if model.converged_ else 'not converged'}",
        "mistakes": f"{model.n_mistakes_}, {last} in the last epoch",
    }
