"""Errors of the package as the command says them: options for parameters, and remedies that exist here."""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

from perceptron_rs.cli.learning import SaveOptions, options_of
from perceptron_rs.errors import ArgumentError, one_line
from perceptron_rs.io.options import FileOptions
from perceptron_rs.parameters.groups import options
from perceptron_rs.parameters.kinds import listed
from perceptron_rs.registry import REGISTRY
from perceptron_rs.stream.options import StreamOptions

#: Options of commands that are called as the parameters, methods and functions of Python.
_ALIKE = "audit_key calibrate holdout keep_words labelled scale tag_column template tf_idf window"
#: What is called otherwise here, or is no option at all.
_OTHERS = {
    "X": "the data",
    "classes_": "the classes",
    "data": "the data",
    "estimator": "the model",
    "fit_stream": "--stream",
    "model": "MODEL",
    "n_jobs": "--threads",
    "partial_fit": "online",
    "warm_start": "--continue",
    "weights": "the weights of examples and classes",
    "width": "--features",
    "y": "the data",
}
#: Options that are not written as their names.
_VALUES = {
    ("audit", False): "--no-audit",
    ("format", "lines"): "--text",
    ("labelled", False): "--unlabelled",
    ("text_columns", ()): "--text-columns none",
    ("zero_based", False): "--zero-based no",
    ("zero_based", True): "--zero-based yes",
}
#: What helps here where the package names something that only Python has.
_REMEDIES = {
    "cache": "add --cache FILE",
    "foreign": "name a file that train has written",
    "many labels": "choose a learner of many labels, such as averaged, or give each example one",
    "no record": "it was trained with --no-audit, or with --dtype or --prune, or went on from such a model, "
    "or from given weights, or a cluster trained it",
    "no seed": "give {random_state} to train",
    "one class": "two or more are needed, so check the column of the labels",
    "other classes": "train on all of them, without --continue",
    "other labels": "name all in --classes, or, with --continue, train on all of them without it",
    "other terms": "leave the option out, or train without --continue",
    "resume": "add --resume to go on from it, or remove it",
    "single pass": "train a model without that option",
    "stream": "leave one of them out",
}


def text_of(error: BaseException) -> str:
    """Return what an error says, in one line."""
    if isinstance(error, ArgumentError):
        return " ".join(error.text(say, _REMEDIES).split())
    if isinstance(error, MemoryError):
        return f"out of memory: {one_line(error) if str(error) else 'the data does not fit'}"
    return one_line(error)


def say(name: str, *value: Any) -> str:
    """Return an argument as its option, perhaps with a value."""
    flag = _flags().get(name, name)
    if value and isinstance(value[0], str | bool | tuple) and (name, value[0]) in _VALUES:
        return _VALUES[name, value[0]]
    if not value or value[0] is True or value[0] == "block" or not flag.startswith("--"):
        return flag
    if value[0] is False:
        return f"--no-{flag[2:]}"
    if isinstance(value[0], list | tuple):
        return f"{flag} {','.join(_written(listed([str(part)])) for part in value[0])}"
    return f"{flag} {','.join(map(_written, value))}"


def _written(value: object) -> str:
    return "none" if value is None else shlex.quote(str(value).replace("\t", "\\t"))


@cache
def _flags() -> dict[str, str]:
    """Return the option of each parameter."""
    flags = _OTHERS | {name: f"--{name.replace('_', '-')}" for name in _ALIKE.split()}
    groups = (*map(options, (FileOptions, StreamOptions, SaveOptions)), *map(options_of, REGISTRY))
    for option in (option for group in groups for option in group):
        flags.setdefault(option.parameter, option.flag)
    return flags
