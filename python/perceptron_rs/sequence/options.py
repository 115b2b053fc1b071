"""The commands on sequences and their options. Only argparse may be imported here."""

from __future__ import annotations

import argparse

from perceptron_rs.common import options as kinds
from perceptron_rs.common.options import Command

__all__ = ["COMMANDS"]


def _tag_train(command: argparse.ArgumentParser) -> None:
    """Add what tag-train takes."""
    command.add_argument("data", metavar="DATA", help="tagged sentences; the last column is the tag")
    command.add_argument("--model", required=True, metavar="OUT", help="the model file to write")
    group = command.add_argument_group("attributes")
    group.add_argument(
        "--template",
        choices=("words", "columns"),
        default="words",
        help="words: features of the word in the first column and of its neighbours; columns: each "
        "column is one feature (words)",
    )
    group.add_argument(
        "--window",
        type=kinds.window,
        metavar="N",
        help="neighbours on each side that --template words uses (2)",
    )
    group.add_argument(
        "--min-count",
        type=kinds.positive,
        default=1,
        metavar="N",
        help="ignore features of fewer than N tokens (1)",
    )
    group.add_argument(
        "--hash-columns",
        type=kinds.positive,
        metavar="N",
        help="hash features to N columns instead of keeping a vocabulary",
    )
    group.add_argument(
        "--transition-features", action="store_true", help="also learn weights of features for pairs of tags"
    )
    group = command.add_argument_group("learning")
    group.add_argument(
        "--epochs", type=kinds.positive, default=5, metavar="N", help="maximum number of epochs (5)"
    )
    group.add_argument(
        "--average",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="predict with averaged weights (the default), or with the last ones",
    )
    group.add_argument(
        "--shuffle",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="shuffle the sentences in each epoch (the default)",
    )
    group.add_argument(
        "--seed", type=kinds.seed, default=0, metavar="N", help="seed of the random generator (0)"
    )
    group.add_argument("--eta0", type=kinds.rate, default=1.0, metavar="X", help="learning rate (1)")
    group.add_argument(
        "--beam",
        type=kinds.positive,
        metavar="N",
        help="beam width: keep the N best tags of each token (all)",
    )
    group.add_argument(
        "--update",
        choices=("full", "early", "max_violation"),
        default="full",
        help="with --beam: which part of a wrong sentence to update on (full)",
    )
    group.add_argument(
        "--held-out",
        type=kinds.fraction,
        metavar="X",
        help="hold out this share of the sentences, and keep the epoch that tags them best",
    )
    group.add_argument(
        "--n-iter-no-change",
        type=kinds.positive,
        metavar="N",
        help="epochs without improvement on --held-out before stopping (2)",
    )
    kinds.add_threads(group)
    kinds.add_engine(group)


def _tag(command: argparse.ArgumentParser) -> None:
    """Add what tag takes."""
    command.add_argument("model", metavar="MODEL", help="a model file of tag-train")
    command.add_argument(
        "data", metavar="DATA", nargs="?", default="-", help="sentences without tags (standard input)"
    )
    command.add_argument("--tags-only", action="store_true", help="print the tags without the columns")
    kinds.add_threads(command)


def _tag_evaluate(command: argparse.ArgumentParser) -> None:
    """Add what tag-evaluate takes."""
    command.add_argument("model", metavar="MODEL", help="a model file of tag-train")
    command.add_argument("data", metavar="DATA", help="tagged sentences; the last column is the true tag")
    kinds.add_threads(command)


COMMANDS = (
    Command("tag-train", "train a tagger on tagged sentences", "sequences", _tag_train),
    Command("tag", "tag the tokens of DATA", "sequences", _tag, "print one JSON object for each sentence"),
    Command("tag-evaluate", "evaluate a tagger on the tags of DATA", "sequences", _tag_evaluate),
)
