"""The arithmetic of the experiment, against enumeration and against fits of the shorter runs."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from perceptron_rs import KernelPerceptron

BENCHES = Path(__file__).parents[2] / "benches"
EPOCHS = [1, 2, 5, 40]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHES))
        spec = importlib.util.spec_from_file_location("freund_schapire", BENCHES / "freund_schapire.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules.pop("data", None)
    return module


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
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, 4)
    scores = [random.integers(-2, 3, n).astype(float) for n in lengths]  # with ties
    counts = [random.integers(0, 4, (2, n)).astype(float) + (np.arange(n) == 0) for n in lengths]
    for count in counts:  # each class has seen equally many
        count[:, 0] += 30 - count.sum(axis=1)
    for label in range(4):
        expected = [float(win(scores, [count[i] for count in counts], label)) for i in range(2)]
        assert bench.chances(scores, counts, label) == pytest.approx(expected, abs=1e-12)


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
        short.n_seen_ = np.full(3, len(X) * epochs)
        for (answer, name), row in zip(bench.ANSWERS.items(), errors, strict=False):
            kind = {"prediction": answer.split()[-1], "normalize": answer.startswith("normalised")}
            scores = short.set_params(**kind).predict(X_test)
            assert row[i] == pytest.approx(100 * np.mean(scores != y_test)), (name, epochs)


def test_random_error_is_that_of_drawn_vectors(bench, three):
    X, y, X_test, y_test = three
    model = fitted(X, y, 1)
    found = bench.errors_of(model, X_test, y_test, [len(X)])[-2:, 0]
    for normalize, error in zip((False, True), found, strict=True):
        wrong = [
            np.mean(
                fitted(X, y, 1, prediction="random", normalize=normalize, random_state=seed).predict(X_test)
                != y_test
            )
            for seed in range(400)
        ]
        assert error == pytest.approx(100 * np.mean(wrong), abs=4 * 100 * np.std(wrong) / 20)


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
