"""The commands on margins and their options. Only argparse may be imported here."""

from __future__ import annotations

import argparse

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import Command
from perceptron_rs.common.options.shared import kernels

__all__ = ["COMMANDS", "KERNEL"]

#: Of the space in which margins are measured.
KERNEL = kernels("linear", "linear", "poly", "rbf", "precomputed", constant=kinds.amount)


def _margin(command: argparse.ArgumentParser) -> None:
    _search(command).add_argument(
        "--tol",
        type=kinds.rate,
        default=1e-8,
        metavar="X",
        help="relative width of the interval to reach (1e-8)",
    )


def _search(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options of a search for the largest margin."""
    group = command.add_argument_group("search")
    group.add_argument("--positive", metavar="LABEL", help="the class to separate from all others")
    group.add_argument(
        "--bias",
        choices=("free", "augmented", "none"),
        default="free",
        help="free: the intercept is not in the norm; augmented: it is; none: no intercept (free)",
    )
    group.add_argument(
        "--max-steps",
        type=kinds.count,
        default=1_000_000,
        metavar="N",
        help="maximum number of steps (1000000)",
    )
    group.add_argument(
        "--solver", choices=("auto", "wolfe", "descent"), default="auto", help="algorithm (auto)"
    )
    for option in KERNEL:
        option.add_to(group)
    kinds.add_threads(group)
    kinds.add_engine(group)
    return group


def _separable(command: argparse.ArgumentParser) -> None:
    _search(command)


COMMANDS = (
    Command(
        "margin", "compute the largest margin between two classes, with certified bounds", "examples", _margin
    ),
    Command("separable", "decide whether two classes are linearly separable", "examples", _separable),
)
