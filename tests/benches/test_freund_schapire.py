"""The arithmetic of the experiment, against enumeration and against fits of the shorter runs."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from perceptron_rs import KernelPerceptron

BENCHES = Path(__file__).parents[2] / "benches"
EPOCHS = [1, 2, 5, 40]


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHES))
        yield importlib.import_module("freund_schapire")
        for name in ("freund_schapire", "drawn", "data"):
            del sys.modules[name]


@pytest.fixture(scope="module")
def three() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    X = random.integers(0, 5, (60, 3)).astype(np.uint8)
    y = (X[:, 0] + X[:, 1] > 4).astype(int) + (X[:, 2] > 3)
    return X[:40], y[:40], X[40:], y[40:]


def fitted(X, y, epochs, **changes):
    return KernelPerceptron(
        "poly", degree=2, gamma=1.0, coef0=1.0, max_iter=epochs, shuffle=False, **changes
    ).fit(X, y)


def win(scores, counts, label):
    """Probability by all draws; the first of equal scores wins."""
    draws = itertools.product(*(range(len(found)) for found in scores))
    won = total = 0
    for draw in draws:
        weight = 1
        for count, j in zip(counts, draw, strict=True):
            weight *= int(count[j])
        total += weight
        found = [scores[k][j] for k, j in enumerate(draw)]
        won += weight * (found.index(max(found)) == label)
    return Fraction(won, total)


@pytest.mark.parametrize("seed", range(30))
def test_chances_are_those_of_all_draws(bench, seed):
    drawn = sys.modules[bench.random_errors.__module__]
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, 4)
    scores = [random.integers(-2, 3, n).astype(float) for n in lengths]  # with ties
    counts = [random.integers(0, 4, (2, n)).astype(float) + (np.arange(n) == 0) for n in lengths]
    for count in counts:  # each class has seen equally many
        count[:, 0] += 30 - count.sum(axis=1)
    for label in range(4):
        expected = [float(win(scores, [count[i] for count in counts], label)) for i in range(2)]
        assert drawn.chances(scores, counts, label) == pytest.approx(expected, abs=1e-12)


def test_beginnings_of_the_log_are_the_shorter_runs(bench, three):
    X, y, X_test, y_test = three
    long = fitted(X, y, EPOCHS[-1])
    stopped = long.n_iter_per_class_.tolist()
    assert min(stopped) < max(stopped) == 40, "no class stopped early"
    errors = bench.errors_of(long, X_test, y_test, [len(X) * epochs for epochs in EPOCHS])
    for i, epochs in enumerate(EPOCHS):
        short = fitted(X, y, epochs)
        log = bench.until(long._vectors, len(X) * epochs)
        assert np.array_equal(log["log_t"], short._vectors["log_t"])
        assert np.array_equal(log["log_start"], short._vectors["log_start"])
        # What a class that has stopped is given: its last vector goes on.
        short._publish(short._model.state() | {"seen": np.full(3, len(X) * epochs)})
        for (answer, name), row in zip(bench.ANSWERS.items(), errors, strict=False):
            kind = {"prediction": answer.split()[-1], "normalize": answer.startswith("normalised")}
            scores = short.set_params(**kind).predict(X_test)
            assert row[i] == pytest.approx(100 * np.mean(scores != y_test)), (name, epochs)


def vectors_by_hand(X, y, label, x):
    """Scores on x, counts and squared norms of one class after one epoch, in whole numbers."""

    def kernel(a, b):
        return (1 + sum(int(p) * int(q) for p, q in zip(a, b, strict=True))) ** 2

    made, counts, scores, norms = [], [0], [0], [0]
    for z, truth in zip(X, y, strict=True):
        sign = 1 if truth == label else -1
        if sign * sum(c * kernel(other, z) for c, other in made) <= 0:
            made.append((sign, z))
            counts.append(0)
            scores.append(sum(c * kernel(other, x) for c, other in made))
            norms.append(sum(c * e * kernel(a, b) for c, a in made for e, b in made))
        counts[-1] += 1
    return scores, counts, norms


def test_random_error_is_that_of_all_draws(bench, three):
    X, y, X_test, y_test = (part[:15] for part in three)
    found = bench.errors_of(fitted(X, y, 1), X_test, y_test, [len(X)])[-2:, 0]
    plain, scaled = [], []
    for x, label in zip(X_test, y_test, strict=True):
        scores, counts, norms = zip(*(vectors_by_hand(X, y, k, x) for k in range(3)), strict=True)
        plain.append(win(scores, counts, label))
        over_norms = [
            [s / math.sqrt(n) if n else 0.0 for s, n in zip(*pair, strict=True)]
            for pair in zip(scores, norms, strict=True)
        ]
        scaled.append(win(over_norms, counts, label))
    expected = [100 * (1 - float(sum(chances) / len(chances))) for chances in (plain, scaled)]
    assert expected[0] != expected[1]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_a_mistake_on_the_last_example_of_a_beginning_belongs_to_it(bench, three):
    log = fitted(*three[:2], 2)._vectors
    for t in log["log_t"].tolist():
        assert len(bench.until(log, t)["log_row"]) == np.count_nonzero(log["log_t"] <= t)


def test_figures_far_from_the_published_ones_are_told(bench):
    error, support, mistakes = bench.PUBLISHED[2, 1]
    near = {"d": 2, "T": 1.0, "vote": error + 0.25, "SupVec": round(support * 1.019), "Mistake": mistakes}
    assert bench.misses(near) == []
    for far in (
        {"vote": error - 0.26},
        {"SupVec": round(support * 1.021)},
        {"Mistake": round(mistakes * 0.979)},
    ):
        (line,) = bench.misses(near | far)
        assert next(iter(far)) in line
    assert bench.misses(near | {"T": 5.0, "vote": 50.0}) == []
