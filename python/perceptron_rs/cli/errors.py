"""Errors that are the user's to mend: one line on standard error, and an exit status."""

from __future__ import annotations

__all__ = ["PROGRAM", "CommandError", "UsageError"]

PROGRAM = "perceptrons"


class CommandError(ValueError):
    """Bad data, a bad model, or arguments that do not go with them: exit status 1."""


class UsageError(CommandError):
    """Options that do not go together: exit status 2."""
