"""Parse, run, and end with the exit status that shells expect."""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import shlex
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from importlib import import_module

from perceptron_rs.cli.late_imports import import_late
from perceptron_rs.cli.options import parse_arguments
from perceptron_rs.cli.signals import Terminated, raise_terminated
from perceptron_rs.cli.status import PROGRAM, Status, UsageError
from perceptron_rs.cli.words import text_of
from perceptron_rs.errors import ArgumentError, OptionsError
from perceptron_rs.io.options import FileOptions

#: What the system says of a full or broken disk, or of a closed file.
_OF_OUTPUT = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG)

#: Commands whose DATA is looked at where it cannot be read.
_OF_MODELS = ("predict", "evaluate", "reproduce", "tag-evaluate")
_PROPOSED = ("train", "separable", "margin", *_OF_MODELS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments after the name of the program; ``sys.argv`` by default.

    Returns
    -------
    int
        Exit status, one of ``perceptron_rs.cli.status.Status``.

    Examples
    --------
    >>> from perceptron_rs.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    perceptrons ...
    0
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if argv is not None:  # called as a function: the process and its output belong to somebody else
        return _run(argv)
    # No number of ours comes from BLAS, whose threads wait busily when NumPy has been loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import_late()
    gc.set_threshold(1 << 16)  # of what imports make there is no garbage, and to look for it takes long
    _write_utf8()
    with raise_terminated():
        status = _run(None)
    if status in (Status.HANGUP, Status.INTERRUPTED, Status.TERMINATED):
        os._exit(status)  # a thread may wait for a pipe, and the interpreter would wait for the thread
    gc.freeze()  # the interpreter would look through all of it for garbage, again and again, when it ends
    return status


def _keep_memory() -> None:
    """Let what is freed stay with the process: to clear memory anew takes a tenth of a training."""
    from ctypes import CDLL

    with suppress(AttributeError, OSError, TypeError):  # of glibc alone
        library = CDLL(None)
        library.mallopt(-1, 1 << 30)  # M_TRIM_THRESHOLD
        library.mallopt(-3, 1 << 25)  # M_MMAP_THRESHOLD, the largest


def _write_utf8() -> None:
    """Write UTF-8 whatever the locale is: pipes of Windows, and the locale C, cannot hold all labels.

    Names of files come out as the bytes that they are, where names are bytes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            errors = "surrogateescape" if os.name == "posix" else "backslashreplace"
            stream.reconfigure(encoding="utf-8", errors=errors)


def _run(argv: Sequence[str] | None) -> int:
    arguments: Namespace | None = None
    try:
        with warnings.catch_warnings():
            words = sys.argv[1:] if argv is None else argv
            arguments = parse_arguments(words)
            arguments.typed = tuple(words)
            if hasattr(arguments, "data"):
                arguments.words = arguments.data
                from perceptron_rs.cli.data import data_of

                arguments.data = data_of(arguments.data)
                if argv is None:
                    _keep_memory()
            warnings.filterwarnings("default", category=UserWarning)
            warnings.showwarning = _show_warning
            command = import_module(f"perceptron_rs.cli.commands.{arguments.command.replace('-', '_')}")
            status = int(command.run(arguments))
            sys.stdout.flush()
            return status
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt as end:
        _silence_stdout(argv)
        with suppress(OSError):  # with SIGHUP the terminal may be gone
            _complain(str(end) or "interrupted")
        return end.status if isinstance(end, Terminated) else Status.INTERRUPTED
    except BrokenPipeError:
        _silence_stdout(argv)
        return Status.CLOSED_PIPE
    except (ValueError, TypeError, MemoryError, OverflowError, OSError) as error:
        place = ""
        if isinstance(error, OSError) and error.filename is None and error.errno in _OF_OUTPUT:
            _silence_stdout(argv)
            place = "standard output: "
        _complain(f"error: {place}{text_of(error)}")
        if (instead := _command_instead(arguments, error)) is not None:
            _complain(f"try: {instead}")
        return Status.WRONG_USAGE if isinstance(error, UsageError | OptionsError) else Status.FAILURE


def _command_instead(arguments: Namespace | None, error: Exception) -> str | None:
    """Return what to type where a command cannot read DATA; None if it is another error."""
    cause = error if isinstance(error, ArgumentError) else error.__context__  # the error of a line
    facts = cause.facts if isinstance(cause, ArgumentError) else {}
    if arguments is not None and isinstance(meant := facts.get("meant"), str):  # a name in other letters
        wrong = re.compile(rf"(^|[,=]){re.escape(str(facts['column']))}(?=,|$)")
        typed = [wrong.sub(lambda found: found[1] + meant, word) for word in arguments.typed]
        return f"{PROGRAM} {shlex.join(typed)}"
    if arguments is not None and "header" in facts and arguments.words == ["-"]:  # a row without names
        return f"(echo {shlex.quote(facts['header'])}; cat) | {PROGRAM} {shlex.join(arguments.typed)}"
    if (
        arguments is None
        or arguments.command not in _PROPOSED
        or not isinstance(error, ValueError | TypeError)
    ):
        return None
    if isinstance(error, UsageError) or len(words := arguments.words) > 1 or words[0] == "-":
        return None
    from perceptron_rs.cli.proposal.files import proposal

    if arguments.command in _OF_MODELS:
        return proposal(words[0], arguments.typed, is_known=True)
    described = {option.name for option in fields(FileOptions)} & vars(arguments).keys()
    is_chosen = arguments.command == "train" and (arguments.is_named or arguments.continued is not None)
    if described - {"target"} or is_chosen:
        return None  # who says how to read it knows more of it
    return proposal(words[0], arguments.typed, vars(arguments).get("target"))


def _complain(text: str) -> None:
    if sys.stderr is not None:
        print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)


def _silence_stdout(argv: Sequence[str] | None) -> None:
    """Let the interpreter flush what is left into nothing when it ends."""
    if argv is not None:
        return
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass  # not a file: a test's or a caller's own object


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    said = message.args[0] if isinstance(message, Warning) and message.args else message
    text = text_of(said) if isinstance(said, ArgumentError) else str(message)
    _complain(f"warning: {' '.join(text.split())}")
