"""Errors and warnings of the package in the words of the command: options for parameters, not methods.

The package speaks to those who call it from Python. Where that is not this command, another remedy is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from perceptron_rs.cli.learning import LEARNER_NAMES, options_of
from perceptron_rs.common.options.kinds import Option
from perceptron_rs.registry import OTHER_FAMILIES, family_part

__all__ = ["in_words_of_command"]

#: Parameters whose options are of no learner.
_OTHERS = {
    "block_size": "--block-size",
    "cache": "--cache",
    "checkpoint": "--checkpoint",
    "checkpoint_every": "--checkpoint-every",
    "classes": "--classes",
    "max_ratio": "--max-ratio",
    "n_features": "--features",
    "n_jobs": "--threads",
    "resume": "--resume",
    "zero_based": "--zero-based",
    "hash_columns": "--hash-columns",
    "audit_key": "--audit-key",
}


def _flag(name: str) -> str:
    return _flags().get(name, name)


def _set(name: str, value: str) -> str:
    """Return how a parameter is given; without a value, its option."""
    if value in ("", "True"):
        return _flag(name)
    return f"--no-{_flag(name)[2:]}" if value == "False" else f"{_flag(name)} {value.strip(chr(39))}"


#: Whole messages whose remedy is another one here. ``p`` is a parameter, ``v`` its value.
_MESSAGES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (
        r"The number of classes has to be greater than one; got 1 class: y holds (.*) alone",
        r"the data holds the one class \1; two or more are needed, so check the column of the labels",
    ),
    (
        r"warm_start=True continues a fit with the classes (.*), but y holds (.*?); set warm_start.*",
        r"--continue knows the classes \1, but the data holds \2; train on all of them, without --continue",
    ),
    (
        r"y contains labels that are not in classes_ (.*?): (.*); (?:pass all classes|set warm_start).*",
        r"the data has labels that are none of the classes \1: \2; train on all, or name all in --classes",
    ),
    (
        r"warm_start=True is not available with fit_stream of this learner.*",
        "--continue cannot be combined with --stream for this learner; leave one of them out",
    ),
    (
        r"sample_weight and class_weight must be above 0.*",
        "a model of --class-weight LABEL=0 cannot learn from examples as they come; weigh each class",
    ),
    (
        r"this (\w+) has no record of its training.*",
        r"this \1 has no record of its training, as after --no-audit, or where it went on from such a model",
    ),
    (
        r"(?P<p>\w+)=(?P<v>.*) differs from the fit that the estimator continue., which had \w+=(?P<o>.*);.*",
        lambda found: (
            f"{_set(found['p'], found['v'])} differs from the model of --continue, which has "
            f"{found['o']}; leave the option out, or train without --continue"
        ),
    ),
    (
        r"X and (?:hidden_layer_sizes|y) need (.*), but the estimator continues with (.*?); .*",
        r"the data and the options need \1, but the model has \2; leave the options or --continue out",
    ),
    (
        r"(?P<p>\w+)=(?P<v>.*) is not available with fit_stream: (?:stop by a .*|(?P<why>.*?)); set .*",
        lambda found: (
            f"{_set(found['p'], found['v'])} cannot be combined with --stream"
            + (f": {found['why']}" if found["why"] else "")
            + "; leave one of them out"
        ),
    ),
    (
        r"(?P<p>\w+)=(?P<v>.*) is not available with partial_fit.*",
        lambda found: (
            f"a model that was trained with {_set(found['p'], found['v'])} cannot learn from "
            "examples as they come; train it without that option"
        ),
    ),
    (
        r"class_weight 'balanced' is not supported for partial_fit; .*",
        "a model of --class-weight balanced cannot learn from examples as they come; weigh single classes",
    ),
    (
        r"shuffle='block' reads blocks in any order, for which this source needs cache=",
        "--shuffle reads blocks in any order, for which the examples must be kept: add --cache FILE",
    ),
    (
        r"validation_fraction=(\S+) does not leave (.*?)(: The test_size.*|; .*)?",
        r"--validation-fraction \1 does not leave \2; choose another",
    ),
    (
        r"sample_weight and class_weight leave (.*)",
        r"--class-weight leaves \1",
    ),
    (
        r"(.*) can be read only once, but another pass is needed; .*",
        r"\1 can be read only once, but another pass is needed; keep what is read with --cache FILE",
    ),
)
#: Parts of messages.
_PARTS = (
    (r"set resume=True to go on", "add --resume to go on"),
    (r"give a file written by dump_text", "name a file that inspect --text has written"),
    (r"pass a file written by the save method of an estimator", "name a file that train has written"),
    (r"(?<![\w'\"./-])the estimator(?![\w'\"])", "the model"),
    (r"(?<![\w'\"./-])X and y(?![\w'\"])", "the data"),
    (r"(?<![\w'\"./-])[Xy](?![\w'\"./-])", "the data"),
    (r"(?<![\w'\"./-])fit_stream(?![\w'\"./-])", "train --stream"),
    (r"(?<![\w'\"./-])partial_fit(?![\w'\"./-])", "online"),
    (r"(?<![\w'\"./-])warm_start(?:=True)?(?![\w'\"./-])", "--continue"),
)


@cache
def _flags() -> dict[str, str]:
    """Return the option of each parameter."""
    found = dict(_OTHERS)
    options: list[Option] = [option for name in LEARNER_NAMES for option in options_of(name)]
    for family in OTHER_FAMILIES:
        for value in vars(family_part(family, "options")).values():
            options += (
                [part for part in value if isinstance(part, Option)] if isinstance(value, tuple) else []
            )
    for option in options:
        found.setdefault(option.parameter, option.flag)
    return found


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return what a parameter is written as, alone or with a value; and its name."""
    found, edge = [], r"(?<![\w'\"./-])"
    for name in _flags():
        # Others than these are words that a sentence may hold.
        alone = rf"|{edge}{name}(?![\w'\"./=-])" if "_" in name or name == "eta0" else ""
        found.append((re.compile(rf"{edge}{name}=(?P<value>[^\s;,)]*){alone}"), name))
    return found


def in_words_of_command(text: str) -> str:
    """Return a message of the package as the command says it."""
    for pattern, said in _MESSAGES:
        whole = re.fullmatch(rf"(?P<place>.*?: )?(?:{pattern})", text)
        if whole is not None:
            inner = re.fullmatch(pattern, text.removeprefix(whole["place"] or ""))
            if inner is not None:
                return (whole["place"] or "") + (said(inner) if callable(said) else inner.expand(said))
    for part, other in _PARTS:
        text = re.sub(part, other, text)
    for given, name in _patterns():
        text = given.sub(lambda found, name=name: _set(name, found["value"] or ""), text)  # type: ignore[misc]
    return text
