"""What is learnt from a wrong answer: the whole of it, or a prefix.

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

from collections.abc import Callable

import numpy as np

from perceptron_rs.arrays.named import Floats
from perceptron_rs.reference.structured.lattice import Labels, Lattice


def full(lattice: Lattice, y: Labels, e: Floats, pair: Floats) -> Labels:
    """Return the answer."""
    return lattice.answer(len(y))


def early(lattice: Lattice, y: Labels, e: Floats, pair: Floats) -> Labels:
    """Return the prefix up to the token where the beam loses the truth, else the answer."""
    kept = kept_prefixes(lattice, y)
    return lattice.answer(len(y) if all(kept) else kept.index(False) + 1)


def max_violation(lattice: Lattice, y: Labels, e: Floats, pair: Floats) -> Labels:
    """Return the prefix that is ahead of the truth by most; the answer if it is right."""
    answer = lattice.answer(len(y))
    if np.array_equal(answer, y):
        return answer
    longest, most, score, kept = 0, -np.inf, 0.0, kept_prefixes(lattice, y)
    for t in range(len(y)):
        score = (score + pair[t, y[t - 1], y[t]]) + e[t, y[t]] if t > 0 else e[t, y[t]]
        best = lattice.best(t)
        ahead = lattice.delta[t, best] - score
        if not (kept[t] and best == y[t]) and ahead > most:
            longest, most = t + 1, ahead
    return lattice.answer(longest)


UPDATES: dict[str, Callable[[Lattice, Labels, Floats, Floats], Labels]] = {
    "full": full,
    "early": early,
    "max_violation": max_violation,
}


def kept_prefixes(lattice: Lattice, y: Labels) -> list[bool]:
    """Say for each token whether the true prefix up to there is the one kept for its last label."""
    kept: list[bool] = []
    for t, label in enumerate(y):
        comes_from = t == 0 or (kept[-1] and lattice.back[t, label] == y[t - 1])
        kept.append(bool(comes_from and lattice.kept[t, label]))
    return kept
