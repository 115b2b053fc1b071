"""The margin of a given plane: an interval that contains it, and rows on the wrong side, exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron as SkPerceptron

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    Perceptron,
    VotedPerceptron,
)
from perceptron_rs import margin as measured

from .problems import planted, rows_of

COEF = np.array([3.0, -4.0])
X = np.array([[1.0, 0.0], [0.0, 2.0], [2.0, 1.0]])
Y = np.array([1, 0, 1], dtype=np.uint32)


def margin(engine, X, y, coef, intercept, normalize=True):
    return engine.margin(
        rows_of(engine, X), np.asarray(y, dtype=np.uint32), coef, intercept, normalize=normalize, threads=1
    )


def test_a_margin_by_hand(engine):
    low, high, wrong = margin(engine, X, Y, COEF, None)
    assert low <= 0.4 <= high
    assert high - low < 1e-15
    assert len(wrong) == 0
    low, high, _ = margin(engine, X, Y, COEF, 0.5)
    assert low <= 0.5 <= high
    low, high, _ = margin(engine, X, Y, COEF, 0.5, normalize=False)
    assert low <= 2.5 <= high
    assert high - low < 1e-14


@pytest.mark.parametrize("intercept", [-2.0, -3.0])
def test_a_row_on_the_plane_or_behind_it(engine, intercept):
    low, high, wrong = margin(engine, X, Y, COEF, intercept)
    assert low == high == -np.inf
    assert wrong.tolist() == ([2] if intercept == -2.0 else [0, 2])


@given(st.integers(0, 2**32 - 1), st.integers(-60, 60), st.booleans())
def test_the_interval_contains_the_margin(engine, seed, power, normalize):
    X, y = planted(20, 3, 0.1, seed)
    rng = np.random.default_rng(seed)
    w, b = rng.normal(size=3), float(rng.normal())
    y = X @ w + b > 0
    w, b = w * 2.0**power, b * 2.0**power
    low, high, wrong = margin(engine, X, y, w, b, normalize)
    assert len(wrong) == 0
    square = sum(Fraction(float(value)) ** 2 for value in w) if normalize else 1
    scores = [
        (1 if label else -1)
        * (sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(row, w, strict=True)) + Fraction(b))
        for row, label in zip(X, y, strict=True)
    ]
    assert Fraction(low) ** 2 * square <= min(scores) ** 2 <= Fraction(high) ** 2 * square
    assert high - low <= 1e-13 * high


def test_which_rows_are_wrong_is_decided_exactly(engine):
    # The sum in floats is 0 for all of them.
    tiny = 2.0**-80
    X = np.array([[1.0, tiny, -1.0], [1.0, -tiny, -1.0], [1.0, 0.0, -1.0], [1e300, tiny, -1e300]])
    coef = np.array([1.0, 1.0, 1.0])
    _, _, wrong = margin(engine, X, [1, 1, 1, 1], coef, None)
    assert wrong.tolist() == [1, 2]
    _, _, wrong = margin(engine, X, [0, 0, 0, 0], coef, 0.0)
    assert wrong.tolist() == [0, 2, 3]
    low, high, wrong = margin(engine, X[[0, 3]], [1, 1], coef, 0.0)
    assert 0.0 <= low <= tiny / np.sqrt(3) <= high
    assert len(wrong) == 0


@pytest.mark.parametrize("scale", [1e300, 1e-300, 2.0**-1040])
def test_extreme_scales(engine, scale):
    low, high, wrong = margin(engine, X * scale, Y, COEF, None)
    assert len(wrong) == 0
    assert low <= 0.4 * scale * (1 + 1e-9)
    assert high >= 0.4 * scale * (1 - 1e-9)
    low, high, wrong = margin(engine, X, Y, COEF * scale, None, normalize=False)
    assert len(wrong) == 0
    assert low <= 2.0 * scale * (1 + 1e-9)
    assert high >= 2.0 * scale * (1 - 1e-9)


@pytest.mark.parametrize(
    ("coef", "intercept", "text"),
    [
        ([0.0, 0.0], 1.0, "coef must not be all zeros"),
        ([np.nan, 1.0], 1.0, "coef and intercept must be finite"),
        ([2.0, 1.0], np.inf, "coef and intercept must be finite"),
        ([1.0], 1.0, "coef must have shape"),
    ],
)
def test_what_is_refused(engine, coef, intercept, text):
    with pytest.raises(ValueError, match=text):
        margin(engine, X, Y, np.array(coef), intercept)


MODELS = [
    Perceptron(tol=None),
    AveragedPerceptron(fit_intercept=False),
    VotedPerceptron(prediction="average"),
    MaxMarginClassifier(),
    SkPerceptron(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__module__ + type(model).__name__)
def test_of_a_fitted_classifier(model):
    rows, signs = planted(seed=2, n=40, d=3, margin=0.1)[:2]
    labels = np.where(np.asarray(signs) > 0, "yes", "no")
    model.fit(rows, labels)
    weights = model._predicting() if hasattr(model, "_predicting") else (model.coef_, model.intercept_)
    assert measured(model, rows, labels) == measured(rows, labels, *weights)
    # Labels of one class are read as the model reads them.
    own = labels == "no"
    expected = measured(rows[own], np.zeros(own.sum(), dtype=int), *weights, return_offending=True)
    found = measured(model, rows[own], labels[own], return_offending=True)
    assert found[0] == expected[0]
    assert found[1].tolist() == expected[1].tolist()


def test_a_sparsified_classifier():
    model = Perceptron(tol=None).fit(X, Y)
    interval = measured(model, X, Y)
    assert measured(model.sparsify(), X, Y) == interval


def test_which_classifiers_are_refused():
    three = Perceptron(max_iter=2, tol=None).fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match="must predict with one hyperplane, but Perceptron has 3"):
        measured(three, X, [0, 1, 2])
    with pytest.raises(ValueError, match="set prediction='average'"):
        measured(VotedPerceptron(tol=None).fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="KernelPerceptron has no coef_"):
        measured(KernelPerceptron(prediction="last", tol=None).fit(X, Y), X, Y)
    with pytest.raises(NotFittedError):
        measured(Perceptron(), X, Y)
    fitted = Perceptron(tol=None).fit(X, Y)
    with pytest.raises(TypeError, match="y must be given"):
        measured(fitted, X)
    with pytest.raises(ValueError, match="takes the intercept of the model"):
        measured(fitted, X, Y, 1.0)
    with pytest.raises(TypeError, match="coef must be given"):
        measured(X, Y)
