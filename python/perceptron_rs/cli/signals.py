"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it has begun is undone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Terminated", "noted", "raise_terminated"]

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP


class Terminated(KeyboardInterrupt):
    """A signal asks the process to end, and ends it as Ctrl-C does."""

    def __init__(self, number: int) -> None:
        super().__init__((signal.strsignal(number) or f"signal {number}").lower())
        #: 128 + the number of the signal, as shells report a process that it has ended.
        self.status = 128 + number


@contextmanager
def raise_terminated() -> Iterator[None]:
    """Raise `Terminated` when a signal asks the process to end; what it was told to ignore stays ignored."""
    names = [name for name in _NAMES if hasattr(signal, name)]
    found = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    ours = [number for number, handler in found.items() if handler == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def noted() -> Iterator[list[int]]:
    """Note the numbers of the signals that ask the process to end; what they do besides is as before."""
    found: list[int] = []
    before: dict[int, Any] = {}

    def noting(does: Callable[[int, Any], Any]) -> Callable[[int, Any], Any]:
        def handler(number: int, frame: object) -> Any:
            found.append(number)
            return does(number, frame)

        return handler

    if threading.current_thread() is threading.main_thread():  # which alone has handlers
        for name in ("SIGINT", *_NAMES):
            number = getattr(signal, name, None)
            does = None if number is None else signal.getsignal(number)
            if number is not None and callable(does):
                before[number] = does
                signal.signal(number, noting(does))
    try:
        yield found
    finally:
        for number, does in before.items():
            signal.signal(number, does)


def _raise(number: int, _: object) -> None:
    raise Terminated(number)
