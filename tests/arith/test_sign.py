"""The sign of a sum of products is exact."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perceptron_rs.reference import arith

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(numbers, min_size=1, max_size=6), st.lists(numbers, min_size=6, max_size=6), st.integers(-1, 1)
)
def test_what_cancels_leaves_the_rest(a, b, rest):
    a, b = np.array(a), np.array(b[: len(a)])
    last = rest * 5e-324
    assert arith.exact_sign(np.concatenate([a, [last], -a]), np.concatenate([b, [5e-324], b])) == rest
