"""What is proposed: a command, behind those that make another file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple


class Proposal(NamedTuple):
    """A proposed command: DATA, its options, and the shell commands that make that file of another one."""

    word: str
    options: list[str]
    command: str
    steps: list[str]
    is_short: bool = False  # so that nothing follows for the options

    def after(self, *steps: str) -> Proposal:
        """Return it behind other steps."""
        return self._replace(steps=[*steps, *self.steps])


def to_train(word: str, *options: str, command: str = "train", steps: Sequence[str] = ()) -> Proposal:
    """Propose to train."""
    return Proposal(word, list(options), command, list(steps))


def unused(name: str) -> str:
    """Return a name that no file has yet: a file that is there is somebody's, perhaps the one to read."""
    path = Path(name)
    names = (name if number == 1 else f"{path.stem}.{number}{path.suffix}" for number in count(1))
    return next(one for one in names if not Path(one).exists())


def by_python(code: str, new: str) -> str:
    """Return the command that writes what a line of Python prints."""
    return f"python -c {shlex.quote(code)} > {shlex.quote(new)}"


def most(lines: Sequence[str], holds: Callable[[str], object]) -> bool:
    """Whether something holds for nearly all lines."""
    return 20 * sum(map(bool, map(holds, lines))) >= 19 * len(lines)
