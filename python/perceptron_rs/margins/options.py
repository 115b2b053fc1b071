"""The commands on margins and their options. Nothing that takes time may be imported here."""

from __future__ import annotations

import argparse

from perceptron_rs.io.options import add_examples
from perceptron_rs.margins.parameters import MaxMarginClassifierParameters
from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.groups import add_options
from perceptron_rs.parameters.kinds import Command, add


def _search(command: argparse.ArgumentParser, *without: str) -> None:
    """Add the options of a search for the largest margin."""
    add_examples(command)
    group = command.add_argument_group("search")
    add(group, "--positive LABEL", "the class to separate from all others")
    add_options(group, MaxMarginClassifierParameters, *without)
    kinds.add_threads(group)
    kinds.add_engine(group)
    kinds.add_output(command)


def _separable(command: argparse.ArgumentParser) -> None:
    _search(command, "tol")


COMMANDS = (
    Command(
        "margin", "compute the largest margin between two classes, with certified bounds", "examples", _search
    ),
    Command("separable", "decide whether two classes are linearly separable", "examples", _separable),
)
