"""The commands on margins and the parameters of a search. Nothing that takes time may be imported here."""

from __future__ import annotations

import argparse

from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import Command, Option, add
from perceptron_rs.common.options.ranges import Range, Words
from perceptron_rs.common.options.shared import kernels

__all__ = ["COMMANDS", "KERNEL", "SEARCH", "TOL"]

#: Of the space in which margins are measured.
KERNEL = kernels("linear", "linear", "poly", "rbf", "precomputed", constant=kinds.AMOUNT)


#: Of a search for the largest margin.
SEARCH = (
    Option(
        "bias",
        "free: the intercept is not in the norm; augmented: it is; none: no intercept (free)",
        Words(("free", "augmented", "none")),
    ),
    Option("max_steps", "maximum number of steps (1000000)", Range(0, 2**62, whole=True)),
    Option("solver", "algorithm (auto)", Words(("auto", "wolfe", "descent"))),
    *KERNEL,
)
TOL = Option("tol", "relative width of the interval to reach (1e-8)", kinds.RATE)


def _margin(command: argparse.ArgumentParser) -> None:
    TOL.add_to(_search(command))


def _search(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options of a search for the largest margin."""
    group = command.add_argument_group("search")
    add(group, "--positive LABEL", "the class to separate from all others")
    for option in SEARCH:
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
