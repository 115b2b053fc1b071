"""Partitions that tests learn from, and that end their worker or change."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROWS, P = 400, 5


def examples(rows=ROWS, columns=5, classes=3):
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, columns)), rng.integers(0, classes, rows)


def cuts(partitions=P, rows=ROWS):
    return np.linspace(0, rows, partitions + 1).astype(int).tolist()


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(flag):
    if not Path(flag).exists():
        Path(flag).touch()
        die()


@dataclass
class Part:
    """A partition that is read on its worker; ``trouble`` is "", "always", "once" or "changing"."""

    number: int
    trouble: str = ""
    flag: str = ""

    def __call__(self):
        if self.trouble == "always":
            die()
        if self.trouble == "once":
            die_once(self.flag)
        X, y = examples()
        begin, end = cuts()[self.number : self.number + 2]
        if self.trouble == "changing" and Path(self.flag).exists():
            X[begin, 0] += 1
        return X[begin:end], y[begin:end]
