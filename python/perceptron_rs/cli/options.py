"""The commands and their options. Nothing but argparse may be imported here: ``--help`` is to be quick."""

from __future__ import annotations

import argparse

from perceptron_rs.cli.errors import PROGRAM
from perceptron_rs.cli.learning import add_options
from perceptron_rs.common import options as kinds
from perceptron_rs.registry import FAMILIES, LEARNERS, OTHER_FAMILIES, family_part

__all__ = ["LEARNER_NAMES", "LINEAR_NAMES", "parser"]

LINEAR_NAMES = tuple(name for name, learner in LEARNERS.items() if learner.is_linear)
LEARNER_NAMES = tuple(name for name, learner in LEARNERS.items() if learner.family in FAMILIES)

DATA = """\
The suffix of DATA names its format: .svm .libsvm .svmlight .txt (svmlight text) or .csv, also compressed as
.gz; .npz (as written by scipy.sparse.save_npz; or with arrays X, or data, indices, indptr and shape;
labels in y or --labels); .npy with --labels; .parquet."""
TOKENS = """\
DATA holds one token per line, with columns separated by tabs (or by blanks, if the first line has no tab),
and an empty line between sentences. UTF-8, also compressed as .gz."""
STATUS = """\
exit status: 0 success; 1 bad data or model, or a difference found by parity or reproduce; 2 wrong usage;
3 not separable; 4 undecided; 130 interrupted by Ctrl-C; 141 standard output was closed."""


class _Version(argparse.Action):
    """As action="version", but the version is looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from perceptron_rs import __version__

        print(f"{PROGRAM} {__version__}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        PROGRAM,
        description="Train perceptrons, predict, compare the bits of every way to train, and measure "
        "margins.",
        epilog=STATUS,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _train(_add(commands, "train", "train a model on DATA"))
    _predict(_add(commands, "predict", "predict the class of each example in DATA"))
    _evaluate(_add(commands, "evaluate", "evaluate a model on the labels of DATA"))
    _inspect(_add(commands, "inspect", "show what is in a model file", about=""))
    _parity(_add(commands, "parity", "train on DATA in every possible way and compare the bits"))
    _reproduce(_add(commands, "reproduce", "train a model again on its DATA and compare the bits"))
    for family in OTHER_FAMILIES:
        for own in family_part(family, "options").COMMANDS:
            examples = own.data == "examples"
            command = _add(commands, own.name, own.help, about=DATA if examples else TOKENS)
            if examples:
                _data(command, model=False)
            own.add_options(command)
            _output(command, own.json)
    demo = _add(
        commands, "demo", "train on data that comes with scikit-learn and compare both engines", about=""
    )
    demo.set_defaults(quiet=False)
    return top


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str, *, about: str = DATA
) -> argparse.ArgumentParser:
    """Add a command; ``about`` describes the data that it reads."""
    return commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}. {about}".rstrip(),
        epilog=STATUS,
        allow_abbrev=False,
    )


def _train(command: argparse.ArgumentParser) -> None:
    _data(command, model=False)
    command.add_argument("--model", required=True, metavar="OUT", help="the model file to write")
    command.add_argument(
        "--init-text", metavar="FILE", help="start from the weights in FILE, as inspect --text writes them"
    )
    _learning(command)
    add_options(command)
    kinds.add_engine(command)
    _output(command)


def _predict(command: argparse.ArgumentParser) -> None:
    _data(command, model=True)
    command.add_argument("--scores", action="store_true", help="print the decision function after each label")
    _output(command, "print one JSON object for each example")


def _evaluate(command: argparse.ArgumentParser) -> None:
    _data(command, model=True)
    _output(command)


def _reproduce(command: argparse.ArgumentParser) -> None:
    _data(command, model=True)
    command.add_argument(
        "--engine", choices=("rust", "reference"), help="what computes (as when the model was trained)"
    )
    _output(command)


def _inspect(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", metavar="MODEL", help="a model file")
    command.add_argument(
        "--top",
        type=kinds.count,
        default=10,
        metavar="N",
        help="number of largest weights to show per class (10)",
    )
    command.add_argument("--text", action="store_true", help="print all weights, exactly, as text")
    _output(command)


def _parity(command: argparse.ArgumentParser) -> None:
    _data(command, model=False)
    command.add_argument(
        "--rows",
        type=kinds.positive,
        metavar="N",
        help="use N rows, evenly spaced (default: as many as fit into 128 MB when dense)",
    )
    _learning(command, threads=False)
    command.set_defaults(epochs=5, tol=None)
    add_options(command)
    _output(command)


def _data(command: argparse.ArgumentParser, *, model: bool) -> None:
    if model:
        command.add_argument("model", metavar="MODEL", help="a model file")
    command.add_argument("data", metavar="DATA", help="the examples")
    group = command.add_argument_group("data")
    group.add_argument("--labels", metavar="FILE.npy", help="labels, one for each row of DATA")
    group.add_argument(
        "--target", metavar="NAME", help="column that holds the labels in CSV and Parquet (the last)"
    )
    group.add_argument(
        "--no-header", action="store_true", help="the first line of a CSV file is an example, not a header"
    )
    if not model:
        group.add_argument(
            "--features",
            type=kinds.positive,
            metavar="N",
            help="number of columns of svmlight text (as found in DATA)",
        )
    group.add_argument(
        "--zero-based",
        choices=("auto", "yes", "no"),
        default="auto",
        help="whether svmlight columns count from 0; auto (the default): "
        + ("as in the file of the training, else " if model else "")
        + "yes if the file has a column 0",
    )
    if model:
        kinds.add_threads(group)


def _learning(command: argparse.ArgumentParser, *, threads: bool = True) -> None:
    """Add what (nearly) all learners have; an option that is not given leaves the learner's default."""
    group = command.add_argument_group("learning", argument_default=argparse.SUPPRESS)
    group.add_argument("--learner", choices=LEARNER_NAMES, default="perceptron", help="default: perceptron")
    epochs = "1000; kernel 10, multilayer 200" if threads else "5"
    tol = "0.001; kernel none, multilayer 0.0001" if threads else "none"
    group.add_argument(
        "--epochs", type=kinds.positive, metavar="N", help=f"maximum number of epochs ({epochs})"
    )
    group.add_argument(
        "--tol", type=kinds.tolerance, metavar="X", help=f"stop when the loss improves by less than X ({tol})"
    )
    group.add_argument(
        "--n-iter-no-change",
        type=kinds.positive,
        metavar="N",
        help="epochs without improvement before stopping (5; multilayer 10)",
    )
    group.add_argument(
        "--shuffle",
        action=argparse.BooleanOptionalAction,
        help="shuffle the examples in each epoch (the default)",
    )
    group.add_argument("--seed", type=kinds.seed, metavar="N", help="seed of the random generator (0)")
    group.add_argument("--eta0", type=kinds.rate, metavar="X", help="learning rate (1)")
    group.add_argument(
        "--intercept",
        action=argparse.BooleanOptionalAction,
        help="fit an intercept (the default, except for kernel)",
    )
    group.add_argument(
        "--tie", choices=("mistake", "positive"), help="how to treat an activation of exactly 0 (mistake)"
    )
    group.add_argument(
        "--class-weight",
        action="append",
        metavar="LABEL=X",
        help="weight of the examples of a class; repeat for more classes; or: balanced",
    )
    if threads:
        kinds.add_threads(group)


def _output(command: argparse.ArgumentParser, text: str = kinds.JSON) -> None:
    group = command.add_argument_group("output")
    group.add_argument("--json", action="store_true", help=text)
    group.add_argument("--quiet", action="store_true", help="print no progress and no warnings")
