"""Tables of lectures: what they print is compared with what a loop in plain Python gives."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sklearn.base import clone

from perceptron_rs import AveragedPerceptron, Perceptron, is_separable
from perceptron_rs.datasets import LECTURES, lecture


def epoch(table):
    """Return all vectors (w, b) of one epoch, the first one of zeros, and the rows of mistakes."""
    has_bias = table.estimator.fit_intercept
    v, seen, mistakes = (0, 0, 0), [(0, 0, 0)], []
    for i, (row, label) in enumerate(zip(table.X.astype(int).tolist(), table.y.tolist(), strict=True)):
        x = (*row, int(has_bias))
        if label * sum(a * b for a, b in zip(v, x, strict=True)) <= 0:
            v = tuple(a + label * b for a, b in zip(v, x, strict=True))
            mistakes.append(i)
        seen.append(v)
    return seen, mistakes


@pytest.mark.parametrize("name", LECTURES)
def test_what_is_right_is_right(name):
    table = lecture(name)
    seen, mistakes = epoch(table)
    if isinstance(table.estimator, AveragedPerceptron):
        right = [sum(Fraction(v[j]) for v in seen) / len(seen) for j in range(2)]
    else:
        right = seen[-1]
    found = clone(table.estimator).fit(table.X, table.y)
    size = len(table.weights)
    assert table.weights == tuple(map(float, right[:size]))
    assert table.weights == (*found.coef_[0], *found.intercept_)[:size]
    assert size == 2 + found.fit_intercept
    steps = list(table.trace())
    assert [step.row for step in steps] == list(range(len(table.y)))
    assert [step.row for step in steps if step.mistake] == mistakes
    assert [(*step.w, step.b) for step in steps] == seen[1:]
    assert table.name == name
    assert table.is_right == (name == "six_points")


def test_a_cached_average_without_its_counter_is_the_last_vector():
    table = lecture("cached_average")
    seen, mistakes = epoch(table)
    u = [sum(int(table.y[i]) * int(table.X[i, j]) for i in mistakes) for j in range(2)]
    assert u == list(seen[-1][:2])
    printed = [Fraction(w) - Fraction(value, len(seen)) for w, value in zip(seen[-1][:2], u, strict=True)]
    assert table.printed_weights == tuple(map(float, printed))
    cross = table.printed_weights[0] * seen[-1][1] - table.printed_weights[1] * seen[-1][0]
    assert cross == pytest.approx(0)
    # The two predict differently.
    (a, b), (c, d) = table.printed_weights, table.weights
    assert a + 4 * b > 0 > c + 4 * d


def test_a_product_below_0_is_no_right_answer():
    table = lecture("four_points")
    third = list(table.trace())[2]
    assert (third.row, third.y * third.activation, third.mistake) == (2, -4, True)
    assert is_separable(table.X, table.y) is False
    w1, w2, b = table.printed_weights
    wrong = [int(y * (w1 * x1 + w2 * x2 + b) <= 0) for (x1, x2), y in zip(table.X, table.y, strict=True)]
    assert wrong == [0, 0, 1, 1]


def test_xor_never_converges():
    table = lecture("xor")
    assert is_separable(table.X, table.y) is False
    w1, w2, b = table.printed_weights
    wrong = [int(y * (w1 * x1 + w2 * x2 + b) <= 0) for (x1, x2), y in zip(table.X, table.y, strict=True)]
    assert wrong == [0, 0, 1, 1]
    model = Perceptron(shuffle=False, tol=None, max_iter=1000).fit(table.X, table.y)
    assert not model.converged_
    # The weights at the end of an epoch come again, so the run is a cycle.
    ends = [
        (*model.coef_[0], *model.intercept_)
        for model in (
            Perceptron(shuffle=False, tol=None, max_iter=k).fit(table.X, table.y) for k in range(1, 20)
        )
    ]
    assert len(set(ends)) < len(ends)


SIX = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]


@pytest.mark.parametrize(
    ("name", "points", "signs"),
    [
        ("six_points", *SIX),
        ("cached_average", *SIX),
        ("four_points", [[1, 1], [2, 2], [1, 2], [2, 1]], [1, 1, -1, -1]),
        ("xor", [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]),
    ],
)
def test_the_points_are_those_of_the_table(name, points, signs):
    table = lecture(name)
    assert table.X.tolist() == points
    assert table.y.tolist() == signs


def test_six_points_are_predicted_as_on_the_slide():
    """It predicts + if and only if w . x >= 0, and w . x is 0 in the first and the fifth row."""
    steps = list(lecture("six_points").trace())
    assert "".join("+" if step.prediction > 0 else "-" for step in steps) == "++--++"
    assert [step.row for step in steps if step.activation == 0] == [0, 4]


def test_xor_is_printed_with_two_mistakes_taken_for_right():
    """The lecture says itself that XOR does not converge; what it prints of two rows is wrong."""
    table = lecture("xor")
    w1, w2, b = table.printed_weights
    negative = [(x1, x2) for (x1, x2), y in zip(table.X, table.y, strict=True) if y < 0]
    assert negative == [(0, 1), (1, 0)]
    assert [-(w1 * x1 + w2 * x2 + b) for x1, x2 in negative] == [-1, -1]
    assert "y a = -1 < 0 at (0, 1) and (1, 0)" in table.printed
    assert "converges" not in table.printed


def test_a_table_prints_both():
    text = str(lecture("xor"))
    assert text.splitlines()[0].endswith("neither moves the weights: (0, 0, 1)")
    assert text.splitlines()[1].endswith("(-1, -1, -1)")
    assert len(text.splitlines()) == 8


def test_other_names_are_refused():
    with pytest.raises(ValueError, match=r"name must be one of \('six_points', .* got 'seven'"):
        lecture("seven")
