"""exp, logistic, tanh and log: against mpmath, and bit for bit between the engines."""

import os

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs import _core, reference

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
POINTS = 10**7 if DEEP else 10**5
CHUNK = 10**6

#: Where points are drawn: uniformly; for each function also over all exponents.
INTERVALS = {
    "exp": [(-745.2, 709.8), (-746.0, -708.0), (-1.0, 1.0), (-0.35, 0.35), (-1e-3, 1e-3)],
    "logistic": [(-708.0, 709.0), (-40.0, 40.0), (-1.0, 1.0)],
    # The worst points are just above ln2 / 4, where k becomes 1.
    "tanh": [(-20.0, 20.0), (-1.0, 1.0), (-0.4, 0.4), (0.1732, 0.174), (0.17, 0.25), (0.0, 0.01)],
    "log": [
        (0.0, 4.0),
        (0.5, 2.0),
        (0.7, 0.7072),
        (1.4142, 1.43),
        (0.999, 1.001),
        (0.0, 1e300),
        (0.0, 1e-307),
    ],
}
EXPONENTS = {"exp": (-1074, 9.5), "logistic": (-1074, 9.4), "tanh": (-1074, 5), "log": (-1074, 1024)}
#: Largest errors in units in the last place. ARITHMETIC.md and the headers state them.
BOUNDS = {"exp": 0.65, "logistic": 3.0, "tanh": 0.95, "log": 0.95}
SUBNORMAL_BOUND = 0.85

