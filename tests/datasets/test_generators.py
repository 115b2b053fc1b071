"""Points whose margin is what was asked for, to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_moons

from perceptron_rs import Perceptron, is_separable, max_margin, verify
from perceptron_rs.datasets import make_noisy, make_separable, two_moons, xor

CASES = [(4, 2, 0.1), (50, 2, 0.4), (51, 3, 1 / 3), (200, 10, 0.05), (60, 100, 1e-7)]


@pytest.mark.parametrize(("n", "d", "margin"), CASES)
def test_the_margin_is_exact(n, d, margin):
    X, y = make_separable(n, d, margin=margin, seed=3)
    assert X.shape == (n, d)
    assert abs(int(y.sum())) == n % 2
    # The normal, from the points that repeat no other column: two columns are 3/5 and 4/5, or negatives.
    result = max_margin(X, y)
    verify(result, X, y)
    assert result.lower <= margin <= result.upper <= margin * (1 + 1e-8)
    u = result.coef / np.linalg.norm(result.coef)
    five = np.rint(5 * u)
    assert sorted(abs(five[five != 0])) == [3, 4]
    np.testing.assert_allclose(u, five / 5, atol=1e-6)
    # In fractions: no point is nearer than the margin; two of each class are at the margin, and the foot of
    # the origin lies between these two. So it is the largest margin, exactly.
    w = [int(value) for value in five]
    heights = [
        sum(a * Fraction(value) for a, value in zip(w, row, strict=True)) * int(label)
        for row, label in zip(X.tolist(), y, strict=True)
    ]
    assert min(heights) == 5 * Fraction(margin)
    for label in (-1, 1):
        at = [i for i in range(n) if heights[i] == min(heights) and y[i] == label]
        foot = [label * Fraction(margin) * a / 5 for a in w]
        places = [(Fraction(X[i, j]) - foot[j]) for i in at for j in [w.index(max(w, key=abs))]]
        assert len(at) == 2
        assert min(places) < 0 < max(places)
        assert not X[at][:, five == 0].any()


def test_the_points_are_in_the_unit_ball():
    for seed in range(5):
        X, _ = make_separable(500, 4, seed=seed)
        norms = np.linalg.norm(X, axis=1)
        assert 0.9 < norms.max() <= 1
        assert len(np.unique(X, axis=0)) == 500


@pytest.mark.parametrize(("n", "d"), [(20, 2), (2000, 2), (200, 50)])
def test_mistakes_do_not_depend_on_n_and_d(n, d):
    X, y = make_separable(n, d, margin=0.1)
    assert Perceptron(tol=None, fit_intercept=False).fit(X, y).n_mistakes_ <= 100
    assert Perceptron(tol=None).fit(X, y).n_mistakes_ <= 200


def test_a_seed_gives_the_same_points():
    first, again, other = make_separable(seed=1), make_separable(seed=1), make_separable(seed=2)
    assert first[0].tobytes() == again[0].tobytes()
    assert first[1].tolist() == again[1].tolist()
    assert first[0].tobytes() != other[0].tobytes()


def test_noise_flips_so_many_labels():
    X, y = make_noisy(150, 3, flipped=0.2, seed=4)
    clean = make_separable(150, 3, seed=4)
    assert X.tobytes() == clean[0].tobytes()
    assert (y != clean[1]).sum() == 30
    assert is_separable(X, y) is False
    assert make_noisy(flipped=0)[1].tolist() == make_separable()[1].tolist()
    assert make_noisy(flipped=1)[1].tolist() == (-make_separable()[1]).tolist()


def test_xor_is_not_separable():
    X, y = xor()
    assert y.tolist() == [1 if a != b else -1 for a, b in X]
    assert is_separable(X, y) is False


def test_two_moons_are_those_of_scikit_learn():
    X, y = two_moons(30, noise=0.2, seed=5)
    points, labels = make_moons(30, noise=0.2, random_state=5)
    assert X.tobytes() == points.tobytes()
    assert y.tolist() == (2 * labels - 1).tolist()


def test_refusals():
    for margin in (0, -1, 0.41, np.nan):
        with pytest.raises(ValueError, match=r"margin must be above 0 and at most 0\.4"):
            make_separable(margin=margin)
    with pytest.raises(TypeError, match="margin must be a real number, got True"):
        make_separable(margin=True)
    with pytest.raises(ValueError, match="n must be from 4 to 2147483647, got 3"):
        make_separable(3)
    with pytest.raises(ValueError, match="d must be from 2 to 2147483647, got 1"):
        make_separable(d=1)
    with pytest.raises(TypeError, match=r"n must be a whole number, got 1\.5"):
        make_separable(1.5)
    with pytest.raises(ValueError, match="seed must be from 0 to 4294967295, got -1"):
        make_separable(seed=-1)
    with pytest.raises(ValueError, match=r"flipped must be from 0 to 1, got 1\.5"):
        make_noisy(flipped=1.5)
    with pytest.raises(TypeError, match="flipped must be a real number, got '1'"):
        make_noisy(flipped="1")


@pytest.mark.parametrize(
    ("n", "flipped", "number"), [(100, 0.0, 0), (100, 0.05, 5), (7, 1.0, 7), (10, 0.24, 2)]
)
def test_so_many_labels_are_flipped(n, flipped, number):
    X, y = make_noisy(n, 3, flipped=flipped, seed=4)
    points, truth = make_separable(n, 3, seed=4)
    assert X.tobytes() == points.tobytes()
    assert np.count_nonzero(y != truth) == number


def test_the_direction_has_all_signs():
    found = {tuple(np.sign(max_margin(*make_separable(8, 2, seed=seed)).coef)) for seed in range(20)}
    assert found == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
