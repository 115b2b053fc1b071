"""Work on what is read, on threads, in the order in which it came."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from perceptron_rs.float_mode import standard

T = TypeVar("T")
U = TypeVar("U")

#: More threads than that would wait for the one that reads.
_MOST = 2


def in_order(work: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
    """Give what ``map`` gives, errors too; few items are worked on at once, and few results wait.

    Items are taken before the results of earlier ones are given, on the thread that asks for these.
    """
    n = min(_MOST, _processors())
    waiting: deque[Future[U]] = deque()

    def done(item: T) -> U:
        with standard():
            return work(item)

    threads = ThreadPoolExecutor(n, "perceptrons-parser")
    try:
        for taken in _taken(items):
            waiting.append(taken if isinstance(taken, Future) else threads.submit(done, *taken))
            if len(waiting) > n:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        threads.shutdown(cancel_futures=True)


def _taken(items: Iterable[T]) -> Iterator[tuple[T] | Future[Any]]:
    """Give each item; an error is raised after the results of the items that precede it."""
    try:
        for item in items:
            yield (item,)
    except Exception as error:
        failed: Future[Any] = Future()
        failed.set_exception(error)
        yield failed


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