mpmath.mp.prec = 160
TRUTH = {
    "exp": mpmath.exp,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
    "log": mpmath.log,
}
LONG = {
    "exp": np.exp,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "log": np.log,
}
INF, NAN, TINY, LARGEST = np.inf, np.nan, 5e-324, np.finfo(float).max
SMALLEST_NORMAL = np.finfo(float).smallest_normal
SPECIAL = {
    "exp": [
        (0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (TINY, 1.0), (-TINY, 1.0),
        (LARGEST, INF), (-LARGEST, 0.0), (709.782712893384, 1.7976931348622732e308), (709.7827128933841, INF),
        (-745.1332191019411, TINY), (-745.1332191019412, 0.0), (1.0, np.e),
    ],
    "logistic": [
        (0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (-710.0, 0.0), (40.0, 1.0), (TINY, 0.5),
    ],
    "tanh": [
        (0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (TINY, TINY), (-TINY, -TINY),
        (LARGEST, 1.0), (-LARGEST, -1.0), (SMALLEST_NORMAL, SMALLEST_NORMAL), (1e-9, 1e-9), (19.1, 1.0),
        (-19.1, -1.0),
    ],
    "log": [
        (1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (NAN, NAN), (-1.0, NAN), (-TINY, NAN),
        (TINY, -744.4400719213812), (LARGEST, 709.782712893384), (SMALLEST_NORMAL, -708.3964185322641),
        (2.0, 0.6931471805599453), (0.5, -0.6931471805599453),
    ],
}  # fmt: skip


def draws(function, count):
    """Arrays of points of at most CHUNK, from each interval and over all exponents."""
    rng = np.random.default_rng(7)
    for _ in range(0, count, CHUNK):
        size = min(CHUNK, count)
        for low, high in INTERVALS[function]:
            yield rng.uniform(low, high, size)
        sign = 1 if function == "log" else rng.choice([-1.0, 1.0], size)
        x = sign * np.ldexp(rng.uniform(0.5, 1, size), rng.uniform(*EXPONENTS[function], size).astype(int))
        yield x[x != 0]


def unit(result):
    """Distance of the floats around a result."""
    return mpmath.ldexp(1, max(mpmath.frexp(result)[1] - 53, -1074))


def error(function, x, y):
    truth = TRUTH[function](mpmath.mpf(float(x)))
    return float(abs(mpmath.mpf(float(y)) - truth) / unit(truth)), truth < SMALLEST_NORMAL


def suspects(function, x, y):
    """Where the error is largest by extended precision, if the machine has it, and some others."""
    chosen = list(range(0, len(x), max(1, len(x) // 200)))
    if np.finfo(np.longdouble).nmant > 60:
        with np.errstate(all="ignore"):
            truth = LONG[function](x.astype(np.longdouble))
            spacing = np.spacing(np.abs(truth.astype(np.float64)))
            off = np.nan_to_num(np.abs(y - truth) / spacing)
        chosen += np.argsort(off)[-20:].tolist()
    return chosen


@pytest.mark.parametrize("function", BOUNDS)
def test_errors_stay_below_the_bound(function):
    worst, worst_subnormal = 0.0, 0.0
    for x in draws(function, POINTS):
        y = _core.elementary(x, function=function)
        for i in suspects(function, x, y):
            if not np.isfinite(y[i]):
                assert function == "exp"
                assert x[i] > 709.782712893384
                continue
            off, subnormal = error(function, x[i], y[i])
            if subnormal and function == "exp":
                worst_subnormal = max(worst_subnormal, off)
            else:
                worst = max(worst, off)
    print(function, POINTS, worst, worst_subnormal)
    assert worst < BOUNDS[function]
    assert worst_subnormal < SUBNORMAL_BOUND


@pytest.mark.parametrize("function", BOUNDS)
def test_special_values(engine, function):
    x, expected = np.array(SPECIAL[function]).T
    y = engine.elementary(np.ascontiguousarray(x), function=function)
    assert np.where(np.isnan(y), NAN, y).tobytes() == np.where(np.isnan(expected), NAN, expected).tobytes()


def same(function, x):
    """Both engines' results, with one NaN for all; only their payload may differ."""
    results = [e.elementary(x, function=function) for e in (_core, reference)]
    return [np.where(np.isnan(y), NAN, y).tobytes() for y in results]


@pytest.mark.parametrize("function", BOUNDS)
@given(bits=st.lists(st.integers(0, 2**64 - 1), max_size=40))
def test_equal_bits_for_any_bits(function, bits):
    rust, numpy = same(function, np.array(bits, dtype=np.uint64).view(np.float64))
    assert rust == numpy


@pytest.mark.parametrize("function", BOUNDS)
@given(x=st.lists(st.floats(-800, 800), max_size=40))
def test_equal_bits_in_range(function, x):
    rust, numpy = same(function, np.array(x, dtype=np.float64))
    assert rust == numpy


@pytest.mark.parametrize("function", BOUNDS)
def test_equal_bits_at_many_points_on_all_instruction_sets(function):
    for x in draws(function, 20000):
        expected = reference.elementary(x, function=function).tobytes()
        for name in _core._instruction_sets():
            _core._force_instruction_set(name)
            try:
                assert _core.elementary(x, function=function).tobytes() == expected
            finally:
                _core._force_instruction_set(None)


@pytest.mark.parametrize("function", BOUNDS)
def test_an_element_does_not_depend_on_its_place(engine, function):
    for length in (0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 33):
        x = np.random.default_rng(length).uniform(0.01, 5, length)
        alone = [engine.elementary(x[i : i + 1], function=function)[0] for i in range(length)]
        assert engine.elementary(x, function=function).tolist() == alone, length


@pytest.mark.parametrize(("function", "points"), [("exp", 4000), ("tanh", 4000), ("log", 4000)])
def test_monotone_around_the_changes_of_range(function, points):
    """Where k changes, the two formulas must not cross by more than their error."""
    ln2 = float(mpmath.log(2))
    centres = {"exp": [ln2 / 2, 1.5 * ln2], "tanh": [ln2 / 4, 0.75 * ln2], "log": [2**0.5, 2**-0.5]}
    for centre in centres[function]:
        x = centre + np.arange(-points, points) * np.spacing(centre)
        y = _core.elementary(x, function=function)
        assert np.all(np.diff(y) >= -2 * np.spacing(y[1:]))


def test_unknown_function(engine):
    with pytest.raises(
        ValueError, match="function must be one of 'exp', 'logistic', 'tanh', 'log', got 'sin'"
    ):
        engine.elementary(np.ones(1), function="sin")
