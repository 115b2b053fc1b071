"""Options of commands: one entry a parameter, and what values must be; commands that a family adds.

Not even argparse is imported here: what predicts reads what values must be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from perceptron_rs.choices import LARGEST_DEGREE, MOST_NEIGHBOURS
from perceptron_rs.parameters.ranges import LARGEST, Other, Range, Switch, Values

if TYPE_CHECKING:
    import argparse

#: What options are added to: a parser of arguments, or a group of one.
OptionPlace: TypeAlias = "argparse._ActionsContainer"

#: The scalers of scikit-learn, by their first names.
SCALES = ("standard", "minmax", "maxabs")
JSON = "print the result as JSON"
QUIET = "print no progress; warnings are printed"
SWITCH = Switch()
#: What is only ever switched on.
FLAG = Other(list, {"action": "store_const", "const": True})

POSITIVE = Range(1, LARGEST, whole=True)
COUNT = Range(0, LARGEST, whole=True)
SEED = Range(0, 2**32 - 1, whole=True)
RATE = Range(0, closed="neither")
AMOUNT = Range(0)
FINITE = Range(closed="neither")
UNIT_INTERVAL = Range(0, 1)
OPEN_UNIT_INTERVAL = Range(0, 1, closed="neither")
HELD_OUT = Range(0, 1, closed="left")
TOLERANCE = Range(0, none=True)
DEGREE = Range(1, LARGEST_DEGREE, whole=True)
RATIO = Range(1, closed="neither", infinite=True)
WINDOW = Range(0, MOST_NEIGHBOURS, whole=True)
#: As joblib reads them: negative ones count from all processors.
THREADS = Range(-LARGEST, LARGEST, whole=True, none=True, never=0)
MOST_BITS = 30
HASH_BITS = Range(1, MOST_BITS, whole=True)


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command: it sets the parameter of its name. Has its help, values and default."""

    parameter: str
    help: str
    values: Values
    #: Of the parameter.
    default: object
    #: The values that other parameters must have for this one to have an effect; an empty tuple: any that
    #: is given. Parameters that a learner does not have do not count.
    needs: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    #: A shorter name, which comes before that of scikit-learn.
    name: str | None = None
    #: Other parameters that it sets.
    sets: Mapping[str, object] = field(default_factory=dict)

    @property
    def flags(self) -> tuple[str, ...]:
        """The option as it may be written; the name of the parameter is the last."""
        names = (self.parameter,) if self.name is None else (self.name, self.parameter)
        return tuple("--" + name.replace("_", "-") for name in names)

    @property
    def flag(self) -> str:
        """The option as messages write it."""
        return self.flags[0]

    def add_to(self, place: OptionPlace) -> None:
        """Add it; without it on the command line, the learner's default is left."""
        from argparse import SUPPRESS

        place.add_argument(
            *self.flags, dest=self.parameter, default=SUPPRESS, help=self.help, **self.values.option()
        )


@dataclass(frozen=True, slots=True)
class Command:
    """A command."""

    name: str
    help: str
    #: What its DATA holds, which its help then explains.
    data: Literal["examples", "sequences"] | None
    add_options: Callable[[argparse.ArgumentParser], None]
    #: What the subcommands need, if the command has one for each learner.
    usage: str = ""


def add(place: OptionPlace, words: str, text: str, kind: object = None, **keywords: Any) -> None:
    """Add an option of a command, or an argument.

    Parameters
    ----------
    place : parser or group
    words : str
        As its help shows it: "--threads --n-jobs N". Without a word for a value it is a switch.
    text : str
        What it is for.
    kind : callable, tuple of str or None
        Makes the value of a text; or the words that it may be.
    **keywords : object
        What else argparse is to know.
    """
    flags = [word for word in words.split() if word.startswith("-")]
    value = words.removeprefix(" ".join(flags)).strip()
    if isinstance(kind, tuple):
        keywords["choices"] = kind
    elif value:
        kind = named_file if kind is None and value in ("FILE", "MODEL", "OUT") else kind
        keywords |= {"metavar": value, "type": kind}
    elif "action" not in keywords:
        keywords["action"] = "store_true"
    place.add_argument(*flags, help=text, **keywords)


def add_model(place: OptionPlace, text: str = "a model file") -> None:
    """Add MODEL."""
    add(place, "MODEL", text, dest="model")


def add_data(place: OptionPlace, text: str, *, piped: bool = False) -> None:
    """Add DATA, one or more words; if it is ``piped``, standard input without any."""
    if piped:
        add(place, "DATA", f"{text} (standard input)", dest="data", nargs="*", default=["-"])
    else:
        add(place, "DATA", text, dest="data", nargs="+")


def add_output(command: argparse.ArgumentParser, text: str = JSON) -> None:
    """Add the options --json, which ``text`` is about, and --quiet."""
    group = command.add_argument_group("output")
    add(group, "--json", text)
    add(group, "--quiet", QUIET)


