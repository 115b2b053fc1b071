"""Options of commands: one entry a parameter, and what values must be; commands that a family adds.

Only argparse is imported here.
"""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from perceptron_rs.common.options.ranges import LARGEST, Range, Switch, Values

__all__ = [
    "AMOUNT",
    "BITS",
    "COUNT",
    "FINITE",
    "FORMATS",
    "FRACTION",
    "HELD_OUT",
    "JSON",
    "POSITIVE",
    "RATE",
    "RATIO",
    "SCALES",
    "SEED",
    "SHARE",
    "SWITCH",
    "TOLERANCE",
    "WINDOW",
    "Command",
    "Option",
    "add_data",
    "add_engine",
    "add_keep_on_interrupt",
    "add_max_ratio",
    "add_threads",
    "character",
    "constraints",
    "names",
    "numbers",
    "sizes",
    "threads",
]

#: Of examples.
FORMATS = ("svmlight", "csv", "tsv", "lines", "npz", "npy", "parquet")
#: The scalers of scikit-learn, by their first names.
SCALES = ("standard", "minmax", "maxabs")
JSON = "print the result as JSON"
SWITCH = Switch()

POSITIVE = Range(1, LARGEST, whole=True)
COUNT = Range(0, LARGEST, whole=True)
SEED = Range(0, 2**32 - 1, whole=True)
RATE = Range(0, closed="neither")
AMOUNT = Range(0, closed="left")
FINITE = Range(closed="neither")
SHARE = Range(0, 1)
FRACTION = Range(0, 1, closed="neither")
HELD_OUT = Range(0, 1, closed="left")
TOLERANCE = Range(0, closed="left", none=True)
RATIO = Range(1, closed="neither", infinite=True)
WINDOW = Range(0, 100, whole=True)
BITS = Range(1, 30, whole=True)


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter that an option of its name sets: what it is for, and what it may be."""

    parameter: str
    help: str
    values: Values
    #: Values of other parameters without which this one would do nothing, of learners that have those; None
    #: stands for the default.
    needs: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    #: A shorter name, which comes before that of scikit-learn.
    name: str | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """The option as it may be written; the name of the parameter is the last."""
        names = (self.parameter,) if self.name is None else (self.name, self.parameter)
        return tuple("--" + name.replace("_", "-") for name in names)

    @property
    def flag(self) -> str:
        """The option as messages write it."""
        return self.flags[0]

    def add_to(self, place: argparse._ActionsContainer) -> None:
        """Add it; without it on the command line, the learner's default is left."""
        place.add_argument(
            *self.flags,
            dest=self.parameter,
            default=argparse.SUPPRESS,
            help=self.help,
            **self.values.option(),
        )


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is about one family."""

    name: str
    help: str
    #: What its DATA holds; examples also bring the options of data files.
    data: Literal["examples", "sequences"]
    add_options: Callable[[argparse.ArgumentParser], None]
    #: What --json prints.
    json: str = JSON


def constraints(options: Sequence[Option]) -> dict[str, list[Any]]:
    """Return what scikit-learn's validation is to know of the parameters of options."""
    return {option.parameter: option.values.constraint() for option in options}


def add_data(place: argparse._ActionsContainer, text: str, *, piped: bool = False) -> None:
    """Add DATA, one or more words; if it is ``piped``, standard input without any."""
    if piped:
        place.add_argument("data", metavar="DATA", nargs="*", default=["-"], help=f"{text} (standard input)")
    else:
        place.add_argument("data", metavar="DATA", nargs="+", help=text)


def add_threads(place: argparse._ActionsContainer) -> None:
    """Add the option --threads."""
    place.add_argument(
        "--threads",
        "--n-jobs",
        type=threads,
        default=None,
        metavar="N",
        help="number of threads; -1 for all processors (1)",
    )


def add_engine(place: argparse._ActionsContainer) -> None:
    """Add the option --engine."""
    place.add_argument(
        "--engine",
        choices=("rust", "reference"),
        default="rust",
        help="the compiled engine, or the readable reference (rust)",
    )


def add_keep_on_interrupt(place: argparse._ActionsContainer) -> None:
    """Add the option --keep-on-interrupt."""
    place.add_argument(
        "--keep-on-interrupt",
        action="store_true",
        help="on Ctrl-C or SIGTERM, write the model as it is then; the exit status tells the signal",
    )


def add_max_ratio(place: argparse._ActionsContainer) -> None:
    """Add the option --max-ratio; without it, the readers' default is left."""
    place.add_argument(
        "--max-ratio",
        type=RATIO,
        metavar="X",
        help="refuse compressed data that unpacks to more than X times its size; inf for no limit (250)",
    )


def threads(text: str) -> int:
    """Return a number of threads as joblib reads it: negative ones count from all processors."""
    value: int = Range(-(2**15), 2**15, whole=True)(text)
    if value == 0:
        raise ArgumentTypeError("must not be 0; 1 is one thread, -1 one for each processor")
    return value


def sizes(text: str) -> tuple[int, ...]:
    """Return whole numbers above 0, which are separated by commas; none for the word none."""
    return () if text == "none" else tuple(POSITIVE(part) for part in text.split(","))


def numbers(text: str) -> tuple[int, ...]:
    """Return whole numbers above 0, which are separated by commas."""
    return tuple(POSITIVE(part) for part in text.split(","))


def names(text: str) -> tuple[str, ...]:
    """Return names that are separated by commas."""
    return tuple(text.split(","))


def character(text: str) -> str:
    """Return one character; a backslash and a t are a tab."""
    found = "\t" if text == "\\t" else text
    if len(found) != 1:
        raise ArgumentTypeError(f"must be one character, got {text!r}")
    return found
