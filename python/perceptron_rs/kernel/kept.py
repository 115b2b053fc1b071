"""What a kernel perceptron on a budget keeps, as the engines have it; the log of mistakes made of that."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from perceptron_rs.settings import State

__all__ = ["log_of", "nothing"]


def nothing(planes: int, width: int) -> State:
    """Return what is kept before the first mistake, with that many classes to a set."""
    sets, whole = planes // width, np.zeros(0, dtype=np.int64)
    return {
        "kept_start": np.zeros(sets + 1, dtype=np.int64),
        "kept_row": whole,
        "kept_number": whole,
        "kept_step": np.zeros((0, width)),
        "kept_mistakes": np.zeros(sets, dtype=np.int64),
        "kept_harm": np.zeros(sets),
        "kept_factor": np.zeros(0),
    }


def log_of(kept: State, classes: int) -> State:
    """Return what is kept as a log of mistakes, which is what predicts.

    The mistakes have their numbers in the place of t, and their vectors no norms.
    """
    start, steps = kept["kept_start"], kept["kept_step"]
    if steps.shape[1] == 1:
        members = [np.arange(begin, end) for begin, end in pairwise(start)]
        log_step = steps[:, 0]
    else:
        members = [np.flatnonzero(steps[:, k]) for k in range(classes)]
        log_step = np.concatenate([steps[entries, k] for k, entries in enumerate(members)])
    every = np.concatenate(members)
    return {
        "log_start": np.cumsum([0, *map(len, members)], dtype=np.int64),
        "log_row": kept["kept_row"][every],
        "log_t": kept["kept_number"][every],
        "log_step": log_step,
        "log_bias": np.zeros(len(every)),
        "log_norm": np.zeros(len(every)),
    }
