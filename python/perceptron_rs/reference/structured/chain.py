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
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.float_mode import foreign, standard
from perceptron_rs.reference.error import overflow
from perceptron_rs.reference.linear.averaged import mean as average
from perceptron_rs.reference.order import permutation
from perceptron_rs.reference.rows import check_canonical
from perceptron_rs.reference.structured.epochs import visit
from perceptron_rs.reference.structured.held_out import held_out_errors
from perceptron_rs.reference.structured.prefix import UPDATES
from perceptron_rs.reference.structured.sequences import sequences
from perceptron_rs.reference.structured.weights import check, names, packed, unpacked
from perceptron_rs.settings import SequenceReport, State

__all__ = ["sequence_average", "sequence_fit"]

ANSWERS = ("state", "average", "last")


@standard()
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
    held_out: NDArray[np.uint32] | None = None,
    patience: int = 1,
    threads: int = 1,  # noqa: ARG001  one thread: the bits do not depend on their number
    answer: str = "state",
    on_epoch: Callable[[int, int, int, int | None], bool | None] | None = None,
    keep_on_interrupt: bool = False,
) -> SequenceReport:
    """Learn from sequences until an epoch is clean, no better one is waited for, or ``max_iter`` of them.

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
        the same with ``_u``; ``seen`` int64 (1,), the sequences seen. It is not modified. Emission and pair
        are matrices in the form CSR: ``emission_indptr`` (int64), ``emission_indices`` (int32),
        ``emission_data``.
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
    held_out : uint32 array or None
        Numbers of sequences that judge each epoch; what the best of them has learnt is returned.
    patience : int
        Epochs without a better one after which ``held_out`` ends the run.
    threads : int
        For the labels of ``held_out``.
    answer : {"state", "average", "last"}
        What is returned: weights and sums, averages alone, or the last weights alone.
    on_epoch : callable or None
        Called after each whole epoch with its number, its wrong sequences and tokens, and the wrong tokens
        of ``held_out``, if any. If it returns True, the run ends.
    keep_on_interrupt : bool
        Whether what has been learnt when Ctrl-C arrives is returned.

    Returns
    -------
    SequenceReport
    """
    check_canonical(rows)
    parts = sequences(lengths, rows.shape[0])
    if beam == 0:
        raise ValueError("beam must be at least 1, got 0; None looks at all labels")
    if update not in UPDATES:
        raise ValueError(f"update must be one of {UPDATES}, got {update!r}")
    if update != "full" and beam is None:
        raise ValueError('update must be "full" without a beam; give a beam')
    if answer not in ANSWERS:
        raise ValueError(f"answer must be one of {ANSWERS}, got {answer!r}")
    if not 0 < eta0 < math.inf:
        raise ValueError(f"eta0 must be finite and above 0, got {eta0}")
    n_labels = check_state(state, rows.shape[1])
    if labels.shape != (rows.shape[0],):
        raise ValueError(f"labels must have {rows.shape[0]} entries, one for each row, got {len(labels)}")
    if len(labels) and labels.max() >= n_labels:
        raise ValueError(f"labels must be below {n_labels}, got {labels[labels >= n_labels][0]}")
    chosen = np.arange(len(parts), dtype=np.uint32) if chosen is None else chosen
    for name, numbers in (("chosen", chosen), ("held_out", held_out)):
        if numbers is not None and len(numbers) and numbers.max() >= len(parts):
            wrong = numbers[numbers >= len(parts)][0]
            raise ValueError(f"{name} must be below the number of sequences, {len(parts)}, got {wrong}")

    w = unpacked(state) | unpacked(state, "_u") | {"seen": state["seen"]}
    w = {name: values + 0 for name, values in w.items()}  # a copy; + 0 turns -0.0 into +0.0
    history: dict[str, list[int]] = {"sequence_errors": [], "token_errors": [], "held_out_errors": []}
    best: State | None = None
    idle, stopped, epoch = 0, "max_iter", first_epoch
    for epoch in range(first_epoch, first_epoch + max_iter):
        order = chosen
        if seed is not None:
            order = chosen[permutation(len(chosen), seed=seed, epoch=epoch, partition=0)]
        history["sequence_errors"].append(0)
        history["token_errors"].append(0)
        try:
            for i in order:
                wrong = visit(w, rows, parts[i], labels[parts[i]], eta0, beam, update)
                history["sequence_errors"][-1] += wrong > 0
                history["token_errors"][-1] += wrong
        except FloatingPointError:
            raise overflow(epoch) from None
        except KeyboardInterrupt:
            if not keep_on_interrupt:
                raise
            stopped = "interrupt"
            break
        if not all(np.isfinite(array).all() for array in w.values()):
            raise overflow(epoch)
        wrong_held_out = None
        if held_out is not None:
            predicting = finite_answer(w, "last" if answer == "last" else "average", epoch)
            wrong_held_out = held_out_errors(rows, labels, parts, held_out, predicting, beam)
            if best is None or wrong_held_out < min(history["held_out_errors"]):
                best, idle = finite_answer(w, answer, epoch), 0
            else:
                idle += 1
            history["held_out_errors"].append(wrong_held_out)
        errors = history["sequence_errors"][-1], history["token_errors"][-1]
        with foreign():
            is_last = on_epoch is not None and on_epoch(epoch, *errors, wrong_held_out)
        if errors[0] == 0:
            stopped = "clean"
        elif held_out is not None and idle >= patience:
            stopped = "held_out"
        elif is_last:
            stopped = "callback"
        if stopped != "max_iter":
            break
    return {
        "state": finite_answer(w, answer, epoch) if best is None else best,
        "sequence_errors": np.array(history["sequence_errors"], dtype=np.int64),
        "token_errors": np.array(history["token_errors"], dtype=np.int64),
        "held_out_errors": np.array(history["held_out_errors"], dtype=np.int64),
        "stopped": stopped,
        "seen": int(w["seen"][0]),
    }


def finite_answer(w: State, answer: str, epoch: int) -> State:
    """Return what is wanted of a run, as it goes to the caller."""
    averages = mean(w)
    if not all(np.isfinite(array).all() for array in averages.values()):
        raise overflow(epoch)
    seen = {"seen": w["seen"].copy()}
    if answer == "average":
        return packed(averages) | seen
    w = {name: array.copy() for name, array in w.items()}
    return packed(w) | (packed(w, "_u") if answer == "state" else {}) | seen


@standard()
def sequence_average(state: State) -> State:
    """Return the averaged weights of a state, by the names of its weights."""
    check_state(state, len(state["emission_indptr"]) - 1)
    return packed(mean(unpacked(state) | unpacked(state, "_u") | {"seen": state["seen"]}))


def check_state(state: State, columns: int) -> int:
    """Return the number of labels; raise ValueError if weights or sums are not as they should be."""
    labels = check(state, columns)
    if check(state, columns, "_u") != labels:
        raise ValueError("sums must have the shapes of the weights")
    return labels


def mean(w: State) -> State:
    """Return the averages of dense weights."""
    return {name: average(w[name], w[f"{name}_u"], w["seen"]) for name in names(w)}
