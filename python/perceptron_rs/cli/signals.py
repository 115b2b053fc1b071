"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it has begun is undone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

Handler: TypeAlias = Callable[[int, Any], Any]

#: Windows has no SIGHUP.
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Terminated(KeyboardInterrupt):
    """A signal asks the process to end, and ends it as Ctrl-C does."""

    def __init__(self, number: int) -> None:
        super().__init__((signal.strsignal(number) or f"signal {number}").lower())
        #: 128 + the number of the signal, as shells report a process that it has ended.
        self.status = 128 + number


@contextmanager
def raise_terminated() -> Iterator[None]:
    """Raise `Terminated` when a signal asks the process to end; what it was told to ignore stays ignored."""
    ours = (number for number in _ENDING if signal.getsignal(number) == signal.SIG_DFL)
    with _handled(dict.fromkeys(ours, _raise)):
        yield


@contextmanager
def noted() -> Iterator[list[int]]:
    """Note the numbers of the signals that ask the process to end; what they do besides is as before."""
    came: list[int] = []

    def noting(does: Handler) -> Handler:
        def handler(number: int, frame: object) -> Any:
            came.append(number)
            return does(number, frame)

        return handler

    is_main = threading.current_thread() is threading.main_thread()  # which alone has handlers
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *_ENDING) if is_main}
    with _handled({number: noting(does) for number, does in before.items() if callable(does)}):
        yield came


@contextmanager
def _handled(handlers: Mapping[int, Handler]) -> Iterator[None]:
    """Let these functions handle signals, by their numbers, for a while."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, _: object) -> None:
    raise Terminated(number)
