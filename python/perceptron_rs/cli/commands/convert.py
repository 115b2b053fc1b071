"""``perceptrons convert``: a file as `train` reads it, of one that it cannot read."""

from __future__ import annotations

import sys
from argparse import Namespace

from perceptron_rs.cli.proposal.files import convert
from perceptron_rs.cli.status import CommandError


def run(arguments: Namespace) -> int:
    """Write it to standard output."""
    if not convert(arguments.file, arguments.target, sys.stdout):
        raise CommandError(
            f"{arguments.file}: can be read as it is, or not at all; train {arguments.file} says which"
        )
    return 0
