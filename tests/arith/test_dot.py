"""The dot product, seen through ``scores``: eight lanes by column, then a fixed tree."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

TYPES = ["float64", "float32", "int8", "uint8", "int16", "uint16", "int32"]
LENGTHS = [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]
LENGTHS += [1023, 1024, 1025, 2047, 2048, 2049]

# Any NaN is as good as another: its sign and payload depend on the machine.
SPECIAL = {
    "zeros": ([0.0, -0.0, 0.0], [-1.0, 1.0, -0.0]),
    "only negative zeros": ([-0.0] * 9, [1.0] * 9),
    "denormals": ([5e-324, 2.2250738585072014e-308, 1e-310], [1.0, 0.5, 3.0]),
    "product becomes denormal": ([1e-160, 1e-170], [1e-160, -1e-140]),
    "product becomes zero": ([1e-200, -1e-200], [1e-200, 1e-200]),
    "large, finite": ([1e308, -1e308, 1e308], [1.0, 1.0, 0.5]),
    "infinite product": ([1e308, 1.0], [10.0, 1.0]),
    "inf - inf in one lane": ([1e308] + [0.0] * 7 + [-1e308], [10.0] + [0.0] * 7 + [10.0]),
    "inf - inf in the tree": ([1e308, -1e308], [10.0, 10.0]),
    "overflow in the tree": ([1.7e308, 0.0, 0.0, 0.0, 1.7e308, -1.7e308], [1.0] * 6),
    "cancellation": ([1.0, 1e16, 0.0, 0.0, 0.0, -1e16, 1.0], [1.0] * 7),
    "infinite value": ([np.inf, 1.0], [1.0, 1.0]),
    "nan value": ([1.0, np.nan], [1.0, 1.0]),
}


def lane_dot(x, w, b=0.0):
    """The rule, word by word, in Python's floats."""
    lanes = [0.0] * 8
    for j, (value, weight) in enumerate(zip(x, w, strict=True)):
        lanes[j % 8] += float(weight) * float(value)
    t = [lanes[i] + lanes[i + 4] for i in range(4)]
    u = [t[i] + t[i + 2] for i in range(2)]
    return u[0] + u[1] + b


def draw(dtype, shape, rng):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (rng.standard_normal(shape) * 2.0 ** rng.integers(-9, 9, shape)).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", TYPES)
def test_equals_the_lane_loop(trainer, dtype):
    for length in LENGTHS:
        rng = np.random.default_rng(length)
        X = draw(dtype, (5, length), rng)
        X[rng.random(X.shape) < 0.3] = 0
        W, b = draw("float64", (2, length), rng), draw("float64", 2, rng)
        expected = np.array([[lane_dot(x, w, c) for w, c in zip(W, b, strict=True)] for x in X])
        assert trainer.scores(X, W, b).tobytes() == expected.tobytes(), length
        for index in (np.int32, np.int64):
            sparse = sp.csr_matrix(X)
            sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
            assert trainer.scores(sparse, W, b).tobytes() == expected.tobytes(), length


@pytest.mark.parametrize("dtype", TYPES)
def test_is_exact_on_integers(trainer, dtype):
    for length in LENGTHS:
        rng = np.random.default_rng(length)
        X = rng.integers(0, 100, (3, length)).astype(dtype)
        w = rng.integers(-1000, 1000, length)
        expected = [sum(int(a) * int(c) for a, c in zip(x, w, strict=True)) + 7 for x in X]
        assert trainer.scores(X, w, 7).ravel().tolist() == expected, length


@pytest.mark.parametrize("case", SPECIAL)
def test_special_values(trainer, case):
    x, w = SPECIAL[case]
    (score,) = trainer.scores(np.array([x]), w, 0.0).ravel()
    expected = lane_dot(x, w)
    if math.isnan(expected):
        assert math.isnan(score)
    else:
        assert score.hex() == expected.hex()
        assert score != 0 or math.copysign(1, score) == 1, "a sum must not be -0.0"


def test_the_order_of_the_sum_matters_here():
    """Otherwise the tests above would pass for any order."""
    x, w = draw("float64", (2, 1024), np.random.default_rng(0))
    left_to_right = 0.0
    for value, weight in zip(x, w, strict=True):
        left_to_right += float(weight) * float(value)
    assert lane_dot(x, w) != left_to_right
    four_lanes = [0.0] * 4
    for j, product in enumerate(x * w):
        four_lanes[j % 4] += product
    assert lane_dot(x, w) != (four_lanes[0] + four_lanes[2]) + (four_lanes[1] + four_lanes[3])


def test_the_storage_type_does_not_matter(trainer):
    X = np.random.default_rng(1).integers(0, 128, (10, 33))
    w = draw("float64", 33, np.random.default_rng(2))
    answers = {trainer.scores(X.astype(dtype), w, 0.25).tobytes() for dtype in TYPES}
    assert len(answers) == 1


@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 300])
def test_a_row_does_not_depend_on_its_batch(trainer, n):
    rng = np.random.default_rng(n)
    X, W, b = draw("float32", (n, 19), rng), draw("float64", (3, 19), rng), draw("float64", 3, rng)
    whole = trainer.scores(X, W, b)
    assert whole.shape == (n, 3)
    assert whole.dtype == np.float64
    for start, end in itertools.pairwise([0, n // 3, n // 2, n]):
        assert trainer.scores(X[start:end], W, b).tobytes() == whole[start:end].tobytes()


def test_shapes_that_do_not_agree(trainer):
    X = np.ones((2, 3))
    with pytest.raises(ValueError, match="coef"):
        trainer.scores(X, np.ones((1, 4)), [0.0])
    with pytest.raises(ValueError, match=r"coef|intercept"):
        trainer.scores(X, np.ones((1, 3)), [0.0, 0.0])
