"""The exact checker: it accepts what is true, and refuses each corruption of it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import VerificationError, hull_weights, is_separable, max_margin, verify
from perceptron_rs.margins.exact.numbers import Matrix, integers
from perceptron_rs.margins.exact.systems import _encloses_positive, has_positive_solution, solve

RNG = np.random.default_rng(5)
SEPARABLE = RNG.standard_normal((40, 3)), None
W = np.array([1.0, -2.0, 0.5])
X = SEPARABLE[0] + np.outer(np.sign(SEPARABLE[0] @ W), W) / 5
Y = np.sign(SEPARABLE[0] @ W).astype(int)
NOISE = RNG.integers(0, 2, 40)
BIASES = ("free", "augmented", "none")


def flipped(values, index, change=1):
    changed = values.copy()
    changed[index] += change
    return changed


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("labels", [Y, NOISE])
def test_true_results_are_accepted(engine_name, bias, labels):
    result = max_margin(X, labels, bias=bias, engine=engine_name)
    assert result.status == ("separable" if labels is Y else "non_separable")
    verify(result, X, labels)
    verify(result, sp.csr_matrix(X), labels)
    verify(result, X.tolist(), labels.tolist())


CORRUPTIONS = {
    "lower": lambda r: {
        "lower": math.nextafter(r.upper, math.inf),
        "upper": math.nextafter(r.upper, math.inf),
    },
    "lower, a little": lambda r: {"lower": r.lower * (1 + 1e-13), "upper": r.upper * (1 + 1e-13)},
    "upper": lambda r: {"lower": r.lower * (1 - 1e-9), "upper": r.upper * (1 - 1e-9)},
    "no upper end": lambda r: {"upper": math.inf},
    "nan": lambda r: {"lower": math.nan},
    "coef": lambda r: {"coef": flipped(r.coef, 0, 1e-3)},
    "coef of another length": lambda r: {"coef": r.coef[1:]},
    "intercept": lambda r: {"intercept": r.intercept + 0.01 if r.bias != "none" else 0.25},
    "weight": lambda r: {"dual_weights": flipped(r.dual_weights, 0)},
    "weight below 0": lambda r: {"dual_weights": flipped(flipped(r.dual_weights, 0, 2**53), 1, -(2**53))},
    "support row": lambda r: {"support": flipped(r.support, -1, 40)},
    "another support row": lambda r: {
        "support": np.array([k for k in range(40) if k not in r.support][: len(r.support)])
    },
    "support twice": lambda r: {"support": np.array([r.support[0]] * len(r.support))},
    "support short": lambda r: {"support": r.support[:-1]},
    "radius below": lambda r: {"radius": r.radius * (1 - 1e-12)},
    "radius above": lambda r: {"radius": r.radius * 1.001},
    "mistake bound": lambda r: {"mistake_bound": r.mistake_bound * (1 - 1e-6)},
    "mistake bound above": lambda r: {"mistake_bound": r.mistake_bound * 1.001},
    "best bound": lambda r: {"best_mistake_bound": r.best_mistake_bound * 0.999},
    "status": lambda r: {"status": "non_separable", "lower": -math.inf, "upper": -math.inf},
    "undecided": lambda r: {"status": "undecided"},
    "one class": lambda r: {"status": "one_class", "lower": math.inf, "upper": math.inf},
    "no such status": lambda r: {"status": "fine"},
    "classes": lambda r: {"classes": (0, 1)},
    "bias": lambda r: {"bias": "none" if r.bias == "free" else "free"},
}


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_corruptions_of_an_interval_are_refused(name, bias):
    result = max_margin(X, Y, bias=bias, engine="reference")
    with pytest.raises(VerificationError):
        verify(replace(result, **CORRUPTIONS[name](result)), X, Y)


def test_corruptions_of_a_proof_are_refused():
    result = max_margin(X, NOISE, engine="reference")
    for changes in (
        {"support": result.support[1:], "dual_weights": result.dual_weights[1:]},
        {"dual_weights": flipped(result.dual_weights, 0)},
        {"status": "separable", "lower": 1e-3, "upper": 1.0},
        {"upper": 1.0},
        {"mistake_bound": 100.0},
    ):
        with pytest.raises(VerificationError):
            verify(replace(result, **changes), X, NOISE)


def test_other_rows_prove_it_only_if_their_hulls_meet():
    result = max_margin(X, NOISE, engine="reference")
    refused = 0
    for row in range(40):
        for place, old in enumerate(result.support):
            if row in result.support or NOISE[row] != NOISE[old]:
                continue
            rows = flipped(result.support, place, row - old)
            order = np.argsort(rows)
            changed = replace(result, support=rows[order], dual_weights=result.dual_weights[order])
            if is_separable(X[rows], NOISE[rows], engine="reference"):
                refused += 1
                with pytest.raises(VerificationError, match="no convex weights"):
                    verify(changed, X, NOISE)
            else:
                verify(changed, X, NOISE)
    assert refused > 20


def test_other_data_is_refused():
    result = max_margin(X, Y, engine="reference")
    nearer = X.copy()
    nearer[7] *= 0.1
    with pytest.raises(VerificationError, match=r"row 7 is nearer|a row is|prove upper"):
        verify(result, nearer, Y)
    with pytest.raises(VerificationError):
        verify(result, X, np.where(np.arange(40) == 3, -Y, Y))
    with pytest.raises(ValueError, match="equal lengths, got 40 rows and 39"):
        verify(result, X, Y[1:])
    with pytest.raises(TypeError, match="must be a MarginResult"):
        verify(None, X, Y)


def test_hull_weights():
    for bias in BIASES:
        result = max_margin(X, NOISE, bias=bias, engine="reference")
        weights = hull_weights(result, X, NOISE)
        signs = [1 if label else -1 for label in NOISE[result.support]]
        assert min(weights) > 0
        for sign in (1, -1) if bias == "free" else (0,):
            assert sum(w for w, s in zip(weights, signs, strict=True) if sign in (0, s)) == 1
        for column in X[result.support].T.tolist():
            assert sum(w * s * Fraction(x) for w, s, x in zip(weights, signs, column, strict=True)) == 0
    with pytest.raises(ValueError, match="must have the status 'non_separable', got 'separable'"):
        hull_weights(max_margin(X, Y), X, Y)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0],
        [1.0, 3.0, -2.5, 0.1],
        [5e-324, 1.7976931348623157e308, -1e-310],
        np.array([1, 200], dtype=np.uint8),
        np.array([-7, 2**31 - 1], dtype=np.int32),
        np.array([0.1, 1e-30], dtype=np.float32),
        np.array([True, False]),
        [],
    ],
)
def test_integers_are_exact(values):
    values = np.asarray(values)
    whole, exponent = integers(values)
    assert [k * Fraction(2) ** exponent for k in whole] == [Fraction(v) for v in values.tolist()]


def test_rows_of_a_matrix_in_every_form():
    values = RNG.integers(-3, 4, (9, 5)) * RNG.choice([1.0, 0.1, 1e-20], (9, 5))
    twice = sp.csr_matrix((np.ones(2), np.array([1, 1]), np.array([0, 2])), (1, 3))
    for given in (
        values,
        values.tolist(),
        sp.csr_matrix(values),
        sp.csc_array(values),
        np.asfortranarray(values),
    ):
        matrix = Matrix(given)
        for found in (list(matrix.rows()), [matrix.row(k) for k in range(9)]):
            for ((columns, numbers), exponent), row in zip(found, values, strict=True):
                dense = [Fraction(0)] * 5
                for column, number in zip(range(5) if columns is None else columns, numbers, strict=True):
                    dense[column] = number * Fraction(2) ** exponent
                assert dense == [Fraction(v) for v in row.tolist()]
    assert Matrix(twice).row(0) == (([1], [1]), 1)


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_systems_are_solved_exactly(size):
    rng = np.random.default_rng(size)
    for digits in (1, 3, 15):
        matrix = rng.integers(-(10**digits), 10**digits, (size, size)).tolist()
        wanted = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 1000, (size, 2))]
        right = [sum(a * x for a, x in zip(row, wanted, strict=True)) for row in matrix]
        scale = math.lcm(*(value.denominator for value in right))
        matrix = [[a * scale for a in row] for row in matrix]
        right = [int(value * scale) for value in right]
        assert solve(matrix, right) == wanted
        combined = [sum(column) for column in zip(*matrix, strict=True)]
        assert solve([*matrix, combined], [*right, sum(right)]) == wanted
        assert solve([*matrix, combined], [*right, sum(right) + 1]) is None
        if size > 1:
            assert solve(matrix[1:], right[1:]) is None
            assert solve([[*row, row[0]] for row in matrix], right) is None


@pytest.mark.parametrize("size", [1, 3, 24, 60])
def test_positive_solutions_are_enclosed(size):
    """One entry of the solution is next to 0, on either side; the enclosure has to tell."""
    rng = np.random.default_rng(size)
    for least in (1, -1):
        matrix = rng.integers(-(2**40), 2**40, (size, size)).tolist()
        wanted = rng.integers(1, 2**40, size).tolist()
        wanted[size // 2] = least
        right = [sum(a * x for a, x in zip(row, wanted, strict=True)) for row in matrix]
        assert _encloses_positive(matrix, right) == (least > 0)
        assert has_positive_solution(matrix, right) == (least > 0)
        matrix[0] = [value << 300 for value in matrix[0]]
        assert _encloses_positive(matrix, [right[0] << 300, *right[1:]]) == (least > 0)
    singular = [[1] * size] * size
    assert _encloses_positive(singular, [1] * size) == (size == 1)
    assert not _encloses_positive([[1, 0], [0, 0]], [1, 0])
