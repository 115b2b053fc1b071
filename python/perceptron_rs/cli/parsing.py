"""An argument parser whose errors are one line, with what was perhaps meant."""

from __future__ import annotations

import argparse
import re
from collections import deque
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from perceptron_rs.cli.status import UsageError

_CHOICE = re.compile(
    r"(?P<what>.*): invalid choice: '(?P<given>.*)' \(choose from (?P<known>.*)\)", re.DOTALL
)
_EXPECTED = re.compile(r"(?P<what>argument --.*): expected (?P<n>one|[0-9]+) arguments?")
#: A value that begins with a minus and is no option: numbers, also several, as of --classes -1,1.
_NEGATIVE = re.compile(r"-[0-9.][-+0-9.,eE]*")


#: Lines on two screens; longer helps leave out what is not usual.
SCREENS = 50
USUAL = {
    *("--help", "--help-all", "--model", "--target", "--text-columns", "--drop", "--text", "--format"),
    *("--scale", "--holdout", "--epochs", "--kernel", "--hidden-layer-sizes", "--budget", "--positive"),
    *("--scores", "--probabilities", "--save", "--skip-bad", "--tag-column", "--held-out", "--json"),
    "--quiet",
}
#: A sentence of the description that only the whole help has in full.
_FORMATS = re.compile(r"(The suffix names the format):.*?(?= Raw text|$)", re.DOTALL)


class _HelpAll(argparse.Action):
    """Prints the help with all options."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:  # noqa: A002  its name
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        assert isinstance(parser, Parser)
        print(parser.whole_help(), end="")
        parser.exit()


class Parser(argparse.ArgumentParser):
    """A parser of a command that takes options as they are written, and raises UsageError.

    Parameters
    ----------
    elsewhere : callable, default=dict
        Returns options that other commands of the same name have, and an error text for each.
    """

    def __init__(self, prog: str, elsewhere: Callable[[], dict[str, str]] = dict, **options: Any) -> None:
        super().__init__(prog, **{"allow_abbrev": False} | options)
        self.add_argument("--help-all", action=_HelpAll, help="show all options, also rare ones, and exit")
        self._elsewhere = elsewhere
        self._negative_number_matcher = _NEGATIVE

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: object = None
    ) -> tuple[Any, list[str]]:
        """Look for unknown options first: one that is misspelt is not a required one that is missing.

        Options may stand before, between and behind the words, of which argparse would take too few.
        """
        if self._subparsers is None and args is not None:
            args = self._words_last(args)
        return super().parse_known_args(args, namespace)

    def _words_last(self, args: Sequence[str]) -> list[str]:
        """Return options with their values, and then the words, in their order."""
        options: list[str] = []
        words: list[str] = []
        rest = deque(args)
        while rest:
            word = rest.popleft()
            name, is_whole, _ = word.partition("=")
            if word == "--":
                words += rest
                break
            if word == "-" or not word.startswith("-") or _NEGATIVE.fullmatch(word):
                words.append(word)
                continue
            action = self._option_string_actions.get(name)
            if action is None and name.startswith("--"):
                meant = _meant(name, self._option_string_actions) or f"; see {self.prog} --help"
                self.error(self._elsewhere().get(name, f"unrecognized option {name}{meant}"))
            options.append(word)
            n_values = 0 if action is None or is_whole else 1 if action.nargs is None else int(action.nargs)
            options += [rest.popleft() for _ in range(min(n_values, len(rest)))]
        return [*options, "--", *words] if words else options

    def switches(self) -> set[str]:
        """Return the options that take no value, here and in the commands below."""
        switches = {name for name, action in self._option_string_actions.items() if action.nargs == 0}
        for action in self._actions:
            for below in action.choices.values() if isinstance(action.choices, dict) else ():
                switches |= below.switches()
        return switches

    def format_help(self) -> str:
        """Return the help, whose first line names what must be given: the options follow."""
        if self.usage is None and self._subparsers is None:
            must = [action for action in self._actions if action.required and action.option_strings]
            words = [f"{action.option_strings[0]} {action.metavar}" for action in must]
            places = {"+": "{0} [{0} ...]", "*": "[{0} ...]"}
            data = [action for action in self._actions if not action.option_strings]
            words[:0] = [places.get(str(action.nargs), "{0}").format(action.metavar) for action in data]
            self.usage = " ".join([self.prog, *words, "[options]"]).replace("%", "%%")
        whole = super().format_help()
        return whole if whole.count("\n") <= SCREENS or self._subparsers is not None else self._usual_help()

    def _usual_help(self) -> str:
        """Return the help without rare options, which --help-all shows."""
        rare = [a for a in self._actions if a.option_strings and not USUAL & {*a.option_strings}]
        texts, description, epilog = [action.help for action in rare], self.description, self.epilog
        self.description = _FORMATS.sub(r"\1.", description or "")
        for action in rare:
            action.help = argparse.SUPPRESS
        self.epilog = f"{len(rare)} more options, and the exit status: {self.prog} --help-all"
        try:
            return super().format_help()
        finally:
            self.description, self.epilog = description, epilog
            for action, text in zip(rare, texts, strict=True):
                action.help = text

    def whole_help(self) -> str:
        """Return the help with all options."""
        self.format_help()  # which notes the first line
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raise it; the exit status of an error in usage is given to the process elsewhere."""
        choice = _CHOICE.fullmatch(message)
        if choice:
            known = re.findall(r"[^', ]+", choice["known"])
            meant = _meant(choice["given"], known) or f"; choose from {', '.join(known)}"
            message = f"{choice['what']}: invalid choice: {choice['given']!r}{meant}"
        if number := _EXPECTED.fullmatch(message):
            name = number["what"].removeprefix("argument ").split("/")[0]
            names = self._option_string_actions[name].metavar or "VALUE"
            shape = names if isinstance(names, str) else " ".join(names)
            many = "a value" if number["n"] == "one" else f"{number['n']} values"
            message = f"{number['what']}: needs {many}; write {name} {shape}"
        raise UsageError(message)


def _meant(word: str, known: Any) -> str:
    """Return a question, whether a known word like this one was meant; empty if none is like it."""
    longer = [name for name in known if name.startswith(word)]
    nearest = longer if len(longer) == 1 else get_close_matches(word, known, n=1, cutoff=0.7)
    return f"; did you mean {nearest[0]}?" if nearest else ""
