"""What looks like a proof in floats and is none; and the exact solver, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import reference
from perceptron_rs.reference.margin.problem import MarginProblem
from perceptron_rs.reference.margin.proof import prove, signs

from .problems import separate


def problem(X, y, bias):
    rows = reference.dense_rows(np.array(X, dtype=np.float64))
    return MarginProblem(rows, np.array(y, dtype=np.uint32), bias)


@pytest.mark.parametrize("height", [2.0**-60, 2.0**-200, -(2.0**-60)])
def test_a_weight_of_nearly_zero_must_be_positive_exactly(height):
    # The weight of the third row is -height to first order.
    X = [[1.0, height], [-1.0, height], [0.0, 1.0]]
    proof = prove(problem(X, [1, 1, 1], "none"), np.arange(3), np.array([0.5, 0.5, 1e-17]))
    if height > 0:
        assert proof is None
    else:
        how, positive = proof
        assert how in ("verified", "rational")
        assert positive.all()


def test_a_weight_of_zero_takes_no_part():
    X = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]
    how, positive = prove(problem(X, [1, 1, 1], "none"), np.arange(3), np.array([0.5, 0.5, 1e-17]))
    assert how == "rational"
    assert positive.tolist() == [True, True, False]


def test_an_equation_that_contradicts_the_others():
    X = [[1.0, 1.0, 2.0**-70], [-1.0, -1.0, 0.0]]
    assert prove(problem(X, [1, 1], "none"), np.arange(2), np.array([0.5, 0.5])) is None


def test_no_inverse_of_a_nearly_singular_system_proves_anything_false():
    proved = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X = rng.integers(-3, 4, size=(6, 5)).astype(np.float64)
        X[-1] = X[1] + rng.integers(-3, 4, size=5) * 2.0**-50
        a = rng.random(6)
        if prove(problem(X, [1] * 6, "none"), np.arange(6), a / a.sum()) is not None:
            proved += 1
            exact = solve([[Fraction(value) for value in row] for row in [*X.T.tolist(), [1.0] * 6]], 1)
            assert exact is not None
            assert min(exact) >= 0
    assert proved > 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(0, 2), st.integers(1, 2))
def test_the_signs_are_those_of_the_exact_solution(seed, k, more, groups):
    rng = np.random.default_rng(seed)
    system = rng.integers(-2, 3, size=(k + more, k)) * 2.0 ** rng.integers(-40, 40, size=(k + more, 1))
    system = np.vstack([system[system.any(axis=1)], np.ones((groups, k))])
    found = signs(system, groups)
    exact = solve([[Fraction(float(value)) for value in row] for row in system], groups)
    assert (None if exact is None else [(x > 0) - (x < 0) for x in exact]) == (
        None if found is None else found.tolist()
    )


def solve(rows, groups):
    """Solve by Gauss and Jordan; None without exactly one solution."""
    k = len(rows[0])
    rows = [[*row, Fraction(int(i >= len(rows) - groups))] for i, row in enumerate(rows)]
    for j in range(k):
        p = next((i for i in range(j, len(rows)) if rows[i][j] != 0), None)
        if p is None:
            return None
        rows[j], rows[p] = rows[p], rows[j]
        rows[j] = [value / rows[j][j] for value in rows[j]]
        for i in range(len(rows)):
            if i != j:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[j], strict=True)]
    return None if any(row[k] != 0 for row in rows[k:]) else [row[k] for row in rows[:k]]


def test_columns_that_say_the_same_are_one_equation(engine):
    """The unit vectors and minus their sum, each column 2000 times: as many equations would cost too much."""
    X = np.repeat(np.vstack([np.eye(20), -np.ones(20)]), 2000, axis=1)
    solution = separate(engine, X, np.ones(21, dtype=int), bias="none")
    assert (solution["status"], solution["proof"]) == ("non_separable", "verified")
    assert solution["support"].tolist() == list(range(21))
