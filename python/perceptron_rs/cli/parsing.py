"""An argument parser whose errors are one line, with what was perhaps meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from perceptron_rs.cli.status import UsageError

__all__ = ["Parser"]

_CHOICE = re.compile(
    r"(?P<what>.*): invalid choice: '(?P<given>.*)' \(choose from (?P<known>.*)\)", re.DOTALL
)
#: A value that begins with a minus and is no option: numbers, also several, as of --classes -1,1.
_NEGATIVE = re.compile(r"-[0-9.][-+0-9.,eE]*")


class Parser(argparse.ArgumentParser):
    """A parser of a command that takes options as they are written, and raises UsageError.

    Parameters
    ----------
    elsewhere : mapping of str to str, default={}
        Options that other commands of the same name have, and an error text for each.
    """

    def __init__(self, prog: str, elsewhere: Mapping[str, str] | None = None, **options: Any) -> None:
        super().__init__(prog, **{"allow_abbrev": False} | options)
        self._elsewhere = elsewhere or {}
        self._negative_number_matcher = _NEGATIVE

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: object = None
    ) -> tuple[Any, list[str]]:
        """Look for unknown options first: one that is misspelt is not a required one that is missing."""
        if self._subparsers is None:
            for word in args or ():
                name = word.partition("=")[0]
                if name == "--":
                    break
                if name.startswith("--") and name not in self._option_string_actions:
                    meant = _meant(name, self._option_string_actions) or f"; see {self.prog} --help"
                    self.error(self._elsewhere.get(name, f"unrecognized option {name}{meant}"))
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        """Return the help, whose first line names what must be given: the options follow."""
        if self.usage is None and self._subparsers is None:
            must = [action for action in self._actions if action.required and action.option_strings]
            words = [f"{action.option_strings[0]} {action.metavar}" for action in must]
            places = {"+": "{0} [{0} ...]", "*": "[{0} ...]"}
            data = [action for action in self._actions if not action.option_strings]
            words[:0] = [places.get(str(action.nargs), "{0}").format(action.metavar) for action in data]
            self.usage = " ".join([self.prog, *words, "[options]"]).replace("%", "%%")
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raise it; the exit status of an error in usage is given to the process elsewhere."""
        choice = _CHOICE.fullmatch(message)
        if choice:
            known = re.findall(r"[^', ]+", choice["known"])
            meant = _meant(choice["given"], known) or f"; choose from {', '.join(known)}"
            message = f"{choice['what']}: invalid choice: {choice['given']!r}{meant}"
        raise UsageError(message)


def _meant(given: str, known: Any) -> str:
    """Return a question for what is like the word that was given; nothing if nothing is."""
    found = get_close_matches(given, known, n=1, cutoff=0.7)
    return f"; did you mean {found[0]}?" if found else ""
