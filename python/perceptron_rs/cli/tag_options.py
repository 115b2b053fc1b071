"""The options of the commands on sequences. As in ``options``, nothing but argparse may be imported."""

from __future__ import annotations

import argparse

from perceptron_rs.cli import kinds

__all__ = ["add_tag", "add_tag_evaluate", "add_tag_train"]


def add_tag_train(command: argparse.ArgumentParser) -> None:
    """Add what tag-train takes."""
    command.add_argument("data", metavar="DATA", help="tokens; the last column is the tag")
    command.add_argument("--model", required=True, metavar="OUT", help="the model file to write")
    group = command.add_argument_group("attributes")
    group.add_argument(
        "--template",
        choices=("words", "columns"),
        default="words",
        help="words: the first column is a word, looked at with the words around it; columns: each column "
        "is an attribute, and nothing else is (words)",
    )
    group.add_argument(
        "--window", type=kinds.window, metavar="N", help="how far --template words looks on both sides (2)"
    )
    group.add_argument(
        "--min-count",
        type=kinds.positive,
        default=1,
        metavar="N",
        help="leave out attributes of fewer tokens (1)",
    )
    group.add_argument(
        "--hash-columns", type=kinds.positive, metavar="N", help="hash attributes to N columns: no vocabulary"
    )
    group.add_argument(
        "--transition-features", action="store_true", help="attributes weigh pairs of tags, too"
    )
    group = command.add_argument_group("learning")
    group.add_argument(
        "--epochs", type=kinds.positive, default=5, metavar="N", help="largest number of epochs (5)"
    )
    group.add_argument(
        "--average",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="predict with the average of all weights, not with the last",
    )
    group.add_argument(
        "--shuffle",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="a new random order in each epoch",
    )
    group.add_argument("--seed", type=kinds.seed, default=0, metavar="N", help="key of the random orders (0)")
    group.add_argument("--eta0", type=kinds.rate, default=1.0, metavar="X", help="learning rate (1)")
    group.add_argument(
        "--beam", type=kinds.positive, metavar="N", help="search with the N best tags of each token (all)"
    )
    group.add_argument(
        "--update",
        choices=("full", "early", "max_violation"),
        default="full",
        help="with --beam: how much of a mistaken sentence is learnt from (full)",
    )
    group.add_argument(
        "--held-out",
        type=kinds.fraction,
        metavar="X",
        help="hold out this part of the sentences, and keep the epoch that tags them best",
    )
    group.add_argument(
        "--n-iter-no-change",
        type=kinds.positive,
        metavar="N",
        help="epochs without a better one that --held-out bears (2)",
    )
    _threads(group)
    group.add_argument("--engine", choices=("rust", "reference"), default="rust", help="what computes")


def add_tag(command: argparse.ArgumentParser) -> None:
    """Add what tag takes."""
    command.add_argument("model", metavar="MODEL", help="a model file of tag-train")
    command.add_argument(
        "data", metavar="DATA", nargs="?", default="-", help="tokens without tags (standard input)"
    )
    command.add_argument("--tags-only", action="store_true", help="print the tags without the columns")
    _threads(command)


def add_tag_evaluate(command: argparse.ArgumentParser) -> None:
    """Add what tag-evaluate takes."""
    command.add_argument("model", metavar="MODEL", help="a model file of tag-train")
    command.add_argument("data", metavar="DATA", help="tokens; the last column is the true tag")
    _threads(command)


def _threads(place: argparse._ActionsContainer) -> None:
    place.add_argument(
        "--threads", type=kinds.threads, metavar="N", help="threads that tag; -1 for all processors (1)"
    )
