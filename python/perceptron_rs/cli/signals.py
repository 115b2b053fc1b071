"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it has begun is undone."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Terminated", "raise_terminated"]


class Terminated(BaseException):
    """A signal asks the process to end. Like KeyboardInterrupt, it is no error that a command may handle."""

    def __init__(self, number: int) -> None:
        super().__init__((signal.strsignal(number) or f"signal {number}").lower())
        #: 128 + the number of the signal, as shells report a process that it has ended.
        self.status = 128 + number


@contextmanager
def raise_terminated() -> Iterator[None]:
    """Raise `Terminated` when a signal asks the process to end; what it was told to ignore stays ignored."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has no SIGHUP
    found = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    ours = [number for number, handler in found.items() if handler == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, _: object) -> None:
    raise Terminated(number)
