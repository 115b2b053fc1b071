"""Beams on integer data against brute force: of all prefixes, the best of each last label."""

from __future__ import annotations

import numpy as np
import pytest

from .support import Oracle, average, fit, problem, start


class Beam:
    """A beam by brute force: of all prefixes, the best of each last label, of these the B best."""

    def __init__(self, oracle, X, width):
        self.survivors, self.scores = [], []
        for t in range(len(X)):
            grown = [()] if t == 0 else self.survivors[-1]
            prefixes = [(*prefix, label) for prefix in grown for label in range(oracle.labels)]
            score = {prefix: self.score(oracle, X, prefix) for prefix in prefixes}
            best = {}
            for prefix in sorted(prefixes, key=lambda prefix: (-score[prefix], prefix[::-1])):
                best.setdefault(prefix[-1], prefix)
            kept = sorted(best.values(), key=lambda prefix: (-score[prefix], prefix[-1]))[:width]
            self.survivors.append(kept)
            self.scores.append(score)

    @staticmethod
    def score(oracle, X, prefix):
        features = oracle.features(X[: len(prefix)], prefix)
        if len(prefix) < len(X):
            features.pop(("end", prefix[-1]))
        return sum(oracle.w.get(key, 0) * value for key, value in features.items())

    def best(self, t):
        return self.survivors[t][0]


def beam_learn(oracle, X, y, width, update):
    """Make the update of one sequence; return how many labels differ."""
    beam, y, n = Beam(oracle, X, width), tuple(y), len(X)
    oracle.t += 1
    end = n
    if update == "early":
        lost = [t for t in range(n) if y[: t + 1] not in beam.survivors[t]]
        end = lost[0] + 1 if lost else n
    elif update == "max_violation" and beam.best(n - 1) != y:
        ahead = {
            t + 1: beam.scores[t][beam.best(t)] - beam.score(oracle, X, y[: t + 1])
            for t in range(n)
            if beam.best(t) != y[: t + 1]
        }
        end = min(ahead, key=lambda t: (-ahead[t], t))
    z = beam.best(end - 1)
    if z != y[:end]:
        for sign, labels in ((1, y[:end]), (-1, z)):
            features = oracle.features(X[:end], labels)
            if end < n:
                features.pop(("end", labels[-1]))
            for key, value in features.items():
                oracle.w[key] = oracle.w.get(key, 0) + sign * value
    for key, value in oracle.w.items():
        oracle.total[key] = oracle.total.get(key, 0) + value
    return sum(a != b for a, b in zip(y, z, strict=False))


@pytest.mark.parametrize("update", ["full", "early", "max_violation"])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_beams_learn_what_brute_force_learns(engine, seed, width, update):
    lengths, labels, d = [4, 5, 1, 6, 3], 4, 3
    X, y = problem(100 + seed, d, labels, lengths)
    oracle, ends = Oracle(d, labels, False), np.cumsum(lengths)
    errors = []
    for _ in range(3):
        parts = [(X[e - n : e].tolist(), y[e - n : e]) for n, e in zip(lengths, ends, strict=True)]
        wrong = [beam_learn(oracle, x, truth, width, update) for x, truth in parts]
        errors.append((sum(w > 0 for w in wrong), sum(wrong)))
        if errors[-1][0] == 0:
            break
    report = fit(engine, X, y, lengths, start(d, labels), beam=width, update=update)
    assert list(zip(report["sequence_errors"], report["token_errors"], strict=True)) == errors
    for name, values in oracle.arrays(oracle.w).items():
        assert report["state"][name].tobytes() == values.tobytes(), name
    averages = average(engine, report["state"])
    for name, values in oracle.arrays(oracle.total, oracle.t + 1).items():
        assert averages[name].tobytes() == values.tobytes(), name
