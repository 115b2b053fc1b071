"""Training, whatever DATA holds: from the options to a model file, and what is said of it."""

from __future__ import annotations

import json
import operator
import sys
import time
from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from perceptron_rs.cli.learning import audited, learner, stream_options
from perceptron_rs.cli.modelfile import FileModel, check_writable, model_file, save_model
from perceptron_rs.cli.progress import EpochLines
from perceptron_rs.cli.signals import noted
from perceptron_rs.cli.status import Status, UsageError
from perceptron_rs.cli.words import say
from perceptron_rs.parameters.exclusions import check_exclusions
from perceptron_rs.parameters.groups import group_of


class Training(ABC):
    """What a command that trains has of its own: how it reads DATA, and what it says of it.

    Parameters
    ----------
    arguments : Namespace
    before : estimator or None
        The model that goes on.
    blocks : dict or None
        What ``fit_stream`` takes beside the examples; None if all are read at once.
    """

    #: Options whose answers the model has, so that they do not go with --continue.
    of_model: ClassVar[tuple[str, ...]]

    def __init__(self, arguments: Namespace, before: Any, blocks: dict[str, Any] | None) -> None:
        self.arguments, self.before, self.blocks = arguments, before, blocks

    @staticmethod
    @abstractmethod
    def load(arguments: Namespace) -> Any:
        """Return the model that goes on."""

    @abstractmethod
    def open(self, model: Any) -> Callable[[], object]:
        """Read what must be read before, and return what lets the model learn."""

    @abstractmethod
    def keep(self, model: Any) -> None:
        """Put on the model of the file what it is to hold of DATA; `report` has the one that has learnt."""

    def judge(self, model: Any) -> None:  # noqa: B027  not all do
        """Find out how good the model is, once it has been written."""

    @abstractmethod
    def report(self, model: Any, end: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the report of the training, as JSON and in words; ``end`` says how many epochs it took."""

    @abstractmethod
    def next_steps(self, out: Path) -> list[str]:
        """Return what to type next, a command a line."""


def run_training(arguments: Namespace, kind: type[Training]) -> int:
    """Read, fit, write, say how it went, and return the exit status."""
    before = None
    if arguments.continued is not None:
        before = kind.load(arguments)
        if (name := next((name for name in kind.of_model if name in vars(arguments)), None)) is not None:
            raise UsageError(f"{say(name)} is kept in the model, so it cannot be combined with --continue")
    goes_on, out = before is not None, model_file(arguments)
    model = audited(learner(arguments, before), arguments, goes_on=goes_on)
    check_exclusions(model, group_of(type(model)))  # before anything is read
    blocks = stream_options(arguments)
    check_writable(out, arguments)
    training = kind(arguments, before, blocks)
    with noted() as signals:
        times = [time.perf_counter()]
        learn = training.open(model)
        times.append(time.perf_counter())
        _fit(arguments, model, learn, goes_on=goes_on)
        del learn  # and the examples with it, but those that are to be asked for
        written = FileModel(model, arguments)
        training.keep(written.model)
        times.append(time.perf_counter())
        save_model(written.model, out, **written.fewer_bits)
        times.append(time.perf_counter())
        if not signals:
            training.judge(model)
    end = "interrupted" if signals else "the last without a mistake" if model.converged_ else "not converged"
    result, rows = training.report(model, f"{model.n_iter_}, {end}")
    spent = map(operator.sub, times[1:], times)
    seconds, size = dict(zip(("read", "fit", "save"), spent, strict=True)), out.stat().st_size
    if written.fewer_bits:
        result["weights"], rows["weights"] = written.report(), written.in_words()
    if arguments.json:
        result |= {"n_features": model.n_features_in_, "n_iter": model.n_iter_, "converged": model.converged_}
        result |= {"seconds": seconds, "model": str(out), "bytes": size, "interrupted": bool(signals)}
        print(json.dumps(result))
    else:
        rows["seconds"] = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
        rows["model"] = f"{out}, {size} bytes"
        rows |= {"next": "\n".join(training.next_steps(out))}
        print("\n".join(f"{name:10}" + text.replace("\n", "\n" + 10 * " ") for name, text in rows.items()))
    return 128 + signals[0] if signals else Status.SUCCESS


def _fit(arguments: Namespace, model: Any, learn: Callable[[], object], *, goes_on: bool) -> None:
    """Fit a model, and show how it gets on; what belongs to this run is taken away again."""
    model.feature_names_in_ = None  # the readers compare the names; X has none
    shown = EpochLines(model.max_iter) if not arguments.quiet and sys.stderr is not None else None
    run = {"warm_start": goes_on, "keep_on_interrupt": arguments.keep_on_interrupt, "callback": shown}
    own = {"warm_start": model.warm_start, "keep_on_interrupt": False, "callback": None, "n_jobs": None}
    known = model.get_params().keys()
    model.set_params(**{name: run[name] for name in run.keys() & known})
    learn()
    model.set_params(**{name: own[name] for name in own.keys() & known})
