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
    ``log_start``, ``log_row``, ``log_t``, ``log_step``: plane by plane, the row, t and c of each mistake.
    With the start vector they are all vectors: ``replay`` makes them again, ``votes`` lets them vote.
Paper
    Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm", Machine
    Learning 37, 1999: figure 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.reference import arith
from perceptron_rs.reference.online.rule import Rule
from perceptron_rs.reference.rows import Mistake, Rows
from perceptron_rs.reference.rows.scores import check_canonical

__all__ = ["Voted", "check_log", "replay"]


class Voted(Rule):
    """The log of each plane."""

    def __init__(self, state: State, fit_intercept: bool) -> None:
        super().__init__(state, fit_intercept)
        self.log: list[list[Mistake]] = [[] for _ in state["intercept"]]

    def absorb(self, rows: Rows, log: list[Mistake]) -> None:  # noqa: ARG002
        """Keep the log."""
        for entry in log:
            self.log[entry.plane].append(entry)

    def memory(self) -> State:
        """Return the log as arrays."""
        entries = [entry for log in self.log for entry in log]
        return {
            "log_start": np.cumsum([0, *map(len, self.log)], dtype=np.int64),
            "log_row": np.array([entry.row for entry in entries], dtype=np.int64),
            "log_t": np.array([entry.t for entry in entries], dtype=np.int64),
            "log_step": np.array([entry.c for entry in entries], dtype=np.float64),
        }


def check_log(stored_rows: Any, state: State) -> None:
    """Raise ValueError for a log that names rows that are not there, or whose arrays do not agree."""
    start, row, entries = state["log_start"], state["log_row"], len(state["log_row"])
    if len(start) < 2 or start[0] != 0 or start[-1] != entries or (start[1:] < start[:-1]).any():
        raise ValueError(
            f"log_start must rise from 0 to {entries}, the number of entries, "
            f"with one number more than there are planes"
        )
    for name in ("log_step", "log_bias"):
        if len(state[name]) != entries:
            raise ValueError(
                f"log_row and {name} must have equal lengths, got {entries} and {len(state[name])}"
            )
        if not np.isfinite(state[name]).all():
            raise ValueError(f"{name} must be finite, got {state[name][~np.isfinite(state[name])][0]}")
    stored, columns = stored_rows.shape
    if entries and not (row.min() >= 0 and row.max() < stored):
        wrong = row[(row < 0) | (row >= stored)][0]
        raise ValueError(f"log_row must name one of {stored} stored rows, got {wrong}")
    check_canonical(stored_rows)
    for name, shape in (("coef", (len(start) - 1, columns)), ("intercept", (len(start) - 1,))):
        if state[name].shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {state[name].shape}")


@arith.standard()
def replay(stored_rows: Any, state: State, *, upto: NDArray[np.int64]) -> State:
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
    sums = {name: state[name] + 0.0 for name in ("coef", "intercept", "coef_u", "intercept_u")}
    for k, first in enumerate(start[:-1]):
        for i in range(first, first + upto[k]):
            row, t = int(state["log_row"][i]), int(state["log_t"][i])
            c, bias = float(state["log_step"][i]), float(state["log_bias"][i])
            stored_rows.axpy(row, c, sums["coef"][k])
            stored_rows.axpy(row, arith.timed(t, c), sums["coef_u"][k])
            sums["intercept"][k] += bias
            sums["intercept_u"][k] += arith.timed(t, bias)
    return sums
