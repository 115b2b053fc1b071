"""``updates_until_right`` against updates made one by one, in exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs.teaching.updates import updates_until_right

values = st.integers(-9, 9)
vectors = st.integers(1, 12).flatmap(
    lambda d: st.tuples(st.lists(values, min_size=d, max_size=d), st.lists(values, min_size=d, max_size=d))
)


@given(
    xw=vectors,
    y=st.sampled_from([-1, 1]),
    b=st.none() | values,
    step=st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0]),
)
def test_equals_updates_one_by_one(engine_name, trainer, xw, y, b, step):
    x, w = xw
    if b is None and not any(x):
        with pytest.raises(ValueError, match="intercept"):
            updates_until_right(x, y, w, b, step=step, engine=engine_name)
        return
    k, weights, intercept = 0, [Fraction(value) for value in w], Fraction(b or 0)
    while y * (sum(p * q for p, q in zip(weights, x, strict=True)) + intercept) <= 0:
        k, weights = k + 1, [p + Fraction(step) * y * q for p, q in zip(weights, x, strict=True)]
        intercept += Fraction(step) * y * (b is not None)
    assert updates_until_right(x, y, w, b, step=step, engine=engine_name) == k

    start = trainer.start(len(x), coef=w, intercept=b or 0)
    report = trainer.fit(
        np.array([x], dtype=np.int8),
        [(y + 1) // 2],
        state=start,
        eta0=step,
        fit_intercept=b is not None,
        max_iter=k + 1,
        tol=None,
    )
    assert report["mistakes"].sum() == k


@pytest.mark.parametrize("power", [52, 53, 54, 62, 63, 64, 65, 100, 900])
def test_large_counts_are_exact_integers(engine_name, power):
    bound = 2**power
    k = updates_until_right([1.0], 1, [-float(bound)], engine=engine_name)
    assert type(k) is int
    assert k == bound + 1
    assert updates_until_right([1.0], 1, [-float(bound)], 0.0, engine=engine_name) == bound // 2 + 1


def test_the_bound_is_one_rounded_quotient_of_contract_sums(engine_name):
    rng = np.random.default_rng(0)
    for d in (1, 8, 9, 17):
        x, w = rng.standard_normal((2, d))
        lanes, squares = [0.0] * 8, [0.0] * 8
        for j in range(d):
            lanes[j % 8] += float(w[j]) * float(x[j])
            squares[j % 8] += float(x[j]) * float(x[j])
        a, square = (
            ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7])) for t in (lanes, squares)
        )
        bound = abs(a + 0.5) / (1e-17 * (square + 1.0))
        k = updates_until_right(x, -1 if a + 0.5 > 0 else 1, w, 0.5, step=1e-17, engine=engine_name)
        assert k == math.floor(bound) + 1


def test_right_already(engine_name):
    assert updates_until_right([1.0], 1, [1.0], engine=engine_name) == 0
    assert updates_until_right([0.0], 1, [1.0], 5e-324, engine=engine_name) == 0
    assert updates_until_right([], -1, [], -2.0, engine=engine_name) == 0


def test_a_tie_is_wrong(engine_name):
    for y in (-1, 1):
        assert updates_until_right([2, 1], y, [1, -2], engine=engine_name) == 1
        assert updates_until_right([0.0], y, [1.0], 0.0, engine=engine_name) == 1


BAD = [
    ({"x": [[1.0]]}, ValueError, "x "),
    ({"x": [1.0, 2.0]}, ValueError, "x and w"),
    ({"x": [math.nan]}, ValueError, "x "),
    ({"x": ["a"]}, ValueError, "x "),
    ({"x": [1j]}, ValueError, "x "),
    ({"w": [math.inf]}, ValueError, "w "),
    ({"w": 1.0}, ValueError, "w "),
    ({"x": [1.0, 2.0]}, ValueError, "x and w must be vectors of equal length"),
    ({"y": 0}, ValueError, "y "),
    ({"y": 2}, ValueError, "y "),
    ({"y": "1"}, ValueError, "y "),
    ({"y": np.array([1, -1])}, ValueError, "y "),
    ({"b": math.nan}, ValueError, "b "),
    ({"b": "0"}, TypeError, "b "),
    ({"step": 0.0}, ValueError, "step "),
    ({"step": -1.0}, ValueError, "step "),
    ({"step": math.inf}, ValueError, "step "),
    ({"step": None}, TypeError, "step "),
    ({"x": [0.0], "b": None}, ValueError, "intercept"),
    ({"x": [1e-200], "w": [-1.0], "b": None}, ValueError, "norm"),
    ({"x": [1e200], "w": [-1e200]}, OverflowError, "finite"),
    ({"x": [1e200], "w": [1e200]}, OverflowError, "finite"),
    ({"x": [1e200], "w": [-1.0]}, OverflowError, "finite"),
    ({"x": [1.0], "w": [-1e300], "step": 1e-300}, OverflowError, "finite"),
]


@pytest.mark.parametrize(("changes", "error", "text"), BAD)
def test_bad_arguments(engine_name, changes, error, text):
    arguments = {"x": [1.0], "y": 1, "w": [1.0], "b": -3.0} | changes
    with pytest.raises(error, match=text):
        updates_until_right(**arguments, engine=engine_name)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool, ">f8"])
def test_other_types_are_widened(engine_name, dtype):
    x, w = np.array([1, 0, 1], dtype=dtype), np.array([1, 1, 1], dtype=dtype)[::-1]
    assert updates_until_right(x, np.int8(-1), w, np.float32(1), engine=engine_name) == 2
