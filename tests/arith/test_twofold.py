"""Sums and products with their errors, against fractions."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs.reference import arith

numbers = st.floats(min_value=-1e100, max_value=1e100).map(np.float64)


@given(numbers, numbers)
def test_the_sum_and_its_error_are_the_exact_sum(a, b):
    s, e = arith.two_sum(a, b)
    assert s == a + b
    assert Fraction(float(s)) + Fraction(float(e)) == Fraction(float(a)) + Fraction(float(b))


@given(numbers, numbers)
def test_the_product_and_its_error_are_the_exact_product(a, b):
    p, e = arith.two_product(a, b)
    assert p == a * b
    lost = Fraction(float(a)) * Fraction(float(b)) - Fraction(float(p)) - Fraction(float(e))
    assert abs(lost) <= (0 if abs(p) >= 2.0**-960 else Fraction(arith.LOST))


@given(st.lists(st.tuples(numbers, numbers), max_size=30))
def test_a_sum_of_products_in_doubled_precision(pairs):
    total, exact, size = arith.Twofold(), Fraction(0), Fraction(0)
    for a, b in pairs:
        total.add_product(a, b)
        exact += Fraction(float(a)) * Fraction(float(b))
        size += abs(Fraction(float(a)) * Fraction(float(b)))
    value = Fraction(float(total.value))
    gamma = Fraction(arith.gamma(len(pairs) + 1))
    bound = Fraction(arith.UNIT) * abs(value) + 2 * gamma * gamma * size + len(pairs) * Fraction(arith.LOST)
    assert abs(value - exact) <= bound


def test_powers_of_two_in_steps():
    assert arith.times_power(2.0**-1070, 2000) == 2.0**930
    assert arith.times_power(2.0**1000, -2050) == 2.0**-1050
    assert arith.times_power(1.5, 0) == 1.5


def test_gamma_bounds_roundings():
    for m in (1, 2, 1000):
        assert Fraction(arith.gamma(m)) >= (1 + Fraction(arith.UNIT)) ** m - 1


def test_the_next_floats():
    assert arith.up(1.0) == 1.0 + 2.0**-52
    assert arith.down(1.0) == 1.0 - 2.0**-53
    assert arith.up(0.0) == math.ulp(0.0)
