"""The voted perceptron.

Problem
    As the perceptron; predict by a vote of all weight vectors that the run went through, each with
    as many votes as the number of examples that it survived.
Update rule
    The perceptron's. The mistakes at the examples ``t_1 < ... < t_M`` make the vectors 1 ... M, and the
    start vector is number 0. Vector k counts ``t_{k+1} - t_k`` examples: the one that made it and
    those that it got right; the start vector ``t_1 - 1``, the last one ``T + 1 - t_M``. They add up to T.
Given
    What the perceptron is given. A run starts with an empty log.
Result
    The log: the row, t and c of each mistake. With the start vector they are all vectors: ``replay`` makes
    them again, ``votes`` lets them vote.
Paper
    Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm", Machine
    Learning 37, 1999: figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference.linear.perceptron import Learner, Log, Plane, weights
from perceptron_rs.reference.rows import Rows, activations, check_canonical


class Voted(Learner):
    """Keeps the log."""

    def __init__(self, *_: Any) -> None:
        self.log: Log = []

    def epoch(self, number: int, x: Any, order: list[int], log: Log) -> None:
        """Take in the mistakes of an epoch."""
        self.log += log

    @classmethod
    def arrays(cls, learners: Sequence[Voted], last: State) -> State:
        """Return the last weights and the log."""
        return last | log_arrays([learner.log for learner in learners])


@standard()
def votes(rows: Rows, stored_rows: Rows, state: State, *, tie: str, threads: int) -> NDArray[np.int64]:
    """Let all weight vectors vote on every row, each its count with the sign of ``w . x + b``.

    Parameters
    ----------
    rows, stored_rows : made by ``dense_rows`` or ``csr_rows``
        n examples to vote on; the rows that the log names.
    state : dict of arrays
        ``coef``, ``intercept``: the start vectors of K planes; the log of the mistakes that made the others,
        ``log_start``, ``log_row``, ``log_step`` and ``log_bias``, the steps of the intercept; ``log_count``
        int64: the votes of each vector, those of a plane after another, the start vector first.
    tie : "mistake" or "positive"
        Whether an activation of 0 is a vote for neither side, or for.
    threads : int

    Returns
    -------
    int64 array of shape (n, K)

    Raises
    ------
    ValueError
        If the arguments do not fit together.
    OverflowError
        If the activation of a vector that votes is not finite.
    """
    check_canonical(rows)
    check_log(stored_rows, state)
    n, d = rows.shape
    start, counts = state["log_start"], state["log_count"]
    if stored_rows.shape[1] != d:
        raise ValueError(f"stored_rows must have {d} columns like rows, got {stored_rows.shape[1]}")
    K = len(start) - 1
    if counts.shape != (start[-1] + K,):
        raise ValueError(
            f"log_count must have {start[-1] + K} entries, one for each vector, got {counts.size}"
        )
    if (counts < 0).any() or np.add.accumulate(counts.astype(object))[-1] >= 2**63:
        raise ValueError("log_count must be at least 0 and add up to less than 2^63")
    sums = np.zeros((n, K), dtype=np.int64)
    for k in range(K):
        plane = start_of(state, k)
        for vector in range(start[k + 1] - start[k] + 1):
            if vector:
                i = start[k] + vector - 1
                plane.update(float(state["log_step"][i]), stored_rows[state["log_row"][i]])
                plane.b += float(state["log_bias"][i])
            a = activations(rows, plane.w, plane.b)
            if not np.isfinite(a).all():
                raise OverflowError(
                    "rows: the activation of a vector that votes is not finite; scale the features"
                )
            sums[:, k] += counts[start[k] + k + vector] * vote_signs(a, tie)
    return sums


def vote_signs(a: NDArray[np.float64], tie: str) -> NDArray[np.int64]:
    """Return the sign of each activation: 0, which ``tie`` makes a mistake for both classes, has none."""
    sign: NDArray[np.int64] = np.where(a >= 0, 1, -1) if tie == "positive" else np.sign(a).astype(np.int64)
    return sign


@standard()
def replay(stored_rows: Rows, state: State, *, upto: NDArray[np.int64]) -> State:
    """Make the first ``upto[k]`` updates of each plane again, with the bits of training.

    Parameters
    ----------
    stored_rows : made by ``dense_rows`` or ``csr_rows``
        The rows that the log names.
    state : dict of arrays
        ``coef``, ``intercept``, ``coef_u``, ``intercept_u``: what the log starts from; the log ``log_start``,
        ``log_row``, ``log_t``, ``log_step``; and ``log_bias``, the steps of the intercept. Not modified.
    upto : int64 array of shape (K,)

    Returns
    -------
    dict of arrays
        ``coef``, ``intercept``, ``coef_u``, ``intercept_u`` after these updates.

    Raises
    ------
    ValueError
        If the log is not one of these rows.
    """
    check_log(stored_rows, state)
    start, lengths = state["log_start"], np.diff(state["log_start"])
    if upto.shape != lengths.shape or (upto < 0).any() or (upto > lengths).any():
        raise ValueError(f"upto must be from 0 to the number of entries of each plane, {lengths}, got {upto}")
    if len(state["log_t"]) != start[-1]:
        raise ValueError(
            f"log_t must have one number for each of {start[-1]} entries, got {len(state['log_t'])}"
        )
    planes, sums = ([start_of(state, k, suffix) for k in range(len(upto))] for suffix in ("", "_u"))
    for k, (plane, u) in enumerate(zip(planes, sums, strict=True)):
        for i in range(start[k], start[k] + upto[k]):
            x, t = stored_rows[state["log_row"][i]], int(state["log_t"][i])
            c, bias = float(state["log_step"][i]), float(state["log_bias"][i])
            plane.update(c, x)
            u.update(t * c, x)
            plane.b += bias
            u.b += t * bias
    return weights(planes) | weights(sums, "_u")


def start_of(state: State, k: int, suffix: str = "") -> Plane:
    """Return the start vector of a plane. A log says by itself what each entry does to the intercept."""
    w, b = state[f"coef{suffix}"][k] + 0.0, float(state[f"intercept{suffix}"][k] + 0.0)
    return Plane(w, b, fit_intercept=False)


def log_arrays(logs: list[Log]) -> State:
    """Return the logs of all planes as arrays, one after another."""
    entries = [entry for log in logs for entry in log]
    return {
        "log_start": np.cumsum([0, *map(len, logs)], dtype=np.int64),
        "log_row": np.array([i for _, i, _ in entries], dtype=np.int64),
        "log_t": np.array([t for t, _, _ in entries], dtype=np.int64),
        "log_step": np.array([c for _, _, c in entries], dtype=np.float64),
    }


def check_entries(stored_rows: Rows, state: State) -> int:
    """Return how many entries a log has; ValueError for one that is cut up wrongly or names no stored row."""
    start, row, entries = state["log_start"], state["log_row"], len(state["log_row"])
    if len(start) < 2 or start[0] != 0 or start[-1] != entries or (start[1:] < start[:-1]).any():
        raise ValueError(
            f"log_start must rise from 0 to {entries}, the number of entries, "
            f"with one number more than there are planes"
        )
    for name in ("log_step", "log_bias"):
        if not np.isfinite(state[name]).all():
            raise ValueError(f"{name} must be finite, got {state[name][~np.isfinite(state[name])][0]}")
    stored = stored_rows.shape[0]
    if entries and not (row.min() >= 0 and row.max() < stored):
        wrong = row[(row < 0) | (row >= stored)][0]
        raise ValueError(f"log_row must name one of {stored} stored rows, got {wrong}")
    return entries


def check_log(stored_rows: Rows, state: State) -> None:
    """Raise ValueError for a log that names rows that are not there, or whose arrays do not agree."""
    entries, planes = check_entries(stored_rows, state), len(state["log_start"]) - 1
    for name in ("log_step", "log_bias"):
        if len(state[name]) != entries:
            raise ValueError(
                f"log_row and {name} must have equal lengths, got {entries} and {len(state[name])}"
            )
    check_canonical(stored_rows)
    for name, shape in (("coef", (planes, stored_rows.shape[1])), ("intercept", (planes,))):
        if state[name].shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {state[name].shape}")
