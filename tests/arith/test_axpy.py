"""The update ``w + c * x``, seen through a fit of one example that is surely wrong."""

from fractions import Fraction

import numpy as np
import pytest

TYPES = ["float64", "float32", "int8", "uint8", "int16", "uint16", "int32"]
LENGTHS = [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025]


def update(trainer, x, w, **changes):
    """Weights after one mistake on x: an intercept that stays at -1e300 makes it wrong."""
    x = np.array(x, ndmin=2)
    arguments = {
        "learner": "perceptron",
        "fit_intercept": False,
        "state": trainer.start(x.shape[1], coef=w, intercept=-1e300),
    }
    report = trainer.fit(x, [1], **arguments | changes)
    assert report["mistakes"].tolist() == [[1]]
    assert report["state"]["intercept"].tolist() == [-1e300]
    return report["state"]["coef"][0]


def draw(dtype, shape, rng):
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", TYPES)
def test_equals_the_loop(trainer, dtype):
    for length in LENGTHS:
        rng = np.random.default_rng(length)
        x, w = draw(dtype, length, rng), rng.standard_normal(length)
        expected = np.array([float(a) + 0.1 * float(b) for a, b in zip(w, x, strict=True)])
        assert update(trainer, x, w, eta0=0.1).tobytes() == expected.tobytes(), length


def test_the_product_is_rounded_before_the_sum(trainer):
    rng = np.random.default_rng(0)
    x, w, c = rng.standard_normal(64), rng.standard_normal(64), 0.1
    fused = [float(Fraction(a) + Fraction(c) * Fraction(b)) for a, b in zip(w, x, strict=True)]
    twice = [float(a) + c * float(b) for a, b in zip(w, x, strict=True)]
    assert fused != twice, "the example tells nothing"
    assert update(trainer, x, w, eta0=c).tolist() == twice


SPECIAL = {
    "zeros": ([0.0, -0.0], [0.0, 0.0]),
    "cancellation leaves +0.0": ([1.0, -1.0], [-1.0, 1.0]),
    "denormals": ([5e-324, 1e-310], [5e-324, 2.2250738585072014e-308]),
    "absorbed": ([1.0, 2.0**-53], [1e17, 1.0]),
    "large": ([1e308, -1e308], [-1e-9, 1e-9]),
}


@pytest.mark.parametrize("case", SPECIAL)
def test_special_values(trainer, case):
    x, w = SPECIAL[case]
    coef = update(trainer, x, w)
    expected = [a + b for a, b in zip(w, x, strict=True)]
    assert [value.hex() for value in coef.tolist()] == [value.hex() for value in expected]
    assert not np.signbit(coef[coef == 0]).any()


def test_the_step_is_rounded_in_one_order(trainer):
    eta0, sample, negative, positive = 0.1, 0.3, 0.9, 0.7
    c = eta0 * (sample * positive)
    assert c != (eta0 * sample) * positive, "the example tells nothing"
    changes = {"eta0": eta0, "sample_weight": [sample], "class_weight": [[negative, positive]]}
    assert update(trainer, [1.0, 0.0], [0.0, 0.0], **changes).tolist() == [c, 0.0]
    state = trainer.start(1, intercept=1.0)
    report = trainer.fit(np.ones((1, 1)), [0], state=state, **changes)
    assert report["state"]["coef"].tolist() == [[-(eta0 * (sample * negative))]]
    assert report["state"]["intercept"].tolist() == [1.0 - eta0 * (sample * negative)]


def test_start_weights_lose_their_negative_zeros(trainer):
    state = trainer.start(3, coef=[-0.0, 0.0, -0.0], intercept=-0.0)
    report = trainer.fit(np.array([[0.0, 1.0, -1.0]]), [1], state=state, fit_intercept=False)
    for values in report["state"].values():
        assert not np.signbit(values[values == 0]).any()
    assert np.signbit(state["coef"][0, 0]), "the caller's state was modified"
