"""What the public functions take and return; the numbers are the business of the other files."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

from perceptron_rs import MarginInterval, UndecidedError, is_separable, margin, max_margin, verify

SQUARE = np.array([[0.0, 0], [2, 0], [0, 4], [2, 4]])
SIDES = np.array([-1, 1, -1, 1])
XOR = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1, 1, -1, -1])
PRINTED = np.array([[1.0, 1], [2, 2], [1, 2], [2, 1]]), np.array([1, 1, -1, -1])
BIASES = ("free", "augmented", "none")


def same(a, b):
    """Whether two results are equal to the last bit."""
    ours, theirs = a.to_dict(), b.to_dict()
    return json.dumps(ours) == json.dumps(theirs)


def test_a_result_reads_well_and_is_json(engine_name):
    result = max_margin(SQUARE, SIDES, engine=engine_name)
    text = str(result)
    for line in (
        "status         separable: a hyperplane was found",
        "margin         [",
        "radius         4.47214",
        "mistake bound  42",
    ):
        assert line in text
    assert f"[{result.lower!r}, {result.upper!r}] (bias: free)" in text
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["status"] == "separable"
    assert data["lower"] == result.lower
    assert data["support"] == result.support.tolist()
    assert data["classes"] == [-1, 1]
    with pytest.raises(FrozenInstanceError):
        result.lower = 2.0
    assert not result.proof


@pytest.mark.parametrize("data", [XOR, PRINTED])
def test_printed_examples_that_are_not_separable(engine_name, data):
    for bias in BIASES:
        result = max_margin(*data, bias=bias, engine=engine_name)
        assert result.status == "non_separable"
        assert (result.lower, result.upper, result.gap) == (-math.inf, -math.inf, 0.0)
        assert result.mistake_bound == math.inf
        assert "not separable (proved)" in str(result)
        assert f"proof          {result.proof}" in str(result)
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["upper"] is None
        verify(result, *data)
        assert is_separable(*data, bias=bias, engine=engine_name) is False


def test_a_row_with_both_labels_is_the_shortest_proof(engine_name):
    result = max_margin([[1, 2], [3, 4], [1, 2], [5, 5]], [0, 1, 1, 0], engine=engine_name)
    assert result.proof in ("pair", "verified", "rational")  # the search may have met them before the look-up
    assert (result.support.tolist(), result.dual_weights.tolist()) == ([0, 2], [2**53] * 2)


def test_one_class(engine_name):
    X = [[1.0, 2], [3, 4]]
    for label, sign in ((1, 1), (0, -1), (-1, -1), (True, 1), (False, -1), ("spam", 1), (7, 1)):
        y = [label] * 2
        result = max_margin(X, y, engine=engine_name)
        assert (result.status, result.lower, result.upper) == ("one_class", math.inf, math.inf)
        assert result.classes == (label,)
        assert math.copysign(1, result.intercept) == sign
        assert not result.coef.any()
        assert result.mistake_bound == pytest.approx(26, rel=1e-14)
        verify(result, X, y)
        assert "one class only" in str(result)
        assert is_separable(X, y, engine=engine_name) is True
        for bias in ("augmented", "none"):
            found = max_margin(X, y, bias=bias, engine=engine_name)
            assert found.status == "separable"
            verify(found, X, y)
            assert math.copysign(1, found.coef[1]) == sign
    assert is_separable([[1.0], [-1.0]], [1, 1], bias="none", engine=engine_name) is False
    assert is_separable([[1.0], [-1.0]], [1, 1], bias="augmented", engine=engine_name) is True


def test_rows_of_zeros(engine_name):
    for bias in BIASES:
        result = max_margin(np.zeros((4, 3)), [0, 1, 0, 1], bias=bias, engine=engine_name)
        assert result.status == "non_separable"
        assert result.radius == 0
        verify(result, np.zeros((4, 3)), [0, 1, 0, 1])


@pytest.mark.parametrize("bias", BIASES)
def test_the_answer_to_is_separable_is_the_status(engine_name, bias):
    iris, species = load_iris(return_X_y=True)
    for k in range(3):
        answer, result = is_separable(iris, species == k, bias=bias, explain=True, engine=engine_name)
        assert answer is {"separable": True, "non_separable": False}[result.status]
        assert answer is (max_margin(iris, species == k, bias=bias).status == "separable")
        verify(result, iris, species == k)
        assert is_separable(iris, species == k, bias=bias, engine=engine_name) is answer


def test_a_budget_of_nothing_decides_nothing_and_lies_about_nothing(engine_name):
    X, y = load_breast_cancer(return_X_y=True)
    result = max_margin(X, y, max_steps=0, engine=engine_name)
    assert result.status == "undecided"
    assert result.lower == -math.inf
    assert 0 < result.upper < math.inf
    assert result.gap == 1.0
    assert result.mistake_bound == math.inf
    verify(result, X, y)
    assert "not decided within max_steps" in str(result)
    assert "margin         at most " in str(result)
    with pytest.raises(UndecidedError) as error:
        is_separable(X, y, max_steps=0, engine=engine_name)
    assert error.value.result.status == "undecided"


@pytest.mark.parametrize("bias", BIASES)
def test_the_form_of_the_arguments_changes_nothing(engine_name, bias):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (60, 4)).astype(np.float64)
    y = (X @ [1, -2, 3, 1] > 0.5).astype(int)
    expected = max_margin(X, y, bias=bias, engine=engine_name)
    forms = [
        X.astype(np.int8),
        X.astype(np.int64),
        X.astype(np.float32),
        X.astype(object),
        np.asfortranarray(X),
        X[::-1][::-1],
        X.tolist(),
        pd.DataFrame(X),
        sp.csr_matrix(X),
        sp.csc_array(X),
        sp.coo_matrix(X.astype(np.int16)),
    ]
    for form in forms:
        before = repr(form)
        assert same(max_margin(form, y, bias=bias, engine=engine_name), expected)
        assert repr(form) == before
    for labels in (y.astype(bool), np.where(y, "b", "a"), y * 3.0 - 7, y.tolist(), y.reshape(-1, 1)[:, 0]):
        found = max_margin(X, labels, bias=bias, engine=engine_name)
        assert found.coef.tobytes() == expected.coef.tobytes()
        verify(found, X, labels)
    assert same(
        max_margin(X, y, bias=bias, engine="reference", n_jobs=2), max_margin(X, y, bias=bias, n_jobs=1)
    )


def test_the_margin_of_a_plane(engine_name):
    X, y = [[3, 4], [0, 5], [-3, -4]], [1, 1, -1]
    for w in ([3, 4], [[3, 4]], np.array([3, 4], dtype=np.int8), (6e-5, 8e-5)):
        found = margin(X, y, w, engine=engine_name)
        assert isinstance(found, MarginInterval)
        assert found.lower <= 4 <= found.upper <= 4 * (1 + 1e-14)
    found = margin(X, y, [3, 4], normalize=False, engine=engine_name)
    assert found.lower <= 20 <= found.upper
    for b in (1, [1.0], np.float32(1)):
        found = margin(X, y, [3, 4], b, normalize=False, engine=engine_name)
        assert found.lower <= 21 <= found.upper <= 21 * (1 + 1e-14)
    nothing = MarginInterval(-math.inf, -math.inf)
    interval, rows = margin(X, y, [4, -3], return_offending=True, engine=engine_name)
    assert interval == nothing
    assert rows.tolist() == [0, 1, 2]  # on the plane, on the wrong side, on the plane
    interval, rows = margin(X, y, [3, 4], return_offending=True, engine=engine_name)
    assert interval.lower > 0
    assert rows.dtype == np.int64
    assert len(rows) == 0
    assert margin(X, y, [-3, -4], engine=engine_name) == nothing


def test_margins_in_fractions(engine_name):
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, d = int(rng.integers(1, 12)), int(rng.integers(1, 5))
        X, w, b = rng.integers(-5, 6, (n, d)), rng.integers(-3, 4, d), int(rng.integers(-2, 3))
        if not w.any():
            continue
        y = np.where(rng.random(n) < 0.1, -1, 1) * np.where(X @ w + b > 0, 1, -1)
        scores = [sign * value for sign, value in zip(y.tolist(), (X @ w + b).tolist(), strict=True)]
        if len(set(y.tolist())) == 1 and y[0] == -1:
            assert margin(X, y, w, b, engine=engine_name).lower == (
                -math.inf if min(scores) <= 0 else pytest.approx(min(scores) / math.sqrt(int(w @ w)))
            )
            continue
        found, rows = margin(X, y, w, b, return_offending=True, engine=engine_name)
        assert rows.tolist() == [k for k, score in enumerate(scores) if score <= 0]
        if len(rows):
            assert found == (-math.inf, -math.inf)
        else:
            exact = Fraction(min(scores)) ** 2 / int(w @ w)
            assert Fraction(found.lower) ** 2 <= exact <= Fraction(found.upper) ** 2
            assert found.upper <= found.lower * (1 + 1e-14)


GOOD = {"X": SQUARE, "y": SIDES}
BAD = [
    (
        {"y": [0, 1, 2, 1]},
        ValueError,
        r"y must hold at most two classes, got 3 \(0, 1, 2, ...\).*y == label.*MaxMargin",
    ),
    ({"y": ["a", "b", "c", "d"]}, ValueError, "y must hold at most two classes, got 4"),
    ({"y": SIDES[1:]}, ValueError, "X has 4 rows, but y has 3"),
    ({"y": None}, ValueError, "requires y to be passed"),
    ({"y": [0.5, 1, 0.5, 1]}, ValueError, "y: Unknown label type|classes must be whole numbers"),
    ({"y": [np.nan, 1, 1, 1]}, ValueError, "y"),
    ({"X": np.empty((0, 2)), "y": []}, ValueError, "X: Found array with 0 sample"),
    ({"X": np.empty((4, 0))}, ValueError, "X: Found array with 0 feature"),
    ({"X": SQUARE[0]}, ValueError, "X: Expected 2D array"),
    ({"X": SQUARE * 1j}, ValueError, "Complex data not supported"),
    ({"X": np.full((4, 2), "a")}, ValueError, "X must hold real numbers"),
    ({"X": np.where(np.eye(4, 2), np.nan, 1)}, ValueError, "Input X contains NaN in row 0 .*, column 0"),
    (
        {"X": np.where(np.eye(4, 2, -2), np.inf, 1)},
        ValueError,
        "Input X contains infinity .* in row 2 .*, column 0",
    ),
    (
        {"X": sp.csr_matrix([[0, 0], [1, 0], [0, -np.inf], [2, 1]])},
        ValueError,
        "Input X contains infinity .* in row 2 ",
    ),
    ({"engine": "gpu"}, ValueError, "engine must be one of"),
    ({"bias": "full"}, ValueError, r"bias must be one of \('free', 'augmented', 'none'\), got 'full'"),
    ({"bias": None}, ValueError, "bias must be one of"),
    ({"solver": "simplex"}, ValueError, "solver must be one of"),
    ({"max_steps": -1}, ValueError, "max_steps must be a whole number from 0 to"),
    ({"max_steps": 1.5}, TypeError, "max_steps must be a whole number from 0 to .*, got 1.5"),
    ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
    ({"n_jobs": 1.0}, TypeError, "n_jobs must be a whole number or None"),
]


@pytest.mark.parametrize("function", [max_margin, is_separable])
@pytest.mark.parametrize(("changes", "error", "text"), BAD)
def test_bad_input(function, changes, error, text):
    with pytest.raises(error, match=text):
        function(**GOOD | changes)


@pytest.mark.parametrize("tol", [0, -1e-3, math.inf, math.nan, 10**400])
def test_bad_tol(tol):
    with pytest.raises(ValueError, match="tol must be a finite number above 0, got "):
        max_margin(**GOOD, tol=tol)


@pytest.mark.parametrize("tol", ["1e-8", None, True])
def test_tol_of_a_wrong_type(tol):
    with pytest.raises(TypeError, match="tol must be a finite number above 0, got "):
        max_margin(**GOOD, tol=tol)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"coef": [0, 0]}, ValueError, "coef must not be all zeros"),
        ({"coef": [0, -0.0], "intercept": 1}, ValueError, "coef must not be all zeros"),
        ({"coef": [1, np.nan]}, ValueError, "coef must be finite, got nan"),
        ({"coef": [1, np.inf]}, ValueError, "coef must be finite, got inf"),
        ({"coef": [1, 2, 3]}, ValueError, r"coef has the shape \(3,\), but X has 2 columns"),
        ({"coef": [[1, 2], [3, 4]]}, ValueError, "of a classifier of several classes give one row"),
        ({"coef": ["a", "b"]}, ValueError, "coef must hold real numbers"),
        ({"coef": [1, 1], "intercept": np.nan}, ValueError, "intercept must be finite, got nan"),
        (
            {"coef": [1, 1], "intercept": [1, 2]},
            ValueError,
            r"intercept must be one number, got the shape \(2,\)",
        ),
        ({"coef": [1, 1], "intercept": "b"}, ValueError, "intercept must hold real numbers"),
        ({"coef": [1, 1], "normalize": "yes"}, ValueError, "normalize must be True or False, got 'yes'"),
        ({"coef": [1, 1], "return_offending": 1}, ValueError, "return_offending must be True or False"),
        ({"coef": [1, 1], "y": [0, 1, 2, 3]}, ValueError, "y must hold at most two classes"),
        ({"coef": [1, 1], "X": np.where(np.eye(4, 2), np.nan, 1)}, ValueError, "Input X contains NaN"),
    ],
)
def test_bad_input_of_margin(changes, error, text):
    with pytest.raises(error, match=text):
        margin(**GOOD | changes)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-160, 1e150, 1e300, 1e307])
@pytest.mark.parametrize("bias", BIASES)
def test_scales_are_answered_or_refused(engine_name, scale, bias):
    X = SQUARE[:, ::-1] * [scale, 1.0] + [scale, 0]
    try:
        result = max_margin(X, SIDES, bias=bias, engine=engine_name)
    except ValueError as error:
        assert "X" in str(error) or "column" in str(error)  # noqa: PT017
        return
    verify(result, X, SIDES)


def test_a_feature_of_1e300_beside_ordinary_ones(engine_name):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 3))
    y = np.where(X[:, 0] > 0, 1, 0)
    X[:, 0] += np.where(y, 1, -1)
    X[:, 2] *= 1e300
    for bias in BIASES:
        try:
            result = max_margin(X, y, bias=bias, engine=engine_name)
        except ValueError as error:
            assert "column" in str(error)  # noqa: PT017
        else:
            verify(result, X, y)
