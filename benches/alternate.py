"""Work timed in turns: a machine that is shared is not as fast from one second to the next."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def alternate(runs: int, *works: Callable[[], Any]) -> list[float]:
    """Return the median seconds of each of the works, run in turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(runs):
        for work, seconds in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in times]
