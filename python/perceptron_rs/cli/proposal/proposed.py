"""What is proposed: a command, behind those that make another file."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

#: A text as Python code has it; the shell's quotes around it are others.
quoted = partial(json.dumps, ensure_ascii=False)


class Proposal(NamedTuple):
    """A proposed command: DATA, its options, and the shell commands that make that file of another one."""

    word: str
    options: list[str]
    command: str
    steps: list[str]
    is_short: bool = False  # so that nothing follows for the options
    note: str = ""  # what becomes of the labels, which follows from this file
    is_by_hand: bool = False  # somebody must write labels into that file, before the command

    def after(self, *steps: str) -> Proposal:
        """Return it behind other steps."""
        return self._replace(steps=[*steps, *self.steps])


def to_train(
    word: str, *options: str, command: str = "train", steps: Sequence[str] = (), **more: Any
) -> Proposal:
    """Propose to train."""
    return Proposal(word, list(options), command, list(steps), **more)


def made(word: str, ending: str, program: str, *options: str, **more: Any) -> Proposal:
    """Propose to train on the file that a program makes of one."""
    new, step = written(word, ending, program)
    return to_train(new, *options, steps=[step], **more)


def unused(name: str) -> str:
    """Return a name that no file has yet: a file that is there is somebody's, perhaps the one to read."""
    path = Path(name)
    names = (name if number == 1 else f"{path.stem}.{number}{path.suffix}" for number in count(1))
    return next(one for one in names if not Path(one).exists())


def written(word: str, ending: str, program: str) -> tuple[str, str]:
    """Return the file that a program makes of one, and the command that does it."""
    new = unused(f"{Path(word).with_suffix('').name}{ending}")
    return new, f"{program} {shlex.quote(word)} > {shlex.quote(new)}"


def python(code: str) -> str:
    """Return a program of one line of Python: it finds the name of its file in ``sys.argv``."""
    return f"python -c {shlex.quote(code)}"


def most(lines: Sequence[str], holds: Callable[[str], object]) -> bool:
    """Whether something holds for nearly all lines."""
    return 20 * sum(map(bool, map(holds, lines))) >= 19 * len(lines)


def parted(name: str) -> str:
    """Return the note on numbers that become classes."""
    return f"this is a classifier: the numbers of {name} become two classes"
