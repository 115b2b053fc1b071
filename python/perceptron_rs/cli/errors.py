"""Errors that are the user's to mend: one line on standard error, and an exit status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["PROGRAM", "CommandError", "UsageError", "about", "one_line"]

PROGRAM = "perceptrons"


class CommandError(Exception):
    """Bad data, a bad model, or arguments that do not go with them: exit status 1."""


class UsageError(CommandError):
    """Options that do not go together: exit status 2."""


def one_line(error: BaseException, text: str | None = None) -> str:
    """Return the text of any error in one line, or another one; its type if it has no text."""
    if text is not None:
        return " ".join(text.split())
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror.lower()}"
    if isinstance(error, MemoryError):
        return f"out of memory: {' '.join(str(error).split()) or 'the data does not fit'}"
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def about(path: Path | str) -> Iterator[None]:
    """Name the file in whatever goes wrong while a library reads it."""
    try:
        yield
    except (CommandError, BrokenPipeError):
        raise
    except Exception as error:
        # Readers of damaged files raise what their parts raise: zlib.error, BadZipFile, struct.error, ...
        from perceptron_rs.cli.words import text_of

        text = text_of(error)
        raise CommandError(text if str(path) in text else f"{path}: {text}") from error
