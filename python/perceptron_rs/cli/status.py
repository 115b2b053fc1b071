"""How a command ends: the exit statuses, and the errors that are the user's to mend."""

from __future__ import annotations

from enum import IntEnum

PROGRAM = "perceptrons"


class Status(IntEnum):
    """What a command may end with. From 128 on, 128 plus the number of a signal, as shells report it."""

    SUCCESS = 0
    #: Bad data, a bad model, or a difference found by parity or reproduce.
    FAILURE = 1
    #: As argparse has it.
    WRONG_USAGE = 2
    NOT_SEPARABLE = 3
    UNDECIDED = 4
    HANGUP = 129
    INTERRUPTED = 130
    CLOSED_PIPE = 141
    TERMINATED = 143


EPILOG = """\
exit status: 0 success; 1 bad data or model, or a difference found by parity or reproduce; 2 wrong usage;
3 not separable; 4 undecided; 129 ended by SIGHUP; 130 interrupted by Ctrl-C; 141 standard output was closed;
143 ended by SIGTERM."""


class CommandError(ValueError):
    """Bad data, a bad model, or arguments that do not go with them: exit status 1."""


class UsageError(CommandError):
    """Options that do not go together: exit status 2."""
