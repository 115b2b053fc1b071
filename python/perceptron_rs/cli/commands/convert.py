"""``perceptrons convert``: a file as `train` reads it, of one that it cannot read."""

from __future__ import annotations

import sys
from argparse import Namespace

from perceptron_rs.cli.proposal.files import convert
from perceptron_rs.cli.status import CommandError
from perceptron_rs.cli.words import text_of


def run(arguments: Namespace) -> int:
    """Write it to standard output."""
    file = arguments.file
    try:
        is_written = convert(file, arguments.target, sys.stdout)
    except OSError:
        raise
    except Exception as error:  # of any library that reads files
        raise CommandError(f"{file}: cannot be read: {text_of(error)}") from error
    if not is_written:
        raise CommandError(f"{file}: is read as it is, or not at all; type perceptrons train {file} to see")
    return 0
