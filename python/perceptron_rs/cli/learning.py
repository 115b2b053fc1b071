"""From options to an estimator: each learner has the options that its family says.

No library is imported before it is needed, so that ``--help`` is quick.
"""

from __future__ import annotations

import json
import math
import operator
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perceptron_rs.cli.status import CommandError, Status, UsageError
from perceptron_rs.common.options.groups import options
from perceptron_rs.common.options.kinds import SWITCH, Option
from perceptron_rs.fitted import parameter_names
from perceptron_rs.registry import FAMILIES, LEARNERS
from perceptron_rs.stream.options import StreamOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "LEARNER_NAMES",
    "audit_key",
    "audited",
    "chosen",
    "end_of",
    "finished",
    "given",
    "learner",
    "options_of",
    "others_with",
    "stream_options",
]

LEARNER_NAMES = tuple(name for name, learner in LEARNERS.items() if learner.family in FAMILIES)


def options_of(name: str) -> tuple[Option, ...]:
    """Return the options of a learner; one that is not given leaves the learner's default."""
    return options(LEARNERS[name].parameters)


def others_with(name: str) -> dict[str, str]:
    """Return the options that a learner lacks and others have, and a text that says which."""
    having: dict[str, list[str]] = {}
    for other in LEARNER_NAMES:
        for option in options_of(other):
            switched_off = ["--no-" + flag[2:] for flag in option.flags] if option.values == SWITCH else []
            for flag in (*option.flags, *switched_off):
                having.setdefault(flag, []).append(other)
    texts = {
        flag: f"the learner {name} has no option {flag}; leave it out, "
        f"or choose the learner {' or '.join(others)}"
        for flag, others in having.items()
        if name not in others
    }
    return texts | {"--learner": "the learner is a word behind the command, as in: train averaged DATA"}


def chosen(arguments: Namespace, before: object = None) -> dict[str, Any]:
    """Return the parameters of the learner that are given; ``before`` is the model that goes on."""
    return given(arguments, options_of(arguments.learner), before)


def given(arguments: Namespace, options: Sequence[Option], before: object = None) -> dict[str, Any]:
    """Return the parameters that are given; UsageError for one that does nothing without another.

    A model that goes on has the other parameters.
    """
    known = {option.parameter: option for option in options}
    found = {name: value for name, value in vars(arguments).items() if name in known}
    for option in options:
        for name, values in option.needs.items() if option.parameter in found else ():
            if name not in known:
                continue
            value = found.get(name, getattr(before, name, known[name].default))
            is_set = value in values if values else name in found or before is not None
            if not is_set:
                raise UsageError(f"{option.flag} has no effect without {_written(known[name], values)}")
    return found


def _written(option: Option, values: tuple[Any, ...]) -> str:
    if not values:
        return f"{option.flag} {option.values.option()['metavar']}"
    if values == (True,):
        return option.flag
    return f"{option.flag} {' or '.join(str(value) for value in values if value)}"


def learner(arguments: Namespace, y: NDArray[Any] | None, before: Any = None) -> Any:
    """Return an estimator with the parameters that are given; one that goes on keeps the others.

    ``y`` are the labels, if they are known, for the weights of classes.
    """
    kind = LEARNERS[arguments.learner].kind
    parameters = chosen(arguments, before)
    if "class_weight" in parameters:
        classes = y if before is None else before.classes_  # the data may hold some of them
        parameters["class_weight"] = _class_weights(parameters["class_weight"], classes)
    if "n_jobs" in parameter_names(kind):
        parameters["n_jobs"] = getattr(arguments, "threads", None)
    parameters["engine"] = getattr(arguments, "engine", "rust")
    return kind(**parameters) if before is None else before.set_params(**parameters)


def audited(model: Any, arguments: Namespace, *, goes_on: bool) -> Any:
    """Let a model keep digests of its examples: reading text costs more.

    One that goes on from what was learnt without a record cannot.
    """
    from perceptron_rs.audit.digests import key_name
    from perceptron_rs.audit.record import calls_of

    if arguments.no_audit and arguments.audit_key is not None:
        raise UsageError("--audit-key has no effect with --no-audit")
    key = audit_key(arguments)
    calls = calls_of(model)
    if goes_on and not calls and key is not None:
        raise CommandError("--audit-key has no effect: the model goes on from one without a record")
    model.audit = not arguments.no_audit and (not goes_on or bool(calls))
    model.audit_key = key if model.audit else None
    digests = calls[-1].digests if goes_on and calls else None
    if model.audit and digests is not None and digests.has_any and digests.key != key_name(key):
        had = "no key; leave it out" if digests.key is None else "another key; name its file"
        raise CommandError(
            f"--audit-key: the model goes on from one whose digests have {had}, or give --no-audit"
        )
    return model


def audit_key(arguments: Namespace) -> bytes | None:
    """Return the key of digests that is given."""
    from perceptron_rs.audit.key import key_of

    return key_of(arguments.audit_key)


def stream_options(arguments: Namespace) -> dict[str, Any] | None:
    """Return what ``fit_stream`` is told beside the examples; None if they are not read in blocks."""
    told = given(arguments, options(StreamOptions))
    if not told.pop("stream", False):
        return None
    return {"shuffle": "block" if vars(arguments).get("shuffle") else False, **told}


def finished(
    arguments: Namespace,
    model: object,
    times: list[float],
    signals: list[int],
    result: dict[str, Any],
    rows: dict[str, str],
) -> int:
    """Write what was learnt, say how it went, and return the exit status.

    Parameters
    ----------
    arguments : Namespace
    model : estimator
    times : list of float
        When reading and learning began, and when learning ended.
    signals : list of int
        Those that came meanwhile.
    result, rows : dict
        What is to be said, as JSON and in words.
    """
    from perceptron_rs.cli.modelfile import save_model

    out = Path(arguments.model)
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


def end_of(model: Any, signals: list[int]) -> str:
    """Return in words how the epochs ended."""
    end = "interrupted" if signals else "the last without a mistake" if model.converged_ else "not converged"
    return f"{model.n_iter_}, {end}"


def _class_weights(options: Sequence[str] | None, y: NDArray[Any] | None) -> dict[Any, float] | str | None:
    """Return the values of --class-weight as the estimators take them."""
    import numpy as np

    from perceptron_rs.common.summary import label_text, plain

    if not options:
        return None
    if "balanced" in options:
        if len(options) > 1:
            raise CommandError("--class-weight balanced cannot be combined with weights of single classes")
        return "balanced"
    if y is None:
        raise UsageError("--class-weight of single classes cannot be combined with --stream")
    classes = {label_text(label): plain(label) for label in np.unique(y)}
    weights: dict[Any, float] = {}
    for option in options:
        name, equals, number = option.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise CommandError(f"--class-weight {option}: must be LABEL=NUMBER, or balanced")
        if name not in classes:
            known = ", ".join(list(classes)[:10])
            raise CommandError(f"--class-weight {option}: the data has no class {name!r}, but {known}")
        if not 0 <= value < math.inf:
            raise CommandError(f"--class-weight {option}: must be finite and >= 0")
        weights[classes[name]] = value
    return weights
