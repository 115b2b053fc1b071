"""The commands and their options. Nothing but argparse may be imported here: ``--help`` is to be quick."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from perceptron_rs import __version__
from perceptron_rs.choices import CalibrationMethod, words
from perceptron_rs.cli.learning import LEARNER_NAMES, SaveOptions, options_of, others_with
from perceptron_rs.cli.parsing import Parser
from perceptron_rs.cli.status import EPILOG, PROGRAM, UsageError
from perceptron_rs.io.options import add_examples
from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.groups import add_options
from perceptron_rs.parameters.kinds import Command, add, add_audit, add_audit_key, add_output
from perceptron_rs.registry import OTHER_FAMILIES, REGISTRY, family_part
from perceptron_rs.stream.options import StreamOptions

DATA = """\
DATA is a file, or - for standard input. Several files, a pattern or a folder are read as if they were one
file. The suffix names the format: .svm .libsvm .svmlight .txt (svmlight text), .csv, .tsv, .jsonl or .ndjson
(JSON lines), also compressed as .gz, .bz2 or .xz; .npz (as written by scipy.sparse.save_npz; or with arrays
X, or data, indices, indptr and shape; labels in y or --labels); .npy with --labels; .parquet; .safetensors
(the labels in the tensor --target, or with --labels). Raw text needs --text."""
TOKENS = """\
DATA is a file, or - for standard input. Several files, a pattern or a folder are read as if they were one
file. It holds one token per line, with columns separated by tabs (or by blanks, if the first line has no
tab), and an empty line between sentences. UTF-8, also compressed as .gz, .bz2 or .xz. Comments of CoNLL-U
files and lines of -DOCSTART- are no tokens."""

ABOUT = {
    "examples": DATA,
    "sequences": TOKENS,
    None: "",
}


#: The one to try first.
USUAL_LEARNER = "averaged"


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; UsageError if they are none. ``train DATA`` is ``train averaged DATA``.

    Beside them is whether a learner is named.
    """
    argv, is_named = list(argv), True
    if not argv:
        raise UsageError(
            f"required: COMMAND; to begin, type {PROGRAM} train FILE; {PROGRAM} --help lists the others"
        )
    name = argv[0]
    own = parser(name)
    if name in WITH_LEARNERS:
        first, second = [*argv[1:3], "-", "-"][:2]
        # Of two words, the first one is to be a learner; no learner has a dot, a folder or a wildcard in its
        # name.
        is_file = any(mark in first for mark in "./\\*?[") or os.path.exists(first)  # noqa: PTH110
        two_words = not (first.startswith("-") or second.startswith("-"))
        looks_alike = two_words or (not first.startswith("-") and get_close_matches(first, LEARNER_NAMES))
        is_learner = first in ("-h", "--help", "--help-all", *LEARNER_NAMES) or (looks_alike and not is_file)
        switches = own.switches()
        at = next((i for i in range(2, len(argv)) if _is_learner(argv, i, switches)), 0)
        is_named = bool(is_learner or at)
        argv[1:1] = [] if is_learner else [argv.pop(at) if at else USUAL_LEARNER]
    arguments = own.parse_args(argv)
    arguments.is_named = is_named
    return arguments


def _is_learner(argv: Sequence[str], at: int, switches: set[str]) -> bool:
    """Whether a word behind options names a learner, and is neither a file nor the value of an option."""
    before, is_file = argv[at - 1], os.path.exists(argv[at])  # noqa: PTH110
    is_value = before.startswith("--") and "=" not in before and before not in switches
    return argv[at] in LEARNER_NAMES and not is_file and not is_value and "--" not in argv[:at]


def parser(only: str | None = None) -> Parser:
    """Return the parser of the whole command line, or one that knows the options of one command only."""
    top = Parser(
        PROGRAM,
        description="Classify text and tables, tag sentences, learn from streams, and check models to the "
        "last bit. To begin: perceptrons train FILE learns the averaged perceptron, and says what it has "
        "read, how good it is, and what to type next. perceptrons COMMAND --help explains a command.",
        epilog=EPILOG,
    )
    top.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    places = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in ALL_COMMANDS:
        about = f"{command.help[0].upper()}{command.help[1:]}. {ABOUT[command.data]}".rstrip()
        place = places.add_parser(command.name, help=command.help, description=about, epilog=EPILOG)
        if only not in (None, command.name):
            continue
        if not command.usage:
            command.add_options(place)
            continue
        place.usage = f"{place.prog} [-h] [LEARNER] {command.usage} [options]"
        place.description = f"{about} {place.prog} averaged --help lists the options of that learner."
        if command.name == "train":
            place.description = f"{place.prog} FILE is enough to begin. {place.description}"
        learners = place.add_subparsers(
            prog=place.prog,
            dest="learner",
            metavar="LEARNER",
            required=True,
            help=f"{USUAL_LEARNER}, if it is left out",
        )
        for name in LEARNER_NAMES:
            elsewhere = partial(others_with, name, trains=command.name == "train")
            below = learners.add_parser(
                name, help=REGISTRY[name].about, description=about, epilog=EPILOG, elsewhere=elsewhere
            )
            below.set_defaults(learner=name)
            command.add_options(below)
    return top


