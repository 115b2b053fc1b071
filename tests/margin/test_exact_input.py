"""What is proved is true of the numbers that were given: those that float64 has not are refused."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from perceptron_rs import (
    MaxMarginClassifier,
    Perceptron,
    UndecidedError,
    hull_weights,
    is_separable,
    joint_margin,
    kernel_matrix,
    leave_one_out,
    margin,
    max_margin,
    mistake_bounds,
    verify,
)
from perceptron_rs.margins.exact.matrix import refuse_rounded

BIG = 2**53
TINY = np.longdouble(1) + np.finfo(np.longdouble).eps
HAS_LONG_DOUBLE = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps
Y = [0, 1]

REFUSED = {
    "list": [[BIG], [BIG + 1]],
    "int64": np.array([[BIG], [BIG + 1]]),
    "uint64": np.array([[2**64 - 1], [0]], dtype=np.uint64),
    "least": np.array([[-(2**63) + 1], [0]]),
    "beside a float": [[BIG + 1, 0.5], [0, 0]],
    "beside a float, of NumPy": [[np.int64(BIG + 1), 0.5], [0, 0]],
    "beyond 64 bits": [[2**70 + 1], [0]],
    "beyond floats": [[10**400], [0]],
    "decimal": [[Decimal("0.1")], [Decimal("0.5")]],
    "fraction": [[Fraction(1, 3)], [0]],
    "object": np.array([[BIG + 1], [0.5]], dtype=object),
    "frame": pd.DataFrame({"a": [BIG + 1, 0], "b": [0.5, 0.5]}),
    "nullable": pd.DataFrame({"a": pd.array([BIG + 1, 0], dtype="Int64")}),
    "csr": sp.csr_matrix(np.array([[BIG + 1], [0]])),
    "lil": sp.lil_matrix(np.array([[BIG + 1], [0]])),
    "long double": np.array([[TINY], [0]], dtype=np.longdouble),
    "long double in a list": [[TINY], [0.0]],
}
TAKEN = {
    "next": [[BIG], [BIG + 2]],
    "largest": np.array([[2**63 - 1024], [-(2**63)]]),
    "half of uint64": np.array([[2**63], [0]], dtype=np.uint64),
    "float": [[0.1], [0.2]],
    "decimal": [[Decimal("0.5")], [Decimal("-3")]],
    "fraction": [[Fraction(1, 4)], [3]],
    "long double": np.array([[0.1], [0.2]], dtype=np.longdouble),
    "booleans": [[True], [False]],
    "frame": pd.DataFrame({"a": [BIG, 0], "b": [0.1, 0.5]}),
    "csr": sp.csr_matrix(np.array([[BIG + 2], [0]])),
}
ONE = max_margin([[0.0], [1.0]], Y)

PROVING = {
    "max_margin": lambda X: max_margin(X, Y),
    "is_separable": lambda X: is_separable(X, Y),
    "rbf": lambda X: is_separable(X, Y, kernel="rbf", gamma=1.0),
    "poly": lambda X: max_margin(X, Y, kernel="poly"),
    "kernel_matrix": kernel_matrix,
    "verify": lambda X: verify(ONE, X, Y),
    "margin": lambda X: margin(X, Y, [1.0] * np.shape(X)[1], 0.5),
    "joint_margin": lambda X: joint_margin(X, Y),
    "mistake_bounds": lambda X: mistake_bounds(X, Y),
    "leave_one_out": lambda X: leave_one_out(Perceptron(shuffle=False, tol=None, max_iter=5), X, Y),
    "MaxMarginClassifier": lambda X: MaxMarginClassifier().fit(X, Y),
}


@pytest.mark.parametrize("name", REFUSED)
def test_numbers_that_float64_has_not_are_refused(name):
    if "long" in name and not HAS_LONG_DOUBLE:
        pytest.skip("long double is double here")
    with pytest.raises(ValueError, match="X must hold numbers that float64 has exactly"):
        is_separable(REFUSED[name], Y)


@pytest.mark.parametrize("name", TAKEN)
def test_numbers_that_it_has_are_taken(name):
    X = TAKEN[name]
    refuse_rounded(X)
    assert is_separable(X, Y) is True


@pytest.mark.parametrize("function", PROVING.values(), ids=PROVING)
def test_everything_that_proves_refuses_them(function):
    with pytest.raises(ValueError, match="got 9007199254740993 in row 1"):
        function(REFUSED["int64"])


def test_planes_and_settings_too():
    X = [[0.0], [1.0]]
    for name, call in {
        "coef": lambda: margin(X, Y, [BIG + 1], 0.0),
        "intercept": lambda: margin(X, Y, [1.0], [BIG + 1]),
        "coef_init": lambda: mistake_bounds(X, Y, coef_init=[BIG + 1]),
    }.items():
        with pytest.raises(ValueError, match=f"^{name} must hold numbers that float64 has exactly"):
            call()
    for name in ("margin_threshold", "added_feature", "eta0"):
        for value in (Fraction(1, 3), BIG + 1):
            with pytest.raises(ValueError, match=f"^{name} must be a number that float64 holds, got"):
                mistake_bounds(X, Y, **{name: value})


@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_few_rows_are_decided_where_the_search_has_no_steps(engine_name, bias):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] > 0
    for labels, expected in ((y, True), (y ^ (np.arange(60) == 3), False)):
        given = {"bias": bias, "engine": engine_name}
        assert is_separable(X, labels, **given) is expected
        assert max_margin(X, labels, max_steps=0, **given).status == "undecided"
        for rows in (X, sp.csr_matrix(X)):
            answer, result = is_separable(rows, labels, max_steps=0, explain=True, **given)
            assert answer is expected
            verify(result, X, labels)
        assert (result.status == "separable") is expected
        if not expected:
            assert min(hull_weights(result, X, labels)) > 0


def test_margins_below_the_numbers_there_are(engine_name):
    for X in ([[0.0], [5e-324]], [[1e308], [1e308 * (1 + 2**-52)]], [[1.0, 1e-300], [1.0, -1e-300]]):
        answer, result = is_separable(X, Y, explain=True, engine=engine_name)
        assert answer is True
        verify(result, X, Y)


def test_undecided_is_no_answer():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1] > 0.1
    with pytest.raises(UndecidedError, match="max_steps=0; raise max_steps") as error:
        is_separable(X, y, max_steps=0)
    assert error.value.result.status == "undecided"
    assert error.value.result.lower == -math.inf


def test_rounded_kernel_values_prove_nothing_of_the_kernel():
    """1 and 1 + 1e-9 have equal rows of rounded values, and different points."""
    X = [[1.0], [1.0 + 1e-9]]
    assert (kernel_matrix(X, kernel="rbf", gamma=1.0) == 1).all()
    assert max_margin(X, Y, kernel="rbf", gamma=1.0).status == "margin_at_most"
    with pytest.raises(UndecidedError):
        is_separable(X, Y, kernel="rbf", gamma=1.0)
    assert is_separable([[0], [1], [0]], [0, 1, 1], kernel="rbf", gamma=1.0) is False
    corners = [[0, 0], [1, 1], [0, 1], [1, 0]]
    assert is_separable(corners, [1, 1, 0, 0], kernel="poly", degree=1, gamma=1) is False
