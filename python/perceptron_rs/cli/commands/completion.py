"""``perceptrons completion``: a script by which a shell completes commands and options."""

from __future__ import annotations

import argparse
from argparse import Namespace
from typing import Any

from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.options import parser
from perceptron_rs.cli.status import Status

__all__ = ["run"]

FILES = ("DATA", "FILE", "FILE.npy", "MODEL", "OUT")


def run(arguments: Namespace) -> int:
    """Print the script, as shtab makes it of the parser."""
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise CommandError("completion scripts are made by shtab: pip install shtab") from error
    top = parser()
    _complete_files(top, shtab.FILE)
    print(shtab.complete(top, arguments.shell))
    return Status.SUCCESS


def _complete_files(place: argparse.ArgumentParser, files: Any) -> None:
    """Say which arguments are names of files, in this parser and those below it."""
    for action in place._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _complete_files(below, files)
        elif action.metavar in FILES:
            action.complete = files  # type: ignore[attr-defined]
