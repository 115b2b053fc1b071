"""Training, whatever DATA holds: from the options to a model file, and what is said of it."""

from __future__ import annotations

import json
import operator
import time
import warnings
from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar

from perceptron_rs.cli.learning import audited, learner, stream_options
from perceptron_rs.cli.modelfile import check_writable, save_model
from perceptron_rs.cli.progress import progress, reading
from perceptron_rs.cli.signals import noted
from perceptron_rs.cli.status import Status, UsageError
from perceptron_rs.cli.words import say
from perceptron_rs.common.parameters import check_exclusions

__all__ = ["Training", "run"]


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
    kept: ClassVar[tuple[str, ...]]

    def __init__(self, arguments: Namespace, before: Any, blocks: dict[str, Any] | None) -> None:
        self.arguments, self.before, self.blocks = arguments, before, blocks

    @staticmethod
    @abstractmethod
    def load(arguments: Namespace) -> Any:
        """Return the model that goes on."""

    @abstractmethod
    def open(self, model: Any, stack: ExitStack) -> Callable[[], object]:
        """Read what must be read before, and return what lets the model learn."""

    @abstractmethod
    def keep(self, model: Any) -> None:
        """Put on the model what its file is to hold of DATA."""

    @abstractmethod
    def report(self, model: Any, end: str) -> tuple[dict[str, Any], dict[str, str]]:
        """Return what is to be said, as JSON and in words; ``end``: how many epochs there were."""


def run(arguments: Namespace, kind: type[Training]) -> int:
    """Read, fit, write, say how it went, and return the exit status."""
    before = None
    if arguments.continued is not None:
        before = kind.load(arguments)
        if (name := next((name for name in kind.kept if name in vars(arguments)), None)) is not None:
            raise UsageError(f"{say(name)} is kept in the model, so it cannot be combined with --continue")
    goes_on, out = before is not None, Path(arguments.model)
    model = audited(learner(arguments, before), arguments, goes_on=goes_on)
    check_exclusions(model)  # before anything is read
    blocks = stream_options(arguments)
    check_writable(out, arguments.data)
    training = kind(arguments, before, blocks)
    with reading(arguments.data, quiet=arguments.quiet), noted() as signals, ExitStack() as stack:
        times = [time.perf_counter()]
        learn = training.open(model, stack)
        times.append(time.perf_counter())
        with _watched(arguments, model, goes_on=goes_on):
            learn()
        del learn  # and the examples with it
        training.keep(model)
    times.append(time.perf_counter())
    end = "interrupted" if signals else "the last without a mistake" if model.converged_ else "not converged"
    result, rows = training.report(model, f"{model.n_iter_}, {end}")
    save_model(model, out)
    spent = map(operator.sub, [*times[1:], time.perf_counter()], times)
    seconds, size = dict(zip(("read", "fit", "save"), spent, strict=True)), out.stat().st_size
    if arguments.json:
        result |= {"seconds": seconds, "model": arguments.model, "bytes": size, "interrupted": bool(signals)}
        print(json.dumps(result))
    else:
        rows["seconds"] = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
        rows["model"] = f"{arguments.model}, {size} bytes"
        print("\n".join(f"{name:10}{text}" for name, text in rows.items()))
    return 128 + signals[0] if signals else Status.SUCCESS


@contextmanager
def _watched(arguments: Namespace, model: Any, *, goes_on: bool) -> Iterator[None]:
    """Let a model be fitted, and show how it gets on; what belongs to this run is taken away again."""
    vars(model).pop("feature_names_in_", None)  # the readers compare the names; X has none
    own = {"warm_start": model.warm_start, "keep_on_interrupt": False, "n_jobs": None, "callback": None}
    own = {name: value for name, value in own.items() if name in model.get_params()}
    with (
        progress(model.max_iter, quiet=arguments.quiet or "callback" not in own) as callback,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        model.set_params(warm_start=goes_on, keep_on_interrupt=arguments.keep_on_interrupt)
        if "callback" in own:
            model.callback = callback
        yield
    model.set_params(**own)
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
