"""The structured perceptron on linear chains, for label sequences.

Problem
    Rows x_1 ... x_n in a sequence, labels y_1 ... y_n. Choose the labels with the largest score, the
    sum over tokens of ``e[t, y_t] = emission[y_t] . x_t`` and ``pair[y_(t-1), y_t]``, plus a start and an end
    weight; pair is the transition, plus ``pair[y', y] . x_t`` where there are pair weights.
Update rule
    If the choice z is wrong, add c to all that y has and z has not, take c from all that z has and y has
    not, c = eta0 (or see ``aggressive.py``); at the t-th sequence also t c to the sums u. Token by token, y
    before z.
Given
    Rows and labels of the sequences; eta0; the weights and sums to start from.
Result
    The weights; the log of mistakes, from which the sums are made.
Paper
    M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002: figure 1, with the
    averaged parameters of section 2.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.reference import arith
from perceptron_rs.reference.structured.lattice import Labels, search
from perceptron_rs.reference.structured.prefix import UPDATES

#: The mistakes: the t-th sequence seen was number i, the labels z, or the prefix of them, were chosen, and
#: the step was c.
ChainLog = list[tuple[int, int, Labels, float]]


class ChainWeights:
    """The weights of K labels over d columns, or the sums u of such weights."""

    def __init__(self, emission: Any, transition: Any, start: Any, end: Any, pair: Any = None) -> None:
        self.emission, self.transition = emission, transition  # (d, K) and, a label after another, (K, K)
        self.start, self.end = start, end  # (K,)
        self.pair = pair  # (d, K, K): of a column for a label after another, or None

    def scores(self, x: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return ``e[t, y]`` and ``pair[t, y', y]`` of a sequence."""
        K = len(self.start)
        e = np.stack([x.dots(w) for w in self.emission.T], axis=1)
        e[0] += self.start
        e[-1] += self.end
        if self.pair is None:
            return e, np.broadcast_to(self.transition, (len(x), K, K))
        pair = np.stack([x.dots(w) for w in self.pair.reshape(-1, K * K).T], axis=1)
        return e, pair.reshape(-1, K, K) + self.transition

    def score(self, x: Any, y: Labels) -> float:
        """Return the score of labels y, or of a prefix of them, by the sums of the search."""
        e, pair = self.scores(x)
        score = float(e[0, y[0]])
        for t in range(1, len(y)):
            score = float((score + pair[t, y[t - 1], y[t]]) + e[t, y[t]])
        return score

    def square(self) -> float:
        """Return the squared norm: of each label by rule 3, of the frame, and of each pair of labels."""
        frame = np.concatenate([self.transition.ravel(), self.start, self.end])  # whole numbers
        pairs = np.zeros((0, 0)) if self.pair is None else self.pair.reshape(len(self.pair), -1)
        vectors = [*self.emission.T, frame, *pairs.T]
        return arith.total([arith.row_square(np.arange(len(w)), w) for w in vectors])

    def update(self, c: float, x: Any, y: Labels, z: Labels) -> None:
        """Add c to what y has and z has not, take c from what z has and y has not; z may be a prefix."""
        if not np.isfinite(c):  # c times a stored zero would count, and times one left out would not
            raise FloatingPointError
        for t in range(len(z)):
            for step, label in ((c, y), (-c, z)):
                if y[t] != z[t]:
                    self.emission[x[t].columns, label[t]] += step * x[t].values
                    if t == 0:
                        self.start[label[t]] += step
                    if t == len(x) - 1:
                        self.end[label[t]] += step
                if t > 0 and (y[t - 1], y[t]) != (z[t - 1], z[t]):
                    self.transition[label[t - 1], label[t]] += step
                    if self.pair is not None:
                        self.pair[x[t].columns, label[t - 1], label[t]] += step * x[t].values


class ChainSteps:
    """Steps of one length."""

    def __init__(self, c: float) -> None:
        self.c = c

    def step(self, w: ChainWeights, x: Any, y: Labels, z: Labels, score: float) -> float:
        """Return the step of the mistake z, which has this score, on the sequence x of the labels y."""
        return self.c


def learn(
    x: Sequence[Any],
    y: Sequence[Labels],
    steps: ChainSteps,
    w: ChainWeights,
    order: list[int],
    t: int,
    seen: Any,
    option: Any,
) -> ChainLog:
    """Run through the sequences of an epoch; return the log of mistakes. ``seen`` notes the answers.

    ``option`` says how many labels the search keeps (``beam``), and what is learnt from (``update``).
    """
    log: ChainLog = []
    for i in order:
        t += 1
        e, pair = w.scores(x[i])
        lattice = search(e, pair, option.beam)
        seen[i] = lattice.answer(len(e))
        z = UPDATES[option.update](lattice, y[i], e, pair)
        if (z != y[i][: len(z)]).any():
            c = steps.step(w, x[i], y[i], z, lattice.score(len(z)))
            w.update(c, x[i], y[i], z)
            log.append((t, i, z, c))
    return log


def add_mistakes(x: Sequence[Any], y: Sequence[Labels], u: ChainWeights, log: ChainLog) -> None:
    """``u += (t c)`` for each mistake, as the averaged perceptron."""
    for t, i, z, c in log:
        u.update(t * c, x[i], y[i], z)
