"""Which prefix of a wrong answer is learnt from.

Problem
    With a beam, the best sequence found may score less than the true one, which the search has
    lost. Learning from the whole of both then need not help.
Method
    Learn from a prefix on which the beam's best scores at least as much as the truth. ``"early"``:
    up to the token where the beam loses the true prefix. ``"max_violation"``: up to the token where
    the beam's best prefix is ahead of the true one by most; among equals the shortest, of those
    that differ.
Paper
    M. Collins, B. Roark, "Incremental parsing with the perceptron algorithm", ACL 2004, section 3.3 (early
    update); L. Huang, S. Fayong, Y. Guo, "Structured perceptron with inexact search", NAACL 2012, section 4
    (max-violation).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith
from perceptron_rs.reference.structured.lattice import Lattice

__all__ = ["UPDATES", "compare"]

UPDATES = ("full", "early", "max_violation")


def compare(
    lattice: Lattice,
    update: str,
    truth: NDArray[np.uint32],
    e: NDArray[np.float64],
    pair: NDArray[np.float64],
) -> NDArray[np.uint32]:
    """Return the prefix to be compared with that of the truth; empty if the answer is right."""
    n = len(truth)
    if update == "full":
        return _wrong(lattice, n, truth)
    kept = follow(lattice, truth)
    if update == "early":
        return _wrong(lattice, n if all(kept) else kept.index(False) + 1, truth)
    if len(_wrong(lattice, n, truth)) == 0:
        return truth[:0]
    longest, most, score = 0, -np.inf, 0.0
    for t in range(n):
        score = (
            e[t, truth[t]] if t == 0 else arith.extend(score, pair[t, truth[t - 1], truth[t]], e[t, truth[t]])
        )
        best = lattice.best(t)
        ahead = arith.violation(float(lattice.delta[t, best]), score)
        if not (kept[t] and best == truth[t]) and ahead > most:
            longest, most = t + 1, ahead
    return _wrong(lattice, longest, truth)


def follow(lattice: Lattice, truth: NDArray[np.uint32]) -> list[bool]:
    """Say for each token whether the true prefix up to there is the one kept for its last label."""
    kept: list[bool] = []
    for t, label in enumerate(truth):
        comes_from = t == 0 or (kept[-1] and lattice.back[t, label] == truth[t - 1])
        kept.append(bool(comes_from and lattice.kept[t, label]))
    return kept


def _wrong(lattice: Lattice, n: int, truth: NDArray[np.uint32]) -> NDArray[np.uint32]:
    best = lattice.best(n - 1)
    assert best is not None, "a beam keeps a label of each token"
    path = lattice.trace(n - 1, best)
    return path[:0] if np.array_equal(path, truth[:n]) else path
