"""Options of commands: one entry a parameter, and what values must be; commands that a family adds.

Only argparse is imported here.
"""

from __future__ import annotations

import argparse
import math
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "FORMATS",
    "JSON",
    "SCALES",
    "SWITCH",
    "Command",
    "Option",
    "add_data",
    "add_engine",
    "add_keep_on_interrupt",
    "add_max_ratio",
    "add_threads",
    "amount",
    "bits",
    "bound",
    "character",
    "count",
    "finite",
    "fraction",
    "gamma",
    "names",
    "number",
    "numbers",
    "one_of",
    "positive",
    "rate",
    "ratio",
    "seed",
    "sizes",
    "threads",
    "tolerance",
    "window",
]

#: Of examples.
FORMATS = ("svmlight", "csv", "tsv", "lines", "npz", "npy", "parquet")
#: The scalers of scikit-learn, by their first names.
SCALES = ("standard", "minmax", "maxabs")
JSON = "print the result as JSON"
SWITCH = {"action": argparse.BooleanOptionalAction}


@dataclass(frozen=True, slots=True)
class Option:
    """An option that sets the parameter of its name, and what argparse is to know of it."""

    parameter: str
    help: str
    how: Mapping[str, Any]
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
            *self.flags, dest=self.parameter, default=argparse.SUPPRESS, help=self.help, **self.how
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


def number(kind: Any, name: str = "X") -> dict[str, Any]:
    """Return what argparse is to know of an option that takes a number."""
    return {"type": kind, "metavar": name}


def one_of(*choices: str) -> dict[str, Any]:
    """Return what argparse is to know of an option that takes one of these words."""
    return {"choices": choices}


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
    """Add the option --keep-on-interrupt, of all that learns by mistakes."""
    place.add_argument(
        "--keep-on-interrupt",
        action="store_true",
        help="on Ctrl-C or SIGTERM, write the model as it is then; the exit status tells the signal",
    )


def add_max_ratio(place: argparse._ActionsContainer) -> None:
    """Add the option --max-ratio; without it, the readers' default is left."""
    place.add_argument(
        "--max-ratio",
        type=bound,
        metavar="X",
        help="refuse compressed data that unpacks to more than X times its size; inf for no limit (250)",
    )


def _whole(text: str, low: int, high: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise ArgumentTypeError(f"must be a whole number from {low} to {high}, got {text!r}")
    return value


def positive(text: str) -> int:
    """Return a whole number above 0."""
    return _whole(text, 1, 2**31 - 1)


def count(text: str) -> int:
    """Return a whole number, 0 or more."""
    return _whole(text, 0, 2**31 - 1)


def seed(text: str) -> int:
    """Return a whole number of 32 bits."""
    return _whole(text, 0, 2**32 - 1)


def threads(text: str) -> int:
    """Return a number of threads as joblib reads it: negative ones count from all processors."""
    value = _whole(text, -(2**15), 2**15)
    if value == 0:
        raise ArgumentTypeError("must not be 0; 1 is one thread, -1 one for each processor")
    return value


def _real(text: str, wanted: str, is_wanted: Callable[[float], bool]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not is_wanted(value):
        raise ArgumentTypeError(f"must be {wanted}, got {text!r}")
    return value


def rate(text: str) -> float:
    """Return a finite number above 0."""
    return _real(text, "a finite number above 0", lambda value: 0 < value < math.inf)


def amount(text: str) -> float:
    """Return a finite number, 0 or more."""
    return _real(text, "a finite number of at least 0", lambda value: 0 <= value < math.inf)


def ratio(text: str) -> float:
    """Return a number from 0 to 1."""
    return _real(text, "a number from 0 to 1", lambda value: 0 <= value <= 1)


def fraction(text: str) -> float:
    """Return a number between 0 and 1."""
    return _real(text, "a number above 0 and below 1", lambda value: 0 < value < 1)


def held_out(text: str) -> float:
    """Return a number of at least 0 and below 1."""
    return _real(text, "a number of at least 0 and below 1", lambda value: 0 <= value < 1)


def bound(text: str) -> float:
    """Return a number above 1, which may be infinite."""
    return _real(text, "a number above 1", lambda value: value > 1)


def finite(text: str) -> float:
    """Return a finite value."""
    return _real(text, "a finite number", math.isfinite)


def tolerance(text: str) -> float | None:
    """Return a finite number, 0 or more; None for the word none."""
    if text.lower() == "none":
        return None
    return _real(text, "a finite number of at least 0, or none", lambda value: 0 <= value < math.inf)


def gamma(text: str) -> float | str:
    """Return a finite number above 0, or a rule that finds one."""
    if text in ("scale", "auto"):
        return text
    return _real(text, "scale, auto or a finite number above 0", lambda value: 0 < value < math.inf)


def sizes(text: str) -> tuple[int, ...]:
    """Return whole numbers above 0, which are separated by commas; none for the word none."""
    return () if text == "none" else tuple(positive(part) for part in text.split(","))


def window(text: str) -> int:
    """Return how many neighbours of a word are looked at."""
    return _whole(text, 0, 100)


def numbers(text: str) -> tuple[int, ...]:
    """Return whole numbers above 0, which are separated by commas."""
    return tuple(positive(part) for part in text.split(","))


def names(text: str) -> tuple[str, ...]:
    """Return names that are separated by commas."""
    return tuple(text.split(","))


def character(text: str) -> str:
    """Return one character; a backslash and a t are a tab."""
    found = "\t" if text == "\\t" else text
    if len(found) != 1:
        raise ArgumentTypeError(f"must be one character, got {text!r}")
    return found


def bits(text: str) -> int:
    """Return the logarithm of a number of columns."""
    return _whole(text, 1, 30)
