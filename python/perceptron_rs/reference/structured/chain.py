"""The structured perceptron on linear chains, for label sequences.

Problem
    Rows x_1 ... x_n in a sequence, labels y_1 ... y_n. Choose the labels with the largest score, the
    sum over tokens of ``e[t, y_t] = emission[y_t] . x_t`` and ``pair[y_(t-1), y_t]``, plus a start and an end
    weight; pair is the transition, plus ``pair[y', y] . x_t`` where there are pair weights.
Update rule
    If the choice z is wrong, add c to all that y has and z has not, take c from all that z has and y has
    not, c = eta0; at the t-th sequence also t c to the sums u. Token by token, y before z.
Given
    Rows, labels, lengths; eta0, a seed or none, epochs; the weights and sums to start from.
Result
    Weights, sums, T; for each epoch the wrong sequences and wrong tokens.
Paper
    M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002: figure 1, with the
    averaged parameters of section 2.5.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import SequenceReport, State
from perceptron_rs.reference import arith
from perceptron_rs.reference.error import overflow
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.rows.scores import check_canonical
from perceptron_rs.reference.structured.lattice import Lattice
from perceptron_rs.reference.structured.prefix import UPDATES, compare
from perceptron_rs.reference.structured.sequences import sequences
from perceptron_rs.reference.structured.update import update as change
from perceptron_rs.reference.structured.weights import check, emissions, names, pairs

__all__ = ["sequence_average", "sequence_fit"]


@arith.standard()
def sequence_fit(
    rows: Any,
    labels: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    *,
    state: State,
    eta0: float,
    seed: int | None,
    first_epoch: int,
    max_iter: int,
    beam: int | None = None,
    update: str = "full",
    chosen: NDArray[np.uint32] | None = None,
    average_only: bool = False,
) -> SequenceReport:
    """Learn from sequences until an epoch is clean, or ``max_iter`` of them.

    Parameters
    ----------
    rows : made by ``dense_rows`` or ``csr_rows``
        n tokens of d columns.
    labels : uint32 array of shape (n,)
        Below K.
    lengths : int64 array
        Of the sequences, which lie one after another.
    state : dict
        ``emission`` (d, K), ``transition`` (K, K), ``start`` (K,), ``end`` (K,), perhaps ``pair`` (d, K * K);
        the same with ``_u``; ``seen`` int64 (1,), the sequences seen. It is not modified.
    eta0 : float
    seed : int or None
        None: the given order.
    first_epoch, max_iter : int
    beam : int or None
        How many labels of a token are kept in the search.
    update : {"full", "early", "max_violation"}
        The prefix that is learnt from; all but the first need a beam.
    chosen : uint32 array or None
        Numbers of the sequences to learn from; the orders are permutations of this list.
    average_only : bool
        Whether the averaged weights take the place of weights and sums in the report.

    Returns
    -------
    SequenceReport
    """
    check_canonical(rows)
    parts = sequences(lengths, rows.shape[0])
    n_labels = check(state, rows.shape[1])
    if check(state, rows.shape[1], "_u") != n_labels:
        raise ValueError("sums must have the shapes of the weights")
    if labels.shape != (rows.shape[0],):
        raise ValueError(f"labels must have {rows.shape[0]} entries, one for each row, got {len(labels)}")
    if len(labels) and labels.max() >= n_labels:
        raise ValueError(f"labels must be below {n_labels}, got {labels[labels >= n_labels][0]}")
    if not 0 < eta0 < math.inf:
        raise ValueError(f"eta0 must be finite and above 0, got {eta0}")
    if beam == 0:
        raise ValueError("beam must be at least 1, got 0; None looks at all labels")
    if update not in UPDATES:
        raise ValueError(f"update must be one of {UPDATES}, got {update!r}")
    if update != "full" and beam is None:
        raise ValueError('update must be "full" without a beam; give a beam')

    chosen = np.arange(len(parts), dtype=np.uint32) if chosen is None else chosen
    if len(chosen) and chosen.max() >= len(parts):
        wrong = chosen[chosen >= len(parts)][0]
        raise ValueError(f"chosen must be below the number of sequences, {len(parts)}, got {wrong}")

    state = {name: array.copy() for name, array in state.items()}
    sequence_errors: list[int] = []
    token_errors: list[int] = []
    epoch = first_epoch
    for epoch in range(first_epoch, first_epoch + max_iter):
        order = chosen
        if seed is not None:
            order = chosen[permutation(len(chosen), seed=seed, epoch=epoch, partition=0)]
        sequence_errors.append(0)
        token_errors.append(0)
        for i in order:
            try:
                wrong = visit(state, rows, parts[i], labels[parts[i]], eta0, beam, update)
            except FloatingPointError:
                raise overflow(epoch) from None
            sequence_errors[-1] += wrong > 0
            token_errors[-1] += wrong
        if not all(np.isfinite(array).all() for array in state.values()):
            raise overflow(epoch)
        if sequence_errors[-1] == 0:
            break
    averages = sequence_average(state)
    if not all(np.isfinite(array).all() for array in averages.values()):
        raise overflow(epoch)
    return {
        "state": averages | {"seen": state["seen"]} if average_only else state,
        "sequence_errors": np.array(sequence_errors, dtype=np.int64),
        "token_errors": np.array(token_errors, dtype=np.int64),
        "stopped": "clean" if sequence_errors and sequence_errors[-1] == 0 else "max_iter",
    }


def visit(
    state: State,
    rows: Any,
    numbers: NDArray[np.intp],
    truth: NDArray[np.uint32],
    eta0: float,
    beam: int | None,
    update: str,
) -> int:
    """Look for the labels of one sequence and learn from them; return how many differ."""
    state["seen"] += 1
    e, pair = emissions(rows, numbers, state), pairs(rows, numbers, state)
    lattice = Lattice.fill(e, pair, beam=beam)
    path = compare(lattice, update, truth, e, pair)
    if len(path) == 0:
        return 0
    truth = truth[: len(path)]
    tc = arith.timed(int(state["seen"][0]), eta0)
    if not math.isfinite(tc):
        raise FloatingPointError
    change(state, "", eta0, rows, numbers, truth, path)
    change(state, "_u", tc, rows, numbers, truth, path)
    return int(np.count_nonzero(truth != path))


@arith.standard()
def sequence_average(state: State) -> State:
    """Return the averaged weights of a state, by the names of its weights."""
    return {name: arith.average(state[name], state[f"{name}_u"], state["seen"]) for name in names(state)}
