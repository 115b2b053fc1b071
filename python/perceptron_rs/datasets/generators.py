"""Examples of two classes, -1 and 1: separable by a margin that is known, or not separable."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons

from perceptron_rs.arrays.scalars import checked_number

Dataset = tuple[NDArray[np.float64], NDArray[np.int64]]

_LAST_SEED = 2**32 - 1
_MOST = 0.4  # of the margin: the supporting points are up to sqrt(5) margins from the origin
_ROOM = 2.0**-30  # between the other points and the margin, much more than rounding takes


def make_separable(n: int = 100, d: int = 2, *, margin: float = 0.1, seed: int = 0) -> Dataset:
    """Draw points of the unit ball whose largest margin is exactly ``margin``.

    The hyperplane of largest margin passes through the origin. It is orthogonal to a direction u with the
    values 3/5 and 4/5, or their negatives, in two columns; other columns do not matter to the classes. Each
    class has two points whose distance from the hyperplane is exactly ``margin``, without rounding. All
    other points are further away: their distances are uniform between ``margin`` and 1.

    Parameters
    ----------
    n : int, default=100
        Number of points, at least 4, and half of them in each class.
    d : int, default=2
        Number of columns, at least 2.
    margin : float, default=0.1
        The largest margin, in (0, 0.4]. A perceptron makes at most ``1 / margin**2`` mistakes without an
        intercept, and ``2 / margin**2`` with one, whatever n and d are.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n, d), float64
        The points. Their norms are at most 1.
    y : ndarray of shape (n,), int64
        Their labels, -1 or 1.

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If an argument is not a number.

    Examples
    --------
    >>> from perceptron_rs import max_margin
    >>> from perceptron_rs.datasets import make_separable
    >>> X, y = make_separable(50, 3, margin=0.1)
    >>> result = max_margin(X, y)
    >>> result.lower <= 0.1 <= result.upper
    True
    """
    n, d = _checked_whole("n", n, 4), _checked_whole("d", d, 2)
    m = float(checked_number("margin", margin))
    if not 0 < m <= _MOST:
        raise ValueError(f"margin must be above 0 and at most {_MOST}, got {margin}; multiply X to scale it")
    random = np.random.RandomState(_checked_whole("seed", seed, 0, _LAST_SEED))
    i, j = random.permutation(d)[:2]
    u = np.zeros(d)
    u[i], u[j] = 0.6, 0.8
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    # Random directions in the hyperplane, at random heights above it.
    height = m + (1 - m) * random.uniform(_ROOM, 1, n)
    across = random.normal(size=(n, d))
    across -= np.outer(across @ u, u)
    across *= (random.uniform(size=n) ** (1 / (d - 1)) / np.sqrt((across**2).sum(axis=1)))[:, np.newaxis]
    X = (np.sqrt(1 - height**2)[:, np.newaxis] * across + np.outer(height, u)) * (1 - _ROOM / 2**8)
    # 3 * m + 4 * m/2 = 5 m = 3 * -m + 4 * 2m: products with powers of two are exact, whatever m is.
    X[:4] = 0
    X[:2, i], X[:2, j] = m, m / 2
    X[2:4, i], X[2:4, j] = -m, 2 * m
    X *= y[:, np.newaxis]
    X[:, [i, j]] *= random.choice([-1.0, 1.0], size=2)
    order = random.permutation(n)
    return X[order] + 0.0, y[order]


def make_noisy(
    n: int = 100, d: int = 2, *, margin: float = 0.1, flipped: float = 0.1, seed: int = 0
) -> Dataset:
    """Draw the points of `~perceptron_rs.datasets.make_separable`, and flip the labels of some.

    Parameters
    ----------
    n : int, default=100
        Number of points, at least 4.
    d : int, default=2
        Number of columns, at least 2.
    margin : float, default=0.1
        The largest margin before labels are flipped, in (0, 0.4].
    flipped : float, default=0.1
        Fraction of the labels to flip, in [0, 1]. Their number is ``round(flipped * n)``.
    seed : int, default=0
        Seed of the random numbers. `make_separable` with the same seed returns the true labels.

    Returns
    -------
    X : ndarray of shape (n, d), float64
        The points.
    y : ndarray of shape (n,), int64
        Their labels, -1 or 1.

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If an argument is not a number.

    References
    ----------
    R. Khardon, G. Wachman, "Noise tolerant variants of the perceptron algorithm", Journal of Machine
    Learning Research 8, 2007.

    Examples
    --------
    >>> from perceptron_rs.datasets import make_noisy, make_separable
    >>> X, y = make_noisy(200, flipped=0.05)
    >>> int((y != make_separable(200)[1]).sum())
    10
    """
    share = float(checked_number("flipped", flipped))
    if not 0 <= share <= 1:
        raise ValueError(f"flipped must be from 0 to 1, got {flipped}; it is the fraction of wrong labels")
    X, y = make_separable(n, d, margin=margin, seed=seed)
    # Other random numbers than those of the points.
    wrong = np.random.RandomState([seed, 1]).permutation(n)[: round(share * n)]
    y[wrong] = -y[wrong]
    return X, y


def xor() -> Dataset:
    """Return the four points of "exclusive or", which no hyperplane separates.

    Returns
    -------
    X : ndarray of shape (4, 2), float64
        All pairs of 0 and 1.
    y : ndarray of shape (4,), int64
        1 where the two differ, -1 where they are equal.

    References
    ----------
    M. Minsky, S. Papert, "Perceptrons", MIT Press, 1969.

    Examples
    --------
    >>> from perceptron_rs import is_separable
    >>> from perceptron_rs.datasets import xor
    >>> is_separable(*xor())
    False
    """
    return np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1])


def eighty_five_points() -> Dataset:
    """Return 85 points of the plane that take a perceptron some epochs: other orders, other numbers of them.

    A line separates them by a small margin, far from the origin. They are made by rule, like those on which
    lectures compare orders: four of five orders take 8 to 19 epochs.

    Returns
    -------
    X : ndarray of shape (85, 2), float64
        The points, with one decimal, between 0 and 10.
    y : ndarray of shape (85,), int64
        Their labels, -1 or 1.

    Examples
    --------
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.datasets import eighty_five_points
    >>> X, y = eighty_five_points()
    >>> [Perceptron(tol=None, random_state=seed).fit(X, y).n_iter_ for seed in (7, 2, 3, 9)]
    [12, 8, 14, 9]
    """
    tenths = np.random.RandomState(2441).randint(0, 101, (400, 2))
    height = 3 * tenths[:, 0] + 4 * tenths[:, 1] - 385
    kept = np.flatnonzero(np.abs(height) > 20)[:85]
    return tenths[kept] / 10, np.where(height[kept] > 0, 1, -1)


def two_moons(n: int = 100, *, noise: float = 0.1, seed: int = 0) -> Dataset:
    """Draw two half circles that reach into each other, by `sklearn.datasets.make_moons`.

    No line separates them; a kernel or a hidden layer does, if the noise is small.

    Parameters
    ----------
    n : int, default=100
        Number of points.
    noise : float, default=0.1
        Standard deviation of the noise.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n, 2), float64
        The points.
    y : ndarray of shape (n,), int64
        Their labels, -1 or 1.

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If an argument is not a number.

    Examples
    --------
    >>> from perceptron_rs import KernelPerceptron
    >>> from perceptron_rs.datasets import two_moons
    >>> X, y = two_moons()
    >>> KernelPerceptron(kernel="rbf", gamma=2.0, tol=None).fit(X, y).score(X, y)
    1.0
    """
    n, seed = _checked_whole("n", n, 2), _checked_whole("seed", seed, 0, _LAST_SEED)
    if not 0 <= checked_number("noise", noise) < math.inf:
        raise ValueError(f"noise must be finite and at least 0, got {noise}; it is a standard deviation")
    X, y = make_moons(n, noise=float(noise) + 0.0, random_state=seed)
    return X, np.where(y == 1, 1, -1)


def _checked_whole(name: str, value: object, least: int, most: int = 2**31 - 1) -> int:
    whole = int(checked_number(name, value, whole=True))
    if not least <= whole <= most:
        raise ValueError(f"{name} must be from {least} to {most}, got {value!s:.80}")
    return whole