def _train(command: argparse.ArgumentParser) -> None:
    add_examples(command, learns=True)
    kinds.add_training(command, "its parameters unless others are given")
    text = "scale each column as scikit-learn's StandardScaler, MinMaxScaler or MaxAbsScaler; the model "
    add(command, "--scale", f"{text}scales later data alike", kinds.SCALES, default=argparse.SUPPRESS)
    text = "weigh the n-grams of text the more, the fewer texts have them, as scikit-learn's "
    add(command, "--tf-idf", f"{text}TfidfTransformer (needs all texts at once)", default=argparse.SUPPRESS)
    text = "of text, keep up to N of the most frequent n-grams of each column, for inspect (2; 0: none)"
    add(command, "--keep-words N", text, kinds.COUNT, default=argparse.SUPPRESS)
    text = "hold out this share of the examples, evenly spaced, and say how well they are predicted (0; with "
    add(command, "--holdout F", f"{text}--continue, that of the model)", kinds.HELD_OUT)
    text = "make probabilities of scores, as they fit this share of the examples, held out, or all of FILE "
    text += "(none; with --continue, the share of the model)"
    add(command, "--calibrate F|FILE", text, kinds.share_or_file)
    text = "by one number for all scores, which changes no decision, or by two for each class (temperature; "
    text += "of lists of labels, sigmoid)"
    add(command, "--calibration", text, words(CalibrationMethod))
    learner = REGISTRY[command.get_default("learner")]
    if learner.is_rounded:
        add_options(command, SaveOptions)
    if learner.in_streams:
        add_options(command.add_argument_group("data larger than memory"), StreamOptions)
    _learning(command)
    kinds.add_engine(command)
    add_audit(command)
    add_output(command)


def _predict(command: argparse.ArgumentParser) -> None:
    add_examples(command, model=True)
    labelled = command.add_mutually_exclusive_group()
    text = "the examples have labels, which are ignored (by default, if the first line of svmlight text has "
    text += "one, if a table has a column behind the features, or if a class of the model is before a tab)"
    add(labelled, "--labelled", text, action="store_const", const=True)
    text = "the examples have no labels: all of a line is text, all columns are features"
    add(labelled, "--unlabelled", text, dest="labelled", action="store_const", const=False)
    add_skip_bad(command, "cannot be read")
    shown = command.add_mutually_exclusive_group()
    add(shown, "--scores", "print the decision function after each label")
    text = "print the probability of each class after each label; of a vote, its share of the votes"
    add(shown, "--probabilities", text)
    add_output(command, "print one JSON object for each example")


def _evaluate(command: argparse.ArgumentParser) -> None:
    add_examples(command, model=True)
    add_output(command)


def _reproduce(command: argparse.ArgumentParser) -> None:
    add_examples(command, model=True, learns=True)
    text = "of tagged sentences, the column that holds the tag, from 1 (as in the training)"
    kinds.add_tag_column(command, text)
    add(command, "--engine", "what computes (as when the model was trained)", ("rust", "reference"))
    add_audit_key(command)
    add_output(command)


def _inspect(command: argparse.ArgumentParser) -> None:
    kinds.add_model(command)
    add(command, "--top N", "number of largest weights to show per class (10)", kinds.COUNT, default=10)
    add_output(command)


def _convert(command: argparse.ArgumentParser) -> None:
    add(command, "FILE", "a file that train cannot read, or a folder of folders of texts", dest="file")
    add(command, "--target NAME", "the column that holds the labels (as train finds it)")


def _parity(command: argparse.ArgumentParser) -> None:
    add_examples(command, learns=True)
    text = "use N rows, evenly spaced (default: as many as fit into 128 MB when dense)"
    add(command, "--rows N", text, kinds.POSITIVE)
    texts = {"max_iter": "maximum number of epochs (5)", "tol": "stop when the loss improves by less (never)"}
    _learning(command, texts, threads=False)
    command.set_defaults(max_iter=5, tol=None)
    add_output(command)


def add_skip_bad(command: argparse.ArgumentParser, which: str) -> None:
    """Add what is done with bad lines."""
    add(command, "--skip-bad", f"skip lines that {which}, and say how many (the first ends the command)")


def _online(command: argparse.ArgumentParser) -> None:
    add_examples(command, model=True, learns=True, piped=True)
    text = "write what was learnt to the model file OUT in the end, also after Ctrl-C, SIGTERM or an error"
    add(command, "--save OUT", text)
    text = "write it also in between, when N more examples have been learnt from"
    add(command, "--save-every N", text, kinds.POSITIVE)
    add_skip_bad(command, "cannot be read or have labels that the model does not know")
    add_audit(command)
    add_output(command, "print one JSON object for each example")


def _learning(
    command: argparse.ArgumentParser, texts: Mapping[str, str] | None = None, *, threads: bool = True
) -> None:
    """Add the options of the learner whose command it is; ``texts`` of those with another default."""
    group = command.add_argument_group("learning")
    for option in options_of(command.get_default("learner")):
        replace(option, help=(texts or {}).get(option.parameter, option.help)).add_to(group)
    if threads:
        kinds.add_threads(group)


ALL_COMMANDS = (
    Command("train", "train a model on DATA", "examples", _train, "DATA"),
    Command("predict", "predict the class of each example in DATA", "examples", _predict),
    Command("online", "predict each example as it comes, and then learn from it", "examples", _online),
    Command("evaluate", "evaluate a model on the labels of DATA", "examples", _evaluate),
    Command("convert", "write a file as train reads it, to standard output", None, _convert),
    Command("inspect", "show what is in a model file", None, _inspect),
    Command(
        "parity", "train on DATA in every way there is and compare the bits", "examples", _parity, "DATA"
    ),
    Command("reproduce", "train a model again on its DATA and compare the bits", "examples", _reproduce),
    *(command for family in OTHER_FAMILIES for command in family_part(family, "options").COMMANDS),
)
WITH_LEARNERS = tuple(command.name for command in ALL_COMMANDS if command.usage)
