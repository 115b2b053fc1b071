"""Thousands of tiny problems, many of them degenerate, against the exact oracle and the exact checker."""

from __future__ import annotations

import math
import os
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from perceptron_rs import is_separable, max_margin, verify

from .oracle import tiny_problem, truth

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
PROBLEMS = {"rust": 5000 if DEEP else 1500, "reference": 1000 if DEEP else 150}
BIASES = ("free", "augmented", "none")


def compare(engine, count, seed):
    """Return how often each pair of true status and answer came up; raise for a wrong answer."""
    rng = np.random.default_rng(seed)
    found = Counter()
    for number in range(count):
        X, signs = tiny_problem(rng)
        bias = BIASES[number % 3]
        expected = truth(X, signs, bias)
        result = max_margin(X, signs, bias=bias, engine=engine)
        note = f"problem {number}, bias {bias}: {X}, {signs}: {expected.status} {expected.square}"
        verify(result, X, signs)
        if result.status == "separable":
            assert Fraction(result.lower) ** 2 <= expected.square <= Fraction(result.upper) ** 2, note
            assert result.gap <= 1e-8, note
        if result.status == "non_separable":
            assert expected.status == "non_separable", note
        if expected.status == "separable":
            assert result.status == "separable", note
        if 0 < result.upper < math.inf:
            assert Fraction(result.upper) ** 2 >= expected.square, note
        assert (result.status == "one_class") == (expected.status == "one_class"), note
        answer = is_separable(X, signs, bias=bias, engine=engine)
        assert answer in ({"separable": (True,), "one_class": (True,)}.get(expected.status, (False,))), note
        found[expected.status, result.status] += 1
    return found


@pytest.mark.parametrize("seed", [1])
def test_every_answer_is_the_oracles(engine_name, seed):
    count = PROBLEMS[engine_name]
    found = compare(engine_name, count, seed)
    doubtful = found["non_separable", "undecided"] + found["non_separable", "margin_at_most"]
    assert doubtful <= count / 100, found
    assert found["separable", "separable"] > count / 5
    assert found["non_separable", "non_separable"] > count / 5
    assert found["one_class", "one_class"] > count / 100
