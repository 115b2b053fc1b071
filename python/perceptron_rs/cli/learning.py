"""From options to an estimator: each learner has the options that its family says.

No library is imported before it is needed, so that ``--help`` is quick.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perceptron_rs.choices import WeightType, words
from perceptron_rs.cli.status import UsageError
from perceptron_rs.estimator_attributes import parameter_names
from perceptron_rs.parameters.groups import options, parameter
from perceptron_rs.parameters.kinds import AMOUNT, SWITCH, Option
from perceptron_rs.parameters.ranges import Choice
from perceptron_rs.registry import FAMILIES, REGISTRY
from perceptron_rs.stream.options import StreamOptions

LEARNER_NAMES = tuple(name for name, learner in REGISTRY.items() if learner.family in FAMILIES)


@dataclass(frozen=True, kw_only=True)
class SaveOptions:
    """The arguments of ``save`` of learners that have weights to round."""

    dtype: WeightType | None = parameter(
        None,
        Choice(words(WeightType)),
        "round the weights to this type: the file is smaller, has no record of the training, and predicts "
        "with these weights",
    )
    prune: float | None = parameter(
        None,
        AMOUNT,
        "leave columns whose weights are all below X in size out of the file",
        default="0",
    )


def options_of(name: str) -> tuple[Option, ...]:
    """Return the options of a learner; one that is not given leaves the learner's default."""
    return options(REGISTRY[name].parameters)


def others_with(name: str, *, trains: bool) -> dict[str, str]:
    """Return the options that a learner lacks and others have, and a text that says which.

    ``trains``: those of streams and of files, too.
    """
    having: dict[str, list[str]] = {}
    for other in LEARNER_NAMES:
        entry = REGISTRY[other]
        of_streams = options(StreamOptions) if trains and entry.in_streams else ()
        of_files = options(SaveOptions) if trains and entry.is_rounded else ()
        for option in (*options_of(other), *of_streams, *of_files):
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


def parameters_of(arguments: Namespace, options: Sequence[Option], before: object = None) -> dict[str, Any]:
    """Return the parameters that are given; UsageError for one that does nothing without another.

    A model that goes on has the other parameters.
    """
    known = {option.parameter: option for option in options}
    chosen = {name: value for name, value in vars(arguments).items() if name in known}
    for option in [option for option in options if option.parameter in chosen]:
        chosen |= option.sets
        for name, values in option.needs.items():
            if name not in known:
                continue
            value = chosen.get(name, getattr(before, name, known[name].default))
            is_set = value in values if values else name in chosen or before is not None
            if not is_set:
                raise UsageError(f"{option.flag} has no effect without {_written(known[name], values)}")
    return chosen


def _written(option: Option, values: tuple[Any, ...]) -> str:
    if not values:
        return f"{option.flag} {option.values.option()['metavar']}"
    if values == (True,):
        return option.flag
    return f"{option.flag} {' or '.join(str(value) for value in values if value)}"


def learner(arguments: Namespace, before: Any = None) -> Any:
    """Return an estimator with the parameters that are given; one that goes on keeps the others.

    Weights of classes are still as they were written: see `data.weigh_classes`.
    """
    kind = REGISTRY[arguments.learner].kind
    parameters = parameters_of(arguments, options_of(arguments.learner), before)
    if "n_jobs" in parameter_names(kind):
        parameters["n_jobs"] = getattr(arguments, "threads", None)
    parameters["engine"] = getattr(arguments, "engine", "rust")
    return kind(**parameters) if before is None else before.set_params(**parameters)


def audited(model: Any, arguments: Namespace, *, goes_on: bool) -> Any:
    """Let a model keep digests of its examples: reading text costs more.

    One that goes on from what was learnt without a record cannot.
    """
    from perceptron_rs.audit.digests import refuse_other_key
    from perceptron_rs.audit.key import key_of
    from perceptron_rs.audit.record import calls_of

    if arguments.no_audit and arguments.audit_key is not None:
        raise UsageError("--audit-key has no effect with --no-audit")
    key, calls = key_of(arguments.audit_key), calls_of(model)
    if goes_on and not calls and key is not None:
        raise UsageError("--audit-key has no effect: the model goes on from one without a record")
    model.audit = not arguments.no_audit and (not goes_on or bool(calls))
    model.audit_key = key
    if model.audit and calls and (digests := calls[-1].digests) is not None and digests.has_any:
        refuse_other_key(digests, key, "give that one, or set {audit=False}")
    return model


def stream_options(arguments: Namespace) -> dict[str, Any] | None:
    """Return the arguments of ``fit_stream`` beside the examples; None if they are not read in blocks."""
    chosen = parameters_of(arguments, options(StreamOptions))
    if not chosen.pop("stream", False):
        return None
    return {"shuffle": "block" if vars(arguments).get("shuffle") else False, **chosen}
