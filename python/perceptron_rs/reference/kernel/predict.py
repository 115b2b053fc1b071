"""The vectors of a run on new rows: the last one, the average, the vote, one that was drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.named import State
from perceptron_rs.float_mode import standard
from perceptron_rs.reference import arith
from perceptron_rs.reference.kernel.gram import kernel_matrix, same_columns
from perceptron_rs.reference.linear.averaged import mean
from perceptron_rs.reference.linear.voted import check_entries, vote_signs
from perceptron_rs.reference.rows import Rows
from perceptron_rs.settings import KernelSpec

_UNSCALED = ("sum", "last", "average", "vote", "joint vote", "drawn")
ANSWERS = (*_UNSCALED, "normalised last", "normalised average", "normalised drawn")


@standard()
def kernel_scores(
    rows: Rows,
    stored_rows: Rows,
    state: State,
    *,
    kernel: KernelSpec,
    answers: Sequence[str],
    tie: str,
    threads: int,
) -> NDArray[np.float64]:
    """Answers of the vectors of a log for every row.

    Parameters
    ----------
    rows, stored_rows : made by ``dense_rows`` or ``csr_rows``
        n examples to judge; the rows that the log names. Precomputed rows hold the kernel values
        with the stored rows, of which the number alone matters.
    state : dict of arrays
        ``intercept`` float64 (K,): that of the start; the log of the mistakes that made the other
        vectors, ``log_start``, ``log_row``, ``log_t``, ``log_step`` and ``log_bias``, the steps of the
        intercept. For each vector, those of a plane one after another and the start first,
        ``log_count`` int64: its votes, and ``log_norm`` float64: its N. ``seen`` int64 (K,): T, and
        ``drawn`` int64 (K,): the number of one vector of each plane.
    kernel : KernelSpec
    answers : sequence of str
        "sum": S of the last vector; "last": S + b; "average": of all vectors, by the examples that they
        saw; "vote": the sum of the counts, each with the sign of its S + b; "joint vote": for the vectors of
        all planes at a time, the sum of the counts of those whose largest S + b is that of the plane, and of
        no other one; "drawn": S + b of the drawn vector. With "normalised " before
        "last", "average" and "drawn", each S + b is divided by the root of its vector's N, and the average
        is weighted by the counts.
    tie : "mistake" or "positive"
        Whether an activation of 0 is a vote for neither side, or for.
    threads : int

    Returns
    -------
    float64 array of shape (n, A, K)

    Raises
    ------
    ValueError
        If the arguments do not fit together.
    OverflowError
        If an activation is not finite.
    """
    same_columns(kernel, rows, stored_rows)
    _check_log(stored_rows, state)
    for answer in answers:
        if answer not in ANSWERS:
            raise ValueError(f"answers must be one of {', '.join(map(repr, ANSWERS))}, got {answer!r}")
    values = kernel_matrix(rows, stored_rows, kernel=kernel, threads=threads)
    K = len(state["log_start"]) - 1
    out = np.empty((rows.shape[0], len(answers), K))
    joint_votes = _joint_votes(values, state) if "joint vote" in answers else np.zeros((len(values), K))
    for k in range(K):
        judged = _judge(values, state, k, tie) | {"joint vote": joint_votes[:, k]}
        for i, answer in enumerate(answers):
            out[:, i, k] = judged[answer]
            if not (np.isfinite(out[:, i, k]).all() and np.isfinite(judged["last"]).all()):
                raise OverflowError("rows: the activation of a vector is not finite; scale the features")
    return out


def _judge(values: NDArray[np.float64], state: State, k: int, tie: str) -> dict[str, NDArray[np.float64]]:
    """Return all answers of one plane; ``values`` are those of rows and stored rows."""
    begin, end = int(state["log_start"][k]), int(state["log_start"][k + 1])
    counts, norms = (state[name][begin + k : end + k + 1] for name in ("log_count", "log_norm"))
    S, U, shares = (np.zeros(len(values)) for _ in range(3))
    votes = np.zeros(len(values), dtype=np.int64)
    b, b_u = float(state["intercept"][k]) + 0.0, 0.0
    drawn = normalised_drawn = S
    for vector in range(end - begin + 1):
        if vector:
            i = begin + vector - 1
            row, t = values[:, state["log_row"][i]], int(state["log_t"][i])
            c, bias = float(state["log_step"][i]), float(state["log_bias"][i])
            S, U = S + c * row, U + (t * c) * row
            b, b_u = b + bias, b_u + t * bias
        a = S + b
        votes += counts[vector] * vote_signs(a, tie)
        if counts[vector] > 0:
            shares = shares + float(counts[vector]) * arith.normalised(a, float(norms[vector]))
        if vector == state["drawn"][k]:
            drawn, normalised_drawn = a, arith.normalised(a, float(norms[vector]))
    seen = state["seen"][k : k + 1]
    mean_b = mean(np.array([b]), np.array([b_u]), seen)[0]
    return {
        "sum": S,
        "last": S + b,
        "average": mean(S, U, seen) + mean_b,
        "vote": votes.astype(np.float64),
        "drawn": drawn,
        "normalised last": arith.normalised(S + b, float(norms[-1])),
        "normalised average": shares / max(1, int(np.add.accumulate(counts)[-1])),
        "normalised drawn": normalised_drawn,
    }


def _joint_votes(values: NDArray[np.float64], state: State) -> NDArray[np.float64]:
    """Return the votes for each plane; a mistake changes the vectors of several planes at once."""
    seen = [int(number) for number in state["seen"]]
    if len(set(seen)) > 1:
        raise ValueError(f"seen must be one number in a joint vote, got {seen}")
    outside = state["log_t"][(state["log_t"] < 1) | (state["log_t"] > seen[0])]
    if len(outside):
        raise ValueError(f"log_t must be from 1 to seen, {seen[0]}, in a joint vote, got {outside[0]}")
    planes = np.repeat(np.arange(len(seen)), np.diff(state["log_start"]))
    S, b = np.zeros((len(values), len(seen))), state["intercept"] + 0.0
    votes, before = np.zeros(S.shape, dtype=np.int64), 1
    for t in [*np.unique(state["log_t"]).tolist(), seen[0] + 1]:
        largest = S + b == np.max(S + b, axis=1, keepdims=True)
        alone = np.count_nonzero(largest, axis=1, keepdims=True) == 1
        votes += (t - before) * (largest & alone)
        for i in np.flatnonzero(state["log_t"] == t):
            k = planes[i]
            S[:, k] += state["log_step"][i] * values[:, state["log_row"][i]]
            b[k] = b[k] + float(state["log_bias"][i])
        before = t
    return votes.astype(np.float64)


def _check_log(stored_rows: Rows, state: State) -> None:
    """Raise ValueError for a log whose arrays do not agree, or that names rows that are not there."""
    entries, K = check_entries(stored_rows, state), len(state["log_start"]) - 1
    lengths = dict.fromkeys(("log_step", "log_bias", "log_t"), entries)
    lengths |= dict.fromkeys(("intercept", "seen", "drawn"), K)
    lengths |= dict.fromkeys(("log_count", "log_norm"), entries + K)
    for name, length in lengths.items():
        if len(state[name]) != length:
            raise ValueError(f"{name} must have {length} entries, got {len(state[name])}")
    for name in ("log_t", "seen", "log_count", "drawn"):
        if (state[name] < 0).any():
            raise ValueError(f"counts must be at least 0, got {state[name].min()}")
    if np.add.accumulate(state["log_count"].astype(object))[-1] >= 2**63:
        raise ValueError("log_count must add up to less than 2^63")
