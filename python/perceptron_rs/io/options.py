"""What may be said of files of examples: one field an option, in Python and on the command line.

Nothing may be imported here that takes time, so that ``--help`` is quick.
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from perceptron_rs.choices import Accents, Analyzer, Format, Norm, words
from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.groups import add_options, options, parameter
from perceptron_rs.parameters.kinds import parsed
from perceptron_rs.parameters.ranges import Choice, Other, Range


def _base(text: str) -> bool | Literal["auto"]:
    """Return whether columns are counted from 0; "auto": that is to be found out."""
    if text not in ("auto", "yes", "no"):
        raise ArgumentTypeError(f"must be auto, yes or no, got {text!r}")
    return "auto" if text == "auto" else text == "yes"


def _norm(text: str) -> Norm:
    """Return a norm of rows; "none": they are not scaled."""
    if text == "none":
        return None
    if text not in ("l1", "l2"):
        raise ArgumentTypeError(f"must be l1, l2 or none, got {text!r}")
    return "l1" if text == "l1" else "l2"


def _texts(text: str) -> tuple[str, ...]:
    """Return names that are separated by commas; "none": no column holds texts."""
    return () if text == "none" else kinds.names(text)


_AS_TRAINED = "as in the training"


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """What may be said of files of examples: parameters of `open_examples`, and options of commands."""

    format: str | None = parameter(None, Choice(words(Format)), "format of DATA", default="by its suffix")
    #: A file of their own.
    labels: Path | None = parameter(
        None, parsed(Path, "FILE.npy"), "labels, one for each row of DATA", default=""
    )
    target: str | None = parameter(
        None,
        parsed(str, "NAME"),
        "column that holds the labels in CSV and Parquet, their key in JSON lines, or their tensor",
        default="the last column; in JSON lines, as vw or river write them",
        of_model=_AS_TRAINED,
    )
    sample_weight: str | None = parameter(
        None,
        parsed(str, "NAME"),
        "column of a table, key of JSON lines, or tensor that holds the weights of the examples",
        default="none",
    )
    #: None: all but the target.
    columns: tuple[str, ...] | None = parameter(
        None,
        parsed(kinds.names, "NAME,..."),
        "columns of a table that are features, or the tensor of them",
        default="all; the only tensor of two dimensions",
        of_model="those of the training",
    )
    drop: tuple[str, ...] = parameter(
        (),
        parsed(kinds.names, "NAME,..."),
        "columns of a table, or keys of JSON lines, that are no features",
        default="none",
        of_model=_AS_TRAINED,
    )
    #: None: by the format.
    delimiter: str | None = parameter(
        None,
        parsed(kinds.character, "C"),
        "what separates the columns of CSV",
        default="a comma",
        of_model=_AS_TRAINED,
    )
    #: None: it must, and what looks like an example is refused.
    header: bool | None = parameter(
        None,
        kinds.SWITCH,
        "the first line of a CSV file holds the names of the columns",
        default="it does, and one that looks like an example is refused",
        of_model=_AS_TRAINED,
    )
    missing: tuple[str, ...] = parameter(
        (),
        parsed(kinds.names, "WORD,..."),
        "cells of CSV that stand for a missing value, such as NA",
        default="empty cells always do",
        of_model=_AS_TRAINED,
    )
    #: None: they are plain, so that anything around them is refused.
    decimal: str | None = parameter(
        None,
        Choice((".", ",")),
        "numbers in CSV are written with C before a fraction, and may have marks between thousands and signs "
        "of money or percent: 1,200.50$, 12 percent",
        default="plain numbers",
        of_model=_AS_TRAINED,
    )
    #: None: nobody has said it, so what looks like texts is refused.
    text_columns: tuple[str, ...] | None = parameter(
        None,
        parsed(_texts, "NAME,..."),
        "columns of a table, or keys of JSON lines, that hold texts, whose n-grams are hashed beside "
        "the other features; none: all strings are categories",
        default="none, but what looks like texts is refused",
        of_model=False,
    )
    #: None: columns are taken as they are.
    hash_bits: int | None = parameter(
        None,
        parsed(kinds.HASH_BITS, "B"),
        "hash n-grams, or names and values, to 2^B columns, as scikit-learn does",
        default="18 with --text, --text-columns and JSON lines",
        of_model=False,
    )
    #: Of text; these are the options of ``HashingVectorizer``.
    ngrams: tuple[int, int] = parameter(
        (1, 1),
        Other(list, {"type": Range(1, 100, whole=True), "nargs": 2, "metavar": ("N", "M")}),
        "of text, hash n-grams of N to M words or characters",
        default="1 1",
        of_model=False,
    )
    lowercase: bool = parameter(
        True, kinds.SWITCH, "turn text into lower case", default="yes", of_model=False
    )
    strip_accents: Accents = parameter(
        None,
        Choice(("ascii", "unicode")),
        "leave out accents of text, and what is like them; ascii: also letters that are not of ASCII",
        default="none",
        of_model=False,
    )
    analyzer: Analyzer = parameter(
        "word",
        Choice(words(Analyzer)),
        "take n-grams of words, of characters, or of the characters of each word by itself",
        of_model=False,
    )
    stop_words: str | None = parameter(
        None, Choice(("english",)), "leave out scikit-learn's stop words", default="none", of_model=False
    )
    binary: bool = parameter(False, kinds.SWITCH, "count each n-gram of a text only once", of_model=False)
    norm: Norm = parameter(
        "l2",
        parsed(_norm, "{l1,l2,none}"),
        "scale the row of each text to this norm",
        default="l2",
        of_model=False,
    )
    n_features: int | None = parameter(
        None,
        kinds.POSITIVE,
        "number of features",
        default="as found in DATA",
        name="features",
        of_model=False,
    )
    zero_based: bool | Literal["auto"] = parameter(
        "auto",
        parsed(_base, "{auto,yes,no}"),
        "whether svmlight columns count from 0; auto: yes if the file has a column 0",
        of_model="as in the file of the training, else auto",
    )
    multilabel: bool = parameter(
        False,
        kinds.SWITCH,
        "examples have lists of labels: 1,3 before svmlight text, the tab of raw text or the bar of vw, "
        "several __label__, or a list in JSON; they may be empty",
        default="one label",
        of_model=_AS_TRAINED,
    )
    #: How many times its size a packed file may unpack to.
    max_ratio: float | None = parameter(
        None,
        kinds.RATIO,
        "refuse compressed data that unpacks to more than X times its size; inf for no limit",
        default="250",
    )


def add_examples(
    command: ArgumentParser, *, model: bool = False, learns: bool = False, piped: bool = False
) -> None:
    """Add DATA and how it is read: for a ``model``, by what ``learns``, from a pipe unless it is named."""
    if model:
        kinds.add_model(command)
    kinds.add_data(command, "the examples", piped=piped)
    group = command.add_argument_group("data")
    add_options(group, FileOptions, *([] if learns else ["sample_weight"]), of_model=model)
    text = "each line of DATA is a label, a tab and a text, whose n-grams are hashed to columns; the same as "
    lines = {"dest": "format", "action": "store_const", "const": "lines", "default": SUPPRESS}
    kinds.add(group, "--text", f"{text}--format lines", **lines)
    if model:
        kinds.add_threads(group)


def add_max_ratio(command: ArgumentParser) -> None:
    """Add the only option that files of sentences have of these."""
    next(option for option in options(FileOptions) if option.parameter == "max_ratio").add_to(command)
