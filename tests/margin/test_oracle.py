"""The oracle itself: against answers known from geometry, and against trying all sets of points."""

from fractions import Fraction

import numpy as np
import pytest

from .oracle import by_enumeration, points, tiny_problem, truth


@pytest.mark.parametrize(
    ("X", "signs", "bias", "square"),
    [
        ([[0], [2]], [-1, 1], "free", 1),
        ([[0, 0], [3, 4]], [-1, 1], "free", Fraction(25, 4)),
        ([[1, 0], [0, 1]], [1, 1], "none", Fraction(1, 2)),
        (
            [[1], [3]],
            [1, -1],
            "augmented",
            Fraction(1, 5),
        ),  # (1, 1) and (-3, -1): nearest (-1/5, 2/5)... scaled
        ([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1], "free", 0),
        ([[1, 1], [2, 2], [1, 2], [2, 1]], [1, 1, -1, -1], "free", 0),
        ([[0, 0]], [1], "none", 0),
        ([[0, 0]], [-1], "augmented", 1),
    ],
)
def test_known_answers(X, signs, bias, square):
    found = truth(X, signs, bias)
    assert found.square == square
    assert found.status == ("separable" if square else "non_separable")


def test_one_class():
    assert truth([[1], [2]], [1, 1], "free").status == "one_class"


def test_enumeration_finds_the_same():
    rng = np.random.default_rng(0)
    tried = 0
    while tried < 60:
        X, signs = tiny_problem(rng)
        for bias in ("free", "augmented", "none"):
            if bias == "free" and len(set(signs)) == 1:
                continue
            found = points(X, signs, bias)
            if len(found) > 9:
                continue
            square = truth(X, signs, bias).square
            assert square == by_enumeration(found) / (4 if bias == "free" else 1)
            tried += 1