def add_threads(place: OptionPlace) -> None:
    """Add the option --threads."""
    add(place, "--threads --n-jobs N", "number of threads; -1 for all processors (1)", threads)


def add_engine(place: OptionPlace) -> None:
    """Add the option --engine."""
    text = "the compiled engine, or the readable reference (rust)"
    add(place, "--engine", text, ("rust", "reference"), default="rust")


def add_training(place: OptionPlace, kept: str) -> None:
    """Add what every command takes that trains a model; ``kept`` is what --continue keeps of another one."""
    text = "the model file to write (DATA in this folder, with the suffix .model)"
    add(place, "--model OUT", text)
    text = f"go on learning from the model file MODEL, with {kept}"
    add(place, "--continue MODEL", text, dest="continued")
    text = "on Ctrl-C or SIGTERM, write the model as it is then; the exit status tells the signal"
    add(place, "--keep-on-interrupt", text)


def add_tag_column(place: OptionPlace, text: str) -> None:
    """Add the option --tag-column."""
    from argparse import SUPPRESS

    add(place, "--tag-column N", text, POSITIVE, default=SUPPRESS)


def add_audit(command: OptionPlace) -> None:
    """Add whether a model keeps digests of its examples, and with which key."""
    group = command.add_argument_group("audit")
    add(group, "--no-audit", "keep no digests of the examples in the model file")
    add_audit_key(group)


def add_audit_key(group: OptionPlace) -> None:
    """Add the key of digests."""
    text = (
        "secret key of the digests, without which nobody can test guesses of the examples: a file of 32 "
        "bytes, or of 64 hexadecimal digits"
    )
    add(group, "--audit-key FILE", text)


def parsed(kind: Callable[[str], object], metavar: str) -> Other:
    """Return values that the text of an option is parsed to."""
    return Other(list, {"type": kind, "metavar": metavar})


def refused(text: str) -> Exception:
    """Return argparse's error for a text that is no value of an option."""
    from argparse import ArgumentTypeError

    return ArgumentTypeError(text)


def named_file(text: str) -> str:
    """Return the name of a file; an empty one would stand for this folder."""
    if not text:
        raise refused("must be the name of a file, got ''")
    return text


def share_or_file(text: str) -> float | str:
    """Return a number between 0 and 1, or else the name of a file."""
    try:
        number = float(text)
    except ValueError:
        return named_file(text)
    share: float = OPEN_UNIT_INTERVAL(str(number))
    return share


def threads(text: str) -> int:
    """Return a number of threads as joblib reads it: negative ones count from all processors."""
    value: int = Range(-(2**15), 2**15, whole=True)(text)
    if value == 0:
        raise refused("must not be 0; 1 is one thread, -1 one for each processor")
    return value


def sizes(text: str) -> tuple[int, ...]:
    """Return whole numbers above 0, which are separated by commas; none for the word none."""
    return () if text == "none" else tuple(POSITIVE(part) for part in text.split(","))


def numbers(text: str) -> tuple[int, ...]:
    """Return whole numbers above 0, which are separated by commas, each once."""
    whole: tuple[int, ...] = tuple(POSITIVE(part) for part in text.split(","))
    if len(set(whole)) < len(whole):
        raise refused(f"must name each number once, got {text!r}")
    return whole


def class_weight(text: str) -> tuple[str, float] | str:
    """Return a label and its weight; or the word balanced."""
    label, equals, number = text.rpartition("=")
    if text != "balanced" and not equals:
        raise refused(f"must be LABEL=X, or balanced, got {text!r}")
    return (label, AMOUNT(number)) if equals else text


def labels(text: str) -> tuple[str, ...]:
    """Return labels that are separated by commas: two or more."""
    words = names(text)
    if len(set(words)) < max(2, len(words)):
        raise refused(f"must name two or more labels, each once, got {text!r}")
    return words


def names(text: str) -> tuple[str, ...]:
    """Return names that are separated by commas; one that holds a comma is in quotes, as in CSV."""
    import csv

    return tuple(next(csv.reader([text]), [])) or ("",)


def listed(values: Iterable[str]) -> str:
    """Return names as `names` takes them."""
    return ",".join(
        '"' + name.replace('"', '""') + '"' if name.startswith('"') or set(name) & set(",\r\n") else name
        for name in values
    )


def is_delimiter(text: str) -> bool:
    """Whether a text may separate the columns of CSV."""
    return len(text.encode()) == 1 and text not in '"\r\n'


def character(text: str) -> str:
    """Return what may separate the columns of CSV; a backslash and a t are a tab."""
    separator = "\t" if text == "\\t" else text
    if not is_delimiter(separator):
        raise refused(f"must be one character of ASCII, and no quote or line end, got {text!r}")
    return separator
