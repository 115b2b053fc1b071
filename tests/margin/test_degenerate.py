"""What is proved or answered at once: no plane, one class, equal rows, zeros; and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

from .problems import planted, separate

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])


def check_proof(X, y, bias, solution):
    """Solve the system of the support rows in fractions: one solution, positive."""
    assert solution["status"] == "non_separable"
    assert solution["lower"] == solution["upper"] == -np.inf
    support = solution["support"].tolist()
    signs = [1 if y[i] else -1 for i in support]
    columns = [
        [sign * Fraction(float(value)) for value in X[i]] for i, sign in zip(support, signs, strict=True)
    ]
    groups = (
        [[sign == 1 for sign in signs], [sign == -1 for sign in signs]]
        if bias == "free"
        else [[True] * len(signs)]
    )
    if bias == "augmented":
        columns = [[*column, Fraction(sign)] for column, sign in zip(columns, signs, strict=True)]
    rows = [[column[j] for column in columns] + [Fraction(0)] for j in range(len(columns[0]))]
    rows += [[Fraction(int(inside)) for inside in group] + [Fraction(1)] for group in groups]
    k = len(support)
    for j in range(k):
        p = next(i for i in range(j, len(rows)) if rows[i][j] != 0)
        rows[j], rows[p] = rows[p], rows[j]
        rows[j] = [value / rows[j][j] for value in rows[j]]
        for i in range(len(rows)):
            if i != j:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[j], strict=True)]
    assert all(row[k] > 0 for row in rows[:k])
    assert all(row[k] == 0 for row in rows[k:])


@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_exclusive_or(engine, bias):
    y = [1, 1, 0, 0]
    solution = separate(engine, XOR, y, bias=bias)
    check_proof(XOR, y, bias, solution)
    assert solution["coef"].any() or bias == "augmented"


def test_and_needs_an_intercept(engine):
    y = [0, 1, 0, 0]
    assert separate(engine, XOR, y)["status"] == "separable"
    solution = separate(engine, XOR, y, bias="none")
    check_proof(XOR, y, "none", solution)
    assert solution["intercept"] == 0.0


@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_a_row_with_both_labels(engine, bias):
    X, y = planted(30, 3, 0.5)
    X, y = np.vstack([X[7:8], X]), np.append(~y[7], y)
    check_proof(X, y, bias, separate(engine, X, y, bias=bias))
    solution = separate(engine, X[[0, 8]], y[[0, 8]], bias=bias)
    assert solution["proof"] == "pair"
    check_proof(X[[0, 8]], y[[0, 8]], bias, solution)


def test_hulls_that_meet_in_less_than_all_dimensions_are_settled_in_integers(engine):
    X = np.array([[0.0, 0.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0, 1.0], [5.0, 1.0, 1.0]])
    y = [1, 1, 0, 0]
    solution = separate(engine, X, y)
    check_proof(X, y, "free", solution)
    assert solution["proof"] == "rational"
    assert solution["support"].tolist() == [0, 1, 2]


def test_hulls_that_nearly_meet_are_never_proved_to(engine):
    for exponent in (40, 48, 52):
        X = np.array([[0.0, 0.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0 + 2.0**-exponent, 1.0], [0.0, 5.0, 1.0]])
        assert separate(engine, X, [1, 1, 0, 0])["status"] != "non_separable"


def test_flipped_labels_in_many_dimensions(engine):
    X, y = planted(400, 12, 0.1)
    y = y.copy()
    y[[3, 100, 200]] ^= True
    solution = separate(engine, X, y)
    assert solution["proof"] == "verified"
    check_proof(X, y, "free", solution)


def test_one_class(engine):
    X, _ = planted(9, 2, 0.1)
    for label in (0, 1):
        y = np.full(9, label)
        solution = separate(engine, X, y)
        assert solution["status"] == "one_class"
        assert solution["lower"] == solution["upper"] == np.inf
        assert solution["intercept"] == 2 * label - 1
        assert len(solution["support"]) == len(solution["dual_weights"]) == 0
        solution = separate(engine, X, y, bias="augmented")
        assert solution["status"] == "separable"
        assert 1 - 1e-12 <= solution["upper"] >= solution["lower"]


def test_the_intercept_alone_may_be_the_best_plane(engine):
    solution = separate(engine, np.array([[1.0, 0.0], [-1.0, 0.0]]), [1, 1], bias="augmented")
    assert solution["status"] == "separable"
    assert solution["lower"] == pytest.approx(1.0, rel=1e-14)
    assert not solution["coef"].any()


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("columns", [0, 2])
def test_zeros_are_never_separable(engine, bias, columns):
    X, y = np.zeros((4, columns)), [0, 1, 1, 0]
    solution = separate(engine, X, y, bias=bias)
    check_proof(X, y, bias, solution)
    assert solution["radius"] == 0.0


@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_equal_rows_whose_difference_is_exactly_zero(engine, bias):
    X, y = np.zeros((7, 7)), [0, 0, 0, 0, 0, 1, 1]
    X[3, 0] = 1.0
    check_proof(X, y, bias, separate(engine, X, y, bias=bias, tol=1e-3))


def test_duplicates_change_no_number(engine):
    X, y = planted(30, 3, 0.2)
    once, twice = separate(engine, X, y), separate(engine, np.vstack([X, X]), np.append(y, y))
    assert twice["lower"] == pytest.approx(once["lower"], rel=1e-12)
    assert twice["support"].tolist() == once["support"].tolist()


def test_a_single_row(engine):
    solution = separate(engine, np.array([[3.0, 4.0]]), [0], bias="none")
    assert solution["lower"] <= 5.0 <= solution["upper"]
    assert solution["support"].tolist() == [0]
    assert solution["dual_weights"].tolist() == [2**53]


@pytest.mark.parametrize("goal", ["margin", "separable"])
def test_a_few_positives_among_many(engine, goal):
    X, _ = planted(16001, 2, 0.1)
    y = np.zeros(16001, dtype=int)
    X[[1, 15999]] += 100.0
    y[[1, 15999]] = 1
    assert separate(engine, X, y, goal=goal)["status"] == "separable"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(engine, value):
    X, y = planted(9, 2, 0.1)
    X[4, 1] = value
    for bias in ("free", "none"):
        with pytest.raises(ValueError, match="row 4, column 1"):
            separate(engine, X, y, bias=bias)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"tol": 0.0}, "tol must be positive and finite, got 0.0"),
        ({"tol": np.nan}, "tol must be positive and finite, got (nan|NaN)"),
        ({"bias": "both"}, "bias must be one of 'free', 'augmented', 'none', got 'both'"),
        ({"solver": "simplex"}, "solver must be one of 'auto', 'wolfe', 'descent', got 'simplex'"),
        ({"goal": "fast"}, "goal must be one of 'margin', 'separable', got 'fast'"),
    ],
)
def test_bad_arguments(engine, changes, text):
    with pytest.raises(ValueError, match=text):
        separate(engine, XOR, [1, 1, 0, 0], **changes)


def test_bad_labels(engine):
    with pytest.raises(ValueError, match="labels must be 0 or 1, got 2"):
        separate(engine, XOR, [1, 2, 0, 0])
    with pytest.raises(ValueError, match="labels must hold one label for each of 4 rows"):
        separate(engine, XOR, [1, 0, 0])
    with pytest.raises(ValueError, match="rows must hold at least one row"):
        separate(engine, XOR[:0], [])


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e-9, 1.0, 1e9, 1e13, 1e15, 1e30, 1e300])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_with_a_constant_feature_of_any_size(engine, label, scale):
    """The plane that looks at the constant alone separates it; the rows' hull holds 0, or is far."""
    for X in ([[1.0, -2.0], [-1.0, 2.0]], [[3.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [0.0, 0.0]]):
        X = np.array(X) * scale
        solution = separate(engine, X, np.full(len(X), label), bias="augmented")
        assert solution["status"] == "separable"
        assert 0 < solution["lower"] <= solution["upper"]
        w, b, sign = solution["coef"], Fraction(solution["intercept"]), 2 * label - 1
        for row in X:
            a = sum((Fraction(x) * Fraction(v) for x, v in zip(row, w, strict=True)), b)
            assert sign * a > 0
